"""The page of licenses: it shows every part of the site, and no file of the site belongs to none."""

import io
import re

import pytest
from fontTools.ttLib import TTFont
from making import ROOT

from book import licenses
from book.ext import assets
from d2lmini.language import LANGUAGES, words

PARTS = licenses.parts()
VENDORS = [*ROOT.glob("*/vendor"), *ROOT.glob("d2lmini/**/vendor")]
# how the text of a license begins or is known
KNOWN_BY = {
    "MIT": "The above copyright notice and this permission notice",
    "CC-BY-4.0": "creativecommons.org/licenses/by/4.0/legalcode",
    "CC0-1.0": "creativecommons.org/publicdomain/zero/1.0",
    "OFL-1.1": "SIL OPEN FONT LICENSE Version 1.1",
    "BSD-2-Clause": "Redistributions in binary form must reproduce the above copyright",
    "BSD-3-Clause": "Neither the name of the copyright holder",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_leads_to_the_page_of_licenses_which_has_every_part_and_its_terms(small_site, language):
    site = words(language)["site"]
    for name in ("index", "basics"):
        page = (small_site / language / f"{name}.html").read_text(encoding="utf-8")
        assert f'<a href="licenses.html">{site["licenses"]}</a>' in page
    page = (small_site / language / "licenses.html").read_text(encoding="utf-8")
    for part in licenses.shown(language):
        assert re.search(rf'<h2 id="{part["key"]}">{re.escape(part["name"])}</h2>\s*<p>[^<]', page), part[
            "key"
        ]
        if "source" in part:
            assert f'<a href="{part["source"]}">' in page
    assert (
        page.count('<pre lang="en">') == page.count("<details") - 1 == len(PARTS)
    )  # and the menu of languages
    assert "e69de29bb2" not in page  # how git names an empty text
    assert "colab" not in page.split("<main")[1] and "/blob/" not in page  # it is no notebook


@pytest.mark.parametrize("key", PARTS)
def test_the_terms_of_a_part_are_those_of_its_license_and_name_who_grants_them(key):
    part = PARTS[key]
    terms = " ".join(" ".join((ROOT / file).read_text(encoding="utf-8") for file in part["terms"]).split())
    assert KNOWN_BY[part["license"]] in terms
    for holder in part.get("copyright", []):
        name = re.sub(r"^© [\d–]+ |, with .*| and other contributors$|^the respective ", "", holder)
        assert name in terms, holder


def test_every_file_of_the_site_belongs_to_a_part_and_every_part_is_there(site):
    files = {path for path in site.rglob("*") if path.is_file() and path.stat().st_size}
    held = {
        key: {path for pattern in part["holds"] for path in site.glob(pattern)} for key, part in PARTS.items()
    }
    assert all(held.values())
    assert sorted(files - set().union(*held.values())) == []
    fonts = {path for path in files if path.suffix in (".woff2", ".woff", ".ttf", ".otf")}
    assert fonts and all(
        any(path in held[key] for key in PARTS if PARTS[key]["license"] == "OFL-1.1") for path in fonts
    )


def test_every_folder_of_others_work_is_a_part_or_has_its_license_beside_it():
    folders = {path for vendor in VENDORS for path in vendor.iterdir() if path.is_dir()}
    folders |= {path.parent for path in (ROOT / "book").rglob("*.woff2")}
    assert folders == {ROOT / part["folder"] for part in PARTS.values() if "folder" in part}
    assert all(path.exists() for part in PARTS.values() for path in [ROOT / part.get("folder", "")])
    loose = {path.name for path in (ROOT / "tests" / "vendor").iterdir()}
    assert loose == {"axe.min.js", "axe-LICENSE"}  # used by tests alone


def test_the_colors_of_code_are_of_the_parts_that_are_named_for_them():
    rules = re.findall(r"\{(.*?)\}", assets.code_styles())
    assert rules and all(re.match(r"color:#[0-9a-f]{6}(?:;|$)", rule) for rule in rules)
    styles = {style for style, _ in assets.CODE_STYLES.values()}
    said = words("en")["site"]["licensed"]
    assert styles == {re.search(r"\((.+)\)", said[key]["about"])[1] for key in ("code_light", "code_dark")}


def test_the_names_that_the_fonts_of_katex_reserve_are_listed_and_no_cut_font_bears_one():
    terms = (ROOT / PARTS["katex_fonts"]["terms"][0]).read_text(encoding="utf-8")
    folder = ROOT / PARTS["katex_fonts"]["folder"]
    assert all(path.stem.split("-")[0] in terms for path in folder.glob("*.woff2"))
    font = TTFont(io.BytesIO(assets.cut_font(assets.KATEX / "fonts" / "KaTeX_Main-Regular.woff2", "abc")))
    assert not any("KaTeX" in str(record) for record in font["name"].names)
