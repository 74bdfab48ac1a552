"""Pickles of archives: their values, and values as PyTorch writes them.

A reader knows a fixed list of names, as the native one does: a file builds
tensors, plain values and objects of its own classes, and calls nothing else.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections import OrderedDict

import hotaru

from ... import _C
from ..._quantized.dtypes import (
    STORAGE_NAMES,
    is_quantized_dtype,
    per_channel_affine,
    per_channel_affine_float_qparams,
    per_tensor_affine,
    quint2x4,
    quint4x2,
)
from ..._quantized.packed import CLASSES, SPACES, Packed
from ..._quantized.pickling import check_stored
from ..._quantized.tensor import QuantizedTensor, build, scales_of
from ..._utils import _rebuild_tensor

_STORAGES = {
    "DoubleStorage": _C.float64,
    "FloatStorage": _C.float32,
    "HalfStorage": _C.float16,
    "BFloat16Storage": _C.bfloat16,
    "LongStorage": _C.int64,
    "IntStorage": _C.int32,
    "ShortStorage": _C.int16,
    "CharStorage": _C.int8,
    "ByteStorage": _C.uint8,
    "BoolStorage": _C.bool,
    "ComplexFloatStorage": _C.complex64,
    "ComplexDoubleStorage": _C.complex128,
    **{name: dtype for dtype, name in STORAGE_NAMES.items()},
    "QUInt4x2Storage": quint4x2,
    "QUInt2x4Storage": quint2x4,
}
# Bits of an element, where a byte of a file has several.
_BITS = {quint4x2: 4, quint2x4: 2}
_NAMES = {dtype: name for name, dtype in _STORAGES.items()}
_SCHEMES = {
    "per_tensor_affine": per_tensor_affine,
    "per_channel_affine": per_channel_affine,
    "per_channel_affine_float_qparams": per_channel_affine_float_qparams,
}
_LISTS = {
    "build_intlist": "List[int]",
    "build_doublelist": "List[float]",
    "build_boollist": "List[bool]",
    "build_tensorlist": "List[Tensor]",
}
_BUILDERS = {kind: name for name, kind in _LISTS.items()}


class TypedList(list):
    """A list with the type that the program declared."""

    kind = ""


class TypedDict(dict):
    """A dict with the type that the program declared."""

    kind = ""


def typed(value, kind: str):
    """A list or dict with its type; other values as they are."""
    if type(value) is list or type(value) is TypedList:
        made = TypedList(value)
    elif type(value) is dict or type(value) is TypedDict:
        made = TypedDict(value)
    else:
        return value
    made.kind = kind
    return made


class _Storage:
    def __init__(self, dtype, bytes_) -> None:
        self.dtype = dtype
        self.untyped = bytes_


class Reader(pickle.Unpickler):
    """Reads one pickle.

    Args:
        classes: gives the Python class of a name below `__torch__`.
        record: gives the bytes of a storage by its key.
        constants: the archive's table, to which tensors may refer.
    """

    def __init__(self, data: bytes, classes, record, constants=()) -> None:
        super().__init__(io.BytesIO(data))
        self._classes = classes
        self._record = record
        self._constants = constants
        self._storages: dict = {}

    def find_class(self, module: str, name: str):
        if module == "__torch__" or module.startswith("__torch__."):
            full = f"{module}.{name}"
            return CLASSES.get(full) or self._classes(full)
        if module == "torch._utils":
            known = {
                "_rebuild_tensor_v2": _tensor,
                "_rebuild_qtensor": _quantized,
                "_rebuild_parameter": _parameter,
            }
        elif module == "torch.jit._pickle":
            known = {
                name: (lambda items, kind=kind: typed(list(items), kind))
                for name, kind in _LISTS.items()
            }
            known["restore_type_tag"] = typed
            known["build_tensor_from_id"] = self._constant
        elif module == "torch":
            known = {**_SCHEMES, "device": _C.device}
            if name in _STORAGES:
                return name
        else:
            known = {"OrderedDict": OrderedDict}
            known = known if module == "collections" else {}
        if name not in known:
            raise RuntimeError(f"the pickle asks for {module}.{name}")
        return known[name]

    def _constant(self, number: int):
        value = self._constants[number] if number >= 0 else None
        if not isinstance(value, _C.Tensor):
            raise RuntimeError(f"the archive has no tensor constant {number}")
        return value

    def persistent_load(self, pid):
        tag, kind, key, _device, _count = pid
        if tag != "storage" or kind not in _STORAGES:
            raise RuntimeError(f"the pickle asks for a storage {pid!r}")
        known = self._storages.get(key)
        if known is None:
            data = bytearray(self._record(str(key)))
            flat = (
                hotaru.frombuffer(data, dtype=_C.uint8)
                if data
                else hotaru.empty(0, dtype=_C.uint8)
            )
            bits = _BITS.get(_STORAGES[kind])
            if bits is not None:
                flat = _unpacked(flat, bits)
            known = self._storages[key] = flat.untyped_storage()
        return _Storage(_STORAGES[kind], known)


def _unpacked(flat, bits: int):
    """The elements of bytes that have several, the lowest bits first."""
    shifts = hotaru.arange(0, 8, bits, dtype=_C.uint8)
    found = (flat.unsqueeze(1) >> shifts) & (2**bits - 1)
    return found.flatten().contiguous()


def _packed(integers, bits: int):
    """The bytes of elements."""
    each = 8 // bits
    flat = integers.contiguous().flatten()
    flat = hotaru.nn.functional.pad(flat, (0, -flat.numel() % each))
    shifts = hotaru.arange(0, 8, bits, dtype=_C.uint8)
    return (flat.reshape(-1, each) << shifts).sum(1).to(_C.uint8)


def _tensor(storage, offset, size, stride, requires_grad, hooks, *_):
    made = _rebuild_tensor(
        storage.untyped, offset, tuple(size), tuple(stride), storage.dtype
    )
    return made.requires_grad_() if requires_grad and _floats(made) else made


def _floats(x) -> bool:
    return x.is_floating_point() or x.is_complex()


def _parameter(data, requires_grad, hooks):
    return data.requires_grad_(requires_grad)


def _quantized(storage, offset, size, stride, quantizer, *_):
    dtype = storage.dtype
    check_stored(is_quantized_dtype(dtype), dtype)
    integers = _rebuild_tensor(
        storage.untyped, offset, tuple(size), tuple(stride), dtype.storage
    )
    scheme, *parts = quantizer
    if scheme is per_tensor_affine:
        scale, zero_point = parts
        return build(integers, dtype, float(scale), int(zero_point), None)
    scales, zero_points, axis = parts
    if (
        scheme not in _SCHEMES.values()
        or not 0 <= axis < integers.dim()
        or scales.shape != (integers.size(axis),)
        or zero_points.shape != scales.shape
    ):
        raise RuntimeError("a quantised tensor's scales do not fit it")
    kept = scales_of(integers, scales, zero_points)
    return build(integers, dtype, *kept, axis)


class Writer:
    """Writes one pickle of protocol 2; `records` are the storages' bytes.

    Args:
        described: gives an object's class and state.
    """

    def __init__(self, described) -> None:
        self.records: list = []
        self._described = described
        self._out = bytearray(b"\x80\x02")
        self._memo: dict = {}
        self._alive: list = []
        self._keys: dict = {}

    def dump(self, value) -> bytes:
        """The pickle of a value."""
        self._value(value)
        return bytes(self._out + b".")

    def _value(self, value) -> None:
        out = self._out
        if value is None or value is True or value is False:
            out += {None: b"N", True: b"\x88", False: b"\x89"}[value]
        elif type(value) is int:
            self._integer(value)
        elif type(value) is float:
            out += b"G" + struct.pack(">d", value)
        elif type(value) is str:
            text = value.encode()
            out += b"X" + struct.pack("<I", len(text)) + text
        elif isinstance(value, _C.device):
            self._call("torch", "device", str(value))
        elif isinstance(value, list):
            self._list(value)
        elif isinstance(value, dict):
            self._dict(value)
        elif isinstance(value, tuple):
            out += b"("
            for item in value:
                self._value(item)
            out += b"t"
        elif isinstance(value, QuantizedTensor):
            self._quantized(value)
        elif isinstance(value, _C.Tensor):
            self._plain(value)
        else:
            self._object(value)

    def _integer(self, value: int) -> None:
        if 0 <= value < 256:
            self._out += b"K" + bytes([value])
        elif -(2**31) <= value < 2**31:
            self._out += b"J" + struct.pack("<i", value)
        else:
            size = value.bit_length() // 8 + 1
            body = value.to_bytes(size, "little", signed=True)
            self._out += b"\x8a" + bytes([size]) + body

    def _global(self, module: str, name: str) -> None:
        self._out += f"c{module}\n{name}\n".encode()

    def _call(self, module: str, name: str, *values) -> None:
        self._global(module, name)
        self._value(values)
        self._out += b"R"

    def _bare(self, items, begin: bytes, end: bytes, pairs: bool) -> None:
        self._out += begin + b"("
        for item in items:
            if pairs:
                self._value(item[0])
                self._value(item[1])
            else:
                self._value(item)
        self._out += end

    def _list(self, value: list) -> None:
        kind = getattr(value, "kind", "") or type_text(value)
        builder = _BUILDERS.get(kind)
        self._global("torch.jit._pickle", builder or "restore_type_tag")
        self._out += b"("
        self._bare(value, b"]", b"e", False)
        if builder is None:
            self._value(kind)
        self._out += b"tR"

    def _dict(self, value: dict) -> None:
        kind = getattr(value, "kind", "") or type_text(value)
        self._global("torch.jit._pickle", "restore_type_tag")
        self._out += b"("
        self._bare(value.items(), b"}", b"u", True)
        self._value(kind)
        self._out += b"tR"

    def _storage(self, x, dtype, count: int | None = None) -> None:
        storage = x.untyped_storage()
        place = storage.data_ptr() or id(storage)
        if place not in self._keys:
            self._keys[place] = len(self.records)
            self._alive.append(storage)
            whole = hotaru.empty(0, dtype=_C.uint8).set_(storage)
            self.records.append(whole.numpy().tobytes())
        key = self._keys[place]
        self._out += b"("
        self._value("storage")
        self._global("torch", _NAMES[dtype])
        self._value(str(key))
        self._value("cpu")
        size = storage.nbytes() // x.element_size()
        self._value(size if count is None else count)
        self._out += b"tQ"

    def _place(self, x) -> None:
        self._value(x.storage_offset())
        self._value(tuple(x.shape))
        self._value(tuple(x.stride()))

    def _hooks(self) -> None:
        self._global("collections", "OrderedDict")
        self._out += b")R"

    def _plain(self, x) -> None:
        kept = x.detach().cpu()
        self._alive.append(kept)
        self._global("torch._utils", "_rebuild_tensor_v2")
        self._out += b"("
        self._storage(kept, kept.dtype)
        self._place(kept)
        self._value(bool(x.requires_grad))
        self._hooks()
        self._out += b"tR"

    def _quantized(self, x: QuantizedTensor) -> None:
        integers = x._integers
        self._global("torch._utils", "_rebuild_qtensor")
        self._out += b"("
        if x._dtype in _BITS:
            integers = integers.contiguous()
            packed = _packed(integers, _BITS[x._dtype])
            self._alive.append(packed)
            self._storage(packed, x._dtype, integers.numel())
        else:
            self._storage(integers, x._dtype)
        self._place(integers)
        scheme = x.qscheme()
        names = {value: name for name, value in _SCHEMES.items()}
        self._out += b"("
        self._global("torch", names[scheme])
        self._value(x._scale)
        self._value(x._zero_point)
        if x._axis is not None:
            self._value(x._axis)
        self._out += b"t"
        self._value(False)
        self._hooks()
        self._out += b"tR"

    def _object(self, value) -> None:
        known = self._memo.get(id(value))
        if known is not None:
            self._out += b"j" + struct.pack("<I", known)
            return
        if isinstance(value, Packed):
            name, state = SPACES + value._name, value.state()
        else:
            name, state = self._described(value)
        module, _, short = name.rpartition(".")
        self._global(module, short)
        self._out += b")\x81"
        self._alive.append(value)
        self._memo[id(value)] = number = len(self._memo)
        self._out += b"r" + struct.pack("<I", number)
        if isinstance(state, Attributes):
            self._bare(state.items(), b"}", b"u", True)
        else:
            self._value(state)
        self._out += b"b"


class Attributes(dict):
    """An object's attributes, which are its state."""


_PLAIN = {bool: "bool", int: "int", float: "float", str: "str"}


def type_text(value) -> str:
    """The type of a value, as programs write it. TypeError: it has none."""
    kind = getattr(value, "kind", "")
    if kind:
        return kind
    if type(value) in _PLAIN:
        return _PLAIN[type(value)]
    if value is None:
        return "NoneType"
    if isinstance(value, _C.Tensor):
        return "Tensor"
    if isinstance(value, _C.device):
        return "Device"
    if isinstance(value, Packed):
        return SPACES + value._name
    if isinstance(value, tuple):
        return f"Tuple[{', '.join(map(type_text, value)) or '()'}]"
    if isinstance(value, list):
        kinds = list(dict.fromkeys(map(type_text, value))) or ["Tensor"]
        if "NoneType" in kinds and len(kinds) == 2:
            kinds.remove("NoneType")
            kinds = [f"Optional[{kinds[0]}]"]
        if len(kinds) == 1:
            return f"List[{kinds[0]}]"
    if isinstance(value, dict):
        first = next(iter(value.items()), ("", hotaru.empty(0)))
        return f"Dict[{type_text(first[0])}, {type_text(first[1])}]"
    name = getattr(type(value), "qualified", None)
    if name is None:
        raise TypeError(f"a value of type {type(value).__name__!r}")
    return name
