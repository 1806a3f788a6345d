"""Plays a plan on the real engine, the published Google provider and the emulator, and judges after every step.

After the plan comes what has to work whatever happened before: an `up` without a fault, and a destroy.
"""

from __future__ import annotations

import secrets
import shlex
import time
from collections import Counter
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

from llmd_gke import google_errors
from localcloud.tests.life_cycle import by_hand, invariants, lost, running
from localcloud.tests.life_cycle.invariants import Entry, Seen
from localcloud.tests.life_cycle.lost import POOL
from localcloud.tests.life_cycle.observation import look
from localcloud.tests.life_cycle.settings_changes import ONE_WAY, SECRET_KEY, STACK, Config, changed
from localcloud.tests.life_cycle.steps import Kill, Step, kind_of
from localcloud.workflow import failures, processes, state
from tests.real_engine.harness import Rehearsal

MODEL = "serving.kserve.io/v1alpha2/LLMInferenceService"
DELETE_UNREACHABLE = "PULUMI_K8S_DELETE_UNREACHABLE"
GONE = f"{DELETE_UNREACHABLE}=true pulumi refresh", "if not, see docs/stacks.md"
"""What the fix says where a cluster was replaced, whose objects the engine deletes last: the way out, or its page where
the message could also be that of a failed connection."""
LOOK = "container.projects.locations.clusters.nodePools.get"
"""The provider looks whether a pool exists before it makes it. After an error other than 404 it makes the pool without
an id, and the state lacks it (``resourceContainerNodePoolCreate`` of terraform-provider-google)."""
DEFAULT_POOL = "default node pool: "
"""What an `up` says that left the pool GKE makes with a cluster. The next one leaves it, too: it is deleted by hand."""
ALONE = google_errors.CLUSTER_ALONE
"""What the fix says where GKE began to create the cluster and failed: it stays, with its default pool."""
REFRESHED = {"release: not found": "release gone", "doesn't support update": "unfinished resource"}
"""What is met, by what an error says whose fix is a refresh: the answer to an earlier deletion was lost, or the read
after a creation failed."""


@dataclass
class Outcome:
    """What came of a plan: what was wrong, which faults were met, and how many objects were deleted by hand."""

    wrong: list[str] = field(default_factory=list[str])
    met: Counter[str] = field(default_factory=Counter[str])
    by_hand: int = 0
    log: list[str] = field(default_factory=list[str])


class Machine:
    """One project, and what is done to it."""

    def __init__(self, folder: Path, stack: str = STACK) -> None:
        self.rehearsal, self.stack = Rehearsal(folder), stack
        self.outcome = Outcome()
        self.on: set[str] = set()
        self.lost: set[str] = set()
        """Kinds of which the answer to an operation was lost since the last `up` or destroy without a fault."""
        self.destroying = False
        """Whether a destroy was interrupted: what goes with the cluster has left the state before it. It is finished
        before anything else, as the message of an `up` says (`deleted_with` in components/platform.py)."""
        self.incomplete = False
        """Whether the cluster has to be deleted before the next `up`, as the message of an earlier one says."""
        self.secrets: list[str] = []
        self.base: Config = {}

    def lived(self, plan: list[Step]) -> Outcome:
        """A whole life cycle."""
        try:
            self.prepare()
            return self.play(plan)
        finally:
            self.rehearsal.stop_everything()

    def prepare(self) -> None:
        """A project in which nothing is up, with a secret in the stack's settings."""
        rehearsal = self.rehearsal
        rehearsal.copy_project()
        rehearsal.faults({})
        self.base = yaml.safe_load(rehearsal.workdir.stack_file(self.stack).read_text())["config"]
        self._write()
        token = f"hf_{secrets.token_hex(16)}"
        rehearsal.make("env")
        rehearsal.pulumi("stack", "init", self.stack)
        rehearsal.pulumi("config", "set", "--secret", SECRET_KEY, token, "--stack", self.stack)
        self.secrets = [token, rehearsal.workdir.passphrase.read_text().strip()]

    def play(self, plan: list[Step]) -> Outcome:
        """Plays the plan, then the end that has to work. Stops at the first step after which something is wrong."""
        for step in plan:
            self._step(step)
            if self.outcome.wrong:
                return self.outcome
        self._settled()
        if not self.outcome.wrong:
            self._destroyed()
        return self.outcome

    # -- steps -------------------------------------------------------------------------------------------------------

    def _step(self, step: Step) -> None:
        if step.change:
            self.on = (self.on | ONE_WAY & {step.change}) ^ ({step.change} - ONE_WAY)
            self._write()
        if self.destroying and step.command != "down":
            self._destroyed()
        if step.command == "refresh" and not self._can_refresh():
            return
        if step.command == "up":
            self._delete_cluster()
        if step.quiet and step.command == "up":
            self._settled()
        elif step.quiet and step.command == "down":
            self._destroyed()
        else:
            self._run(step)

    def _run(self, step: Step) -> running.Ended:
        """A command that may fail."""
        self.rehearsal.google_faults(*step.faults)
        ended = self._command(step.command, step.kill)
        self._count(step, ended)
        self.rehearsal.google_faults()
        seen = self._judged(ended)
        wrong = self.outcome.wrong
        if ended.status == 0 and not ended.killed:
            wrong += self._after(step.command, seen)
            self.destroying = self.destroying and step.command != "down"
            return ended
        if ended.status == 0:  # what was killed was no longer needed
            return ended
        if step.command != "refresh":
            wrong += invariants.failure_is_explained(ended.output, self._errors(ended))
        self.destroying |= step.command == "down"
        wrong += invariants.orphans_are_explained(seen, self.lost, self.destroying)
        return ended

    def _settled(self) -> None:
        """An `up` without a fault ends well; where an answer was lost before, after what its message says was done."""
        if self.destroying:
            self._destroyed()
        self._wait()
        self._delete_cluster()
        ended = self._command("up", None)
        seen = self._judged(ended)
        if ended.status and self.lost:
            self.outcome.wrong += invariants.failure_is_explained(ended.output, self._errors(ended))
            self._delete(invariants.left_by(seen, self.lost))
            ended = self._command("up", None)
            seen = self._judged(ended)
        if ended.status:
            self.outcome.wrong.append(f"an `up` without a fault failed:\n{ended.output[-4000:]}")
            return
        if self.lost:  # of objects whose ids Google chooses, another one was made
            self._delete(invariants.left_by(seen, self.lost))
            seen = look(self.rehearsal, self.stack)
        self.lost = set()
        self.outcome.wrong += self._after("up", seen)

    def _destroyed(self) -> None:
        """A destroy without a fault ends with nothing; what a lost answer left is deleted before."""
        self._wait()
        if self.lost:
            self._delete(invariants.left_by(look(self.rehearsal, self.stack), self.lost))
        ended = self._command("down", None)
        seen = self._judged(ended)
        if ended.status:
            self.outcome.wrong.append(f"a destroy without a fault failed:\n{ended.output[-4000:]}")
            return
        self.outcome.wrong += invariants.nothing_left(seen)
        self.lost, self.destroying, self.incomplete = set(), False, False

    def _delete_cluster(self) -> None:
        """Deletes an incomplete cluster, as the message about it says."""
        if not self.incomplete:
            return
        alone = ["--yes", "--skip-preview", *shlex.split(ALONE), "--stack", self.stack]
        ended = running.run(self.rehearsal, running.plain(self.rehearsal, "destroy", *alone), None)
        self.outcome.met["incomplete cluster"] += 1
        self.outcome.log.append(f"destroy of the cluster: status {ended.status}")
        if ended.status:
            self.outcome.wrong.append(f"an incomplete cluster could not be deleted:\n{ended.output[-4000:]}")
        self.incomplete = False

    # -- parts of a step ---------------------------------------------------------------------------------------------

    def _command(self, command: str, kill: Kill | None) -> running.Ended:
        """Runs it, and again as its message says where what is still in the state is gone: a cluster, or a release."""
        ended = self._once(command, kill)
        stale = [met for said, met in REFRESHED.items() if said in ended.output]
        if ended.status and not ended.killed and stale:
            self.outcome.wrong += invariants.failure_is_explained(ended.output, self._errors(ended))
            self.outcome.met[stale[0]] += 1
            self._once("refresh", None)
            ended = self._once(command, None)
        told = " ".join(ended.output.split())
        if ended.status and not ended.killed and any(way in told for way in GONE):
            self.outcome.wrong += invariants.failure_is_explained(ended.output, self._errors(ended))
            self.outcome.met["cluster gone"] += 1
            self.rehearsal.environ[DELETE_UNREACHABLE] = "true"
            self._once("refresh", None)
            del self.rehearsal.environ[DELETE_UNREACHABLE]
            ended = self._once(command, None)
        return ended

    def _once(self, command: str, kill: Kill | None) -> running.Ended:
        started = time.monotonic()
        if command == "refresh":
            line = running.plain(self.rehearsal, "refresh", "--yes", "--skip-preview", "--stack", self.stack)
        else:
            line = running.local(command, "--stack", self.stack)
        ended = running.run(self.rehearsal, line, kill)
        if ALONE in " ".join(ended.output.split()):
            self.incomplete = True
        self.outcome.log.append(
            f"{command}: status {ended.status}, {time.monotonic() - started:.0f} s, {max(0, ended.asked)} calls"
        )
        return ended

    def _judged(self, ended: running.Ended) -> Seen:
        """What holds after every command, however it ended."""
        seen = look(self.rehearsal, self.stack)
        texts = {**seen.texts, "output": ended.output, "arguments": "\n".join(ended.arguments)}
        self.outcome.wrong += [
            *invariants.nothing_twice(seen),
            *invariants.emulator_agrees(seen),
            *invariants.no_secret(texts, self.secrets),
            *invariants.no_traceback(ended.output),
        ]
        return seen

    def _after(self, command: str, seen: Seen) -> list[str]:
        """What holds after a command that succeeded."""
        if command == "down":
            return invariants.nothing_left(seen)
        if self.lost or self.incomplete:
            sides = invariants.orphans_are_explained(seen, self.lost)
        else:
            sides = invariants.same_on_both_sides(seen, command)
        return sides + (invariants.as_wanted(seen, self._wanted()) if command == "up" else [])

    def _wanted(self) -> frozenset[Entry]:
        config = changed(self.base, self.on)
        pools = {(POOL, one["name"]) for one in config["llmd-gke:pools"]} | {(POOL, "system")}
        return frozenset(pools | {(MODEL, one["name"]) for one in config["llmd-gke:models"]})

    def _write(self) -> None:
        """The settings with the changes that are on."""

        def change(config: dict[str, Any]) -> None:
            config.clear()
            config.update(changed(self.base, self.on))

        self.rehearsal.edit(self.stack, change)

    def _can_refresh(self) -> bool:
        """Whether a plain refresh has something to refresh, and no lock of a killed engine stops it."""
        present = state.read(self.rehearsal.workdir, self.stack)
        locked = state.locks(self.rehearsal.workdir, self.stack)
        return bool(present and present.urns and not present.pending and not locked)

    def _errors(self, ended: running.Ended) -> list[str]:
        """The engine's errors, where it lived to say them."""
        if "The engine was killed." in ended.output:
            return []
        return list(failures.errors(failures.log(self.rehearsal.workdir)))

    def _count(self, step: Step, ended: running.Ended) -> None:
        """Which of the step's faults were met."""
        left = self.rehearsal.kept().get("faults", [])
        for before, after in zip(step.faults, left, strict=False):
            if "times" in before and after.get("times", 0) < before["times"]:
                self.outcome.met[kind_of(before)] += 1
                if before["fault"] == "drop":
                    self.lost |= lost.of_method(before["method"])
                elif before["fault"] in ("error", "expired-token") and fnmatchcase(LOOK, before["method"]):
                    self.lost.add(POOL)
        signs = {"quota": "QUOTA_EXCEEDED", "not usable yet": "yet", "in use": "already being used"}
        if DEFAULT_POOL in ended.output:
            self.lost.add(invariants.DEFAULT_POOL)
        for fault in step.faults:
            if fault["fault"] == "world" and signs[kind_of(fault)] in ended.output:
                self.outcome.met[kind_of(fault)] += 1
        if step.kill and ended.killed:
            self.outcome.met[f"{step.kill.victim} killed"] += 1
            self.lost |= lost.of_kill(step.kill.victim, failures.log(self.rehearsal.workdir))

    def _wait(self) -> None:
        """Until nothing uses the network any more, and what was killed has ended, as the messages say."""
        ends = [float(one["until"]) for one in self.rehearsal.kept("google").get("lingering", {}).values()]
        time.sleep(max([0.0, *(end - time.time() for end in ends)]))
        if not processes.engines(self.rehearsal.workdir):
            processes.end(processes.left_over(self.rehearsal.workdir))

    def _delete(self, entries: set[Entry]) -> None:
        """What a user does with an object that exists outside of the stack."""
        self.outcome.by_hand += by_hand.delete(self.rehearsal.workdir.cloud, entries)
