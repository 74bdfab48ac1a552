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
