"""Build a book whose every word is an attack: `python tests/hostile.py FOLDER`, in a process of its own.

Words are read once and kept, so what stands in for them has to come before all else.
"""

import copy
import json
import os
import sys
from pathlib import Path
from typing import Any

import yaml

from d2lmini import language

ATTACK = """<b class="evil">&amp;"'</b><script>evil = 1</script>"""
IN_MARKDOWN = ATTACK.replace("<", r"\<").replace("&", r"\&")
EXERCISE = "self-attention/why-scale"
FORMATS = ("tag", "sphinx", "plural")  # of a language, no words
real_words = language.words


def attacked(value: Any) -> Any:
    """The same structure with an attack at the end of each text."""
    if isinstance(value, dict):
        return {key: inner if key == "kind" else attacked(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [attacked(inner) for inner in value]
    return value + ATTACK if isinstance(value, str) else value


def hostile_words(code: str) -> dict[str, Any]:
    """All words of a language, attacked."""
    found = copy.deepcopy(real_words(code))
    kept = {name: found["language"][name] for name in FORMATS}
    return {**found, "site": attacked(found["site"]), "exercises": attacked(found["exercises"])} | {
        "language": attacked(found["language"]) | kept
    }


def main(root: Path) -> None:
    """Build the English edition alone."""
    language.words = hostile_words  # type: ignore[assignment]
    from making import cell, make_book

    from book import build, edition
    from d2lmini.notebook import content
    from tools.exercises import compile as compiler

    def exercise() -> dict:
        """Compile the exercise from the words of a hostile author."""
        data = yaml.safe_load((compiler.SOURCES / f"{EXERCISE}.yaml").read_text(encoding="utf-8"))
        source = root / "exercises" / f"{EXERCISE}.yaml"
        source.parent.mkdir(parents=True)
        source.write_text(yaml.safe_dump(attacked(data), allow_unicode=True), encoding="utf-8")
        compiled, mistakes = compiler.compile_file(source)
        assert not mistakes, mistakes
        source.with_suffix(".json").write_text(compiled, encoding="utf-8")
        tables = {"formerly": {}, "chapters": {EXERCISE.partition("/")[0]: 1}}
        for name, table in tables.items():
            (root / "exercises" / f"{name}.json").write_text(json.dumps(table), encoding="utf-8")
        content._EXERCISES = root / "exercises"
        made = content.stored(EXERCISE, "en")
        return cell(
            "code", "ex", "x", [{"output_type": "display_data", "data": {"text/html": made}, "metadata": {}}]
        )

    def shown(name: str, **tags: Any) -> dict:
        output = {"output_type": "stream", "name": "stdout", "text": ATTACK}
        return cell("code", name, f"print('''{ATTACK}''')", [output], **tags)

    picture = {"output_type": "display_data", "data": {"image/png": "AAAA"}, "metadata": {"alt": ATTACK}}
    prose = f"# Basics {IN_MARKDOWN}\n\nSaid: {IN_MARKDOWN}\n\n`{ATTACK}`\n\n| {IN_MARKDOWN} |\n|---|\n| x |"
    pages = {
        "index": [
            cell("markdown", "index", f"# Welcome {IN_MARKDOWN}\n\nHere: {IN_MARKDOWN}"),
            cell("markdown", "progress", "## Progress"),
        ],
        "basics": [
            cell("markdown", "basics", prose),
            shown("code"),
            shown("hidden", tags=["hide-input"]),
            cell("code", "picture", "x", [picture]),
            cell("markdown", "more", f"## More {IN_MARKDOWN}"),
            exercise(),
        ],
    }
    make_book(root, {"en": pages})
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    os.environ["D2LMINI_REPOSITORY"] = "https://github.com/account/" + ATTACK
    config["html"]["baseurl"] = "https://course.test/" + ATTACK
    (root / "_config.yml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    rows = ["en,vi,zh,section,note", ",".join(['"' + ATTACK.replace('"', '""') + '"'] * 3) + ",basics#more,"]
    (root / "chapters" / "glossary.csv").write_text("\n".join(rows), encoding="utf-8")
    work = root / "_build"
    edition.build_language("en", root, work, ["en"], pdf="")
    build._assemble(work, root, work / "site", ["en"], pdfs={})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
