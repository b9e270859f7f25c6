"""Open an issue about a workflow that failed: `python -m tools.report TITLE FILE`, in GitHub's runners.

An open issue of that title gets a comment, so that what fails every week is one issue.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

LIMIT = 60_000  # letters; GitHub takes 65 536


def report(title: str, text: str) -> None:
    """Open an issue, or add to the open one of the same title."""
    search = ["issue", "list", "--state", "open", "--search", f'in:title "{title}"', "--json", "number,title"]
    numbers = [issue["number"] for issue in json.loads(_gh(search)) if issue["title"] == title]
    about = ["comment", str(numbers[0])] if numbers else ["create", "--title", title]
    _gh(["issue", *about, "--body-file", "-"], text)


def _gh(arguments: list[str], given: str = "") -> str:
    done = subprocess.run(
        ["gh", *arguments], input=given, stdout=subprocess.PIPE, encoding="utf-8", check=True
    )
    return done.stdout


def main(arguments: list[str]) -> int:
    """Report the content of a file, if the failed run has written it, and where the run can be read."""
    title, file = arguments
    place = (os.environ[f"GITHUB_{part}"] for part in ("SERVER_URL", "REPOSITORY", "RUN_ID"))
    found = Path(file).read_text(encoding="utf-8")[:LIMIT] if Path(file).exists() else ""
    report(title, "{}/{}/actions/runs/{}\n\n".format(*place) + found)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
