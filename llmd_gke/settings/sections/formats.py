"""Formats of text settings: as a regular expression, in plain text, and by an example."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from llmd_gke.rules.callers import SERVED_NAME

NO_SPACES = r"^\S*$"
TIME_OF_DAY = r"^([01]\d|2[0-3]):[0-5]\d$"
GKE_VERSION = r"^\d+\.\d+(\.\d+(-gke\.\d+)?)?$"
RUNBOOK = r"^https://[^\s#]{1,1500}$"
BILLING_ACCOUNT = r"^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$"
VARIABLE = r"^[A-Za-z_][A-Za-z0-9_]{0,127}$"
OBJECT_IN_NAMESPACE = r"^[a-z0-9-]{1,63}/[a-z0-9.-]{1,253}$"
IPV4 = r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$"
NOT_EMPTY = r"^\S+$"


@dataclass(frozen=True)
class TextFormat:
    """What a regular expression accepts, in plain text, and how to get such a value."""

    allowed: str
    fix: str


FORMATS: Mapping[str, TextFormat] = {
    NO_SPACES: TextFormat("no spaces", "remove the space"),
    TIME_OF_DAY: TextFormat("HH:MM, from 00:00 to 23:59", "for example '02:00', in quotes"),
    GKE_VERSION: TextFormat(
        "a version of GKE, such as 1.35, 1.35.1 or 1.35.1-gke.1616000", "for example '1.35', in quotes"
    ),
    RUNBOOK: TextFormat(
        "an address of at most 1508 characters that starts with https://, without spaces and #",
        "for example https://github.com/ORGANISATION/llmd-gke/blob/main/docs/alerts.md",
    ),
    BILLING_ACCOUNT: TextFormat(
        "three groups of six characters, digits and capital letters A to F, with dashes between them",
        "`gcloud billing accounts list` shows it",
    ),
    NOT_EMPTY: TextFormat("at least one character, and no spaces", "remove the space, or the empty entry"),
    OBJECT_IN_NAMESPACE: TextFormat("NAMESPACE/NAME of a Deployment", "for example cert-manager/cert-manager"),
    IPV4: TextFormat("an IPv4 address", "`kubectl get gateway` shows it"),
    VARIABLE: TextFormat(
        "at most 128 letters, digits and underscores, with no digit at the start", "for example LOG_LEVEL"
    ),
    SERVED_NAME: TextFormat(
        "at most 128 letters, digits, dots, underscores, slashes and dashes, with a letter or digit at the start",
        "for example Qwen/Qwen3-4B",
    ),
}
"""By regular expression."""
