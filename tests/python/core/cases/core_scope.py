"""Helpers of the cases of the core: code as text, and tables over dtypes."""

from __future__ import annotations

import ast
import copy
import itertools
import pickle
import re

import numpy
from outcomes import tensor

#: All dtypes, shortest names first used in tables.
DTYPES = [
    "bool",
    "uint8",
    "int8",
    "int16",
    "int32",
    "int64",
    "float16",
    "bfloat16",
    "float32",
    "float64",
    "complex64",
    "complex128",
]
_SHORT = {
    "bool": "b",
    "uint8": "u1",
    "int8": "i1",
    "int16": "i2",
    "int32": "i4",
    "int64": "i8",
    "float16": "f2",
    "bfloat16": "bf",
    "float32": "f4",
    "float64": "f8",
    "complex64": "c8",
    "complex128": "c16",
    "complex32": "c8",
}


def scope(lib) -> dict:
    """The names that a case's text may use."""

    def x(*shape, **options):
        return tensor(lib, *shape, **options)

    def leaf(*shape, start=0, dtype=None):
        return x(*shape, start=start, dtype=dtype or lib.float64, requires_grad=True)

    def laid(t):
        return [t, list(t.stride()), t.storage_offset()]

    return {
        "torch": lib,
        "tensor": lib.tensor,
        "np": numpy,
        "x": x,
        "leaf": leaf,
        "laid": laid,
        "copy": copy,
        "pickle": pickle,
        "inf": float("inf"),
        "nan": float("nan"),
    }


def case(text: str):
    """A case: the value of the last expression of `text`, or of `r`."""
    tree = ast.parse(text)
    last = tree.body[-1]
    if isinstance(last, ast.Expr):
        tree.body[-1] = ast.copy_location(
            ast.Assign([ast.Name("r", ast.Store())], last.value), last
        )
    code = compile(ast.fix_missing_locations(tree), "<case>", "exec")

    def run(lib):
        names = scope(lib)
        try:
            exec(code, names)
        except Exception as error:
            raise type(error)(normal(str(error))) from None
        finally:
            lib.set_grad_enabled(True)
            lib.set_default_dtype(lib.float32)
        return names["r"]

    return run


def cases(texts) -> dict:
    """Cases by their own text; a text that occurs twice is a mistake."""
    found = {}
    for text in texts:
        assert text not in found, text
        found[text] = case(text)
    return found


def normal(text: str) -> str:
    """A text without what is PyTorch's own affair.

    Names of its kernels ("add_cpu") and, as hotaru has no complex32, that name.
    """
    text = re.sub(r'^"\w+" not implemented', '"kernel" not implemented', text)
    text = text.replace("ComplexHalf", "ComplexFloat")
    return text.replace("hotaru.", "torch.")


def short(dtype) -> str:
    """A dtype in a table."""
    return _SHORT[str(dtype).split(".")[-1]]


def _text(error: Exception) -> str:
    return f"{type(error).__name__}: {normal(str(error))}"


class Table:
    """Cells that are dtypes or errors; the errors' texts stand once below."""

    def __init__(self):
        self.errors: list[str] = []

    def cell(self, function) -> str:
        """The result's dtype, or a reference to the error."""
        try:
            return short(function().dtype)
        except Exception as error:
            text = _text(error)
            if text not in self.errors:
                self.errors.append(text)
            return f"E{self.errors.index(text)}"

    def rows(self, function, rows, columns) -> list[str]:
        """function(row, column) as a line a row, then the errors."""
        lines = [
            f"{row}: "
            + " ".join(self.cell(lambda c=c, r=row: function(r, c)) for c in columns)
            for row in rows
        ]
        return lines + [f"E{i} = {e}" for i, e in enumerate(self.errors)]


def dtype_table(lib, function, make_row, make_column, rows, columns):
    """The dtypes of function(make_row(r), make_column(c))."""
    return Table().rows(
        lambda r, c: function(make_row(lib, r), make_column(lib, c)), rows, columns
    )


def pairs():
    """All ordered pairs of dtypes."""
    return itertools.product(DTYPES, DTYPES)
