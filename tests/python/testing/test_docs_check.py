"""The checks of the documentation find what is planted, and nothing else."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]

# A repository in which nothing is wrong.
GOOD = {
    "README.md": ("# Lib\n\n[All](docs/README.md), [why](docs/why.md#the-cause).\n"),
    "docs/README.md": ("# Docs\n\n- [why](why.md)\n- [settings](environment.md)\n"),
    "docs/why.md": (
        "# Why\n\n## The `cause`\n\nIn `core/tensor.h`, `hotaru/core`, "
        "`tensor.h`, `core/{tensor,shape}.h`, `core/*.h`, `core/tensor`.\n"
        "Not ours: `build/lib.h`, `x/y`, [out](https://example.org/x.md).\n\n"
        "```\n[no link](nowhere.md) `core/nothing.h`\n```\n"
    ),
    "docs/environment.md": (
        "# Variables\n\n| `HOTARU_MODE`, `OTHER_MODE` | what |\n"
        "| `PATH` | where |\n| `HOTARU_RUNS` | of tests |\n"
    ),
    "hotaru/core/tensor.h": '// getenv("HOTARU_MODE"), getenv("PATH")\n',
    "hotaru/core/shape.h": "",
    "python/hotaru/_mode.py": (
        'import os\n\nMODES = ("OTHER_MODE",)\nfor m in MODES:\n    os.environ.get(m)\n'
    ),
    "python/hotaru/plain.py": 'TEXT = "NOT_READ"\n',
    "tests/python/test_mode.py": (
        'import os\n\nos.environ["HOTARU_RUNS"], os.environ["OF_NOBODY"]\n'
    ),
}


@pytest.fixture(scope="module")
def checks():
    sys.path.insert(0, str(ROOT / "scripts"))
    import check_docs

    yield check_docs
    sys.path.remove(str(ROOT / "scripts"))


def offences(checks, folder: Path, changed: dict[str, str]) -> list[str]:
    """Lists what is wrong with the good repository and these files in it."""
    files = {**GOOD, **changed}
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return checks.check(folder, list(files))


def test_nothing_is_wrong_with_a_good_one(checks, tmp_path):
    assert offences(checks, tmp_path, {}) == []


PLANTED = {
    "a link to no file": (
        {"docs/why.md": "# Why\n\n## The cause\n\n[x](gone.md)\n"},
        ["docs/why.md:5: no file gone.md"],
    ),
    "a link out of the repository": (
        {"docs/why.md": "# Why\n\n## The cause\n\n[x](../../x.md)\n"},
        ["docs/why.md:5: no file ../../x.md"],
    ),
    "a picture that is not there": (
        {"docs/why.md": "# Why\n\n## The cause\n\n![x](images/x.svg)\n"},
        ["docs/why.md:5: no file images/x.svg"],
    ),
    "a link to no heading": (
        {"docs/why.md": "# Why\n"},
        ["README.md:3: docs/why.md has no heading the-cause"],
    ),
    "a link within the page to no heading": (
        {"docs/why.md": "# Why\n\n## The cause\n\n[x](#cause)\n"},
        ["docs/why.md:5: docs/why.md has no heading cause"],
    ),
    "a path that is not there": (
        {"docs/why.md": "# Why\n\n## The cause\n\n`core/tensors.h`\n"},
        ["docs/why.md:5: no path core/tensors.h"],
    ),
    "a folder that is not there": (
        {"docs/why.md": "# Why\n\n## The cause\n\n`hotaru/cores`\n"},
        ["docs/why.md:5: no path hotaru/cores"],
    ),
    "one of several names": (
        {"docs/why.md": "# Why\n\n## The cause\n\n`core/{shape,size}.h`\n"},
        ["docs/why.md:5: no path core/{shape,size}.h"],
    ),
    "a source by its name alone": (
        {"docs/why.md": "# Why\n\n## The cause\n\n`tensors.h`, `_modes.py`\n"},
        ["docs/why.md:5: no source tensors.h", "docs/why.md:5: no source _modes.py"],
    ),
    "a path in a command": (
        {
            "docs/why.md": "# Why\n\n## The cause\n\n```\npython tests/x.py"
            " tests/python hotaru/core /tests/y.py\n```\n"
        },
        ["docs/why.md:6: no path tests/x.py"],
    ),
    "a page of too many words": (
        {"docs/why.md": "# Why\n\n## The cause\n\n" + "word\n" * 2996},
        ["docs/why.md:1: 3001 words; 3000 at most"],
    ),
    "a line that is too long": (
        {"docs/why.md": "# Why\n\n## The cause\n\n" + "x" * 401},
        ["docs/why.md:5: 401 characters; 400 at most"],
    ),
    "a page to which nobody leads": (
        {"docs/alone.md": "# Alone\n"},
        ["docs/alone.md:1: no page leads here from README.md or docs/README.md"],
    ),
    "a page that a source names": (
        {"hotaru/core/shape.h": "// docs/why.md, docs/gone.md\n"},
        ["hotaru/core/shape.h:1: no page docs/gone.md"],
    ),
    "a variable that the table lacks": (
        {"hotaru/core/shape.h": '// \n// std::getenv("HOTARU_NEW")\n'},
        ["hotaru/core/shape.h:2: HOTARU_NEW is not in docs/environment.md"],
    ),
    "one whose name is a constant": (
        {"hotaru/core/shape.h": 'k = "NEW_MODE"; getenv(k)\n'},
        ["hotaru/core/shape.h:1: NEW_MODE is not in docs/environment.md"],
    ),
    "one of a list": (
        {"hotaru/core/shape.h": 'for (v : {"TMP", "TEMP"}) getenv(v)\n'},
        [
            "hotaru/core/shape.h:1: TEMP is not in docs/environment.md",
            "hotaru/core/shape.h:1: TMP is not in docs/environment.md",
        ],
    ),
    "one of a shell script": (
        {"scripts/run.sh": 'echo "${HOTARU_SHELL:-}"\n'},
        ["scripts/run.sh:1: HOTARU_SHELL is not in docs/environment.md"],
    ),
    "a variable that nobody reads": (
        {
            "docs/environment.md": GOOD["docs/environment.md"]
            + "| `HOTARU_OLD` | gone |\n"
        },
        ["docs/environment.md:6: nothing names HOTARU_OLD"],
    ),
}


@pytest.mark.parametrize("what", PLANTED)
def test_what_is_planted_is_found(checks, tmp_path, what):
    changed, expected = PLANTED[what]
    assert sorted(offences(checks, tmp_path, changed)) == sorted(expected)


def run(script: str, *options: str) -> str:
    """Runs a script here; it must find nothing. Returns what it prints."""
    if not (ROOT / ".git").exists():
        pytest.skip("this is no clone: git lists no files")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_these_docs_are_right():
    assert run("check_docs.py") == ""


def test_the_layers_are_drawn_as_they_are(checks):
    run("draw_layers.py", "--check")
    import draw_layers
    from layers import native_order

    files = ["hotaru/core/a.h", "hotaru/ops/sort/b.cpp", "cli/c.cpp"]
    edges = {files[0]: [], files[1]: [(1, files[0])], files[2]: [(1, files[1])]}
    picture = draw_layers.draw(files, edges)
    assert picture.count('class="dot"') == 2
    assert ">sort</text>" in picture
    # A new include is another picture, a file more is none.
    edges[files[2]].append((2, files[0]))
    assert draw_layers.draw(files, edges).count('class="dot"') == 3
    edges["hotaru/core/d.h"] = []
    more = draw_layers.draw([*files, "hotaru/core/d.h"], edges)
    assert more == draw_layers.draw(files, edges)
    assert all(re.search(rf">{layer}</text>", picture) for layer in ("core", "ops"))
    assert native_order.LAYERS[0] == "platform"
