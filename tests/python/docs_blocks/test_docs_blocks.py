"""Pages of the documentation do what they show.

The blocks of README.md, CONTRIBUTING.md and docs/ are run, a page a test; marks
before a block (docs_page.py has them) say which are not, and why. A page that
shows an output shows what is printed. Whole programs of C++ compile.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest
from docs_outputs import agrees, is_shown
from docs_page import blocks_of, page_blocks, page_names

HERE = Path(__file__).resolve().parent
SECONDS = 300  # for a page, on a machine that does much else


@pytest.fixture(scope="session")
def commands(tmp_path_factory) -> Path:
    """A folder with `hotaru` and `python`, as a reader's environment has them."""
    folder = tmp_path_factory.mktemp("commands")
    hotaru = Path(sys.executable).with_name("hotaru")
    for name, program in (("hotaru", hotaru), ("python", Path(sys.executable))):
        script = folder / name
        script.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
        script.chmod(0o755)
    return folder


def onnxruntime_library() -> str | None:
    """Where Python's package has it, for the command, which is no part of Python."""
    spec = importlib.util.find_spec("onnxruntime")
    if not spec:
        return None
    folder = Path(next(iter(spec.submodule_search_locations)))
    return str(max(folder.glob("capi/libonnxruntime.so*")))


def run_page(name: str, folder: Path, commands: Path) -> list[dict]:
    """Answers of the runner, one for each block of a page."""
    environment = {**os.environ, "DOCS_COMMANDS": str(commands)}
    if library := onnxruntime_library():
        environment["HOTARU_ONNXRUNTIME"] = library
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", str(HERE / "docs_runner.py"), name],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("name", page_names())
def test_a_pages_blocks_run(name, tmp_path, commands):
    answers = run_page(name, tmp_path, commands)
    assert len(answers) == len(page_blocks(name))
    failed = [a for a in answers if a["status"] == "failed"]
    told = "\n".join(f"{name}:{a['line']}: {a['why']}" for a in failed)
    assert not failed, told


def test_blocks_that_are_not_run_say_why(capsys):
    reasons: Counter[str] = Counter()
    varying: Counter[str] = Counter()
    every = 0
    for name in page_names():
        for block in page_blocks(name):
            every += 1
            assert block.reason != "", f"{name}:{block.line}: no reason"
            if block.reason:
                reasons[block.reason] += 1
            elif varies := block.marks.get("output varies"):
                varying[varies] += 1
    with capsys.disabled():
        print(f"\n{every} blocks of pages, {reasons.total()} of them not run:")
        for reason, count in reasons.most_common():
            print(f"{count:4}  {reason}")
        for reason, count in varying.items():
            print(f"{count:4}  run, and their output varies: {reason}")
    assert every > 100
    assert reasons.total() < every * 0.6


PAGE = """
<!-- before:
x = 3
-->
```python
x + 1  # 4
print(x)
```

```text
3
```

<!-- not run: needs a moon -->
```python
moon()
```
"""


def test_marks_are_read():
    program, output, moon = blocks_of(PAGE)
    assert program.marks == {"before": "x = 3"}
    assert (program.kind, program.line) == ("program", 6)
    assert (output.kind, output.reason) == ("output", None)
    assert moon.reason == "needs a moon"


@pytest.mark.parametrize(
    ("changed", "to"),
    [("# 4", "# 5"), ("```text\n3", "```text\n4"), ("x + 1", "y + 1")],
)
def test_what_is_not_so_is_found(changed, to, tmp_path, commands):
    for text, wrong in ((PAGE, False), (PAGE.replace(changed, to), True)):
        page = tmp_path / "page.md"
        page.write_text(text)
        answers = run_page(str(page), tmp_path, commands)
        assert any(a["status"] == "failed" for a in answers) == wrong, answers


def test_outputs_are_compared():
    assert agrees("a ...\nc\n", "a b\nb\nc")
    assert not agrees("a\nc", "a\nd")
    assert agrees("12.5 µs  x", "3 µs x", numbers_vary=True)
    assert not agrees("12.5 µs", "3 ms", numbers_vary=True)
    assert is_shown("tensor([1.]); more", ["tensor([1.])"])
    assert not is_shown("12", ["1"])
