"""Rules about grants on Google Cloud, recognized by the names of fields in any resource.

Sources: https://cloud.google.com/iam/docs/overview (allUsers, allAuthenticatedUsers, basic roles),
https://cloud.google.com/run/docs/securing/managing-access (services without the invoker check).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from llmd_gke.rules.finding import Finding
from llmd_gke.rules.inputs import Input, Unknown

EVERYBODY = re.compile(
    r"\ball(?:authenticated)?users\b|\bpublicread(?:write)?\b|principalset://goog/public:all"
    r"|work(?:loadidentity|force)pools/[^/\s]+/\*"
    r"|(?<![\w:])system:(?:(?:un)?authenticated|anonymous|serviceaccounts)(?![\w:-])",
    re.IGNORECASE,
)
MEMBER_KEY = re.compile(r"member|entit|group|principal|policydata|access|acl|user|subject", re.IGNORECASE)
BASIC_ROLE = re.compile(
    r"\broles/(?:owner|editor|admin|writer|resourcemanager\.(?:project|folder)IamAdmin"
    r"|resourcemanager\.(?:organization|folder)Admin|iam\.securityAdmin)(?![\w.])",
    re.IGNORECASE,
)
"""Basic roles, and roles whose holders can grant themselves basic roles."""
ROLE_KEY = re.compile(r"role|policydata", re.IGNORECASE)
OPEN_SWITCHES = ("invokerIamDisabled", "run.googleapis.com/invoker-iam-disabled")
"""Options, as a field or an annotation, that admit everyone without listing a member."""


def _texts(node: Input, wanted: re.Pattern[str], *, inside: bool = False) -> Iterator[Input]:
    if isinstance(node.value, Mapping):
        for key, item in node.entries():
            yield from _texts(item, wanted, inside=inside or wanted.search(key) is not None)
    elif isinstance(node.value, Sequence) and not isinstance(node.value, str):
        for item in node.each():
            yield from _texts(item, wanted, inside=inside)
    elif inside and isinstance(node.value, str | Unknown):
        yield node


def _decoded(text: str) -> str:
    """A text that is JSON, with its escaped letters written out."""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False) if text.lstrip().startswith(("{", "[")) else text
    except ValueError:
        return text


def members(node: Input) -> Iterator[Finding]:
    """Nothing on Google Cloud is granted to everybody, in whatever field members can be written.

    A member that is not known yet comes from another resource: it is an account, and never everybody.
    """
    for switch in (table.get(key) for table in node.within(Mapping) for key in OPEN_SWITCHES):
        if str(switch.value).lower() == "true":
            yield Finding(
                "public-iam-member",
                f"{switch.path} is true: anyone can call the service",
                allowed="false",
                fix="remove it, and grant access to specific callers",
            )
    for member in _texts(node, MEMBER_KEY):
        match = EVERYBODY.search(_decoded(member.value)) if isinstance(member.value, str) else None
        if match:
            yield Finding(
                "public-iam-member",
                f"{member.path} grants access to {match[0]}: anyone on the Internet, or every identity of a pool",
                allowed="named accounts, groups and service accounts",
                fix="name who needs it",
            )


def roles(node: Input) -> Iterator[Finding]:
    """No one gets a basic role, which allows nearly every change, or a role that can grant one."""
    for role in _texts(node, ROLE_KEY):
        match = BASIC_ROLE.search(_decoded(role.text() or ""))
        if match:
            yield Finding(
                "basic-iam-role",
                f"{role.path} is {match[0]}, which allows nearly every change in the project, or allows granting "
                f"such a role",
                allowed="predefined or custom roles",
                fix="grant only the roles that the account needs",
            )
