"""An engine that answers from files and notes what it is asked."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.fakes.script import SHEBANG

ENGINE = (
    SHEBANG
    + """
import json, os, signal, sys
from pathlib import Path

here = Path(__file__).parent
verb = next(one for one in ("output", "history", "preview", "up") if one in sys.argv)
if verb in ("up", "preview"):
    with (here / "calls").open("a") as calls:
        print(*sys.argv[1:], file=calls)
    (here / "file").write_text(Path("Pulumi.one.yaml").read_text())
    print(f"this is the {verb}")
    if (here / "interrupts").exists():
        signal.signal(signal.SIGINT, lambda *_: sys.exit(1))
        os.kill(os.getppid(), signal.SIGINT)
        signal.pause()
    sys.exit((here / "fails").exists())
if not (here / f"{verb}.json").exists():
    sys.exit(6)
print((here / f"{verb}.json").read_text())
"""
)


class Engine:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "pulumi").write_text(ENGINE)
        (folder / "pulumi").chmod(0o755)
        self.left(stopped=False)

    def left(self, *models: str, stopped: bool, result: str = "succeeded") -> None:
        """What the last update left: models by name, ``qwen`` without any."""
        model = {"url": "http://x", "servedModelName": "qwen", **({"stopped": True} if stopped else {})}
        there = dict.fromkeys(models or ("qwen",), model)
        outputs = {"gatewayIp": "203.0.113.7", "models": there, "cluster": {"name": "one"}}
        (self.folder / "output.json").write_text(json.dumps(outputs))
        (self.folder / "history.json").write_text(json.dumps([{"result": result}]))

    def says(self, name: str) -> str:
        file = self.folder / name
        return file.read_text() if file.exists() else ""

    @property
    def environment(self) -> dict[str, str]:
        return {"PATH": f"{self.folder}{os.pathsep}{os.environ['PATH']}"}
