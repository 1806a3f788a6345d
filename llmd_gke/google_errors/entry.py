"""The form of an entry."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GoogleError:
    """An error. ``shown``: its text for readers of docs/troubleshooting.md, in Markdown. ``sign``: a regular expression
    that the message matches, whatever its case. ``fix`` may contain ``{stack}``.
    """

    key: str
    shown: str
    sign: str
    cause: str
    fix: str


NO_WEBHOOK = r"(?s)\A(?!.*(calling|conversion) webhook).*"
"""Beginning of a sign that a message about a webhook of the cluster does not match."""
API_SERVER = r"https://[^\s\"/]+/(apis?|openapi|version)\b"
"""An address of a Kubernetes API server; those of its webhooks have other paths."""
IMPORT = (
    "try again; if the message then is that a resource already exists, import it with `pulumi import`, or delete it if "
    "nothing else uses it"
)
