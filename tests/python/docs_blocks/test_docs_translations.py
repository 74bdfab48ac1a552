"""Pages in Japanese and Chinese have the code, tables and headings of the English.

A change of an English page's code is noticed here: the pages of docs/ja and
docs/zh hold the same blocks, a heading for each heading of the same level, as many
rows of tables, the same pictures, and links to each other below the title.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from docs_page import REPOSITORY, TRANSLATED, blocks_of

DOCS = REPOSITORY / "docs"
PAGES = ("README.md", "five_minutes.md", "graphs.md", "script.md", "streams.md")
NAMES = {"ja": "日本語", "zh": "中文", "en": "English"}
CODE = re.compile(r"^```.*?^```$|<!--.*?-->", re.S | re.M)


def path_of(page: str, language: str) -> Path:
    """The file of a page in a language."""
    if language != "en":
        return DOCS / language / page
    return REPOSITORY / page if page == "README.md" else DOCS / page


def text_of(page: str, language: str) -> str:
    return path_of(page, language).read_text(encoding="utf-8")


def shape(text: str) -> dict:
    """The parts that a page and its translations have in common."""
    prose = CODE.sub("", text)
    return {
        "blocks": [(block.language, block.text) for block in blocks_of(text)],
        "headings": [len(marks) for marks in re.findall(r"^(#+) ", prose, re.M)],
        "rows": len(re.findall(r"^\|", prose, re.M)),
        "pictures": re.findall(r"!\[[^\]]*\]\(\S*?([^/\s)]+)\)", prose),
    }


def test_each_page_is_in_each_language():
    for language in TRANSLATED:
        found = sorted(path.name for path in (DOCS / language).glob("*.md"))
        assert found == sorted(PAGES)


@pytest.mark.parametrize("language", TRANSLATED)
@pytest.mark.parametrize("page", PAGES)
def test_a_translation_has_the_pages_shape(page, language):
    assert shape(text_of(page, language)) == shape(text_of(page, "en"))


@pytest.mark.parametrize("language", NAMES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_links_to_its_translations(page, language):
    line = text_of(page, language).splitlines()[2]
    names = line.split(" · ")
    assert [re.sub(r"\[(.*)\]\(.*\)", r"\1", name) for name in names] == [
        *NAMES.values()
    ]
    for name, other in zip(names, NAMES):
        target = re.search(r"\((.*)\)", name)
        assert bool(target) == (other != language)
        if target:
            folder = path_of(page, language).parent
            assert (folder / target[1]).resolve() == path_of(page, other).resolve()


def test_another_code_is_found():
    english = text_of("streams.md", "en")
    assert shape(english.replace("y = model(x)", "y = model(x, x)")) != shape(english)
    assert shape(english.replace("\n## Waiting", "\nWaiting")) != shape(english)
