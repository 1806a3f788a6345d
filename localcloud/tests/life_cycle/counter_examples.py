"""Plans in which something was wrong once, shrunk by hand, with what it was."""

from __future__ import annotations

from typing import NamedTuple


class CounterExample(NamedTuple):
    """``plan``: as it is printed. ``defect``: what was wrong."""

    plan: str
    defect: str


COUNTER_EXAMPLES: dict[str, CounterExample] = {
    "the provider is killed while it enables APIs": CounterExample(
        '[{"command": "up", "kill": {"victim": "provider", "after": 9}}]',
        "the failure named neither cause nor fix, and the emulator's traceback of a reset connection was printed",
    ),
    "the provider is killed in an update that changes little": CounterExample(
        '[{"command": "up"}, {"command": "up", "change": "no dashboard", "kill": {"victim": "provider", "after": 98}}]',
        "an error of a provider that cannot be reached had no cause",
    ),
    "a conflicting change": CounterExample(
        '[{"command": "up", "faults": [{"fault": "error", "method": "compute.routers.get", "code": 409, '
        '"message": "The operation was aborted: there were concurrent changes.", "times": 2}]}]',
        "an error 409 that is not about a name had no cause, and a failure without one named no fix",
    ),
    "a router whose operation fails after it was accepted": CounterExample(
        '[{"command": "up", "faults": [{"fault": "operation", "method": "compute.routers.insert", '
        '"message": "internal error", "times": 1}]}]',
        "the emulator's rules knew a router that it did not show, so that it could not be made any more",
    ),
    "a replaced cluster": CounterExample(
        '[{"command": "up"}, {"command": "up", "change": "a regional control plane"}]',
        "the objects of the old cluster could not be deleted, no cause was named, and the variable that the provider "
        "names was taken away",
    ),
    "the engine is killed while it writes the state": CounterExample(
        '[{"command": "up"}, {"command": "down", "kill": {"victim": "engine", "after": 20}}]',
        "attributes of the state file were empty, and no command could read the state any more "
        "(`failed to load checkpoint: EOF`)",
    ),
    "an `up` after a destroy that was interrupted": CounterExample(
        '[{"command": "up"}, {"command": "down", "faults": [{"fault": "error", "code": 409, '
        '"method": "container.*.clusters.delete", "message": "The operation was aborted.", "times": 9}]}, '
        '{"command": "up"}]',
        "the platform, which goes with the cluster, had left the state: `cannot re-use a name that is still in use` "
        "had neither cause nor fix",
    ),
    "a first `up` that ends after it has enabled APIs": CounterExample(
        '[{"command": "up", "faults": [{"fault": "expired-token", "method": "compute.networks.insert", "times": 1}, '
        '{"fault": "expired-token", "method": "iam.projects.serviceAccounts.create", "times": 1}]}, {"command": "up"}]',
        "the next `up` was refused, as if the contents of the clouds had been removed by hand",
    ),
    "the engine is killed while it makes objects of the cluster": CounterExample(
        '[{"command": "up", "kill": {"victim": "engine", "after": 80}}]',
        "what it had made was not recognised: objects of the cluster were refused because they existed, a dashboard "
        "was made twice (found by reading after a seed had killed the engine there)",
    ),
    "the default pool cannot be deleted": CounterExample(
        '[{"command": "up", "faults": [{"fault": "expired-token", "method": '
        '"container.projects.locations.clusters.nodePools.delete", "times": 1}]}, {"command": "up"}]',
        "the cluster was in the state without its DNS endpoint, and every later `up` ended in the program; no message "
        "said that the pool stays",
    ),
    "the operation that creates the cluster fails": CounterExample(
        '[{"command": "up", "faults": [{"fault": "operation", "method": '
        '"container.projects.locations.clusters.create", "message": "internal error", "times": 1}]}]',
        "the provider marks the cluster as tainted, and Pulumi does not replace it: the next `up` counted an "
        "incomplete cluster as created and left its default pool; the message only advised to try again",
    ),
    "an error when the provider looks whether a pool exists": CounterExample(
        '[{"command": "up"}, {"command": "up", "change": "a second pool", "faults": [{"fault": "expired-token", '
        '"method": "container.projects.locations.clusters.nodePools.get", "times": 1}]}]',
        "the provider makes the pool without an id: the error 404 that follows had neither cause nor fix",
    ),
    "the operation that deletes a pool fails": CounterExample(
        '[{"command": "up"}, {"command": "down", "faults": [{"fault": "operation", "method": '
        '"container.projects.locations.clusters.nodePools.delete", "message": "internal error", "times": 1}]}]',
        "Google's message is all that the provider says, and had neither cause nor fix",
    ),
    "the read after a role was granted fails": CounterExample(
        '[{"command": "up", "faults": [{"fault": "drop", "method": "cloudresourcemanager.projects.getIamPolicy", '
        '"after": 4, "times": 9}]}, {"command": "up"}]',
        "every later `up` ended in `doesn't support update`, without cause and fix",
    ),
    "the Kubernetes provider is killed while it uninstalls": CounterExample(
        '[{"command": "up"}, {"command": "down", "kill": {"victim": "kubernetes", "after": 10}}]',
        "a release that was gone and still in the state could not be deleted, without cause and fix",
    ),
}
