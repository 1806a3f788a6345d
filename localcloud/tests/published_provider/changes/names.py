"""Project, places and names that the resources have in common."""

from __future__ import annotations

from typing import Any

Props = dict[str, Any]
PROJECT = "my-project"
REGION = "us-east5"
ZONE = "us-east5-b"
VPC = f"projects/{PROJECT}/global/networks/vpc"
LINK = "https://www.googleapis.com/compute/v1/"
SCOPES = ["https://www.googleapis.com/auth/cloud-platform", "https://www.googleapis.com/auth/logging.write"]
KEY = f"projects/{PROJECT}/locations/{REGION}/keyRings/r/cryptoKeys/k"
NODES = f"nodes@{PROJECT}.iam.gserviceaccount.com"
