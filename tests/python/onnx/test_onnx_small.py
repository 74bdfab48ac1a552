"""Types of less than a byte in ONNX models, and powers of two."""

from __future__ import annotations

import io

import onnx_bytes as ob
import pytest

import hotaru as torch

UINT4, INT4, FLOAT4E2M1, FLOAT8E8M0, UINT2, INT2 = 21, 22, 23, 24, 25, 26
HELD = {
    UINT4: torch.uint8,
    INT4: torch.int8,
    UINT2: torch.uint8,
    INT2: torch.int8,
    FLOAT4E2M1: torch.float8_e4m3fn,
    FLOAT8E8M0: torch.bfloat16,
}
E2M1 = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0]


def packed(kind: int, dims, raw: bytes, name="w", ints=False) -> bytes:
    """A tensor of the file whose elements are packed."""
    head = b"".join(ob.field(1, d) for d in dims) + ob.field(2, kind)
    if ints:
        numbers = b"".join(ob.varint(b) for b in raw)
        return head + ob.field(8, name) + ob.field(5, numbers)
    return head + ob.field(8, name) + ob.field(9, raw)


def load(nodes, inputs=(), outputs=("y",), constants=(), **domains):
    graph = ob.graph(nodes, list(inputs), list(outputs), list(constants))
    return torch.onnx.load(io.BytesIO(ob.model(graph, 25, **domains)))


@pytest.mark.parametrize("ints", [False, True])
@pytest.mark.parametrize(
    ("kind", "raw", "values"),
    [
        (UINT4, b"\x10\xf7\x08", [0, 1, 7, 15, 8]),
        (INT4, b"\x10\xf7\x08", [0, 1, 7, -1, -8]),
        (UINT2, b"\xe4\x02", [0, 1, 2, 3, 2]),
        (INT2, b"\xe4\x02", [0, 1, -2, -1, -2]),
        (FLOAT4E2M1, b"\x10\xf7\x0a", [0.0, 0.5, 6.0, -6.0, -1.0]),
    ],
)
def test_elements_are_unpacked(kind, raw, values, ints):
    model = load(
        [ob.node("Cast", ["w"], ["y"], to=1)],
        constants=[packed(kind, [5], raw, ints=ints)],
    )
    assert model().tolist() == values


def test_powers_of_two():
    raw = bytes([0, 1, 127, 128, 254, 255])
    model = load(
        [ob.node("Cast", ["w"], ["y"], to=1)], constants=[packed(FLOAT8E8M0, [6], raw)]
    )
    got = model().tolist()
    assert got[:5] == [2.0**-127, 2.0**-126, 1.0, 2.0, 2.0**127]
    assert got[5] != got[5]


@pytest.mark.parametrize("size", [1, 4])
def test_data_that_does_not_fit_is_refused(size):
    with pytest.raises(RuntimeError, match=r"of shape .* bytes of data, not 3"):
        load(
            [ob.node("Cast", ["w"], ["y"], to=1)],
            constants=[packed(INT4, [5], bytes(size))],
        )


@pytest.mark.parametrize(
    ("kind", "half", "size"),
    [(UINT4, 0, 16), (INT4, 8, 16), (UINT2, 0, 4), (INT2, 2, 4)],
)
def test_casts_keep_the_lowest_bits(kind, half, size):
    model = load([ob.node("Cast", ["x"], ["y"], to=kind)], ["x"])
    numbers = list(range(-20, 21))
    got = model(torch.tensor([float(n) for n in numbers]))
    assert got.dtype == HELD[kind]
    assert got.tolist() == [(n + half) % size - half for n in numbers]
    # Fractions are cut off first.
    assert model(torch.tensor([1.9])).tolist() == [1]


def test_casts_to_the_nearest_float4():
    model = load([ob.node("Cast", ["x"], ["y"], to=FLOAT4E2M1)], ["x"])
    for i, (low, high) in enumerate(zip(E2M1, E2M1[1:])):
        middle = (low + high) / 2
        x = torch.tensor([middle - 0.01, middle, middle + 0.01, -middle])
        even = low if i % 2 == 0 else high
        got = model(x).float().tolist()
        assert got == [low, even, high, -even]
    wide = model(torch.tensor([7.0, -1e9, float("inf")])).float()
    assert wide.tolist() == [6.0, -6.0, 6.0]


@pytest.mark.parametrize(
    ("mode", "values"),
    [
        ("up", [2.0, 2.0, 4.0, 1.0, 2.0**-127]),
        ("down", [1.0, 1.0, 2.0, 1.0, 2.0**-127]),
        ("nearest", [1.0, 2.0, 4.0, 1.0, 2.0**-127]),
    ],
)
def test_casts_to_powers_of_two(mode, values):
    node = ob.node("Cast", ["x"], ["y"], to=FLOAT8E8M0, round_mode=mode)
    model = load([node], ["x"])
    x = torch.tensor([1.25, 1.5, 3.5, 1.0, 0.0])
    assert model(x).float().tolist() == values


@pytest.mark.parametrize("given", ["zero point", "output_dtype"])
@pytest.mark.parametrize(
    ("kind", "least", "most"),
    [(UINT4, 0, 15), (INT4, -8, 7), (UINT2, 0, 3), (INT2, -2, 1)],
)
def test_quantized_values_are_saturated(kind, least, most, given):
    scale = ob.tensor("s", ob.FLOAT, [], [0.5])
    if given == "zero point":
        node = ob.node("QuantizeLinear", ["x", "s", "w"], ["y"])
        constants = [scale, packed(kind, [], b"\x01")]
    else:
        node = ob.node("QuantizeLinear", ["x", "s"], ["y"], output_dtype=kind)
        constants = [scale]
    zero = int(given == "zero point")
    got = load([node], ["x"], constants=constants)(
        torch.tensor([-100.0, -0.5, 0.0, 0.25, 0.75, 100.0])
    )
    want = [min(max(n + zero, least), most) for n in (-200, -1, 0, 0, 2, 200)]
    assert got.tolist() == want
    assert got.dtype == HELD[kind]


def test_the_type_is_known_through_views():
    """CastLike asks for it, of an input and of a view of it."""
    nodes = [
        ob.node("Reshape", ["like", "shape"], ["view"]),
        ob.node("CastLike", ["x", "view"], ["y"]),
    ]
    inputs = ["x", ob.value_info("like", INT4, [2])]
    shape = ob.tensor("shape", ob.INT64, [2], [2, 1])
    model = load(nodes, inputs, constants=[shape])
    like = torch.zeros(2, dtype=torch.int8)
    assert model(torch.tensor([9.0, -9.0]), like).tolist() == [-7, 7]
    with pytest.raises(RuntimeError, match="int8, which holds INT4"):
        model(torch.tensor([9.0]), torch.zeros(2))


@pytest.mark.parametrize(("kind", "shift"), [(UINT4, 0), (INT4, 16)])
def test_rows_of_numbers_of_4_bits(kind, shift):
    codes = [(i * 5 + i // 7) % 16 for i in range(3 * 16)]
    raw = bytes(a | b << 4 for a, b in zip(codes[::2], codes[1::2]))
    node = ob.node(
        "GatherBlockQuantized",
        ["w", "i", "s"],
        ["y"],
        "com.microsoft",
        block_size=16,
        quantize_axis=1,
    )
    constants = [
        packed(kind, [3, 16], raw),
        ob.tensor("s", ob.FLOAT, [3, 1], [0.5, 1.0, 2.0]),
    ]
    model = load(
        [node],
        [ob.value_info("i", ob.INT64, [2])],
        constants=constants,
        **{"com.microsoft": 1},
    )
    rows = [codes[0:16], codes[16:32], codes[32:48]]
    numbers = [[c - shift * (c > 7) if shift else c for c in r] for r in rows]
    got = model(torch.tensor([2, 0])).tolist()
    assert got == [[c * 2.0 for c in numbers[2]], [c * 0.5 for c in numbers[0]]]
