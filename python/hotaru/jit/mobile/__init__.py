"""Archives of PyTorch's interpreter for phones (`.ptl`), which are loaded.

Such an archive holds the code of a module and, beside it, instructions of that
interpreter (`bytecode.pkl`). The code runs here; instructions are written for PyTorch.
"""

from __future__ import annotations

import io
import os
import pickle
import re
import typing
import zipfile

from .. import load
from .._files import existing_file

__all__ = ["LiteScriptModule"]


class OperatorInfo(typing.NamedTuple):
    """Facts of an operator in an archive: how many arguments it is given."""

    num_schema_args: int | None


class LiteScriptModule:
    """A module from an archive: methods are called, and no more."""

    def __init__(self, cpp_module) -> None:
        self._c = cpp_module
        self._operators: set[str] = set()

    def __call__(self, *input):
        return self._c(*input)

    def find_method(self, method_name: str) -> bool:
        """True if there is a method of that name."""
        return self._c._c.has_method(method_name)

    def forward(self, *input):
        """Calls the method `forward`."""
        return self._c.forward(*input)

    def run_method(self, method_name: str, *input):
        """Calls a method by its name; RuntimeError: there is none."""
        if not self.find_method(method_name):
            raise RuntimeError(f"Method '{method_name}' is not defined.")
        return getattr(self._c, method_name)(*input)


class _Plain(pickle.Unpickler):
    """Numbers, texts and tuples; nothing of the file is called."""

    def find_class(self, module: str, name: str):
        return lambda *args: None

    def persistent_load(self, pid):
        return None


def _checked(f) -> bytes:
    """Bytes of an archive; ValueError: there is no such file."""
    if not isinstance(f, (str, os.PathLike)):
        return f.read()
    with open(existing_file(f), "rb") as file:
        return file.read()


def _bytecode(data: bytes) -> tuple:
    """The version of the instructions, and the functions.

    RuntimeError: the archive has none.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = archive.namelist()
            found = [n for n in names if n.endswith("/bytecode.pkl")]
            if found:
                content = _Plain(io.BytesIO(archive.read(found[0]))).load()
                return content[0], content[1:]
    except (zipfile.BadZipFile, pickle.UnpicklingError, EOFError, TypeError) as error:
        raise RuntimeError(f"not an archive for mobile devices: {error}") from error
    raise RuntimeError(
        "the archive has no bytecode.pkl: it is not from _save_for_lite_interpreter; "
        "torch.jit.load reads it"
    )


def _tables(data: bytes, name: str) -> list:
    """Entries of all functions' tables of a name."""
    found: list = []
    for function in _bytecode(data)[1]:
        for row in function[1]:
            if row[0] == name:
                found += row[1]
    return found


def _operators(data: bytes) -> dict[str, OperatorInfo]:
    found = {}
    for name, overload, *count in _tables(data, "operators"):
        whole = f"{name}.{overload}" if overload else name
        found[whole] = OperatorInfo(count[0] if count else None)
    return found


def _load_for_lite_interpreter(f, map_location=None) -> LiteScriptModule:
    """Loads an archive that PyTorch's `_save_for_lite_interpreter` wrote.

    Args:
        f: a path, or a file opened for reading bytes.
        map_location: as `jit.load` takes it.

    Raises:
        ValueError: there is no such file. RuntimeError: an archive without
        instructions, which `jit.load` reads.
    """
    data = _checked(f)
    operators = set(_operators(data))
    made = LiteScriptModule(load(io.BytesIO(data), map_location=map_location))
    made._operators = operators
    return made


def _export_operator_list(module: LiteScriptModule) -> set[str]:
    """Names of the operators that its methods call."""
    return set(module._operators)


def _get_model_bytecode_version(f_input) -> int:
    """The version of the instructions in an archive."""
    return _bytecode(_checked(f_input))[0]


def _get_mobile_model_contained_types(f_input) -> set[str]:
    """Names of the types in the instructions of an archive."""
    texts = _tables(_checked(f_input), "types")
    return {name for text in texts for name in re.findall(r"[A-Za-z_][\w.]*", text)}


def _get_model_ops_and_info(f_input) -> dict[str, OperatorInfo]:
    """Operators in the instructions of an archive, and facts of them."""
    return _operators(_checked(f_input))


def _no_older(name: str):
    raise NotImplementedError(
        f"torch.jit.mobile.{name}: hotaru writes instructions of version 8 alone; "
        "PyTorch makes older ones of them"
    )


def _backport_for_mobile(f_input, f_output, to_version):
    """NotImplementedError: instructions of older versions are not written."""
    _no_older("_backport_for_mobile")


def _backport_for_mobile_to_buffer(f_input, to_version):
    """NotImplementedError: instructions of older versions are not written."""
    _no_older("_backport_for_mobile_to_buffer")
