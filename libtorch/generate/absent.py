"""The functions of PyTorch that hotaru has none of, as C++ declares them.

    PYTHON absent.py BUILD > ../operators/absent.txt

PYTHON has PyTorch with torchgen, whose list of operators this reads; BUILD is
a build folder with libtorch/generated, whose sources name the registry's.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import torchgen
from torchgen.gen import parse_native_yaml

HEAD = """\
# PyTorch's functions that hotaru has none of: they compile, so that libraries
# which wrap all that there is do, and throw NotImplementedError when they are
# called. Written by generate/absent.py from PyTorch's own list.
"""
# Methods and functions that headers define by hand.
BY_HAND = {
    "_backward",
    "_version",
    "data",
    "data_ptr",
    "dim",
    "get_device",
    "is_complex",
    "is_contiguous",
    "is_floating_point",
    "is_leaf",
    "item",
    "numel",
    "output_nr",
    "promote_types",
    "requires_grad_",
    "retain_grad",
    "retains_grad",
    "set_data",
    "size",
    "storage_offset",
    "stride",
    "sym_is_contiguous",
    "sym_numel",
    "sym_size",
    "sym_storage_offset",
    "sym_stride",
}
# Its defaults are texts that the schemas here have no form for.
UNREADABLE = {"_test_string_default"}


def named(schema: str) -> tuple[str, str]:
    """Name and overload."""
    found = re.match(r"(\w+)(?:\.(\w+))?\(", schema)
    return found[1], found[2] or ""


def present(build: Path) -> set[tuple[str, str]]:
    """Operators with a form in C++: of the registry, or by a formula."""
    have = set()
    for path in (build / "libtorch/generated").glob("operators_*.cpp"):
        have.update(
            re.findall(r'constinit Op op\d+\("([^"]*)", "([^"]*)"\)', path.read_text())
        )
    formulas = Path(__file__).parents[1] / "operators/formulas.txt"
    for line in formulas.read_text().splitlines():
        if line and not line.startswith("#"):
            have.add(named(line.split(" ", 1)[1]))
    return have


def main() -> None:
    folder = Path(torchgen.__file__).parent / "packaged/ATen/native"
    parsed = parse_native_yaml(
        str(folder / "native_functions.yaml"), str(folder / "tags.yaml")
    )
    have = present(Path(sys.argv[1]))
    lines = []
    for function in parsed.native_functions:
        schema = str(function.func)
        name = named(schema)
        if (
            function.func.kind().name == "out"
            or name in have
            or name[0] in BY_HAND | UNREADABLE
            or "Dimname" in schema
        ):
            continue
        kinds = {kind.name for kind in function.variants}
        letters = "f" * ("function" in kinds) + "m" * ("method" in kinds)
        lines.append(f"{letters} {schema}")
    lines.sort(key=lambda line: line.split(" ", 1)[1])
    sys.stdout.write(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
