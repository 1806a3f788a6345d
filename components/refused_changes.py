"""Changes that Google rejects or the provider plans wrongly: refused in the preview, before half of them is done."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pulumi

WITHOUT_TIMEOUTS = (
    "for route in {routes}; do kubectl get httproute -n ${{route%/*}} ${{route#*/}} -o json | "
    "jq 'del(.spec.rules[].timeouts)' | kubectl replace -f -; done"
)
"""Takes them out of routes, by NAMESPACE/NAME: never out of those of others."""


def before_update(name: str, hook: Callable[[pulumi.ResourceHookArgs], None]) -> pulumi.ResourceHookBinding:
    """Calls ``hook`` before an update, also of a preview. Deletions and replacements do not call it."""
    options = pulumi.ResourceHookOptions(on_dry_run=True)
    return pulumi.ResourceHookBinding(before_update=[pulumi.ResourceHook(name, hook, options)])


def same_project(args: pulumi.ResourceHookArgs) -> None:
    """Raises :class:`pulumi.RunError` if the stack's project changes.

    The provider would plan that as an update: the old network would remain without an owner, and the cluster would be
    updated in place in its old project.
    """
    before, now = (str((inputs or {}).get("project", "")) for inputs in (args.old_inputs, args.new_inputs))
    if before and now and before != now:
        raise pulumi.RunError(
            f'gcp:project = "{now}": this stack is in project {before}, and its resources cannot move to another '
            "project.\n"
            f"Allowed: {before}.\n"
            f"Fix: pulumi config set gcp:project {before}; for {now} create another stack (pulumi stack init), or "
            "destroy this one first."
        )


def secondary_ranges_kept(args: pulumi.ResourceHookArgs) -> None:
    """Raises :class:`pulumi.RunError` if a secondary range of the nodes' subnet changes.

    "Existing secondary range cannot be modified" (hashicorp/terraform-provider-google#7474): a cluster uses it. An
    update that replaces subnet and cluster is none of this.
    """
    before, now = (_ranges(inputs) for inputs in (args.old_inputs, args.new_inputs))
    for name, cidr in now.items():
        if name in before and before[name] != cidr:
            raise _refusal(name, before[name], cidr, "its pods and services use it")


def gateway_changed(routes: Sequence[str]) -> Callable[[pulumi.ResourceHookArgs], None]:
    """A hook that raises :class:`pulumi.RunError` if the range of the proxy-only subnet changes in the same network and
    region.

    Google does not delete the subnet under a Gateway's proxies, and has one active subnet for proxies in a region and
    network, so the new one cannot come first (terraform-google-modules/terraform-google-lb#75,
    https://cloud.google.com/load-balancing/docs/proxy-only-subnets).

    It warns where GKE's Gateway takes the place of Istio's: that is not programmed while one of the ``routes`` has
    ``timeouts``, and the program changes routes only once it is.
    """

    def check(args: pulumi.ResourceHookArgs) -> None:
        before, now = args.old_outputs or {}, args.new_inputs or {}
        old, new = before.get("proxies"), now.get("proxies")
        same = all(before.get(key) == now.get(key) for key in ("network", "region"))
        if same and old and new and old != new:
            raise _refusal("proxies", str(old), str(new), "the proxies of its Gateway use it")
        if before.get("gateway") and not now.get("gateway"):
            pulumi.log.warn(
                "llmd-gke:gateway.class: GKE's Gateway waits while routes of the one before have timeouts (GWCER104).\n"
                f"Fix: while `up` waits for edge-gateway: {WITHOUT_TIMEOUTS.format(routes=' '.join(routes))}"
            )

    return check


def _ranges(inputs: Mapping[str, Any] | None) -> dict[str, str]:
    """The secondary ranges by name. Hooks get the engine's names."""
    ranges: Sequence[Mapping[str, str]] = (inputs or {}).get("secondaryIpRanges") or []
    return {one["rangeName"]: one["ipCidrRange"] for one in ranges}


def _refusal(key: str, before: str, now: str, user: str) -> pulumi.RunError:
    return pulumi.RunError(
        f'llmd-gke:network.{key} = "{now}": this stack has {before}, and Google keeps the range while {user}.\n'
        f"Allowed: {before}.\n"
        f"Fix: keep {before}; for {now} create another stack with another cluster.name (pulumi stack init), move the "
        "clients there and destroy this one, or destroy this one first."
    )
