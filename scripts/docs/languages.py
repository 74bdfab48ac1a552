"""Languages of the site's pages, for browsers: which glyphs a character has, how a
page is read out, in which language its words are looked up.
"""

from __future__ import annotations

from pathlib import Path

#: Folders of translations, and their languages as HTML calls them.
LANGUAGES = {"ja": "ja", "zh": "zh-Hans"}


def mark_languages(site: Path) -> int:
    """Says in each page of a translation which language it is in; the generator
    knows one for all pages. Returns how many pages it was.
    """
    count = 0
    for folder, language in LANGUAGES.items():
        for path in (site / folder).rglob("*.html"):
            text = path.read_text(encoding="utf-8")
            marked = text.replace('<html lang="en"', f'<html lang="{language}"', 1)
            path.write_text(marked, encoding="utf-8")
            count += marked != text
    return count
