"""The site's parts that need no generator: the reference, links, dead links."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
SCRIPTS = ROOT / "scripts/docs"
# A planted repository has its folder of pages by this name.
DOCS = "docs"


def run(script: str, *args, rc: int = 0) -> str:
    done = subprocess.run(
        [sys.executable, SCRIPTS / script, *args],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == rc, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    """The pages of the reference; what fails while they are made ends it."""
    folder = tmp_path_factory.mktemp("reference")
    run("reference.py", folder)
    return folder


@pytest.fixture
def staging(monkeypatch):
    """The modules that stage pages, imported for one test."""
    monkeypatch.syspath_prepend(str(SCRIPTS))
    import docstrings
    import outside
    import pages

    yield pages, outside, docstrings
    for name in ("docstrings", "outside", "pages"):
        del sys.modules[name]


def test_every_counted_name_is_described(reference):
    coverage = json.loads((reference / "coverage.json").read_text())
    assert coverage["missing"] == []
    assert coverage["described"] == coverage["names"] > 5000


def test_a_name_without_description_is_missing(tmp_path):
    shutil.copytree(ROOT / "docs/reference", tmp_path / "texts")
    text = tmp_path / "texts/pointwise.txt"
    lines = text.read_text().splitlines(keepends=True)
    kept = [k for k in lines if not k.startswith(("hypot: ", "  example: torch.hypot"))]
    text.write_text("".join(kept))
    printed = run(
        "reference.py", tmp_path, "--missing", "--texts", tmp_path / "texts"
    ).split()
    assert {"torch.hypot", "torch.Tensor.hypot", "torch.Tensor.hypot_"} <= set(printed)
    assert "torch.add" not in printed


def test_what_does_not_happen_is_a_fault(tmp_path):
    folder = tmp_path / "texts"
    folder.mkdir()
    (folder / "some.txt").write_text(
        "hypot: The length of a hypotenuse.\n"
        "  error: torch.hypot(torch.tensor([3.]), torch.tensor([4.]))\n"
        "  example: torch.hypotenuse(1)\n"
        "no_such_name: Nothing.\n"
    )
    printed = run("reference.py", "-", "--texts", folder, "--only", "hypot", rc=1)
    assert "torch.tensor([4.])): raises nothing" in printed
    assert "torch.hypotenuse(1): AttributeError" in printed
    assert "nothing is called no_such_name" in printed


def test_an_operator_has_shapes_dtypes_errors_an_example(reference):
    page = (reference / "operators/torch.scatter.md").read_text()
    for part in ("**Shapes.**", "**Errors.**", "**Example.**", "(source:hotaru/ops/"):
        assert part in page
    assert "{ #torch.Tensor.scatter_ }" in page
    assert "measured on the CPU.** floating (16 to 64 bits); complex;" in page
    assert "`RuntimeError: " in page
    assert ">>> " in page


def test_operators_of_functional_have_pages(reference):
    page = (reference / "operators/torch.nn.functional.conv2d.md").read_text()
    assert "{ #torch.conv2d }" in page
    assert "hotaru/backend/cpu/conv/conv.cpp" in page
    assert "Gradient.** Yes; the example's node is `ConvolutionBackward0`" in page


def test_names_list_has_pages_that_exist(reference):
    text = (reference / "names_list.js").read_text()
    pages = json.loads(text.removeprefix("window.siteNames = ").rstrip(";\n"))
    assert all((reference / p.replace(".html", ".md")).is_file() for p in pages)
    assert "torch.linalg.solve" in pages["operators/torch.linalg.solve.html"]


@pytest.fixture
def stage(staging, tmp_path):
    """Stages one page of a planted repository; returns its text."""
    pages, outside, _ = staging

    def make(text: str, repository: str | None = None) -> str:
        root = tmp_path / "root"
        for name in (
            f"{DOCS}/a.md",
            f"{DOCS}/images/x.png",
            "SECURITY.md",
            "src/f.cpp",
        ):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text("# Title of it\n")
        (root / f"{DOCS}/a.md").write_text(text)
        names = [f"{DOCS}/a.md", f"{DOCS}/images/x.png", "SECURITY.md", "src/f.cpp"]
        out = outside.Outside(root, names, repository)
        folder = tmp_path / "pages"
        pages.Stage(root, folder, names, out).write(pages.Page(f"{DOCS}/a.md", "a.md"))
        out.write(folder)
        return (folder / "a.md").read_text()

    return make


def test_links_out_of_docs(stage, tmp_path):
    text = "[s](../SECURITY.md#x) [f](../src/f.cpp) [d](../src/) ![x](images/x.png)\n"
    assert stage(text) == (
        "[s](security.md#x) [f](files/src/f.cpp.txt) [d](files/src.txt) "
        "![x](images/x.png)\n"
    )
    assert (tmp_path / "pages/files/src.txt").read_text() == "src/f.cpp\n"


def test_links_lead_to_a_repository(stage):
    text = stage("[f](../src/f.cpp)\n", "https://host/h/blob/main")
    assert text == "[f](https://host/h/blob/main/src/f.cpp)\n"


def test_links_named_by_their_file_get_its_title(stage):
    assert stage("[SECURITY.md](../SECURITY.md)\n") == "[Title of it](security.md)\n"


def test_code_is_no_link(stage):
    text = "`[f](../src/f.cpp)`\n\n```\n[f](../src/f.cpp)\n```\n"
    assert stage(text) == text


def test_lists_of_github(staging):
    pages, _, _ = staging
    assert pages.listed(["Text:", "- one", "  - two", "  more", "", "End"]) == [
        *("Text:", "", "- one", "    - two", "    more", "", "End")
    ]


def test_docstrings_are_plain_text(staging):
    _, _, docstrings = staging
    text = "Maps (*, a_b) -> (*, c).\n\nArgs:\n    x: one of\n        two <b>.\n"
    assert docstrings.markdown(text) == (
        "Maps (\\*, a\\_b) -&gt; (\\*, c).\n\n**Args**\n\n- `x`: one of two &lt;b&gt;."
    )


def test_translations_say_their_language(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(SCRIPTS))
    from languages import mark_languages

    page = '<html lang="en" class="no-js"><p lang="en">'
    for name in ("index.html", "ja/graphs.html", "zh/index.html"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(page)
    assert mark_languages(tmp_path) == 2
    assert (tmp_path / "index.html").read_text() == page
    assert (tmp_path / "ja/graphs.html").read_text() == page.replace("en", "ja", 1)
    assert (tmp_path / "zh/index.html").read_text() == page.replace("en", "zh-Hans", 1)


def test_dead_links_are_found(tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#here">1</a> <a href="b.html#gone">2</a>'
        ' <img src="no.png"> <a href="https://host.org/x">3</a>'
        ' <a href="https://host/">4</a>'
    )
    (tmp_path / "b.html").write_text(
        '<h1 id="here">B</h1> <a href="https://host.org/x">5</a>'
    )
    others = tmp_path / "others.txt"
    printed = run("check_site.py", tmp_path, "--external", others, rc=1)
    assert printed.splitlines() == [
        *("a.html: b.html#gone", "a.html: no.png", "a.html: https://host/"),
        "2 pages, 6 links, 2 addresses of other sites, 3 dead",
    ]
    assert sorted(others.read_text().splitlines()) == [
        *("https://host.org/x a.html", "https://host/ a.html")
    ]
