"""Asking the servers of a model one by one, with a `kubectl` of the test and servers that answer as vLLM does."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.fakes.script import SHEBANG
from tests.fakes.vllm import Behaviour, serving
from tests.operations.conftest import Clone
from tests.operations.status.shapes import server
from tests.operations.support import Done, run
from tests.waiting import eventually

KUBECTL = """\
{shebang}import json, os, pathlib, sys, time
here, words = pathlib.Path({folder!r}), sys.argv[1:]
noted = {{"words": words, "pid": os.getpid()}}
if "--kubeconfig" in words:
    file = pathlib.Path(words[words.index("--kubeconfig") + 1])
    noted |= {{"file": str(file), "content": file.read_text(), "mode": oct(file.stat().st_mode & 0o777)}}
with (here / "calls").open("a") as log:
    log.write(json.dumps(noted) + "\\n")
if "get" in words:
    if not (here / "pods.json").exists():
        sys.exit("Unable to connect to the server: dial tcp: i/o timeout")
    print((here / "pods.json").read_text())
else:
    name = words[-2].removeprefix("pod/")
    ports = json.loads((here / "ports.json").read_text())
    if ports.get(name) == "signing in":  # the plugin asks for a password, and has kubectl's standard error
        os.system("/bin/sleep 600 & echo $! >" + str(here / "plugin"))
        time.sleep(600)
    if name not in ports:
        sys.exit('error: pods "' + name + '" is forbidden: User "x" cannot create resource "pods/portforward"')
    print(f"Forwarding from 127.0.0.1:{{ports[name]}} -> 8000", flush=True)
    time.sleep(600)
"""
PULUMI = "{shebang}print('the-kubeconfig')\n"
GOOD, OTHER = "qwen-kserve-abc-1", "qwen-kserve-abc-2"


class Machine:
    """Programs on PATH, and what they were called with."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder
        monkeypatch.setenv("PATH", str(folder))
        self.program("kubectl", KUBECTL)
        self.servers = ExitStack()

    def program(self, name: str, source: str) -> None:
        file = self.folder / name
        file.write_text(source.format(shebang=SHEBANG, folder=str(self.folder)))
        file.chmod(0o700)

    def pods(self, **behaviours: Behaviour | None) -> None:
        """One ready pod for each, answering so; ``None``: its port cannot be forwarded."""
        items, ports = [], dict[str, str]()
        for key, behaviour in behaviours.items():
            name = key.replace("_", "-")
            items.append(server(name, ready=True))
            if behaviour is not None:
                url = self.servers.enter_context(serving(behaviour))
                ports[name] = url.rpartition(":")[2]
        (self.folder / "pods.json").write_text(json.dumps({"items": items}))
        (self.folder / "ports.json").write_text(json.dumps(ports))

    @property
    def calls(self) -> list[Any]:
        return [json.loads(line) for line in (self.folder / "calls").read_text().splitlines()]


@pytest.fixture
def machine(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    made = Machine(tmp_path_factory.mktemp("bin"), monkeypatch)
    with made.servers:
        yield made


Ask = Callable[..., Done]


@pytest.fixture
def ask(clone: Clone) -> Ask:
    return lambda *arguments: run("ask", "--stack", "one", *arguments, root=clone.root)


def direct(**more: Any) -> Behaviour:
    """A server that is asked itself: there is no prefix of the gateway."""
    return Behaviour(prefix="", names=("qwen",), **more)


def test_each_server_is_asked_itself_and_no_port_stays_open(ask: Ask, machine: Machine) -> None:
    one, two = direct(), direct()
    machine.pods(qwen_kserve_abc_1=one, qwen_kserve_abc_2=two)
    done = ask("--context", "mine", "--tokens", "2", "--output", "json", "Why?")
    assert done.returncode == 0
    assert [(row["pod"], row["ready"], row["status"], row["text"]) for row in json.loads(done.stdout)["pods"]] == [
        (GOOD, True, 200, "word word "),
        (OTHER, True, 200, "word word "),
    ]
    for server_ in (one, two):
        assert [(body["model"], body["messages"][0]["content"]) for body in server_.seen] == [("qwen", "Why?")]
    listed, *forwards = machine.calls
    labels = "app.kubernetes.io/name=qwen,kserve.io/component=workload"
    assert listed["words"] == ["--context", "mine", "get", "pods", "-n", "models", "-l", labels, "-o", "json"]
    assert [call["words"][-2:] for call in forwards] == [[f"pod/{GOOD}", ":8000"], [f"pod/{OTHER}", ":8000"]]
    assert not any(Path(f"/proc/{call['pid']}").exists() for call in forwards)


def test_without_a_context_the_kubeconfig_of_the_outputs_is_used_from_a_file_that_is_gone_afterwards(
    ask: Ask, machine: Machine
) -> None:
    machine.program("pulumi", PULUMI)
    machine.pods(qwen_kserve_abc_1=direct())
    done = ask()
    assert f"{GOOD} (Ready): 200 after " in done.stdout
    assert "the-kubeconfig" not in done.stdout + done.stderr
    for call in machine.calls:
        assert (call["content"].strip(), call["mode"]) == ("the-kubeconfig", "0o600")
        assert not Path(call["file"]).exists()


def test_one_pod_is_asked_when_it_is_named_and_a_path_is_read_instead(ask: Ask, machine: Machine) -> None:
    machine.pods(qwen_kserve_abc_1=direct(), qwen_kserve_abc_2=None)
    done = ask("--context", "mine", "--pod", GOOD, "--path", "/v1/models")
    assert '"max_model_len": 2048' in done.stdout
    assert OTHER not in done.stdout


def test_a_server_that_answers_badly_is_status_1_and_the_others_are_shown(ask: Ask, machine: Machine) -> None:
    machine.pods(qwen_kserve_abc_1=direct(), qwen_kserve_abc_2=direct(unhealthy=True))
    done = ask("--context", "mine")
    assert done.returncode == 1
    assert f"{GOOD} (Ready): 200" in done.stdout
    assert f"{OTHER} (Ready): 503" in done.stdout
    assert "1 of 2 pods of qwen did not give a valid answer" in done.stderr
    assert f"Fix: kubectl -n models logs {OTHER} -c main" in done.stderr


def test_a_port_that_cannot_be_forwarded_says_why_and_costs_no_answer_of_the_others(ask: Ask, machine: Machine) -> None:
    machine.pods(qwen_kserve_abc_0=direct(), qwen_kserve_abc_1=None, qwen_kserve_abc_2=direct())
    done = ask("--context", "mine", "--output", "json")
    rows = json.loads(done.stdout)["pods"]
    assert [row["status"] for row in rows] == [200, 0, 200]
    assert f"port-forward to models/{GOOD} failed" in rows[1]["text"]
    assert (done.returncode, "1 of 3 pods of qwen did not give a valid answer" in done.stderr) == (1, True)
    assert f"Fix: kubectl -n models describe pod {GOOD}; the caller needs container.pods.portForward" in done.stderr


def has_ended(process: Path) -> bool:
    """Whether a process is gone or only waits to be reaped; a killed one runs on until the kernel gets to it."""
    try:
        return process.read_text().rpartition(")")[2].split()[0] in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.parametrize("phase", ["Failed", "Succeeded"])
def test_pods_that_have_finished_are_left_out(phase: str, ask: Ask, machine: Machine) -> None:
    machine.pods(qwen_kserve_abc_1=None, qwen_kserve_abc_2=direct())
    listed = json.loads((machine.folder / "pods.json").read_text())
    listed["items"][0]["status"]["phase"] = phase
    (machine.folder / "pods.json").write_text(json.dumps(listed))
    done = ask("--context", "mine")
    assert (done.returncode, GOOD in done.stdout) == (0, False)


def test_a_plugin_that_waits_for_a_password_is_ended_with_kubectl(
    ask: Ask, machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("operations.ask.kubectl.ANSWER_SECONDS", 2)
    machine.pods(qwen_kserve_abc_1=None)
    (machine.folder / "ports.json").write_text(json.dumps({GOOD: "signing in"}))
    assert "no output within 2 s" in ask("--context", "mine").stdout
    plugin = Path(f"/proc/{(machine.folder / 'plugin').read_text().strip()}/stat")
    eventually(lambda: has_ended(plugin))


@pytest.mark.parametrize(
    ("arguments", "status", "part"),
    [
        (("--pod", "no-such"), 2, f"--pod no-such: qwen has {GOOD}.\nFix: --pod with one of them"),
        (("--path", "metrics"), 2, "Fix: --path /metrics"),
        (("--cloud", "laptop"), 2, "--context: the laptop uses its own kubeconfig"),
        (("--cloud", "rehearsal"), 7, "Fix: make up STACK=one CLOUD=laptop"),
    ],
)
def test_a_wrong_call_names_option_value_what_is_allowed_and_the_fix(
    arguments: tuple[str, ...], status: int, part: str, ask: Ask, machine: Machine
) -> None:
    machine.pods(qwen_kserve_abc_1=direct())
    done = ask("--context", "mine", *arguments)
    assert done.returncode == status
    assert part in done.stderr


def test_an_adapter_is_asked_by_its_name_at_the_servers_of_its_model(ask: Ask, machine: Machine, clone: Clone) -> None:
    server_ = direct()
    clone.edit("replicas: 3", "replicas: 3, adapters: [{name: sql, uri: 'hf://me/sql'}]")
    server_.names = ("qwen", "sql")
    machine.pods(qwen_kserve_abc_1=server_)
    assert ask("--context", "mine", "--model", "sql").returncode == 0
    assert [body["model"] for body in server_.seen] == ["sql"]


def test_a_stopped_model_is_not_asked(ask: Ask, machine: Machine, clone: Clone) -> None:
    clone.edit("replicas: 3", "replicas: 3, stopped: true")
    done = ask("--context", "mine")
    assert done.returncode == 7
    assert "qwen is stopped by its settings (`stopped: true`)" in done.stderr
    assert not (machine.folder / "calls").exists()


@pytest.mark.parametrize(
    ("prepare", "status", "message"),
    [
        (Machine.pods, 7, "qwen has no pods in namespace models.\nFix: llmd-gke status --stack one"),
        (str, 8, "kubectl cannot list the pods: Unable to connect to the server"),
        (lambda machine: (machine.folder / "kubectl").unlink(), 3, "Fix: gcloud components install kubectl"),
    ],
    ids=["no pods", "no answer", "no kubectl"],
)
def test_without_pods_an_answer_or_kubectl_the_status_says_which_is_missing(
    ask: Ask, machine: Machine, prepare: Callable[[Machine], object], status: int, message: str
) -> None:
    prepare(machine)
    done = ask("--context", "mine")
    assert done.returncode == status
    assert message in done.stderr
    assert status != 8 or "Fix: gcloud auth login" in done.stderr
