"""ONNX models written by hand: protobuf messages as bytes."""

from __future__ import annotations

import struct

FLOAT, UINT8, INT8, INT32, INT64, STRING, BOOL = 1, 2, 3, 6, 7, 8, 9
_CODES = {FLOAT: "f", UINT8: "B", INT8: "b", INT32: "i", INT64: "q", BOOL: "?"}


def varint(number: int) -> bytes:
    number &= 2**64 - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number: int, value) -> bytes:
    """One field: of int, float, str or bytes (a message, too)."""
    if isinstance(value, float):
        return varint(number << 3 | 5) + struct.pack("<f", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def tensor(name: str, kind: int, dims, values) -> bytes:
    raw = struct.pack(f"<{len(values)}{_CODES[kind]}", *values)
    head = b"".join(field(1, d) for d in dims) + field(2, kind)
    return head + field(8, name) + field(9, raw)


def external_tensor(name: str, kind: int, dims, **entries) -> bytes:
    out = b"".join(field(1, d) for d in dims) + field(2, kind)
    for key, value in entries.items():
        out += field(13, field(1, key) + field(2, str(value)))
    return out + field(8, name) + field(14, 1)


def attribute(name: str, value) -> bytes:
    """int, float, str, a list of ints or floats, ("tensor", t) or
    ("graph", g).
    """
    out = field(1, name)
    if isinstance(value, tuple):
        number, kind = {"tensor": (5, 4), "graph": (6, 5)}[value[0]]
        return out + field(number, value[1]) + field(20, kind)
    if isinstance(value, list) and value and isinstance(value[0], float):
        return out + b"".join(field(7, v) for v in value) + field(20, 6)
    if isinstance(value, list):
        return out + b"".join(field(8, v) for v in value) + field(20, 7)
    number, kind = {float: (2, 1), int: (3, 2), str: (4, 3)}[type(value)]
    return out + field(number, value) + field(20, kind)


def node(op: str, inputs, outputs, domain: str = "", **attributes) -> bytes:
    out = b"".join(field(1, i) for i in inputs)
    out += b"".join(field(2, o) for o in outputs)
    out += field(3, f"the_{op}") + field(4, op)
    for name, value in attributes.items():
        out += field(5, attribute(name, value))
    return out + (field(7, domain) if domain else b"")


def value_info(name: str, kind: int = FLOAT, dims=None) -> bytes:
    of_type = field(1, kind)
    if dims is not None:
        sizes = (field(2 if isinstance(d, str) else 1, d) for d in dims)
        of_type += field(2, b"".join(field(1, s) for s in sizes))
    return field(1, name) + field(2, field(1, of_type))


def graph(nodes, inputs=(), outputs=(), initializers=()) -> bytes:
    """Inputs and outputs by name, or as value_info makes them."""
    out = b"".join(field(1, n) for n in nodes) + field(2, "graph")
    out += b"".join(field(5, t) for t in initializers)
    for number, values in ((11, inputs), (12, outputs)):
        for value in values:
            info = value_info(value) if isinstance(value, str) else value
            out += field(number, info)
    return out


def model(graph_bytes: bytes, opset: int = 20, functions=(), **domains) -> bytes:
    out = field(1, 10) + field(7, graph_bytes)
    for domain, version in {"": opset, **domains}.items():
        out += field(8, field(1, domain) + field(2, version))
    return out + b"".join(field(25, f) for f in functions)


def function(name, domain, inputs, outputs, nodes, opset=20) -> bytes:
    out = field(1, name)
    out += b"".join(field(4, i) for i in inputs)
    out += b"".join(field(5, o) for o in outputs)
    out += b"".join(field(7, n) for n in nodes)
    return out + field(9, field(2, opset)) + field(10, domain)
