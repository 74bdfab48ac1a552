"""`python -m hotaru.export MODEL FILE.pt2 ...`: programs in files as `.pt2`.

What `hotaru convert MODEL FILE.pt2` runs.
"""

from __future__ import annotations

import argparse
import sys

import hotaru as torch

from . import Dim, export, save
from ._script import python_module


class _Given(argparse.Action):
    """Arguments of the program, in the order of the command line."""

    def __call__(self, parser, space, text, option=None) -> None:
        read = _of_shape if option == "--shape" else _of_word
        space.given = [*(space.given or []), read(text)]


def _of_shape(text: str):
    sizes, _, kind = text.partition(":")
    shape = [int(size) for size in sizes.split(",") if size]
    return torch.zeros(shape, dtype=getattr(torch, kind or "float32"))


def _of_word(text: str):
    known = {"true": True, "false": False, "none": None}
    if text in known:
        return known[text]
    try:
        return int(text)
    except ValueError:
        return float(text)


def _dynamic(words: list[str], names: list[str]) -> dict:
    """Dimensions of any size by input: "batch=x:0"."""
    dims: dict[str, Dim] = {}
    found: dict[str, dict] = {name: {} for name in names}
    for word in words:
        name, _, place = word.partition("=")
        target, _, dim = place.rpartition(":")
        if not dim.isdigit() or not name:
            raise ValueError(
                f"--dynamic {word}: write NAME=INPUT:DIMENSION, such as batch=x:0"
            )
        if target not in found:
            raise ValueError(
                f"--dynamic {word}: there is no input '{target}'; the model's "
                f"are {', '.join(names)}"
            )
        found[target][int(dim)] = dims.setdefault(name, Dim(name))
    return found


def _convert(options) -> None:
    script = torch.load_program(options.model).eval()
    if not hasattr(script, options.method):
        raise ValueError(f"there is no method '{options.method}'")
    given = tuple(options.given or ())
    schema = getattr(script, options.method).schema
    arguments = list(schema.arguments)[1:]
    needed = [a.name for a in arguments if not a.has_default_value()]
    if not len(needed) <= len(given) <= len(arguments):
        raise ValueError(
            f"{options.method} takes {', '.join(a.name for a in arguments)}; "
            f"{len(given)} were given, with --shape or --input"
        )
    names = [a.name for a in arguments][: len(given)]
    shapes = _dynamic(options.dynamic, names) if options.dynamic else None
    if shapes is not None:
        shapes = {
            name: dims if isinstance(value, torch.Tensor) else None
            for (name, dims), value in zip(shapes.items(), given)
        }
    module = python_module(script, options.method)
    save(export(module, given, dynamic_shapes=shapes), options.to)


def main() -> int:
    """Converts; errors are one line and a status of 1."""
    parser = argparse.ArgumentParser(prog="python -m hotaru.export")
    parser.add_argument("model", help="an archive, a .pt2 file, an ONNX model")
    parser.add_argument("to", help="FILE.pt2")
    parser.add_argument("--method", default="forward")
    parser.add_argument("--shape", dest="given", action=_Given)
    parser.add_argument("--input", dest="given", action=_Given)
    parser.add_argument("--dynamic", action="append", default=[])
    options = parser.parse_args()
    try:
        _convert(options)
    except (RuntimeError, TypeError, ValueError, OSError) as error:
        print(f"hotaru: {error}", file=sys.stderr)
        return 1
    except Exception as error:
        print(
            f"hotaru: {options.model} cannot be written as .pt2: {error}",
            file=sys.stderr,
        )
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
