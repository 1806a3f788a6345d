"""Rules about a mirror of registries."""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmd_gke.catalog import registries
from llmd_gke.rules.finding import Finding

HOST = re.compile(r"(?=.{1,253}$)[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?(?::\d{1,5})?", re.ASCII)
PREFIX = re.compile(rf"(?=.{{1,400}}$){HOST.pattern}(?:/[a-z0-9]+(?:[._-]+[a-z0-9]+)*)*", re.ASCII)
"""A registry, and a path in it (https://github.com/opencontainers/distribution-spec/blob/main/spec.md#pull)."""

EXAMPLE = "europe-west4-docker.pkg.dev/PROJECT/docker-hub"


def mirrors(table: registries.Table) -> Iterator[Finding]:
    """A mirror maps registries to registries, and includes all that this program installs from."""
    for host, prefix in table.items():
        if not HOST.fullmatch(host) or "." not in host:
            yield Finding(
                "registry",
                f"{host[:100]!r} is not the host name of a registry",
                allowed=", ".join(sorted(registries.hosts())),
                fix=f"write the registry as in image names: `docker.io: {EXAMPLE}`",
            )
        elif not PREFIX.fullmatch(prefix) or "." not in prefix.partition("/")[0]:
            yield Finding(
                "registry",
                f"{prefix[:100]!r} is not a path in a registry",
                allowed="a host and a path in lower case, without scheme, tag or trailing slash",
                fix=f"write it as in image names: `{host}: {EXAMPLE}`",
            )
    missing = sorted(registries.hosts() - table.keys())
    if table and missing:
        yield Finding(
            "registry",
            f"the mirror does not cover {', '.join(missing)}: charts or images would still come from there",
            allowed=f"all of {', '.join(sorted(registries.hosts()))}",
            fix=f"add an entry for {missing[0]}, or remove `registry`",
        )


def image_cache(table: registries.Table) -> Iterator[Finding]:
    """With an image cache there is no mirror: both would replace the same registries."""
    if table:
        yield Finding(
            "registry",
            f"llmd-gke:registry already replaces {', '.join(sorted(table))}: an image would have two addresses",
            allowed="imageCache, for repositories that the stack creates, or registry, for existing ones",
            fix="pulumi config rm llmd-gke:registry, or pulumi config rm llmd-gke:imageCache",
        )
