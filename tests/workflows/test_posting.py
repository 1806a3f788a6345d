"""The script that posts the comment, run by Node as github-script runs it, against a GitHub that is kept in memory."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from operations.comment.markdown import MARKER
from tests.workflows.conftest import read

HEAD = "1" * 40
HARNESS = """
const fs = require('node:fs');
const world = JSON.parse(fs.readFileSync(0, 'utf8'));
const calls = [], messages = [];
const github = {
  rest: {
    pulls: { list: 'pulls' },
    issues: {
      listComments: 'comments',
      updateComment: async (one) => calls.push(['update', one.comment_id, one.body]),
      createComment: async (one) => calls.push(['create', one.issue_number, one.body]),
    },
  },
  paginate: async (what, asked) => {
    if (what === 'comments') return world.comments[asked.issue_number] ?? [];
    return world.pulls.filter((one) => one.state === asked.state && one.label === asked.head);
  },
};
const core = { setFailed: (text) => messages.push(['failed', text]), info: (text) => messages.push(['info', text]) };
const context = { repo: { owner: 'us', repo: 'here' }, payload: { workflow_run: world.run } };
const AsyncFunction = Object.getPrototypeOf(async () => {}).constructor;
new AsyncFunction('github', 'context', 'core', 'require', world.script)(github, context, core, require)
  .then(() => console.log(JSON.stringify({ calls, messages })));
"""


def pull(number: int, sha: str = HEAD, label: str = "them:topic", state: str = "open") -> dict[str, Any]:
    return {"number": number, "state": state, "label": label, "head": {"sha": sha}}


def written(body: str, by: str = "Bot", ident: int = 7) -> dict[str, Any]:
    return {"id": ident, "body": body, "user": {"type": by}}


@pytest.fixture
def post(tmp_path: Path):
    """Runs the script of comment.yaml with an artifact and a state of GitHub; what it did, and what it said."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node is not installed: it runs the script as GitHub does")

    def posted(
        body: str, pulls: list[dict[str, Any]], comments: dict[str, Any], named: list[int] | None = None
    ) -> dict[str, list[Any]]:
        text = tmp_path / "comment.md"
        text.write_text(body)
        script = read("comment.yaml").jobs["comment"]["steps"][-1]["with"]["script"]
        run = {
            "head_repository": {"owner": {"login": "them"}},
            "head_branch": "topic",
            "head_sha": HEAD,
            "pull_requests": [{"number": number} for number in named or []],
        }
        github_state = {"script": script, "run": run, "pulls": pulls, "comments": comments}
        done = subprocess.run(
            [node, "-e", HARNESS], input=json.dumps(github_state), env={"TEXT": str(text)}, capture_output=True,
            text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return posted


def test_the_first_run_writes_a_comment_and_later_ones_write_over_it(post: Any) -> None:
    body = f"{MARKER}\nnew\n"
    others = [written("hello"), written(f"{MARKER}\nby a person", by="User")]
    assert post(body, [pull(3)], {"3": others})["calls"] == [["create", 3, body]]
    assert post(body, [pull(3)], {"3": [written(f"{MARKER}\nold", ident=9)]})["calls"] == [["update", 9, body]]


def test_only_the_pull_request_whose_head_was_checked_gets_it(post: Any) -> None:
    pulls = [pull(1, label="us:topic"), pull(2, sha="2" * 40), pull(4, state="closed")]
    posted = post(f"{MARKER}\n", pulls, {})
    assert posted["calls"] == []
    assert "a newer push will comment" in posted["messages"][0][1]
    assert post(f"{MARKER}\n", [*pulls, pull(3)], {})["calls"][0][:2] == ["create", 3]


def test_a_text_that_is_not_ours_is_refused(post: Any) -> None:
    posted = post("Please log in here\n", [pull(3)], {})
    assert (posted["calls"], posted["messages"][0][0]) == ([], "failed")


def test_of_two_pull_requests_with_one_head_the_one_that_github_names_gets_it_or_none(post: Any) -> None:
    posted = post(f"{MARKER}\n", [pull(3), pull(4)], {}, named=[4])
    assert [call[:2] for call in posted["calls"]] == [["create", 4]]
    posted = post(f"{MARKER}\n", [pull(3), pull(4)], {})
    assert (posted["calls"], "several pull requests" in posted["messages"][0][1]) == ([], True)


def test_more_than_github_takes_is_cut(post: Any) -> None:
    posted = post(MARKER + "x" * 100_000, [pull(3)], {})
    assert len(posted["calls"][0][2]) == 65_000
