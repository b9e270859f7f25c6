"""The workflows of GitHub: what they run exists, what they use is pinned."""

import importlib.util
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml
from making import ROOT

import course
from book.browser import BROWSERS

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
JOBS = [
    pytest.param(job, id=f"{path.stem}-{name}")
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].items()
]


def commands(job: dict[str, Any]) -> list[list[str]]:
    """The commands of a job's steps, word by word, without comments and without files that they write."""
    scripts = [step["run"] for step in job["steps"] if "run" in step and "github.token" not in str(step)]
    lines = [line for script in scripts for line in re.split(r"&&|\n", re.sub(r"\$\{\{.*?\}\}", "X", script))]
    words = [shlex.split(re.sub(r" >>? \S+", "", line), comments=True) for line in lines]
    return [command for command in words if command]


def test_a_script_is_read_as_the_shell_reads_it() -> None:
    script = "sed 's/a/b/' x > y\nprintf '%s\\n' 'c<2' >> y  # why\n\npython -m pip && python -m uv"
    assert commands({"steps": [{"run": script}, {"uses": "x"}]}) == [
        ["sed", "s/a/b/", "x"],
        ["printf", "%s\\n", "c<2"],
        ["python", "-m", "pip"],
        ["python", "-m", "uv"],
    ]


@pytest.mark.parametrize("job", JOBS)
def test_each_command_exists(job: dict[str, Any]) -> None:
    for interpreter, what, *arguments in commands(job):
        if [interpreter, what, *arguments[:2]] == ["sudo", "apt-get", "install", "-y"]:
            continue  # the runner's own
        if interpreter in ("sed", "printf"):
            continue
        assert interpreter in ("python", "python3")
        if what == "course.py":
            assert arguments[0] in course.VERBS
        elif what == "-m":
            assert importlib.util.find_spec(arguments[0]), arguments[0]
            if arguments[0] == "pytest":
                named = [
                    word for word in arguments[1:] if "/" in word or (word.isalpha() and word != "loadgroup")
                ]
                assert named and all((ROOT / word).exists() for word in named), named
        else:
            assert what == "-c"
            compile(arguments[0], "a step", "exec")


@pytest.mark.parametrize("job", JOBS)
def test_a_job_ends_and_uses_only_what_cannot_change(job: dict[str, Any]) -> None:
    assert job["timeout-minutes"] <= 60
    used = [step["uses"] for step in job["steps"] if "uses" in step]
    assert all(
        re.fullmatch(r"(actions/[\w-]+|lycheeverse/lychee-action)@[0-9a-f]{40}", name) for name in used
    )
    assert not re.search("-latest", str(job["runs-on"]))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_more(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}


def test_each_push_runs_the_tests_and_each_night_all_of_them() -> None:
    assert (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()[-1] == "exec python3 course.py test"
    for name, when, command in (("test", "push", ["test"]), ("nightly", "schedule", ["test", "--all"])):
        workflow = yaml.safe_load((ROOT / f".github/workflows/{name}.yml").read_text(encoding="utf-8"))
        assert when in workflow[True]  # YAML reads the key `on` so
        first, *_ = workflow["jobs"].values()
        assert commands(first) == [["python", "course.py", *command]]


def test_other_browsers_are_those_that_the_tests_can_use() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/browsers.yml").read_text(encoding="utf-8"))["jobs"]
    assert ["chromium", *jobs["browser"]["strategy"]["matrix"]["browser"]] == list(BROWSERS)


def test_only_the_step_that_reports_holds_a_token() -> None:
    for path in WORKFLOWS:
        for job in yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"].values():
            reporting = [step for step in job["steps"] if "github.token" in str(step)]
            assert all("gh issue" in step["run"] and step["if"] == "failure()" for step in reporting)
            assert bool(reporting) == (job.get("permissions", {}).get("issues") == "write")
