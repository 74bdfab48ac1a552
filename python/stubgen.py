"""Writes the type stub of the package from the operators' schemas.

usage: stubgen.py FOLDER_OF_EXTENSION OUTPUT

Run by the build; the stub is part of what is installed and of no commit.
"""

from __future__ import annotations

import ast
import keyword
import pathlib
import re
import sys

_SCALARS = {
    "Tensor": "Tensor",
    "int": "_int",
    "SymInt": "_int",
    "float": "_float",
    "bool": "_bool",
    "Scalar": "Number",
    "str": "str",
    "complex": "_complex",
    "ScalarType": "dtype",
    "Layout": "layout",
    "MemoryFormat": "memory_format",
    "Device": "device | str | _int",
    "Generator": "Generator",
}

_OPERATORS = (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and",
    "or",
    "xor",
)

_HEADER = '''"""PyTorch's names and behaviour; types of every operator."""

from builtins import bool as _bool, complex as _complex, float as _float
from builtins import int as _int
from collections.abc import Sequence
from typing import Any, overload

from hotaru import (
    amp as amp,
    autograd as autograd,
    backends as backends,
    cpu as cpu,
    cuda as cuda,
    graphs as graphs,
    jit as jit,
    nn as nn,
    optim as optim,
    random as random,
    serialization as serialization,
    utils as utils,
)
from hotaru._extension.dtypes import finfo as finfo, iinfo as iinfo
from hotaru._functions import *
from hotaru._extension.grad_mode import (
    enable_grad as enable_grad,
    inference_mode as inference_mode,
    no_grad as no_grad,
    set_grad_enabled as set_grad_enabled,
)
from hotaru._extension.size import Size as Size
from hotaru.amp import autocast as autocast
from hotaru.amp._thread import *
from hotaru.graphs import compile as compile
from hotaru.serialization import load as load, save as save

Number = _int | _float | _complex | _bool
__version__: str

class dtype:
    is_floating_point: _bool
    is_complex: _bool
    is_signed: _bool
    itemsize: _int
    def to_real(self) -> dtype: ...
    def to_complex(self) -> dtype: ...

class layout: ...
class memory_format: ...

class device:
    def __init__(
        self, type: str | device | _int, index: _int | None = ...
    ) -> None: ...
    @property
    def type(self) -> str: ...
    @property
    def index(self) -> _int | None: ...

class Generator:
    def __init__(self, device: device | str = ...) -> None: ...
    def manual_seed(self, seed: _int) -> Generator: ...
    def seed(self) -> _int: ...
    def initial_seed(self) -> _int: ...
    def get_state(self) -> Tensor: ...
    def set_state(self, state: Tensor) -> Generator: ...
    @property
    def device(self) -> device: ...
'''


def _type(text: str) -> str:
    base = re.split(r"[?\[(]", text, maxsplit=1)[0]
    kind = _SCALARS.get(base, "Any")
    optional = text.endswith("?")
    size = re.search(r"\[(\d*)\]", text)
    if size:
        element = f"{kind} | None" if "?[" in text else kind
        kind = f"Sequence[{element}]"
        if size.group(1):
            kind += f" | {_SCALARS.get(base, 'Any')}"
    return f"{kind} | None" if optional else kind


def _parameters(text: str, method: bool) -> list[str]:
    out = []
    for part in filter(None, re.split(r", (?![^\[(]*[\])])", text)):
        if part == "*":
            out.append("*")
            continue
        head, _, default = part.partition("=")
        kind, name = head.rsplit(" ", 1)
        kind = re.sub(r"\([a-z*! >-]+\)", "", kind)
        if name == "self":
            out.append("self" if method else "input: Tensor")
            continue
        if keyword.iskeyword(name):
            name += "_"
        out.append(f"{name}: {_type(kind)}" + (" = ..." if default else ""))
    if method and "self" in out:
        out.remove("self")
        out.insert(0, "self")
    if out and out[-1] == "*":
        out.pop()
    return out


def _spread(parameters: list[str]) -> list[str]:
    """f(2, 3) for f((2, 3)), where a list of any length is all there is."""
    plain = parameters[: parameters.index("*")] if "*" in parameters else parameters
    lists = [p for p in plain if p != "self" and p != "input: Tensor"]
    if len(lists) != 1 or not lists[0].endswith(": Sequence[_int]"):
        return parameters
    name = lists[0].split(":")[0]
    spread = [f"*{name}: _int" if p == lists[0] else p for p in parameters]
    return [p for p in spread if p != "*"]


def _result(text: str) -> str:
    text = re.sub(r"\([a-z*! >-]+\)", "", text)
    if text.startswith("("):
        parts = [p for p in text[1:-1].split(", ") if p]
        kinds = [_type(p.split(" ")[0]) for p in parts]
        return f"tuple[{', '.join(kinds)}]" if kinds else "None"
    kind = _type(text.split(" ")[0])
    return kind.replace("Sequence[Tensor]", "tuple[Tensor, ...]")


def _definitions(name: str, schemas: list[str], method: bool) -> list[str]:
    lines = []
    for schema in schemas:
        call, _, result = schema.partition(") -> ")
        parameters = _parameters(call.split("(", 1)[1], method)
        if method and "self" not in parameters:
            continue
        for form in (parameters, _spread(parameters)):
            line = f"def {name}({', '.join(form)}) -> {_result(result)}: ..."
            if line not in lines:
                lines.append(line)
    if len(lines) > 1:
        lines = [f"@overload\n{line}" for line in lines]
    return lines


def _written() -> set[str]:
    """Names that the package defines in Python or imports."""
    package = pathlib.Path(__file__).parent / "hotaru"
    source = package / "_functions" / "__init__.py"
    for node in ast.parse(source.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == "__all__":
            return {*ast.literal_eval(node.value), "cpu"}
    return {"cpu"}


def stub(extension) -> str:
    """The text of the stub for a loaded extension module."""
    written = _written()
    out = [_HEADER]
    kinds = {extension.dtype: "dtype", extension.layout: "layout"}
    for name, value in sorted(vars(extension).items()):
        if type(value) in kinds and not keyword.iskeyword(name):
            out.append(f"{name}: {kinds[type(value)]}")
    names = [n for n in vars(extension.ops) if n.isidentifier()]
    names = [n for n in names if not n.startswith("_") and not keyword.iskeyword(n)]
    for name in sorted(set(names) - written):
        out += _definitions(name, extension._op_schemas(name), False)
    out.append(
        "def tensor(data: Any, *, dtype: dtype | None = ..., device: "
        "device | str | None = ..., requires_grad: _bool = ...) -> Tensor: ..."
    )
    out.append("def from_numpy(ndarray: Any) -> Tensor: ...")
    out.append("def manual_seed(seed: _int) -> Generator: ...")
    out.append("class Tensor:")
    body = []
    for name, value in sorted(vars(extension.Tensor).items()):
        if name.isidentifier() and type(value).__name__ == "getset_descriptor":
            body.append(f"{name}: Any")
            names = [n for n in names if n != name]
    for name in sorted(names):
        if hasattr(extension.Tensor, name):
            body += _definitions(name, extension._op_schemas(name), True)
    body.append("def __getattr__(self, name: str) -> Any: ...")
    for operator in _OPERATORS:
        body.append(f"def __{operator}__(self, other: Any) -> Tensor: ...")
        body.append(f"def __r{operator}__(self, other: Any) -> Tensor: ...")
    body.append("def __getitem__(self, index: Any) -> Tensor: ...")
    body.append("def __setitem__(self, index: Any, value: Any) -> None: ...")
    out += ["    " + line.replace("\n", "\n    ") for line in body]
    return "\n".join(out) + "\n"


def main() -> None:
    """Loads the extension from the build and writes the stub."""
    folder, output = sys.argv[1:]
    sys.path.insert(0, folder)
    import _C

    with open(output, "w", encoding="ascii") as file:
        file.write(stub(_C))


if __name__ == "__main__":
    main()
