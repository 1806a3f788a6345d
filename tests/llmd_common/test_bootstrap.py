from __future__ import annotations

import ast
import errno
import re
import shlex
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from llmd_common import bootstrap, resolve_requirements


@pytest.mark.parametrize("version", [(3, 10), (2, 7), (3, 15)])
def test_a_python_that_does_not_fit_is_refused_with_the_fix(version: tuple[int, int]) -> None:
    with pytest.raises(bootstrap.BootstrapFailed, match=r"Allowed: Python 3\.11 to 3\.14") as raised:
        bootstrap.check_python(version)
    assert "Fix:" in str(raised.value)


@pytest.mark.parametrize(
    ("asked", "installed", "kept"),
    [
        ("operations", "", "operations"),
        ("operations", "dev", "dev"),
        ("dev", "operations", "dev"),
        ("dev", "junk", "dev"),
    ],
)
def test_a_larger_set_that_is_installed_is_kept(asked: str, installed: str, kept: str) -> None:
    assert bootstrap.wanted(asked, installed) == kept


@pytest.mark.parametrize(
    ("output", "advice"),
    [
        ("error: No space left on device (os error 28)", "disk is full"),
        ("Hash mismatch for `rich==14`", "pinned hash"),
        ("ensurepip is not available", "python3-venv"),
        ("Because torch==2.13.0 has no wheels with a matching platform tag", "a machine and a Python"),
        ("connection refused", "package index"),
    ],
)
def test_what_an_installer_says_becomes_a_fix(output: str, advice: str) -> None:
    assert advice in bootstrap.advice(output)


@pytest.mark.parametrize(
    ("error", "fix"),
    [
        (FileExistsError(errno.EEXIST, "File exists", "/cache"), "that has to be a folder"),
        (NotADirectoryError(errno.ENOTDIR, "Not a directory", "/cache/x"), "that has to be a folder"),
        (OSError(errno.EROFS, "Read-only file system", "/clone/.venv"), "give yourself the permission"),
        (OSError(errno.ENOSPC, "No space left on device", "/cache"), "free some space"),
    ],
)
def test_what_the_disk_refuses_names_the_place_and_its_fix(
    error: OSError, fix: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refused(name: str) -> None:
        raise error

    monkeypatch.setattr(bootstrap, "install", refused)
    assert bootstrap.main(["operations"]) == 1
    said = capsys.readouterr().err
    assert error.filename in said
    assert fix in said


def test_a_set_lists_only_what_it_adds_and_changes_with_the_sets_that_it_includes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    smaller = tmp_path / "program.txt"
    smaller.write_text("# make requirements\nrich==14 \\\n    --hash=sha256:aa\n    # via program.in\n")
    both = smaller.read_text() + "typer==1 \\\n    --hash=sha256:bb\n    # via operations.in\n"
    larger = resolve_requirements.added(both, smaller, "program.txt")
    assert larger.splitlines()[1:3] == ["-r program.txt", "typer==1 \\"]
    assert "rich" not in larger
    (tmp_path / "operations.txt").write_text(larger)
    monkeypatch.setattr(bootstrap, "REQUIREMENTS", (tmp_path,))
    before = bootstrap.stamp_of("operations")
    smaller.write_text(smaller.read_text().replace("14", "15"))
    assert bootstrap.stamp_of("operations") != before


def test_the_bootstrap_runs_on_the_standard_library_alone() -> None:
    imported = re.findall(r"^(?:import|from) (\w+)", Path(bootstrap.__file__).read_text(), re.MULTILINE)
    assert set(imported) <= bootstrap.sys.stdlib_module_names | {"__future__"}


def test_an_environment_finds_the_packages_of_its_clone_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "my clone"
    (root / "counting").mkdir(parents=True)
    (root / "counting" / "__init__.py").write_text("")
    folder = tmp_path / ".venv"
    venv.create(folder)
    monkeypatch.setattr(bootstrap, "ROOT", root)
    bootstrap.write_path(folder)
    bootstrap.write_path(folder)
    command = [folder / "bin" / "python", "-c", "import counting; print(counting.__file__)"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.stdout.strip() == str(root / "counting" / "__init__.py"), done.stderr


@pytest.mark.parametrize("name", ["plain", "my clone é", 'it\'s 100 $HOME "mine"', "long/" * 30])
def test_a_command_starts_wherever_the_clone_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    root = tmp_path / name
    folder = root / ".venv"
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (root / "pyproject.toml").write_text('[project.scripts]\ncounts = "counting:main"\n')
    (root / "counting.py").write_text("import sys\n\n\ndef main():\n    print(len(sys.argv), *sys.argv[1:])\n")
    monkeypatch.setattr(bootstrap, "ROOT", root)
    bootstrap.write_scripts(folder)
    done = subprocess.run([folder / "bin" / "counts", "a word", "$X"], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("3 a word $X\n", "")


def test_an_older_python_reads_what_make_runs_first_and_is_told_which_one_it_takes() -> None:
    first = bootstrap.ROOT / "llmd_common" / "python_first.py"
    ast.parse(first.read_text(), feature_version=(3, 6))
    oldest, newest = (".".join(map(str, version)) for version in (bootstrap.OLDEST, bootstrap.NEWEST))
    assert f'ALLOWED = "{oldest} to {newest}"' in first.read_text()
    assert "python3 llmd_common/python_first.py" in (bootstrap.ROOT / "Makefile").read_text()
    old = f"import sys; sys.version_info = (3, 6, 8); sys.argv = [{str(first)!r}]; exec(open({str(first)!r}).read())"
    done = subprocess.run([sys.executable, "-c", old], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "Python 3.6" in done.stderr
    assert "Allowed: Python 3.11 to 3.14" in done.stderr


def test_a_newer_python_goes_on_to_the_bootstrap() -> None:
    first = bootstrap.ROOT / "llmd_common" / "python_first.py"
    done = subprocess.run([sys.executable, str(first), "nothing"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "usage: bootstrap.py program|operations|laptop|dev" in done.stderr


@pytest.mark.parametrize("target", ["cost", "status", "doctor", "up", "test"])
def test_make_names_the_clouds_that_there_are(target: str) -> None:
    command = ["make", "--no-print-directory", target, "CLOUD=foo"]
    done = subprocess.run(command, cwd=bootstrap.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("CLOUD=foo is not a cloud. Allowed: ")
    assert f"Fix: make {target} CLOUD=" in done.stderr


@pytest.fixture
def packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The packages of a set that does without some files, once installed by a uv that writes two of them."""
    monkeypatch.setenv("LLMD_GKE_CACHE", str(tmp_path))
    for name, text in {"txt": "demo==1", "unused": "# not loaded\ndemo/*.a\n"}.items():
        (tmp_path / f"demo.{name}").write_text(text)
    uv = tmp_path / "uv"
    (tmp_path / "uv.py").write_text(UV)
    uv.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} {shlex.quote(str(tmp_path / "uv.py"))} "$@"\n')
    uv.chmod(0o755)
    monkeypatch.setattr(bootstrap, "requirements", lambda name: tmp_path / f"{name}.txt")
    monkeypatch.setattr(bootstrap, "uv", lambda: uv)
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    return bootstrap.beside_folder("demo") / "lib" / version / "site-packages"


UV = """
import sys
from pathlib import Path

folder = Path(sys.argv[sys.argv.index("--python") + 1]).parents[1]
(packages,) = folder.glob("lib/python3.*/site-packages")
(packages / "demo").mkdir()
for name in ("used.so", "static.a"):
    (packages / "demo" / name).touch()
Path(sys.argv[sys.argv.index("--cache-dir") + 1]).mkdir(exist_ok=True)
sys.exit("demo: hash mismatch" if (folder.parent / "broken").exists() else 0)
"""


def test_a_set_is_installed_without_what_is_unused_and_removed_again(packages: Path) -> None:
    bootstrap.beside("demo", lambda _: None)
    assert [file.name for file in (packages / "demo").iterdir()] == ["used.so"]
    assert not list(bootstrap.cache_folder().glob("*.downloads"))
    bootstrap.remove("demo")
    assert not bootstrap.beside_folder("demo").exists()


def test_a_broken_download_leaves_nothing_half_installed(packages: Path) -> None:
    (bootstrap.cache_folder() / "broken").touch()
    with pytest.raises(bootstrap.BootstrapFailed, match="does not match the pinned hash"):
        bootstrap.beside("demo", lambda _: None)
    assert not bootstrap.beside_folder("demo").exists()
    assert not packages.exists()
