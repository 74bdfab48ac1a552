"""Runs the blocks of one page, one after the other, in one namespace.

    python -m hotaru docs_runner.py PAGE

in an empty folder, which blocks may write to, prints a line of JSON for each
block: its line, its status ("ran", "failed", "not run") and why. `import torch`
is hotaru meanwhile.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
import traceback
import types
from pathlib import Path

from docs_outputs import agrees, comments, is_shown, value_shown
from docs_page import Block, commands, page_blocks, runs

COMMAND_SECONDS = 200
# Writers of files that blocks read.
WRITERS = Path(__file__).resolve().parents[1] / "weights"


class StaleError(Exception):
    """A page shows something that is not so."""


class Page:
    """Names that the blocks of a page share, and what was printed last."""

    def __init__(self):
        self.count = 0
        self.printed: str | None = None
        self.varies = False
        self.begin()

    def begin(self) -> None:
        """Forgets all names."""
        self.module = types.ModuleType("__main__")
        self.names = self.module.__dict__
        sys.modules["__main__"] = self.module

    def run(self, block: Block) -> None:
        """Does what the block's kind asks for; raises where it does not hold."""
        if "new program" in block.marks:
            self.begin()
        if block.kind == "cpp":
            return
        if block.kind == "output":
            self.compare(block.text, block.numbers_vary)
            return
        self.varies = "output varies" in block.marks
        if setup := block.marks.get("before"):
            with contextlib.redirect_stdout(io.StringIO()):
                self.program(setup + "\n", 1)
        self.printed = ""
        if name := block.marks.get("file"):
            Path(name).write_text(block.text, encoding="utf-8")
        elif block.kind == "commands":
            self.run_commands(block)
        elif block.kind == "session":
            self.session(block)
        else:
            self.program(block.text, block.line)

    def file(self, source: str, line: int) -> str:
        """A file with the source at its lines of the page, for `inspect`."""
        self.count += 1
        path = Path(f"block_{self.count}.py").resolve()
        path.write_text("\n" * (line - 1) + source, encoding="utf-8")
        self.names["__file__"] = str(path)
        return str(path)

    def program(self, source: str, line: int) -> None:
        """A block of statements, and the values that its comments show."""
        path = self.file(source, line)
        padded = "\n" * (line - 1) + source
        notes = comments(padded)
        stale = []
        for node in ast.parse(padded).body:
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                value = self.statement(node, path)
            printed = out.getvalue()
            self.printed = (self.printed or "") + printed
            if shown := value_shown(node, notes):
                made = [printed.removesuffix("\n"), *texts(value)]
                if not is_shown(shown, made):
                    stale.append(f"line {node.lineno} shows {shown}: {made}")
        if stale:
            raise StaleError("; ".join(stale))

    def statement(self, node: ast.stmt, path: str) -> object:
        """Runs one statement; an expression's value, or None."""
        if isinstance(node, ast.Expr):
            return eval(compile(ast.Expression(node.value), path, "eval"), self.names)
        exec(compile(ast.Module([node], []), path, "exec"), self.names)
        return None

    def session(self, block: Block) -> None:
        """Lines behind `>>>`, and what each of them prints."""
        for source, shown in session_steps(block.text):
            out = io.StringIO()
            path = self.file(source, block.line)
            with contextlib.redirect_stdout(out):
                try:
                    exec(compile(source, path, "single"), self.names)
                except Exception as error:
                    lines = traceback.format_exception_only(type(error), error)
                    out.write("".join(lines))
            self.printed += out.getvalue()
            if not self.holds(shown, out.getvalue(), block.numbers_vary):
                raise StaleError(f"{source}shows\n{shown}and prints\n{out.getvalue()}")

    def run_commands(self, block: Block) -> None:
        """Commands of the shell, in the page's folder."""
        for command in filter(runs, commands(block.text)):
            done = subprocess.run(
                ["bash", "-c", command[0]],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=COMMAND_SECONDS,
            )
            if done.returncode:
                raise StaleError(f"{command[0]}: exit {done.returncode}\n{done.stdout}")
            self.printed += done.stdout
            if command[1] is None:
                continue
            if not self.holds(command[1], done.stdout, block.numbers_vary):
                raise StaleError(f"{command[0]} prints\n{done.stdout}")

    def holds(self, shown: str, printed: str, numbers_vary: bool) -> bool:
        """True if an output is as the page has it, where it says that it is."""
        return self.varies or agrees(shown, printed, numbers_vary)

    def compare(self, shown: str, numbers_vary: bool) -> None:
        """Holds an output that the page shows against what was printed."""
        if self.printed is None:
            raise StaleError("no block before this output was run")
        if not self.holds(shown, self.printed, numbers_vary):
            raise StaleError(f"the block before printed\n{self.printed}")


def texts(value: object) -> list[str]:
    """How an expression's value is written; nothing of None."""
    with contextlib.redirect_stdout(io.StringIO()):  # of classes that tell of it
        return [] if value is None else [repr(value), str(value)]


def session_steps(text: str) -> list[tuple[str, str]]:
    """Pairs of what was typed, and what came back."""
    steps: list[list[str]] = []
    for line in text.splitlines():
        if line.startswith(">>> "):
            steps.append([line[4:] + "\n", ""])
        elif line.startswith("... ") or line == "...":
            steps[-1][0] += line[4:] + "\n"
        else:
            steps[-1][1] += line + "\n"
    return [(source, shown) for source, shown in steps]


def main() -> None:
    sys.path[:0] = ["", str(WRITERS)]  # files of the page, and writers
    page = Page()
    answers = sys.stdout
    ways = [os.environ["DOCS_COMMANDS"], os.environ.get("PATH", "")]
    os.environ["PATH"] = os.pathsep.join(ways)
    for block in page_blocks(sys.argv[1]):
        answer = {"line": block.line, "kind": block.kind, "status": "ran"}
        if block.reason:
            answer.update(status="not run", why=block.reason)
            if block.kind != "output":
                page.printed = None
        else:
            try:
                page.run(block)
            except StaleError as error:
                answer.update(status="failed", why=str(error))
            except Exception:
                answer.update(status="failed", why=traceback.format_exc(limit=-3))
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
