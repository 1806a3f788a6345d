"""The secrets of a stack: those that it needs, those that are missing, and those that the stack file contains in plain
text.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import cast

from llmd_gke.rules import notification
from llmd_gke.rules.finding import Finding
from llmd_gke.settings.secret_keys import CALLER_KEYS, IAP_SECRET, NAMESPACE, is_plain, is_secret_key
from llmd_gke.settings.sections.stack import StackSettings
from llmd_gke.settings.validation import SettingFinding


def plain_secrets(values: Mapping[str, object], encrypted: Collection[str]) -> list[SettingFinding]:
    """Findings about secrets whose values are not encrypted, and thus readable in the repository and in the state.

    Of a map with several keys, each that is not encrypted is one finding.
    """
    findings: list[SettingFinding] = []
    for key, value in values.items():
        if not is_secret_key(key) or not is_plain(value):
            continue
        if isinstance(value, Mapping):
            table = cast("Mapping[object, object]", value)
            findings += [_plain_key(key, str(name)) for name, one in table.items() if is_plain(one)]
        elif key not in encrypted:
            fix = f"remove the line, create a new secret, and set it with `pulumi config set --secret {key}`"
            findings.append(SettingFinding(key, None, Finding("plain-secret", _PLAIN, fix=fix)))
    return findings


_PLAIN = "the stack file contains a secret in plain text; treat it as leaked to everyone who can read the repository"


def _plain_key(key: str, name: str) -> SettingFinding:
    path = shlex.quote(f"{key}[{json.dumps(name)}]")
    fix = f"`pulumi config rm --path {path}`, then `llmd-gke key new CALLER`"
    return SettingFinding(f"{key}.{name}", None, Finding("plain-secret", _PLAIN, fix=fix))


def plain_caller_keys(in_file: object, in_use: object) -> list[SettingFinding]:
    """Findings about callers' keys that the stack file has in plain text, and that the program was given.

    The engine marks :data:`CALLER_KEYS` as a whole as secret if one of its keys is encrypted; only the stack file says
    which are not. ``in_file`` is its value there, ``in_use`` the decrypted one: a file that is not the one in use,
    because of ``--config-file``, has others.
    """
    if not isinstance(in_file, Mapping) or not isinstance(in_use, Mapping):
        return []
    given, used = cast("Mapping[object, object]", in_file), cast("Mapping[object, object]", in_use)
    same = {name: value for name, value in given.items() if name in used and used[name] == value}
    return plain_secrets({f"{NAMESPACE}:{CALLER_KEYS}": same}, [])


def required_secrets(settings: StackSettings) -> list[str]:
    """Full keys of the secrets that this stack needs."""
    return list(_reasons(settings))


_KEY = (
    "`llmd-gke key new CALLER` creates and shows one; for a key that exists: "
    f"pulumi config set --secret --path '{NAMESPACE}:{CALLER_KEYS}[\"CALLER\"]' (then paste it, at least 32 characters)"
)


def _reasons(settings: StackSettings) -> dict[str, tuple[str, str]]:
    """The secrets that the stack needs: full key to the reason and a description of the value to paste."""
    reasons: dict[str, tuple[str, str]] = {}
    gated = [model.name for model in settings.models if model.needs_token]
    if gated:
        reasons["hfToken"] = (
            f"the weights of {', '.join(gated)} require an accepted licence",
            "a Hugging Face token of an account that accepted the licence",
        )
    private = [model.name for model in settings.models if model.private_image]
    if private:
        reasons["pullSecret"] = (
            f"privateImage of {', '.join(private)} requires it",
            "the contents of a .dockerconfigjson",
        )
    if settings.gateway.tls is not None and settings.gateway.tls.from_config:
        reasons["tlsCertificate"] = (
            "llmd-gke:gateway.tls.fromConfig requires it",
            "the certificate chain in PEM format",
        )
        reasons["tlsKey"] = ("llmd-gke:gateway.tls.fromConfig requires it", "the private key in PEM format")
    if settings.front_door is not None and settings.front_door.uses_keys:
        callers = ", ".join(caller.name for caller in settings.front_door.callers)
        reasons[CALLER_KEYS] = (f"llmd-gke:frontDoor needs a key for each caller ({callers})", _KEY)
    if settings.access.iap is not None:
        reasons[IAP_SECRET] = ("llmd-gke:frontDoor.access.iap requires it", "the secret of the OAuth client")
    for index, channel in enumerate(settings.monitoring.notify):
        for setting, name in channel.secrets.items():
            why = f"llmd-gke:monitoring.notify[{index}].{setting} names it"
            reasons.setdefault(name, (why, notification.PASTE[notification.SECRET_OF[setting]]))
    return {f"{NAMESPACE}:{key}": reason for key, reason in reasons.items()}


def missing_secrets(settings: StackSettings, secrets: Sequence[str]) -> list[SettingFinding]:
    """A finding for each secret that the stack needs and that is not in ``secrets`` (full keys)."""
    findings: list[SettingFinding] = []
    for key, (why, what) in _reasons(settings).items():
        if key not in secrets:
            fix = what if what == _KEY else f"pulumi config set --secret {key} (then paste {what})"
            findings.append(SettingFinding(key, None, Finding("missing-secret", why, fix=fix)))
    return findings
