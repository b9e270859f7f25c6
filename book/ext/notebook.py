"""Prepare a notebook before myst-nb parses it, and remember what the pages need to know about it."""

import json
import math
import re
from html import escape
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.errors import ExtensionError

from book import inputs
from book.chapters import source as text_of
from book.ext import welcome
from book.stale import stale_cells
from book.talk import talk
from d2lmini.language import words
from d2lmini.notebook.content import exercise_content, readable
from d2lmini.notebook.svg import for_page
from d2lmini.notebook.widgets import fallback, stored_widgets

SHOWS = re.compile(r"d2l\.(exercise|explorer|figure)\([^()]*\)")  # it says nothing that its output does not
HIDDEN = {"hide-input", "hide-cell", "remove-input", "remove-cell"}
PHONE = 390  # pixels
VIEW = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
HORIZONTAL = re.compile(r'd="M([\d.]+) ([\d.]+)L([\d.]+) \2"')


def only_shows(code: str) -> bool:
    """Say whether a cell is one call that only shows something, without a comment beside it."""
    return bool(SHOWS.fullmatch(code.strip()))


def printed_code(notebook: dict[str, Any]) -> list[str]:
    """The code that a reader of the page sees without opening anything."""
    return [
        text_of(cell)
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
        and not HIDDEN & set(cell["metadata"].get("tags", []))
        and not only_shows(text_of(cell))
    ]


def _drawn(kind: str, name: str, language: str) -> str:
    """What stands on the page until a widget is awake; empty where that is what the notebook stores."""
    body = readable(name, language) if kind == "exercise" else welcome.first_view(kind, language)
    return fallback(kind, name, body) if body else ""


def _folded(drawing: str, name: str) -> str:
    """Return two or four columns of maps in two rows, drawn with the element `name`; "" for other figures."""
    lines = {(float(left), float(right)) for left, _, right in HORIZONTAL.findall(drawing)}
    columns = sorted(line for line in lines if line[1] - line[0] > 10)  # shorter ones mark the scales
    if len(columns) not in (2, 4):
        return ""
    width, height = map(float, VIEW.findall(drawing)[0])
    half = len(columns) // 2
    seam = max((columns[half - 1][1] + columns[half][0]) / 2, columns[half][0] - 12)

    def part(x: float, y: float, left: float, right: float) -> str:
        size = f'x="{x:.2f}" y="{y}" width="{right - left:.2f}" height="{height}"'
        return f'<svg {size} viewBox="{left:.2f} 0 {right - left:.2f} {height}"><use href="#{name}"/></svg>'

    # what the rows are called stands at the left of both
    names = columns[0][0] - 1
    parts = part(0, 0, 0, seam) + part(0, height, 0, names) + part(names, height, seam, width)
    box = f"0 0 {max(seam, names + width - seam):.2f} {2 * height}"
    label = re.findall('aria-label="[^"]*"', drawing)[0]
    return f'<svg class="drawing folded" viewBox="{box}" role="img" {label}>{parts}</svg>'


def _prepare_output(output: dict[str, Any], prefix: str, label: str, language: str = "en") -> None:
    data = output.get("data", {})
    alt = output.get("metadata", {}).get("alt") or label
    if "image/svg+xml" in data:
        try:
            drawing = for_page("".join(data["image/svg+xml"]), prefix=prefix, alt=alt)
        except ValueError as error:
            where = f"the figure {prefix.rstrip('-')} (cell and number of the output)"
            raise ExtensionError(f"{where}: {error}") from None
        # on a phone a wide one scrolls sideways: no word of it gets smaller than 9 px
        sizes = [float(size) for size in re.findall(r"font-size:([\d.]+)px", drawing)]
        if sizes and (least := 9 / min(sizes) * float(VIEW.findall(drawing)[0][0])) > PHONE:
            drawing = drawing.replace('style="', f'style="min-width:{math.ceil(least)}px;', 1)
            if folded := _folded(drawing, name := f"{prefix}all"):
                head, picture = re.findall("(?s)(.*?)(<path.*)</svg>$", drawing)[0]
                drawing = f'{head}<g id="{name}">{picture}</g></svg>{folded}'
        output["data"] = {"text/html": f'<div class="figure scroll" data-label="plot">{drawing}</div>'}
    elif "image/png" in data:
        picture = "".join(data["image/png"]).replace("\n", "")
        image = f'<img src="data:image/png;base64,{picture}" alt="{escape(alt)}">'
        output["data"] = {"text/html": f'<div class="figure">{image}</div>'}
    elif "text/html" in data:
        markup = "".join(data["text/html"])
        for kind, name in stored_widgets(markup):
            # the stored text/plain is for terminals; the page takes the HTML and wakes it
            markup = _drawn(kind, name, language) or markup
            if kind == "exercise" and exercise_content(name, language)["kind"] == "predict":
                markup = markup.replace(f'data-id="{name}"', f'data-id="{name}" data-kind="predict"', 1)
            output["data"] = {"text/html": markup}


def _description(notebook: dict[str, Any]) -> str:
    """The first sentences of the page, for search engines and link previews."""
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        for block in re.split(r"\n\s*\n", text_of(cell)):
            if not re.match(r"\s*(#|\||[-*>]|\d+\.|\$\$)", block):
                plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", block)
                plain = re.sub(r"\$[^$]*\$|[*_`]", "", " ".join(plain.split()))
                return plain if len(plain) <= 180 else plain[:180].rsplit(" ", 1)[0] + " …"
    return ""


def prepare(app: Sphinx, docname: str, source: list[str]) -> None:
    path = Path(app.env.doc2path(docname))
    if path.suffix != ".ipynb":
        return
    notebook = json.loads(source[0])
    language = app.config.d2lmini_language
    plot = words(language)["site"]["script"]["plot"]
    meta = app.env.metadata[docname]
    meta["cell_ids"] = [cell["id"] for cell in notebook["cells"]]
    outputs = [output for cell in notebook["cells"] for output in cell.get("outputs", [])]
    markup = "".join("".join(output.get("data", {}).get("text/html", "")) for output in outputs)
    meta["exercises"] = [name for kind, name in stored_widgets(markup) if kind == "exercise"]
    meta["description"] = _description(notebook)
    meta["behind"] = []
    english = path.parent.parent / "en" / path.name
    original = notebook
    if language != "en" and english.exists():
        original = json.loads(english.read_text(encoding="utf-8"))
        meta["behind"] = stale_cells(original, notebook)
    meta["talk"] = talk(notebook, original)
    # of the English text: a chapter takes as long in every language
    meta["minutes"] = welcome.reading_minutes(original, printed_code(original))
    for cell in notebook["cells"]:
        for count, output in enumerate(cell.get("outputs", [])):
            _prepare_output(output, f"{cell['id']}-{count}-", plot, language)
        if cell.get("outputs") and only_shows(text_of(cell)):
            cell["metadata"].setdefault("tags", []).append("remove-input")
    source[0] = json.dumps(notebook)


def _changed(app: Sphinx, env: BuildEnvironment, *names: set[str]) -> list[str]:
    """Name the pages whose notebook changed: Sphinx compares times, which fail when a clock is set back."""
    now = {}
    for name in env.found_docs:
        path = Path(env.doc2path(name))
        editions = {path, path.parent.parent / "en" / path.name}
        now[name] = inputs.digest(filter(Path.exists, editions))
    before = getattr(env, "d2lmini_notebooks", {})
    env.d2lmini_notebooks = now  # type: ignore[attr-defined]
    return [name for name, digest in now.items() if before.get(name) != digest]


def setup(app: Sphinx) -> None:
    app.connect("env-get-outdated", _changed)
    app.connect("source-read", prepare)
