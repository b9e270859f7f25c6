"""How JupyterLab reads and writes the reader's copies, as `course.py lab` starts it (`book/lab.py`)."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import nbformat
from ipykernel.ipkernel import IPythonKernel
from jupyter_server.services.contents.largefilemanager import AsyncLargeFileManager

from book.chapters import path_of
from book.lab import numbered, unnumbered
from d2lmini.notebook.content import stored
from d2lmini.notebook.progress import PROGRESS_FILE
from d2lmini.notebook.widgets import stored_widgets

VIEW = "application/vnd.jupyter.widget-view+json"


class LabContents(AsyncLargeFileManager):
    """The files of the folder in which the reader works, `work/<language>`: chapters have their numbers."""

    def _get_os_path(self, path: str) -> str:
        return super()._get_os_path(unnumbered(path.strip("/")))

    def _base_model(self, path: str) -> dict[str, Any]:
        return super()._base_model(numbered(path))

    def mark_trusted_cells(self, nb: Any, path: str = "") -> None:
        """Trust a copy that shows what the course stores and nothing else."""
        folder = Path(self.root_dir)
        original = path_of(folder.name, Path(unnumbered(path)).stem, folder.parents[1])
        if original.exists() and nbformat.read(original, 4).cells == nb.cells:
            # what JupyterLab would note of its kernel, and mark as a change
            nb.metadata.kernelspec.display_name = "Python 3 (ipykernel)"
            nb.metadata.language_info = IPythonKernel.language_info
            self.notary.sign(nb)
        super().mark_trusted_cells(nb, path)
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                cell.source = numbered(cell.source)

    def check_and_sign(self, nb: Any, path: str = "", **options: Any) -> None:
        """Store each widget of the course as it can be read without a kernel, with what was answered.

        Its view would show nothing but an error once the kernel is gone.
        """
        language, answers = Path(self.root_dir).name, {}
        with suppress(OSError, ValueError, KeyError):  # nothing answered yet, or a damaged file
            file = Path(self.root_dir, path).with_name(PROGRESS_FILE)
            answers = json.loads(file.read_text(encoding="utf-8"))["answers"]
        for cell in nb.cells:
            if cell.cell_type == "markdown":
                cell.source = unnumbered(cell.source)
            for output in cell.get("outputs", ()):
                data = output.get("data", {})
                for kind, name in stored_widgets(data.get("text/html", "")) if VIEW in data else ():
                    del data[VIEW]
                    if kind == "exercise" and name in answers:
                        data["text/html"] = stored(name, language, answers[name])
        super().check_and_sign(nb, path, **options)
