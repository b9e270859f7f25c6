"""Execute the notebooks and store what they print: `python -m tools.notebooks.execute [NAME …] [--lang en]`.

What is stored is the same, byte for byte, whoever executes it and however often: then a difference in a
commit is a difference in the course. So everything that varies by itself is fixed (the environment of the
kernel, the metadata) or left out (times, and the state of widgets, which no viewer shows without a kernel).
"""

import argparse
import asyncio
import json
import os
import re
import sys
import time
from pathlib import Path

from book.chapters import LANGUAGES, ROOT, Cell, CourseError, Notebook, find, read, shown, sweep, write
from book.lock import locked
from book.stale import VARIES, source_hash, stamp_outputs
from tools.notebooks import stamp
from tools.notebooks.kernels import KERNEL_ENVIRONMENT, ThisPython

METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_SECONDS = 300


class CellError(CourseError):
    """A cell failed, or wrote to stderr."""


async def execute(
    path: Path,
    notebook: Notebook,
    python: str = "",
    environment: dict[str, str] | None = None,
) -> Notebook:
    """Return the notebook with the outputs that its cells give now, in a kernel of this Python.

    Args:
        path: where the notebook lies; the kernel starts in that folder.
        notebook: its content, left as it is.
        python: another Python than this one.
        environment: the kernel's, instead of this process's.

    Raises:
        CellError: a cell raised an error, ran out of time, ended the kernel or wrote to stderr.
    """
    import nbformat
    from jupyter_client.manager import AsyncKernelManager
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    at = "?"

    def started(cell: Cell, cell_index: int) -> None:
        nonlocal at
        at = cell["id"]

    node = nbformat.reads(json.dumps(notebook), as_version=4)
    client = NotebookClient(
        node,
        resources={"metadata": {"path": str(path.parent)}},
        timeout=CELL_SECONDS,
        record_timing=False,
        store_widget_state=False,
        coalesce_streams=True,
        on_cell_start=started,
    )
    client.km = AsyncKernelManager(kernel_spec_manager=ThisPython(other=python))
    try:
        await client.async_execute(env={**(environment or os.environ), **KERNEL_ENVIRONMENT})
    except CellExecutionError as error:
        where = error.traceback.rsplit("-" * 75, 1)[-1]  # before it stands the cell's whole source
        plain = re.sub(r"\x1b\[[0-9;]*m", "", where).strip()
        raise CellError(f"{shown(path)}#{at}: {error.ename}: {error.evalue}\n{plain}") from None
    except CellTimeoutError:
        raise CellError(f"{shown(path)}#{at}: still running after {CELL_SECONDS} s") from None
    except DeadKernelError:
        raise CellError(f"{shown(path)}#{at}: the kernel died here; is there memory left?") from None
    done: Notebook = json.loads(nbformat.writes(node))
    for cell in done["cells"]:
        for output in cell.get("outputs", ()):
            if output.get("name") == "stderr":
                raise CellError(f"{shown(path)}#{cell['id']}: writes to stderr:\n{''.join(output['text'])}")
    return done


def sanitize(notebook: Notebook, stored: Notebook) -> Notebook:
    """Take out, in place, what differs between two executions of the same notebook.

    Args:
        notebook: just executed.
        stored: what lay in the file before. A cell tagged `nbval-ignore-output` keeps its outputs of then, as
            long as they are of the same code and kinds, because its times would differ in every commit.
    """
    notebook["metadata"] = METADATA
    before = {cell["id"]: cell for cell in stored["cells"]}
    for cell in notebook["cells"]:
        cell["metadata"].pop("execution", None)
        for output in cell.get("outputs", ()):
            for bundle in (output.get("data", {}), output.get("metadata", {})):
                bundle.pop(WIDGET_VIEW, None)
        if "outputs" in cell:  # a curve that grew while the cell ran was a widget, and leaves nothing behind
            cell["outputs"] = [output for output in cell["outputs"] if output.get("data", True)]
    stamp_outputs(notebook)
    for cell in notebook["cells"]:
        old = before[cell["id"]]
        same_code = source_hash(old, "ran") == source_hash(cell, "ran")
        if VARIES in cell["metadata"].get("tags", ()) and same_code and _kinds(old) == _kinds(cell):
            cell["outputs"] = old["outputs"]
    return notebook


def _kinds(cell: Cell) -> list[tuple[str, list[str]]]:
    return [(output["output_type"], sorted(output.get("data", ()))) for output in cell.get("outputs", ())]


async def execute_all(paths: list[Path], root: Path = ROOT) -> list[CourseError]:
    """Execute and store notebooks, as many at a time as there are cores; return what went wrong.

    A notebook that fails is left as it was; the others are still stored.
    """
    Path(KERNEL_ENVIRONMENT["IPYTHONDIR"]).mkdir(parents=True, exist_ok=True)
    free = asyncio.Semaphore(os.cpu_count() or 1)
    failed: list[CourseError] = []

    async def execute_one(path: Path) -> None:
        async with free:
            stored, began, outcome = read(path), time.monotonic(), "failed"
            try:
                done = sanitize(await execute(path, stored), stored)
                outcome = "stored" if write(path, done) else "as before"
            except CourseError as error:
                failed.append(error)
            except OSError as error:  # the disk is full, or the file may not be written
                failed.append(CourseError(f"{shown(path, root)}: left as it was. {error}"))
            cells, seconds = len(stored["cells"]), time.monotonic() - began
            print(f"{shown(path, root)}: {cells} cells in {seconds:.1f} s, {outcome}", flush=True)

    await asyncio.gather(*(execute_one(path) for path in paths))
    return failed


def main(arguments: list[str] | None = None, root: Path = ROOT) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser("course.py notebooks", description="Execute notebooks, store outputs.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="a chapter, as self-attention; without: all")
    parser.add_argument("--lang", choices=LANGUAGES, help="this edition only")
    about = "execute nothing; write the course's address and version wherever they are stated"
    parser.add_argument("--stamp", action="store_true", help=about)
    options = parser.parse_args(arguments)
    try:
        paths = find(options.names, [options.lang] if options.lang else LANGUAGES, root)
        if options.stamp:
            return stamp.main(paths, root)
        with locked(root / "_build" / "notebooks.lock", "notebooks: another run stores some; this one waits"):
            sweep({path.parent for path in paths})
            failures = asyncio.run(execute_all(paths, root))
    except CourseError as error:
        failures = [error]
    for failure in failures:
        print(f"\n{failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
