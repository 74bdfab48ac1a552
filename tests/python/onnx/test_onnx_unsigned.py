"""Unsigned integers beyond a byte in ONNX models, to their last bit."""

from __future__ import annotations

import io
import operator
import random

import onnx_bytes as ob
import pytest

import hotaru as torch

BITS = {4: (16, "uint16"), 12: (32, "uint32"), 13: (64, "uint64")}
SIGNED = {16: torch.int16, 32: torch.int32, 64: torch.int64}


def numbers(bits: int, seed: int) -> list[int]:
    """Corners, and draws of all magnitudes."""
    draw = random.Random(seed)
    top = 1 << bits
    corners = [1, 2, 3, top // 2 - 1, top // 2, top // 2 + 1, top - 2, top - 1]
    return [
        *(draw.choice(corners) for _ in range(60)),
        *(draw.getrandbits(draw.randint(1, bits)) for _ in range(200)),
    ]


def tensor(values: list[int], bits: int, name: str):
    half = 1 << (bits - 1)
    signed = [v - 2 * half if v >= half else v for v in values]
    found = torch.tensor(signed, dtype=SIGNED[bits])
    return found.view(getattr(torch, name))


def listed(found, bits: int) -> list[int]:
    if found.dtype == torch.bool:
        return found.tolist()
    return [v % (1 << bits) for v in found.view(SIGNED[bits]).tolist()]


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize(
    ("op", "means"),
    [
        ("Max", max),
        ("Min", min),
        ("Div", operator.floordiv),
        ("Less", operator.lt),
        ("Greater", operator.gt),
        ("LessOrEqual", operator.le),
        ("GreaterOrEqual", operator.ge),
        ("Add", operator.add),
        ("Sub", operator.sub),
    ],
)
def test_as_python_computes(op, means, kind):
    bits, name = BITS[kind]
    a = numbers(bits, 1)
    b = [v or 1 for v in numbers(bits, 2)]
    model = ob.model(
        ob.graph(
            [ob.node(op, ["a", "b"], ["c"])],
            [ob.value_info("a", kind), ob.value_info("b", kind)],
            ["c"],
        )
    )
    run = torch.load_program(io.BytesIO(model))
    found = run(tensor(a, bits, name), tensor(b, bits, name))
    # Sums and differences wrap.
    expected = [means(x, y) % (1 << bits) for x, y in zip(a, b)]
    assert listed(found, bits) == expected


@pytest.mark.parametrize(
    ("opset", "mode"), [(16, "bilinear"), (20, "linear"), (20, "bilinear")]
)
def test_grid_sample_knows_both_names(opset, mode):
    model = ob.model(
        ob.graph(
            [ob.node("GridSample", ["x", "g"], ["y"], mode=mode)], ["x", "g"], ["y"]
        ),
        opset,
    )
    x = torch.arange(16.0).reshape(1, 1, 4, 4)
    grid = torch.zeros(1, 1, 1, 2)
    run = torch.load_program(io.BytesIO(model))
    # The middle of four pixels.
    assert run(x, grid).item() == 7.5


@pytest.mark.parametrize("kind", BITS)
@pytest.mark.parametrize(
    ("reduction", "means"),
    [("add", operator.add), ("mul", operator.mul), ("min", min), ("max", max)],
)
@pytest.mark.parametrize("op", ["ScatterElements", "ScatterND"])
def test_what_is_scattered_is_reduced(op, reduction, means, kind):
    bits, name = BITS[kind]
    data, updates = numbers(bits, 3)[:20], numbers(bits, 4)[:40]
    places = [(7 * i) % 20 for i in range(40)]
    node = ob.node(op, ["x", "i", "u"], ["y"], reduction=reduction)
    model = ob.model(
        ob.graph(
            [node],
            [
                ob.value_info("x", kind),
                ob.value_info("i", ob.INT64),
                ob.value_info("u", kind),
            ],
            ["y"],
        ),
        18,
    )
    want = list(data)
    for place, update in zip(places, updates):
        want[place] = means(want[place], update) % (1 << bits)
    index = torch.tensor(places)
    found = torch.load_program(io.BytesIO(model))(
        tensor(data, bits, name),
        index.unsqueeze(1) if op == "ScatterND" else index,
        tensor(updates, bits, name),
    )
    assert listed(found, bits) == want


@pytest.mark.parametrize("kind", BITS)
def test_signs(kind):
    bits, name = BITS[kind]
    graph = ob.graph([ob.node("Sign", ["x"], ["y"])], [ob.value_info("x", kind)], ["y"])
    values = [0, 1, (1 << bits) - 1]
    found = torch.load_program(io.BytesIO(ob.model(graph)))(tensor(values, bits, name))
    assert listed(found, bits) == [0, 1, 1]


@pytest.mark.parametrize("low", [None, -1.5])
def test_half_precision_is_clipped_without_bounds(low):
    bounds = {} if low is None else {"min": low}
    graph = ob.graph(
        [ob.node("Clip", ["x"], ["y"], **bounds)], [ob.value_info("x", 10)], ["y"]
    )
    x = torch.tensor([-60000.0, 0.5, float("inf")], dtype=torch.float16)
    found = torch.load_program(io.BytesIO(ob.model(graph, 10)))(x)
    assert found.tolist() == [low or -60000.0, 0.5, float("inf")]
