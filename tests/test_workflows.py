"""The workflows of GitHub: what they run exists, what they use is pinned."""

import importlib.util
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from making import ROOT

import course
from book.browser import BROWSERS

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
READ = {path.stem: yaml.safe_load(path.read_text(encoding="utf-8")) for path in WORKFLOWS}
# those with steps of their own; the others call a workflow
JOBS = [
    pytest.param(job, id=f"{name}-{part}")
    for name, workflow in READ.items()
    for part, job in workflow["jobs"].items()
    if "steps" in job
]


def commands(job: dict[str, Any]) -> list[list[str]]:
    """The commands of a job's steps, word by word, without comments and without files that they write."""
    scripts = [step["run"] for step in job["steps"] if "run" in step and "github.token" not in str(step)]
    scripts = [re.sub(r"^docker run .*? \"\$IMAGE\" ", "", script) for script in scripts]
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
        re.fullmatch(
            r"(actions/[\w-]+|lycheeverse/lychee-action)@[0-9a-f]{40}|docker://\S+@sha256:[0-9a-f]{64}", name
        )
        for name in used
    )
    assert not re.search("-latest", str(job["runs-on"]))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_may_only_read_unless_a_job_says_more(path: Path) -> None:
    assert yaml.safe_load(path.read_text(encoding="utf-8"))["permissions"] == {"contents": "read"}


def test_each_push_runs_the_tests_and_each_night_all_of_them() -> None:
    assert (ROOT / ".ci/run").read_text(encoding="utf-8").splitlines()[-1] == "exec python3 course.py test"
    for name, when, command in (
        ("test", "pull_request", ["test"]),
        ("nightly", "schedule", ["test", "--all"]),
    ):
        assert when in READ[name][True]  # YAML reads the key `on` so
        first, *_ = READ[name]["jobs"].values()
        assert commands(first) == [["python", "course.py", *command]]
    # what the one leaves out, the other calls
    assert (
        READ["test"][True]["push"]["branches-ignore"][:1]
        == READ["pages"][True]["push"]["branches"]
        == ["main"]
    )


CALLED = "./.github/workflows/{}.yml"


def test_nothing_is_published_but_what_passed_its_tests() -> None:
    pages, release = READ["pages"]["jobs"], READ["release"]["jobs"]
    assert pages["test"]["uses"] == CALLED.format("test")
    assert {"test", "site"} <= {*pages["notebooks"]["needs"]} and "if" not in pages["notebooks"]
    assert {"test", "notebooks"} <= {*pages["publish"]["needs"]}
    for job in ("test", "notebooks"):
        assert f"needs.{job}.result == 'success'" in pages["publish"]["if"]
    assert [release[job]["uses"] for job in ("all", "browsers", "site")] == [
        CALLED.format(name) for name in ("nightly", "browsers", "site")
    ]
    assert {*release["release"]["needs"]} == {"all", "browsers", "site"}
    # no always(), no cancelled(): one that failed stops it; and so do missing PDFs
    assert release["release"]["if"] == "needs.site.outputs.pdf == 'success'"
    for called in ("test", "nightly", "browsers", "site"):
        assert "workflow_call" in READ[called][True]


def test_what_is_published_is_stamped() -> None:
    site = READ["site"]
    assert site["env"]["D2LMINI_REPOSITORY"] == "${{ github.server_url }}/${{ github.repository }}"
    assert site["env"]["D2LMINI_REF"] == "${{ inputs.ref }}"
    for job in site["jobs"].values():
        done = commands(job)
        stamping = done.index(["python", "-m", "tools.notebooks.stamp"])
        assert stamping < done.index(["python", "course.py", "site"])
    assert READ["pages"]["jobs"]["site"]["with"] == {"ref": "${{ github.sha }}"}
    assert READ["release"]["jobs"]["site"]["with"] == {"ref": "${{ github.ref_name }}"}


def test_other_browsers_are_those_that_the_tests_can_use() -> None:
    jobs = yaml.safe_load((ROOT / ".github/workflows/browsers.yml").read_text(encoding="utf-8"))["jobs"]
    assert ["chromium", *jobs["browser"]["strategy"]["matrix"]["browser"]] == list(BROWSERS)


def test_who_may_write_runs_no_package() -> None:
    """A job with a token to write, or with one in a step, installs nothing and runs no code of the course."""
    for workflow in READ.values():
        for job in workflow["jobs"].values():
            writing = {name for name, may in job.get("permissions", {}).items() if may == "write"}
            if writing or "github.token" in str(job):
                assert not re.search(r"python|pip|npm|actions/checkout|lychee-action", str(job)), job
            if "steps" in job:
                checkouts = [step for step in job["steps"] if "actions/checkout" in step.get("uses", "")]
                assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_workflows_hold_nothing_that_could_be_abused() -> None:
    command = ["zizmor", "--offline", "--no-progress", "--min-severity", "medium", ROOT / ".github"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(
    ("schema", "pattern"), [("github-workflows", "workflows/*.yml"), ("dependabot", "*.yml")]
)
def test_github_can_read_them(schema: str, pattern: str) -> None:
    files = sorted((ROOT / ".github").glob(pattern))
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert files and done.returncode == 0, done.stdout
