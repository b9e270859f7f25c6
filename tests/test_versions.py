"""What is installed: locked for reading, pinned for the tests, promised by the package from the lowest on."""

import importlib.metadata
import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml
from making import ROOT
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name as canonical

import course
from tools import requirements as lock

PINS = (ROOT / "requirements.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCKED = (ROOT / lock.LOCK).read_text(encoding="utf-8")
MACHINES = [
    {
        "sys_platform": system,
        "platform_machine": machine,
        "python_version": python,
        "python_full_version": f"{python}.9",
    }
    for system, machine in (
        ("linux", "x86_64"),
        ("darwin", "arm64"),
        ("darwin", "x86_64"),
        ("win32", "AMD64"),
    )
    for python in ("3.11", "3.12", "3.13", "3.14")
]


def requirements(text: str) -> list[Requirement]:
    """The requirements of a file, without comments and hashes."""
    lines = re.sub(
        r"\s*\\\n\s*--hash=\S+", "", re.sub(r"(^|\s)#.*", "", text, flags=re.MULTILINE)
    ).splitlines()
    return [Requirement(line) for line in lines if line.strip()]


def holds(requirement: Requirement, machine: dict[str, str]) -> bool:
    system = {"linux": "Linux", "darwin": "Darwin", "win32": "Windows"}[machine["sys_platform"]]
    os_name = "nt" if system == "Windows" else "posix"
    environment = {
        **default_environment(),
        **machine,
        "platform_system": system,
        "os_name": os_name,
        "extra": "",
    }
    return requirement.marker is None or requirement.marker.evaluate(environment)


def test_the_lock_names_each_file_by_its_hash_and_no_place():
    entries = re.findall(r"^[a-z0-9](?:.*\\\n)*.*", LOCKED, re.MULTILINE)
    assert len(entries) == len(requirements(LOCKED)) > 50
    for entry in entries:
        assert re.match(r"[a-z0-9.-]+==\S+( ; [^\\]+)? \\\n", entry), entry
        assert re.findall(r"--hash=sha256:[0-9a-f]{64}(?= \\\n|$)", entry), entry
    assert not re.search(r"://|--index|--find-links|--extra| @ |/", re.sub("# .*", "", LOCKED))


def test_the_lock_is_in_step_with_the_versions_that_are_tested():
    """After a change of either file: `python3 course.py lock`."""
    pinned = {canonical(r.name): r for r in requirements(PINS)}
    locked = {canonical(r.name): r for r in requirements(LOCKED)}
    for named in requirements((ROOT / "book" / "requirements.txt").read_text(encoding="utf-8")):
        name = canonical(named.name)
        assert locked[name].specifier == pinned[name].specifier, name
        for machine in MACHINES:
            assert holds(named, machine) == holds(pinned[name], machine) == holds(locked[name], machine), name
    both = locked.keys() & pinned.keys()
    assert {name: locked[name].specifier for name in both} == {name: pinned[name].specifier for name in both}
    assert "torch" not in locked  # its files differ from one graphics card to another


@pytest.mark.parametrize("machine", MACHINES, ids=lambda machine: "-".join(machine.values()))
def test_the_lock_has_what_its_packages_need_on_each_system(machine):
    here = {
        canonical(r.name): next(iter(r.specifier)).version for r in requirements(LOCKED) if holds(r, machine)
    }
    for name, version in here.items():
        try:
            needs = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:  # of another system
            continue
        if importlib.metadata.version(name) != version:  # of another Python
            continue
        for need in map(Requirement, needs):
            if holds(need, machine):
                assert canonical(need.name) in here, f"{name} needs {need}"
                assert need.specifier.contains(here[canonical(need.name)], prereleases=True), (
                    f"{name} needs {need}"
                )


def test_a_lock_that_cannot_be_made_leaves_the_old_one(tmp_path, monkeypatch):
    for file in ("pyproject.toml", lock.LOCK):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_bytes((ROOT / file).read_bytes())
    monkeypatch.setattr(lock, "ROOT", tmp_path)
    codes = iter((1, 0))

    def compiled(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        aside = Path(command[command.index("--output-file") + 1])
        assert aside.read_text() == LOCKED  # from which it keeps the versions
        aside.write_text("new")
        return subprocess.CompletedProcess(command, next(codes))

    monkeypatch.setattr(lock.subprocess, "run", compiled)
    assert lock.main([]) == 1
    assert (tmp_path / lock.LOCK).read_text() == LOCKED
    assert lock.main(["--upgrade"]) == 0
    assert (tmp_path / lock.LOCK).read_text() == "new"
    assert os.listdir(tmp_path / "book") == ["requirements.lock"]


def test_reading_installs_what_is_locked_and_nothing_else(monkeypatch, tmp_path):
    installed: list[tuple[str, ...]] = []
    monkeypatch.setattr(course, "STAMP", tmp_path / "stamp")
    monkeypatch.setattr(course, "PYTHON", tmp_path / "python")
    monkeypatch.setattr(course, "LOG", tmp_path / "setup.log")
    monkeypatch.setattr(course, "make_venv", (tmp_path / "python").touch)
    monkeypatch.setattr(course, "pip", lambda what, *arguments: installed.append(arguments))
    course.set_up(course.READING)
    assert installed == [("--require-hashes", "-r", lock.LOCK)]
    course.set_up(course.EVERYTHING)
    assert installed[1:3] == [
        installed[0],
        ("-c", "requirements.txt", "-r", "requirements.txt", "-r", course.FRAMEWORKS),
    ]  # the tests run with what readers have


def test_pip_refuses_a_file_that_is_not_the_locked_one(tmp_path):
    """With nothing but a folder to install from: no network."""
    package = tmp_path / "demo-1.0-py3-none-any.whl"
    package.write_bytes(b"not what was locked")
    (tmp_path / "lock").write_text(f"demo==1.0 \\\n    --hash=sha256:{'0' * 64}\n")
    source = ["--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "there")]
    command = [
        course.sys.executable,
        "-m",
        "pip",
        "install",
        "--require-hashes",
        "-r",
        str(tmp_path / "lock"),
        *source,
    ]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert done.returncode
    told = course.reason("x", (done.stdout + done.stderr).splitlines())
    assert course.say("reasons.changed") in told


# ---- the lowest and the newest


def job(workflow: str, name: str) -> dict:
    return yaml.safe_load((ROOT / f".github/workflows/{workflow}.yml").read_text(encoding="utf-8"))["jobs"][
        name
    ]


def test_the_lowest_versions_are_those_that_the_package_promises():
    """The tool uv finds them: here only that it is asked for them, and that each is stated as the lowest."""
    assert all(re.fullmatch(r"[a-z-]+>=[\d.]+", promise) for promise in PROJECT["dependencies"])
    steps = job("test", "lowest")["steps"]
    assert PROJECT["requires-python"] == f">={steps[1]['with']['python-version']}"
    compiled, installed = [step["run"].split() for step in steps if " uv pip " in step.get("run", "")]
    assert {"--no-deps", "lowest-direct", "lowest.txt", "pyproject.toml"} <= {*compiled}
    assert installed[-4:] == ["--requirements", "requirements.txt", "--overrides", "lowest.txt"]


@pytest.mark.skipif(not shutil.which("sed"), reason="the workflow runs on Linux")
def test_the_newest_versions_are_no_older_than_those_tested(tmp_path):
    (script,) = [step["run"] for step in job("newest", "newest")["steps"] if "sed" in step.get("run", "")]
    *lines, _ = script.splitlines()
    (tmp_path / "requirements.txt").write_text(PINS, encoding="utf-8")
    subprocess.run(["sh", "-euc", "\n".join(lines)], cwd=tmp_path, check=True)
    newest = requirements((tmp_path / "newest.in").read_text(encoding="utf-8"))
    for tested, free in zip(requirements(PINS), newest, strict=False):
        version = next(iter(tested.specifier)).version
        assert (free.name, str(free.marker)) == (tested.name, str(tested.marker))
        assert free.specifier.contains(version) and free.specifier.contains("99")
        assert not free.specifier.contains("0.0.1")
    assert [str(more) for more in newest[len(requirements(PINS)) :]] == ["jupyter-book<2", "jax", "keras"]
