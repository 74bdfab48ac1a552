"""Helpers that the scripts of this folder share: numbers as JSON lines, and
programs of other people run as they are.

Both interpreters run the same script; run.py compares what they print.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

SAMPLES = 48
_NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?\b")


def plain(value):
    """`value` as JSON has it: a tensor as its shape and samples."""
    if isinstance(value, torch.Tensor):
        return _tensor(value)
    if isinstance(value, dict):
        return {str(key): plain(v) for key, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if hasattr(value, "tolist"):  # an array of NumPy
        return plain(torch.as_tensor(value))
    return str(value)


def _tensor(value) -> dict:
    value = value.detach()
    if value.is_sparse:
        value = value.to_dense()
    if value.is_complex():
        value = torch.view_as_real(value)
    flat = value.reshape(-1)
    step = max(1, flat.numel() // SAMPLES)
    out = {"shape": list(value.shape), "samples": flat[::step].tolist()}
    if value.is_floating_point() and flat.numel():
        whole = flat.double()
        out["samples"] = whole[::step].tolist()
        out["norm"] = whole.norm().item()
    return out


def emit(**values) -> None:
    """Prints each value as one line."""
    for name, value in values.items():
        line = json.dumps({"name": name, "value": plain(value)})
        print(f"\n{line}", flush=True)


def sources(*parts: str) -> Path:
    """A path below the folder of public sources (`run.py --sources`)."""
    path = Path(os.environ["PROGRAMS_SOURCES"], *parts)
    if not path.exists():
        print(f"left out: no {'/'.join(parts)} in the sources", file=sys.stderr)
        sys.exit(77)
    return path


@contextlib.contextmanager
def scratch():
    """An empty working folder."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def printed(text: str, keep: str) -> list:
    """Lines of `text` that match `keep`: words and the numbers between.

    A number stays as it is written, which tells how precise it is.
    """
    lines = [line for line in text.splitlines() if re.search(keep, line)]
    return [
        {"text": _NUMBER.sub("#", line), "printed": _NUMBER.findall(line)}
        for line in lines
    ]


def run(path, *args, keep: str = ".", process: bool = False, drop=""):
    """Runs a program with arguments and emits the numbers that it prints.

    `keep` says of which lines; what matches `drop`, such as a time, is cut.
    A program that starts processes needs one of its own.
    """
    command = [str(path), *map(str, args)]
    if process:
        done = subprocess.run(
            [sys.executable, *command], stdout=subprocess.PIPE, text=True
        )
        text, status = done.stdout, done.returncode
    else:
        text, status = _run_here(command), 0
    if status:
        print(text[-2000:], file=sys.stderr)
        sys.exit(status)
    if drop:
        text = re.sub(drop, "", text)
    emit(**{Path(path).stem: printed(text, keep)})


def _run_here(command: list[str]) -> str:
    text, argv = io.StringIO(), sys.argv
    sys.argv = command
    sys.path.insert(0, str(Path(command[0]).parent))
    try:
        with contextlib.redirect_stdout(text):
            runpy.run_path(command[0], run_name="__main__")
    except SystemExit as error:
        if error.code:
            raise
    finally:
        sys.argv = argv
    return text.getvalue()


def gradients(module) -> dict:
    """Norms of the gradients of a module, by parameter."""
    return {
        name: parameter.grad.double().norm().item()
        for name, parameter in module.named_parameters()
        if parameter.grad is not None
    }
