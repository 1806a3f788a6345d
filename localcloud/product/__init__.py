# ruff: noqa: F401
# pyright: reportUnusedImport=false
"""What the local clouds know of the program that they run. Only their tests import ``llmd_gke`` elsewhere.

Here are facts of Google Cloud, GKE and KServe, and the versions; :mod:`localcloud.product.settings` reads stack files.
Providers and daemons import only the facts: the settings' models take 0.3 s to import.
"""

from llmd_gke import google_errors, protection
from llmd_gke.catalog import (
    accelerators,
    compute_class,
    front_door,
    kserve,
    monitoring,
    registries,
    scaling,
    versions,
    zones,
)
from llmd_gke.catalog.accelerators import ACCELERATORS, FAMILIES
from llmd_gke.catalog.scaling import READER_ROLE
from llmd_gke.catalog.versions import engine_cli, engine_floor
from llmd_gke.catalog.zones import region_of
from llmd_gke.gateways import gke
from llmd_gke.gateways.gateway import INFERENCE_POOL_GROUP
from llmd_gke.gateways.gke import (
    DEFAULT_BACKEND_TIMEOUT_SECONDS,
    INFERENCE_POOL_CLASSES,
    PROXY_SUBNET_PURPOSE,
    REGIONAL_EXTERNAL,
    REGIONAL_INTERNAL,
)
from llmd_gke.manifests import charts
from llmd_gke.probe import is_of_probe
from llmd_gke.rules.names import CLUSTER_NAME_LIMIT
from llmd_gke.rules.scaling import has_managed_adapter
