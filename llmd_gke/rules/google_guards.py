"""Rules about what Google Cloud guards by default, or an organization for all projects: keys, buckets, constraints.

Sources: https://cloud.google.com/iam/docs/best-practices-for-managing-service-account-keys,
https://cloud.google.com/storage/docs/public-access-prevention,
https://cloud.google.com/resource-manager/docs/organization-policy/org-policy-constraints.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from llmd_gke.rules.finding import Finding
from llmd_gke.rules.firewall import sections
from llmd_gke.rules.inputs import Input, Unknown

GUARDS = re.compile(
    r"iam\.(?:managed\.)?(?:allowedPolicyMember(?:Domains|s)|disableServiceAccountKey(?:Creation|Upload)"
    r"|automaticIamGrantsForDefaultServiceAccounts|preventPrivilegedBasicRolesForDefaultServiceAccounts)"
    r"|storage\.(?:publicAccessPrevention|uniformBucketLevelAccess)"
    r"|compute\.(?:vmExternalIpAccess|requireShieldedVm|restrictLoadBalancerCreationForTypes|disableSerialPortAccess"
    r"|requireOsLogin|skipDefaultNetworkCreation|managed\.\w+)"
    r"|run\.allowedIngress|cloudfunctions\.allowedIngressSettings|sql\.restrictPublicIp"
    r"|container\.managed\.(?:enable|disable)\w+"
)
"""Constraints that keep what is in a project from the public, or keys from being made."""


SWITCHES_OFF = {
    "spec.reset": True,
    "booleanPolicy.enforced": False,
    "listPolicy.allow.all": True,
    "restorePolicy.default": True,
}
"""Fields that switch a constraint off, or back to Google's default, which is off."""


def service_account_key(_node: Input) -> Iterator[Finding]:
    """No key of a service account is made: it has no end, and whoever copies it is the account."""
    yield Finding(
        "service-account-key",
        "a key of a service account has no end, and the state contains it: whoever copies it acts as the account",
        allowed="Workload Identity for pods, Workload Identity Federation outside of Google Cloud",
        fix="remove the key, and grant roles to the principal that needs them",
    )


def bucket(node: Input) -> Iterator[Finding]:
    """A bucket can never become public."""
    for section in sections(node):
        prevention = section.get("publicAccessPrevention")
        if isinstance(prevention.value, Unknown):
            prevention.text()
            return
        if prevention.text() == "enforced":
            return
    yield Finding(
        "bucket-public-access",
        "publicAccessPrevention is not enforced: one grant to allUsers makes its contents public",
        allowed="enforced",
        fix="set publicAccessPrevention: enforced",
    )


def constraint(node: Input) -> Iterator[Finding]:
    """No constraint of the organization that guards projects is switched off."""
    for section in sections(node):
        names = (section.get("name"), section.get("constraint"), node.get("metadata", "name"))
        written = next((text for name in names if isinstance(name.value, str) and (text := name.text())), "")
        if GUARDS.search(written) is None:
            continue
        policies = (section.get("spec"), section)
        for policy in policies:
            for rule in policy.get("rules").each() if policy.value is not None else ():
                for key, off in (("enforce", "false"), ("allowAll", "true")):
                    if str(rule.get(key).value).lower() == off and rule.get("condition").value is None:
                        yield _off(rule.get(key))
        for path, off in SWITCHES_OFF.items():
            if section.get(*path.split(".")).value is off:
                yield _off(section.get(*path.split(".")))


def _off(node: Input) -> Finding:
    return Finding(
        "organization-policy",
        f"{node.path} switches off a guard of the organization for the whole project",
        allowed="an exception with a condition, or for named values",
        fix="remove the policy, or name the values that are needed",
    )
