"""Blocks of C++ in the documentation compile against the tree's headers."""

import shutil
import subprocess

import pytest
from docs_cpp import cpp_blocks, is_libtorch, source_of
from docs_page import REPOSITORY, blocks_of

COMPILER = shutil.which("g++")
needs_compiler = pytest.mark.skipif(not COMPILER, reason="there is no g++ here")


def check(text: str, include: list[str], folder) -> subprocess.CompletedProcess:
    """The compiler's answer to a source, of which nothing is kept."""
    source = folder / "blocks.cpp"
    source.write_text(text, encoding="utf-8")
    words = [f"-I{path}" for path in include]
    return subprocess.run(
        [COMPILER, "-std=c++20", "-fsyntax-only", "-w", *words, str(source)],
        capture_output=True,
        text=True,
    )


def libtorch_paths() -> list[str]:
    """Where the headers of hotaru::torch are; none if they were not built."""
    from hotaru.utils import cpp_extension

    try:
        return cpp_extension.include_paths()
    except RuntimeError:
        return []


@needs_compiler
@pytest.mark.parametrize("libtorch", [False, True])
def test_blocks_compile(libtorch, tmp_path):
    blocks = [b for b in cpp_blocks() if is_libtorch(b[1]) == libtorch]
    assert len(blocks) >= 3
    include = libtorch_paths() if libtorch else [str(REPOSITORY)]
    if not include:
        pytest.skip("the headers of hotaru::torch are not built here")
    done = check(source_of(blocks), include, tmp_path)
    assert done.returncode == 0, done.stderr


WRONG = """
<!-- before:
#include <hotaru/exchange/load_program.h>
void call() {
-->
```cpp
auto model = hotaru::load("model.pt");
model.no_such_method();
```
"""


@needs_compiler
def test_what_does_not_compile_is_found(tmp_path):
    [block] = blocks_of(WRONG)
    done = check(source_of([("wrong.md", block)]), [str(REPOSITORY)], tmp_path)
    assert done.returncode != 0
    assert "wrong.md:8:" in done.stderr
