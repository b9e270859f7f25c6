"""How widgets are put together: modules joined to one, with words and colors; numbers as readers write."""

import gzip
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from making import ROOT

from d2lmini.language import LANGUAGES, words
from d2lmini.notebook.palette import COLORS
from d2lmini.notebook.widgets import EXPLORERS, KINDS, module_source
from d2lmini.notebook.widgets.bundler import BundleError, bundle
from tools.exercises.format import MODELS

WIDGETS = ROOT / "d2lmini" / "notebook" / "widgets"
EACH = [(kind, language) for kind in KINDS for language in LANGUAGES]
FOLDERS = (WIDGETS, ROOT / "book" / "theme")
FILES = [path for folder in FOLDERS for path in folder.rglob("*") if path.suffix in (".js", ".css")]
OWN = [path for path in FILES if "vendor" not in path.parts]
TEXT = "data:text/javascript;charset=utf-8,"


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    context = browser.new_context()
    yield context.new_page()
    context.close()


def run(page: Any, module: str, expression: str, *arguments: Any) -> Any:
    """Import a module from its text; the value of an expression of it, `m`."""
    call = f"async ([source, args]) => {{ const m = await import('{TEXT}' + encodeURIComponent(source)); "
    return page.evaluate(f"{call} return {expression}; }}", [module, list(arguments)])


# ---- modules joined to one


def folder(tmp_path: Path, **files: str) -> Path:
    for name, text in files.items():
        (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")
    return tmp_path


def test_needless_spaces_go_and_those_of_strings_stay(page: Any, tmp_path: Path) -> None:
    files = folder(
        tmp_path,
        main_js="""import { odd } from "./a.js";
const n = 12, minus = (a) => a - -n;
export const all = [
  "a ( b ), ] , }", 'x = { y }', `{ ${[n, n].map((x) => x / 2).join(" , ")} }`,
  "a , b ( c".split(/ [,(] /), minus(1), n / 3 / 2, n > 5 ? .5 : 1, n ?? 1, odd,
];
""",
        a_js="""export const odd = [1, , 3].length + { a: " ; ", b: [" ! ", ], }.a;
""",
    )
    joined = bundle(files, "main.js", {})
    assert run(page, joined, "m.all") == [
        "a ( b ), ] , }", "x = { y }", "{ 6 , 6 }", ["a", "b", "c"], 13, 2, 0.5, 12, "3 ; ",
    ]  # fmt: skip
    assert "const n=12,minus=(a)=>a - -n;" in joined


def test_modules_are_joined_in_the_order_of_need_and_each_keeps_its_scope(page: Any, tmp_path: Path) -> None:
    files = folder(
        tmp_path,
        main_js="""import { twice as double, SIZE } from "./a.js";
import {
  half,
} from "./b.js";
import STYLE from "./s.css";
import words, { language } from "course:words";
const secret = 1;
export const all = [double(SIZE), half(SIZE), secret, STYLE, words.hello, language];
export default { all };""",
        a_js="""import { half } from "./b.js";
const secret = 2;
export const SIZE = half(40) * secret;
export function twice(x) {
  return 2 * x;
}""",
        b_js="const secret = 2;\nexport const half = (x) => x / secret;",
        s_css='a::before { content: "„\\\\"; }\n',
    )
    virtual = {"course:words": 'export default {"hello": "chào"};\nexport const language = "vi";'}
    joined = bundle(files, "main.js", virtual)
    assert run(page, joined, "m.all") == [80, 20, 1, 'a::before{content:"„\\\\"}', "chào", "vi"]
    assert run(page, joined, "m.default.all[0]") == 80
    assert joined.count("x / secret") == 1  # asked for twice, there once


def test_a_minified_module_is_taken_as_it_is(page: Any, tmp_path: Path) -> None:
    code = """var k="a // b",h=`c;\\n export{}`;function t(){return[k,h,/'/.test("'"),8/2/k.length]}"""
    odd = f"{code}export{{t as h,k}};"
    main = """import { h, k } from "./of-others.min.js";
const t = "mine"; // a name that the other has, too
export const all = [t, k, ...h()];"""
    files = folder(tmp_path, main_js=main)
    (files / "of-others.min.js").write_text(odd + "\n", encoding="utf-8")
    joined = bundle(files, "main.js", {})
    assert code in joined
    assert run(page, joined, "m.all") == ["mine", "a // b", "a // b", "c;\n export{}", True, 4 / 6]
    for broken in (odd.replace("};", "};\nmore();"), "var a=1;", odd[:-1]):
        (files / "of-others.min.js").write_text(broken, encoding="utf-8")
        with pytest.raises(BundleError, match=r"of-others\.min\.js: a minified module is one line that ends"):
            bundle(files, "main.js", {})


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"main_js": '\nimport { a } from "./gone.js";'}, 'main.js:2: there is no module "gone.js"'),
        (
            {"main_js": 'import { b } from "./a.js";', "a_js": "export const a = 1;\nconst b = 2;"},
            'main.js:1: "a.js" exports no b, only a',
        ),
        (
            {"main_js": 'import a from "./a.js";', "a_js": "const a = 1;"},
            '"a.js" exports no default, only nothing',
        ),
        (
            {"main_js": 'import { a } from "./a.js";\nconst a = 2;', "a_js": "export const a = 1;"},
            "main.js:1: a stands for two things",
        ),
        (
            {
                "main_js": 'import { a } from "./a.js";\nimport { a } from "./b.js";',
                "a_js": "export const a = 1;",
                "b_js": "export function a() {}",
            },
            "main.js:2: a stands for two things",
        ),
        (
            {
                "main_js": 'import { a } from "./a.js";',
                "a_js": 'import { b } from "./main.js";\nexport const a = b;',
            },
            'a.js:1: "main.js" imports this module',
        ),
        ({"main_js": 'const a = 1;\nimport * as b from "./a.js";'}, "main.js:2: cannot read 'import * as b"),
        ({"main_js": "const a = 1;\nexport { a };"}, "main.js:2: cannot read 'export { a };'"),
    ],
)
def test_what_is_imported_is_there_or_the_line_is_told(
    tmp_path: Path, files: dict[str, str], says: str
) -> None:
    with pytest.raises(BundleError, match=re.escape(says)):
        bundle(folder(tmp_path, **files), "main.js", {})


# ---- the modules of the course


@pytest.mark.parametrize(("kind", "language"), EACH)
def test_a_module_stands_alone_and_runs(page: Any, kind: str, language: str) -> None:
    source = module_source(kind, language)
    assert not re.search(r"^import |import\(", source, re.M)
    assert run(page, source, "typeof m.default.render") == "function"
    assert len(gzip.compress(source.encode())) <= 26_000


@pytest.mark.parametrize(("kind", "language"), EACH)
def test_a_module_finds_every_word_and_color_it_asks_for(kind: str, language: str) -> None:
    source = module_source(kind, language)
    found = words(language)
    explorers = found["explorers"]
    section = explorers["shared"] | explorers.get(kind.removesuffix("-explorer"), found["exercises"])
    asked = set(re.findall(r"\bwords\.(\w+)", source))
    if kind == "exercise":
        asked |= {f"kind_{name}" for name in MODELS}
    assert asked and asked <= section.keys()
    assert json.dumps(section["title" if kind in EXPLORERS else "check"], ensure_ascii=False) in source
    assert set(re.findall(r"--w-([a-z]+)", source)) <= COLORS.keys()


def test_there_is_no_widget_of_another_name() -> None:
    with pytest.raises(ValueError, match=r"got 'exercises'; choose one of 'exercise', 'attention-explorer'"):
        module_source("exercises", "en")


@pytest.mark.parametrize(("language", "one"), [("en", "1 edge"), ("vi", "1 cạnh"), ("zh", "1 条边")])
def test_a_word_has_the_form_of_its_number(page: Any, language: str, one: str) -> None:
    forms = words(language)["explorers"]["path"]["edges"]
    facts = f"export const language = {json.dumps(words(language)['language'])};"
    text = bundle(WIDGETS, "text.js", {"course:words": facts})
    said = run(page, text, "args[1].map((e) => m.fill(m.plural(args[0], e), { e }))", forms, [0, 1, 2, 21])
    assert said[1] == one
    assert said[0] == forms["other"].format(e=0) and said[3] == forms["other"].format(e=21)


# ---- numbers as readers write them

SAME_EVERYWHERE = {
    "0.88": [0.88], "0,88": [0.88], ".88": [0.88], ",88": [0.88], "0,125": [0.125], "0.125": [0.125],
    "2400": [2400], "2 400": [2400], "2\u202f400": [2400], "2\u00a0400": [2400], "2\u2009400": [2400],
    "2_400": [2400], "262 144": [262144], "1 234,5": [1234.5], "12,34": [12.34], "5.": [5], "007": [7],
    "2,400,000": [2400000], "2.400.000": [2400000], "2,400.5": [2400.5], "2.400,5": [2400.5],
    "1.2340": [1.234], "1234,567": [1234.567], "２４００": [2400], "０．８８": [0.88], "７／８": [0.875],
    "−3": [-3], "–3": [-3], "- 3": [-3], "+3": [3], "7/8": [0.875], "7 / 8": [0.875], "-7/8": [-0.875],
    "1e-3": [0.001], "1E5": [1e5], "1,5e3": [1500], "6.02e+2": [602],
    "": [], " ": [], "x": [], "-": [], ".": [], "1/0": [], "0/0": [], "1/2/3": [], "/2": [], "1 1/2": [],
    "16 GiB": [], "88 %": [], "$5": [], "3 px": [], "2 4": [], "24 00": [], "0 123": [], "1.2.3": [],
    "12,34,567": [], "1,23.4": [], "1,234,56": [], "10³": [], "½": [], "26k": [], "二十六": [], "1e": [],
    "0x10": [], "1e400": [], "NaN": [], "Infinity": [], "--3": [], "3-": [], "constructor": [],
}  # fmt: skip
PER_LANGUAGE = {
    "en": {
        "2,400": [2400], "2.400": [2.4], "-2,400": [-2400], "2,400/7": [2400 / 7], "2.4 million": [2.4e6],
        "26 thousand": [26000], "26 万": [], "2,4 triệu": [], "26 Thousand": [26000],
    },
    "vi": {
        "2,400": [2400, 2.4], "2.400": [2400, 2.4], "1.234": [1234, 1.234], "-2,400": [-2400, -2.4],
        "262.144": [262144, 262.144], "26 nghìn": [26000], "26 ngàn": [26000], "2,4 triệu": [2.4e6],
        "1,5 tỷ": [1.5e9], "1,5 tỉ": [1.5e9], "2,4 trie\u0323\u0302u": [2.4e6], "26 万": [],
        "2,400 triệu": [2.4e9, 2.4e6],
    },
    "zh": {
        "2,400": [2400], "2，400": [2400], "2.400": [2.4], "26 万": [260000], "26万": [260000],
        "26.2144 万": [262144], "1.5亿": [1.5e8], "3百万": [3e6], "2,4 triệu": [], "万": [],
    },
}  # fmt: skip


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_number_is_read_in_every_usual_form_and_never_misread(page: Any, language: str) -> None:
    expected = {**SAME_EVERYWHERE, **PER_LANGUAGE[language]}
    source = (WIDGETS / "number.js").read_text(encoding="utf-8")
    call = "Object.fromEntries(args[0].map((text) => [text, m.readings(text, args[1])]))"
    read = run(page, source, call, list(expected), words(language)["language"])
    assert {text: values for text, values in read.items() if values != pytest.approx(expected[text])} == {}


def test_a_number_is_asked_for_in_a_form_with_one_reading(page: Any) -> None:
    source = (WIDGETS / "number.js").read_text(encoding="utf-8")
    values = [2400, 2.4, 1.234, -1.234, 0.125, 12345.678, 262144]
    forms = run(page, source, "args[0].map(m.unmistakable)", values)
    assert forms == ["2400", "2.4", "1.2340", "-1.2340", "0.125", "12345.678", "262144"]
    for language in LANGUAGES:
        facts = words(language)["language"]
        read = run(page, source, "args[0].map((text) => m.readings(text, args[1]))", forms, facts)
        assert read == [[value] for value in values]


# ---- the source, for those who read it


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_lines_of_scripts_and_styles_can_be_read(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert [number for number, line in enumerate(lines, 1) if len(line) > 120] == []


def test_the_linter_knows_our_scripts_and_finds_an_unknown_name(tmp_path: Path) -> None:
    oxlint = Path(sys.executable).parent / "oxlint"
    (tmp_path / "a.js").write_text("export const size = () => lenght(document.title);\n", encoding="utf-8")
    command = [str(oxlint), "-c", str(ROOT / ".oxlintrc.json"), str(tmp_path / "a.js")]
    found = subprocess.run(command, check=False, capture_output=True, text=True)
    assert found.returncode == 1 and "'lenght' is not defined" in found.stdout
