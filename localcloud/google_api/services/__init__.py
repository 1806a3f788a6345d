# ruff: noqa: F401
# pyright: reportUnusedImport=false
"""The services, one module each; importing this package registers them all.

Each module has the same four parts: how its names and bodies become those of the rules, what Google adds to a body, the
methods, and its operations. A further service is a module more, and a line here.
"""

from localcloud.google_api.services import (
    artifactregistry,
    cloudbilling,
    cloudresourcemanager,
    compute,
    container,
    dns,
    iam,
    load_balancers,
    machines,
    monitoring,
    node_pools,
    quotas,
    serviceusage,
    storage,
)
