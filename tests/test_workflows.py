"""The workflows of GitHub: what they run exists, what they use is pinned."""

import importlib.util
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml
from making import ROOT

import course
from tools.browser import BROWSERS

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
]


def commands(job: dict[str, Any]) -> list[list[str]]:
    """The commands of a job's steps, word by word."""
    scripts = [step["run"] for step in job["steps"] if "run" in step and step.get("shell") != "python"]
    return [
        shlex.split(line)
        for script in scripts
        for line in re.split(r"&&|\n", re.sub(r"\$\{\{.*?\}\}", "X", script))
        if line.strip()
    ]


@pytest.mark.parametrize("job", JOBS)
def test_each_command_exists(job: dict[str, Any]) -> None:
    for interpreter, what, *arguments in commands(job):
        if [interpreter, what, *arguments[:2]] == ["sudo", "apt-get", "install", "-y"]:
            continue  # the runner's own
        assert interpreter in ("python", "python3")
        if what == "course.py":
            assert arguments[0] in course.VERBS
        elif what == "-m":
            assert importlib.util.find_spec(arguments[0]), arguments[0]
            if arguments[0] == "pytest":
                named = [
                    word for word in arguments[1:] if "/" in word or (word.isalpha() and word != "loadfile")
                ]
                assert named and all((ROOT / word).exists() for word in named), named
        else:
            assert what == "-c"
            compile(arguments[0], "a step", "exec")


@pytest.mark.parametrize("job", JOBS)
def test_a_job_ends_and_uses_only_what_cannot_change(job: dict[str, Any]) -> None:
    assert job["timeout-minutes"] <= 60
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[\w-]+@[0-9a-f]{40}", name) for name in used)
    assert not re.search("-latest", str(job["runs-on"]))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_more(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}


def test_other_browsers_are_those_that_the_tests_can_use() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/browsers.yml").read_text(encoding="utf-8"))["jobs"]
    assert ["chromium", *jobs["browser"]["strategy"]["matrix"]["browser"]] == list(BROWSERS)


def test_the_lowest_versions_are_those_that_the_package_promises(tmp_path: Path) -> None:
    test = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text(encoding="utf-8"))
    script = next(step["run"] for step in test["jobs"]["lowest"]["steps"] if step.get("shell") == "python")
    for name in ("pyproject.toml", "requirements.txt"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, check=True)
    lowest = (tmp_path / "lowest.txt").read_text(encoding="utf-8").splitlines()
    pinned = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
    promised = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    assert sorted(set(lowest) - set(pinned)) == sorted(promise.replace(">=", "==") for promise in promised)
    assert len(lowest) == len(pinned)
    assert test["jobs"]["lowest"]["steps"][1]["with"]["python-version"] == "3.11"
