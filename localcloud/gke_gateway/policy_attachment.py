"""Which policies are attached: those whose target some Gateway uses, the oldest where several have the same target."""

from __future__ import annotations

from llmd_common.kubernetes.fields import name, namespace
from localcloud.gke_gateway.resources.objects import GATEWAY, SERVICE, ClusterSnapshot
from localcloud.gke_gateway.resources.policies import TARGETS, Target, policy_for, target
from localcloud.gke_gateway.statuses import policy_status
from localcloud.gke_gateway.translate import Translation
from localcloud.providers.protocol.values import JsonObject


def targets(translation: Translation) -> set[Target]:
    """Everything of a Gateway that a policy can be attached to: itself, its backends, their pickers."""
    targets: set[Target] = {(GATEWAY, namespace(translation.gateway), name(translation.gateway))}
    for one in translation.bindings:
        for rule in one.rules:
            for backend in (reference.backend for reference in (*rule.references, *rule.mirrors)):
                if backend is not None:
                    targets.add(backend.target)
                    if backend.picker is not None:
                        targets.add((SERVICE, backend.picker.source.namespace, backend.picker.source.name))
    return targets


def policy_statuses(snapshot: ClusterSnapshot, translations: list[Translation]) -> list[tuple[JsonObject, JsonObject]]:
    """Every policy with its new status. Policies of a frozen Gateway keep theirs."""
    used: set[Target] = set()
    frozen: set[Target] = set()
    for translation in translations:
        (used if translation.refusal is None else frozen).update(targets(translation))
    statuses: list[tuple[JsonObject, JsonObject]] = []
    for kind in TARGETS:
        for policy in snapshot.all(kind):
            wanted = target(policy)
            if wanted in frozen and wanted not in used:
                continue
            oldest = wanted is not None and policy_for(snapshot, kind, wanted) is policy
            attached = oldest and wanted in used
            statuses.append((policy, policy_status(policy, attached=attached, conflicted=not oldest)))
    return statuses
