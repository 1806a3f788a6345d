from __future__ import annotations

from tests.operations.support import run


def test_one_question_prints_its_query_or_the_link_to_it_and_nothing_else() -> None:
    done = run("logs", "failed", "--stack", "eu4a")
    assert done.stdout.splitlines()[-1] == "httpRequest.status>=500"
    assert done.stdout.startswith('resource.type="http_external_regional_lb_rule"\n')
    link = run("logs", "failed", "--stack", "eu4a", "--link").stdout
    assert link.startswith("https://console.cloud.google.com/logs/query;query=resource.type%3D")


def test_an_unknown_question_is_refused_with_those_that_are_there() -> None:
    done = run("logs", "fialed", "--stack", "eu4a")
    assert done.returncode == 2
    assert "Allowed: ended, download, unschedulable, no-host, failed, slow, changed" in done.stderr
