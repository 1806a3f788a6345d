"""Checks real capacity by creating one host for a moment.

A node pool without capacity retries silently for about 35 minutes; a plain instance is rejected within seconds
(``ZONE_RESOURCE_POOL_EXHAUSTED``, https://cloud.google.com/compute/docs/troubleshooting/troubleshooting-vm-creation).
Created resources are deleted before the function returns, also after Ctrl-C. An answer is valid for that moment only.
"""

from __future__ import annotations

import secrets
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from llmd_common.kubernetes.fields import Object, each, number, part, text
from llmd_gke.catalog.accelerators import accelerator_of
from llmd_gke.catalog.zones import region_of
from llmd_gke.probe import LABEL
from operations.doctor.context import Context
from operations.doctor.google import GoogleRequestError, MissingResource, NoAnswer
from operations.doctor.probe_network import subnet_in
from operations.doctor.result import CheckStatus, Result, failed, ok, skipped, warning
from operations.printing import short

if TYPE_CHECKING:
    from llmd_gke.settings.sections.pools import PoolSettings

OPERATION_SECONDS = 180
LATE_SECONDS = 10.0
"""Seconds in which a host may still appear after the request to create it was interrupted."""
IMAGE = "projects/debian-cloud/global/images/family/debian-12"
STOCK_OUT = ("ZONE_RESOURCE_POOL_EXHAUSTED", "ZONE_RESOURCE_POOL_EXHAUSTED_WITH_DETAILS", "STOCKOUT")


def probe(context: Context, pool: PoolSettings, zone: str | None = None) -> Iterator[Result]:
    """Checks whether a zone (default: the pool's) has a free host of the pool's machine type."""
    zone = zone or pool.zone_in(context.settings.cluster.zone)
    check = f"capacity of {pool.name}"
    if pool.provisioning == "flex-start":
        yield skipped(check, "flex-start capacity is queued by design: a single failed attempt says nothing about it")
    elif pool.provisioning == "reservation":
        yield _reserved(context, check, pool, zone)
    else:
        try:
            with subnet_in(context, region_of(zone)) as interface:
                yield from _host(context, check, pool, zone, interface)
        except GoogleRequestError as error:
            yield failed(check, f"no subnet for a host in {zone}: {error}", "see the other findings")


def walk(pool: PoolSettings, answers: list[Result]) -> list[Result]:
    """The answers about the node pools of a list, and where its hosts would come from now.

    An entry without hosts stops nothing as long as another has some, or is a queue (flex-start): its finding is then a
    warning.
    """
    if not pool.entries:
        return answers
    named = {f"capacity of {one.name}": one for one in pool.node_pools}
    free = [one.check for one in answers if one.status is CheckStatus.OK and one.check in named]
    check = f"capacity of {pool.name}"
    queues = [one.name for one in pool.node_pools if one.provisioning == "flex-start"]
    if not free and not queues:
        fix = "see the findings of its entries; add another kind or zone to the list (docs/pools.md)"
        return [*answers, failed(check, "no entry of the list is known to have hosts now", fix)]
    softened = [
        replace(one, status=CheckStatus.WARNING) if one.status is CheckStatus.FAILED and one.check in named else one
        for one in answers
    ]
    if not free:
        fix = f"see the findings of its entries; hosts of {queues[0]} may take hours (docs/pools.md)"
        return [*softened, warning(check, f"its hosts would wait in the queue of {queues[0]} now", fix)]
    return [*softened, ok(check, f"its hosts would come from {named[free[0]].name} now")]


def _reserved(context: Context, check: str, pool: PoolSettings, zone: str) -> Result:
    """The reservation exists, is of the pool's machine type, and has unused hosts."""
    wanted = pool.reservation
    if wanted is None:
        return skipped(check, "no reservation is set")
    owner = wanted.project or context.settings.project
    fix = f"gcloud compute reservations list --project {owner}"
    try:
        answer = context.google.ask("compute.reservations.get", project=owner, zone=zone, reservation=wanted.name)
    except MissingResource:
        return failed(check, f"reservation {wanted.name} does not exist in {zone} of {owner}", fix)
    hosts = part(answer, "specificReservation")
    machine = (text(hosts, "instanceProperties", "machineType") or pool.machine_type).rpartition("/")[2]
    if machine != pool.machine_type:
        return failed(check, f"reservation {wanted.name} is for {machine}, but the pool uses {pool.machine_type}", fix)
    if "count" not in hosts:
        return warning(
            check, f"reservation {wanted.name} is {answer.get('status')}; it does not report the number of hosts", fix
        )
    free = (number(hosts, "count") or 0) - (number(hosts, "inUseCount") or 0)
    message = (
        f"reservation {wanted.name} has {free} of {hosts['count']} hosts free, but the pool may need {pool.max_nodes}"
    )
    enough = free >= pool.max_nodes or context.up
    return ok(check, message) if enough else failed(check, message, "reduce maxNodes, or enlarge the reservation")


def _host(
    context: Context, check: str, pool: PoolSettings, zone: str, interface: Mapping[str, str]
) -> Iterator[Result]:
    name = f"{LABEL}-{secrets.token_hex(4)}"
    where = {"project": context.settings.project, "zone": zone}
    stopped, answered = True, False
    try:
        body = instance(name, pool, zone, interface)
        made = context.google.ask("compute.instances.insert", **where, body=body)
        answered = True
        errors = each(context.google.wait(made, zone, OPERATION_SECONDS), "error", "errors")
        outcome, stopped = _outcome(check, pool, zone, errors), False
    except GoogleRequestError as error:
        outcome, stopped = failed(check, f"{pool.machine_type} in {zone}: {error}", "see the other findings"), False
        answered = answered or not isinstance(error, NoAnswer)
    finally:
        left = _remove(context, zone, name, patience_seconds=0 if answered else LATE_SECONDS)
        if left and stopped:  # results can no longer be reported
            print(f"{left.message}\nFix: {left.fix}", file=sys.stderr)
    yield outcome
    if left:
        yield left


def instance(name: str, pool: PoolSettings, zone: str, interface: Mapping[str, str]) -> dict[str, object]:
    """The body of a request for a host without external address, whose disk is deleted with it."""
    scheduling: dict[str, object] = {"onHostMaintenance": "TERMINATE", "automaticRestart": False}
    if pool.provisioning == "spot":
        scheduling |= {"provisioningModel": "SPOT", "instanceTerminationAction": "DELETE"}
    kind = f"zones/{zone}/acceleratorTypes/{pool.family.label_value}"
    gpus = {"acceleratorType": kind, "acceleratorCount": pool.slice.chips}
    disk = {"sourceImage": IMAGE, "diskSizeGb": "10", "diskType": f"zones/{zone}/diskTypes/{pool.family.boot_disks[0]}"}
    return {
        "name": name,
        "machineType": f"zones/{zone}/machineTypes/{pool.machine_type}",
        "disks": [{"boot": True, "autoDelete": True, "initializeParams": disk}],
        "networkInterfaces": [dict(interface)],
        "scheduling": scheduling,
        # Only a machine type without chips of its own, N1, is asked for some.
        **({"guestAccelerators": [gpus]} if accelerator_of(pool.machine_type) is None else {}),
        "labels": {LABEL: "true"},
    }


def _outcome(check: str, pool: PoolSettings, zone: str, errors: list[Object]) -> Result:
    codes = [text(error, "code") for error in errors]
    message = short("; ".join(text(error, "message") or text(error, "code") for error in errors))
    if not errors:
        return ok(check, f"{zone} had a free {pool.machine_type} ({pool.provisioning}) just now")
    if any(code in STOCK_OUT for code in codes):
        fix = "try another zone (docs/pools.md), try again later, use capacity spot or flex-start, or use a reservation"
        return failed(check, f"stock-out: {zone} has no free {pool.machine_type} ({pool.provisioning}) now", fix)
    if any("QUOTA" in code for code in codes):
        return failed(check, message, "request the quota that the message names")
    return failed(check, f"{', '.join(codes)}: {message}", "see the message")


def _remove(context: Context, zone: str, name: str, *, patience_seconds: float) -> Result | None:
    """Deletes the instance and waits for it; returns a warning if the deletion cannot be confirmed. Ctrl-C takes effect
    afterwards.

    ``patience_seconds``: seconds in which it may still appear, because Google's answer to its creation was not
    received.
    """
    command = f"gcloud compute instances delete {name} --zone {zone} --project {context.settings.project}"
    ends = time.monotonic() + patience_seconds
    for last in (False, True):
        try:
            while not _deleted(context, zone, name) and time.monotonic() < ends:
                time.sleep(1)
        except GoogleRequestError as error:
            return warning("probe", f"{name} may still exist, and costs money: {error}", command)
        except KeyboardInterrupt:
            if last:
                print(f"{name} may still exist, and costs money.\nFix: {command}", file=sys.stderr)
                raise
        else:
            return None
    return None


def _deleted(context: Context, zone: str, name: str) -> bool:
    where = {"project": context.settings.project, "zone": zone}
    try:
        context.google.wait(
            context.google.ask("compute.instances.delete", **where, instance=name), zone, OPERATION_SECONDS
        )
    except MissingResource:
        return False
    return True
