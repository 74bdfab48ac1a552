"""Archives for PyTorch's interpreter on mobile devices: `bytecode.pkl`.

They are what `jit.save` writes, and beside it the instructions of every method. The
form is that of version 8, which PyTorch 1.12 and later write and read.
"""

from __future__ import annotations

import io
import pickle
import re
import struct
import zipfile
from typing import ClassVar

from ... import _C
from ..._function_schema import parse_schema
from .._ir.native import called_graphs
from .._native_module import unwrapped
from ._emit import Function

VERSION = 8
_HEAD = re.compile(r"^class (\w+)\((\w+)\):$(.*?)(?=^class |\Z)", re.M | re.S)
_CLASS = re.compile(r"^class (\w+)\(", re.M)
_FIELD = re.compile(r"^  (\w+) : (.+?)$", re.M)


_LISTS = {int: "build_intlist", float: "build_doublelist", bool: "build_boollist"}


class _Written:
    """A pickle as PyTorch's own reader takes it: integers of 64 bits, no calls but
    those of tensors and devices.
    """

    def __init__(self, tensor) -> None:
        self._out = bytearray(b"\x80\x02")
        self._tensor = tensor  # gives a storage's record for a tensor
        self._texts: dict[str, int] = {}

    def whole(self, value) -> bytes:
        self._put(value)
        return bytes(self._out + b".")

    def _put(self, value) -> None:
        put = self._FORMS.get(type(value))
        if put is None:
            put = _Written._tensor_or_none(value)
        put(self, value)

    @staticmethod
    def _tensor_or_none(value):
        if isinstance(value, _C.Tensor):
            return _Written._put_tensor
        raise NotImplementedError(
            "_save_for_lite_interpreter: a constant of type "
            f"'{type(value).__name__}' has no form in bytecode.pkl"
        )

    def _none(self, _) -> None:
        self._out += b"N"

    def _bool(self, value) -> None:
        self._out += b"\x88" if value else b"\x89"

    def _int(self, value) -> None:
        if 0 <= value < 256:
            self._out += b"K" + struct.pack("<B", value)
        elif 0 <= value < 65536:
            self._out += b"M" + struct.pack("<H", value)
        elif -(2**31) <= value < 2**31:
            self._out += b"J" + struct.pack("<i", value)
        else:
            self._out += b"\x8a\x08" + struct.pack("<q", value)

    def _float(self, value) -> None:
        self._out += b"G" + struct.pack(">d", value)

    def _complex(self, value) -> None:
        self._global("builtins", "complex")
        self._put((value.real, value.imag))
        self._out += b"R"

    def _str(self, value) -> None:
        known = self._texts.get(value)
        if known is not None:
            short = known < 256
            self._out += (b"h" if short else b"j") + struct.pack(
                "<B" if short else "<I", known
            )
            return
        text = value.encode()
        self._out += b"X" + struct.pack("<I", len(text)) + text
        at = self._texts[value] = len(self._texts)
        short = at < 256
        self._out += (b"q" if short else b"r") + struct.pack(
            "<B" if short else "<I", at
        )

    def _tuple(self, value) -> None:
        if not value:
            self._out += b")"
            return
        self._out += b"("
        for item in value:
            self._put(item)
        self._out += b"t"

    def _list(self, value) -> None:
        kinds = {type(item) for item in value}
        name = _LISTS.get(kinds.pop()) if len(kinds) == 1 else None
        if name is not None:
            self._global("torch.jit._pickle", name)
        self._out += b"]("
        for item in value:
            self._put(item)
        self._out += b"e"
        if name is not None:
            self._out += b"\x85R"

    def _device(self, value) -> None:
        self._global("torch", "device")
        parts = (value.type,) if value.index is None else (value.type, value.index)
        self._put(parts)
        self._out += b"R"

    def _global(self, module: str, name: str) -> None:
        self._out += f"c{module}\n{name}\n".encode()

    def _put_tensor(self, value) -> None:
        record, kind, count = self._tensor(value)
        self._global("torch._utils", "_rebuild_tensor_v2")
        self._out += b"(("
        self._put("storage")
        self._global("torch", kind)
        for part in (record, "cpu", count):
            self._put(part)
        self._out += b"tQ"
        for part in (0, tuple(value.shape), tuple(value.stride()), False):
            self._put(part)
        self._global("collections", "OrderedDict")
        self._out += b")RtR"

    _FORMS: ClassVar[dict] = {
        type(None): _none,
        bool: _bool,
        int: _int,
        float: _float,
        complex: _complex,
        str: _str,
        tuple: _tuple,
        list: _list,
        _C.device: _device,
    }


class _Orders(pickle.Unpickler):
    """Reads the order of objects' attributes out of `data.pkl`, and no more."""

    def __init__(self, file) -> None:
        super().__init__(file)
        self.orders: dict[str, list[str]] = {}

    def find_class(self, module: str, name: str):
        """Objects of a class that keep what they are made of; nothing is called."""
        orders = self.orders
        whole = f"{module}.{name}"

        class Kept:
            def __new__(cls, *args):
                return object.__new__(cls)

            def __init__(self, *args) -> None:
                pass

            def __setstate__(self, state) -> None:
                if isinstance(state, dict):
                    orders.setdefault(whole, list(state))

        return Kept

    def persistent_load(self, pid) -> None:
        """Tensors are nothing here."""


class Archive:
    """An archive of `jit.save`, and what its code says of classes."""

    def __init__(self, data: bytes) -> None:
        self._buffer = io.BytesIO(data)
        with zipfile.ZipFile(self._buffer) as archive:
            names = archive.namelist()
            self.root = names[0].partition("/")[0]
            orders = _Orders(io.BytesIO(archive.read(f"{self.root}/data.pkl")))
            orders.load()
            self._orders = orders.orders
            self._tuples: dict[str, str] = {}
            for name in names:
                if name.startswith(f"{self.root}/code/") and name.endswith(".py"):
                    self._classes(name, archive.read(name).decode())
        self._storages: list[bytes] = []

    def _classes(self, name: str, text: str) -> None:
        module = name[len(f"{self.root}/code/") : -len(".py")].replace("/", ".")
        parts = _CLASS.split(text)
        for label, body in zip(parts[1::2], parts[2::2]):
            if "\n  def __getstate__(" in body:
                self._orders.pop(f"{module}.{label}", None)
        for label, base, rest in _HEAD.findall(text):
            if base == "NamedTuple":
                fields = ",".join(f"[{n}, {t}]" for n, t in _FIELD.findall(rest))
                whole = f"{module}.{label}"
                self._tuples[whole] = f"{whole}[NamedTuple, [{fields}]]"

    def slot(self, owner: str, name: str) -> int:
        """The place of an attribute among those of a class.

        NotImplementedError: the archive does not tell, as the class saves a state
        of its own.
        """
        if name not in self._orders.get(owner, ()):
            raise NotImplementedError(
                f"_save_for_lite_interpreter: '{owner}' has '__getstate__', so that "
                f"the place of '{name}' is not in the archive; write the class "
                "without it, or save it with torch.jit.save"
            )
        return self._orders[owner].index(name)

    def type_text(self, type) -> str:
        """A type as the file has it: named tuples say what they hold."""
        text = type.annotation_str
        for whole, written in self._tuples.items():
            text = re.sub(rf"{re.escape(whole)}(?![\w\[])", written, text)
        return text

    def storage(self, tensor) -> tuple[str, str, int]:
        """Keeps a constant's numbers: their record, its kind, how many they are.

        The tensor is written with the strides it has, from its first number on.
        """
        from ...storage import _dtype_to_storage_type_map

        steps = zip(tensor.shape, tensor.stride())
        span = 1 + sum((n - 1) * s for n, s in steps) if tensor.numel() else 0
        flat = tensor.detach().as_strided((span,), (1,))
        data = flat.cpu().contiguous().view(_C.uint8)
        self._storages.append(data.numpy().tobytes())
        kind = _dtype_to_storage_type_map()[tensor.dtype]
        return f"b{len(self._storages) - 1}.storage", kind, span

    def with_bytecode(self, rows: tuple) -> bytes:
        """The archive with `bytecode.pkl`."""
        text = _Written(self.storage).whole(rows)
        with zipfile.ZipFile(self._buffer, "a", zipfile.ZIP_STORED) as archive:
            archive.writestr(f"{self.root}/bytecode.pkl", text)
            for i, data in enumerate(self._storages):
                archive.writestr(f"{self.root}/constants/b{i}.storage", data)
        return self._buffer.getvalue()


def _row(name: str, method, archive: Archive) -> tuple[tuple, Function]:
    made = Function(
        method.inlined_graph, called_graphs(method), archive.slot, archive.type_text
    )
    code = (
        ("instructions", tuple(made.instructions)),
        ("operators", tuple(made.operators)),
        ("constants", tuple(made.constants)),
        ("types", tuple(made.types)),
        ("register_size", made.register_size),
    )
    schema = parse_schema(str(method.schema))
    signature = (
        ("arguments", tuple(_argument(a, archive) for a in schema.arguments)),
        ("returns", tuple(_argument(a, archive) for a in schema.returns)),
    )
    return (name, code, signature), made


def _argument(argument, archive: Archive) -> tuple:
    return (
        ("name", argument.name or ""),
        ("type", archive.type_text(argument.type)),
        ("default_value", argument.default_value),
    )


def lite_archive(module, data: bytes) -> bytes:
    """The archive of a script module, with instructions of all its methods.

    Args:
        module: the module, whose archive `data` is.

    Raises:
        NotImplementedError: a method does what PyTorch's interpreter for mobile
        devices has no instruction for. RuntimeError: a class that is no module.
    """
    archive = Archive(data)
    waiting = [module]
    rows, whole = [], False
    seen: set[str] = set()
    while waiting:
        native = waiting.pop(0)
        if native.qualified_name not in seen:
            seen.add(native.qualified_name)
            for name in native.method_names():
                row, made = _row(
                    f"{native.qualified_name}.{name}", native.method(name), archive
                )
                rows.append(row)
                whole = whole or made.interfaces
        if whole:
            waiting += [unwrapped(child) for _, child in native.named_children()]
    return archive.with_bytecode((VERSION, *rows))
