"""What `make up` does after an engine was killed while the published provider was at work."""

from __future__ import annotations

from localcloud.workflow import processes
from tests.real_engine.harness import Rehearsal, until


def test_what_a_killed_engine_had_made_is_taken_over_and_made_once(published: Rehearsal) -> None:
    def account() -> bool:
        return any("/serviceAccounts/" in name for name in published.kept().get("resources", {}))

    with published.started("up", "--stack", "dev") as first:
        # The provider waits ten seconds after it has made a service account: the engine does not know of it yet.
        until(account, "the service account is in the cloud")
        for engine in processes.engines(published.workdir):
            engine.kill()
        assert first.wait(60) == 1
    again = published.up("dev")
    assert "was created, but the state lacked it; imported" in again.stdout
    assert "alreadyExists" not in again.stdout
    accounts = [name for name in published.kept()["resources"] if "/serviceAccounts/" in name]
    assert len(accounts) == 1
    assert {name: step for name, step in published.steps("preview", stack="dev").items() if step != "same"} == {}
    assert "Nothing is left" in published.down("--stack", "dev").stdout
