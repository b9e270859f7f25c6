"""What stands in front of the languages: the page that leads to the reader's, and that of lost addresses."""

from pathlib import Path

from book import previews
from book.contents import base_address
from book.ext.assets import ICON, colors
from book.ext.font_subset import page_faces
from book.ext.page import FIND_SITE_SCRIPT, HEAD_SCRIPT, allow_only_these_styles, content_security_policy
from book.scripts import FOLDER
from book.templates import render
from d2lmini.language import words
from d2lmini.notebook.widgets.bundler import bundle


def write_front(site: Path, root: Path, languages: list[str]) -> None:
    """Write what stands beside the folders of these languages."""
    base = base_address(root)
    landings = [{"code": code, **words(code)["language"], "words": words(code)["site"]} for code in languages]
    for name, missing in (("index.html", False), ("404.html", True)):
        page = render(
            "theme/landing.html",
            languages=landings,
            missing=missing,
            prefix=f"{base}/" if missing else "",
            base=base,
            preview=previews.address(base, languages[0], "index"),
            policy=content_security_policy(*[FIND_SITE_SCRIPT] * missing),
            head_script=HEAD_SCRIPT,
            find_site_script=FIND_SITE_SCRIPT,
            icon=ICON,
            colors=colors(),
        )
        page = page.replace("<style>", "<style>" + page_faces(page, set(), languages[0]), 1)
        (site / name).write_text(allow_only_these_styles(page), encoding="utf-8")
    (site / "landing.js").write_text(bundle(FOLDER, "landing.js", {}), encoding="utf-8")
    (site / ".nojekyll").touch()  # else GitHub Pages leaves out folders that begin with _
