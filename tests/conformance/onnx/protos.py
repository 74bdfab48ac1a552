"""The values of ONNX's test data: tensors, sequences and optionals in files.

A reader of its own, independent of the library's: tests compare with it.
"""

from __future__ import annotations

import struct

import numpy as np

# TensorProto.DataType to numpy's types; bfloat16 and float8 stay integers.
DTYPES = {
    1: "f4",
    2: "u1",
    3: "i1",
    4: "u2",
    5: "i2",
    6: "i4",
    7: "i8",
    9: "?",
    10: "f2",
    11: "f8",
    12: "u4",
    13: "u8",
    14: "c8",
    15: "c16",
    16: "u2",
    17: "u1",
    18: "u1",
    19: "u1",
    20: "u1",
    21: "u1",
    22: "i1",
    23: "u1",
    24: "u2",
    25: "u1",
    26: "i1",
}
#: Types that numpy has not, by the names of hotaru's.
RAW = {
    16: "bfloat16",
    17: "float8_e4m3fn",
    18: "float8_e4m3fnuz",
    19: "float8_e5m2",
    20: "float8_e5m2fnuz",
    # Types of less than a byte, and powers of two, in what holds them.
    23: "float8_e4m3fn",
    24: "bfloat16",
}
#: Bits of an element of types that are packed.
PACKED = {21: 4, 22: 4, 23: 4, 25: 2, 26: 2}
#: Bits of FLOAT4E2M1's numbers without sign in float8_e4m3fn.
_E2M1 = (0, 0x30, 0x38, 0x3C, 0x40, 0x44, 0x48, 0x4C)


class UnsupportedError(Exception):
    """A value of a type that hotaru has not."""


def fields(data: bytes):
    """The fields of a message: (number, wire type, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        number, wire = key >> 3, key & 7
        if wire == 0:
            yield number, wire, varint()
        elif wire == 2:
            size = varint()
            yield number, wire, data[at : at + size]
            at += size
        else:
            size = {1: 8, 5: 4}[wire]
            yield number, wire, data[at : at + size]
            at += size


def _varints(wire: int, value) -> list[int]:
    if wire == 0:
        return [value]
    out, current, shift = [], 0, 0
    for byte in value:
        current |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(current)
            current = shift = 0
    return out


def tensor(data: bytes):
    """(array, data type) of a TensorProto."""
    dims, kind, raw, numbers, packed = [], 0, None, [], b""
    for number, wire, value in fields(data):
        if number == 1:
            dims += _varints(wire, value)
        elif number == 2:
            kind = value
        elif number in (4, 10):
            packed += value
        elif number in (5, 7, 11):
            numbers += _varints(wire, value)
        elif number == 9:
            raw = value
    if kind not in DTYPES:
        raise UnsupportedError(f"data type {kind}")
    dtype = np.dtype(DTYPES[kind])
    if kind in PACKED or kind == 24:
        data = np.frombuffer(raw, "u1") if raw is not None else numbers
        return _unpacked(np.array(data, "u1"), dims, kind), kind
    if raw is not None:
        return np.frombuffer(raw, dtype).reshape(dims), kind
    if packed:
        return np.frombuffer(packed, dtype).reshape(dims), kind
    bits = np.array([n & (2**64 - 1) for n in numbers], dtype="u8")
    if kind == 10:
        return bits.astype("u2").view("f2").reshape(dims), kind
    return bits.astype(dtype).reshape(dims), kind


def _unpacked(data, dims, kind: int):
    """Elements of a packed tensor as the types that hold them have them."""
    count = int(np.prod(dims, dtype=np.int64))
    if kind == 24:
        exponents = data.astype("u2")
        found = np.where(exponents == 0, 0x40, exponents << 7)
        return np.where(exponents == 255, 0x7FC0, found).astype("u2").reshape(dims)
    bits = PACKED[kind]
    shifts = np.arange(0, 8, bits, dtype="u1")
    codes = (data[:, None] >> shifts & ((1 << bits) - 1)).reshape(-1)[:count]
    if kind == 23:
        table = np.array([n | s for s in (0, 128) for n in _E2M1], "u1")
        codes = table[codes]
    elif DTYPES[kind] == "i1":
        half = 1 << (bits - 1)
        codes = ((codes ^ half).astype("i1") - half).astype("i1")
    return codes.reshape(dims)


def value(data: bytes, declared: str):
    """A value of a file: `declared` is tensor, sequence or optional."""
    if declared == "tensor":
        return tensor(data)
    if declared.startswith("sequence"):
        return [tensor(v) for n, w, v in fields(data) if n == 3]
    for number, _, inner in fields(data):  # an optional
        if number == 3:
            return tensor(inner)
        if number == 5:
            return value(inner, "sequence")
    return None


def declared_type(info: bytes) -> tuple[str, str]:
    """Name and type of a ValueInfoProto."""
    name, kind = "", "tensor"
    names = {1: "tensor", 4: "sequence", 9: "optional", 5: "map", 8: "sparse"}
    for number, _, field in fields(info):
        if number == 1:
            name = field.decode()
        elif number == 2:
            for inner, _, _value in fields(field):
                kind = names.get(inner, kind)
    return name, kind


def signature(model: bytes):
    """Names and types of a model's inputs and outputs, and its opset."""
    inputs, outputs, initial, opset = [], [], set(), {}
    for number, _, field in fields(model):
        if number == 7:
            for inner, _, part in fields(field):
                if inner == 11:
                    inputs.append(declared_type(part))
                elif inner == 12:
                    outputs.append(declared_type(part))
                elif inner == 5:
                    initial |= {v for n, w, v in fields(part) if n == 8}
        elif number == 8:
            domain, version = "", 0
            for inner, _, part in fields(field):
                if inner == 1:
                    domain = part.decode()
                elif inner == 2:
                    version = part
            opset[domain] = version
    inputs = [i for i in inputs if i[0].encode() not in initial]
    return inputs, outputs, opset


def write_tensor(array) -> bytes:
    """A TensorProto of an array, for what tests make themselves."""
    plain = {k: v for k, v in DTYPES.items() if k < 17 and k not in RAW}
    kinds = {np.dtype(v): k for k, v in plain.items()}
    out = b""
    for size in array.shape:
        out += b"\x08" + _varint(size)
    out += b"\x10" + _varint(kinds[array.dtype])
    raw = np.ascontiguousarray(array).tobytes()
    return out + b"\x4a" + _varint(len(raw)) + raw


def _varint(number: int) -> bytes:
    out = b""
    while number > 127:
        out += struct.pack("B", number & 127 | 128)
        number >>= 7
    return out + struct.pack("B", number)
