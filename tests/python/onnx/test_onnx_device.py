"""ONNX models that were moved: what they make of numbers goes along."""

from __future__ import annotations

import io

import onnx_bytes as ob
import pytest

import hotaru as torch

X = ob.value_info("x", ob.INT64)


def load(nodes, initializers=()):
    graph = ob.graph(nodes, [X], ["y"], initializers)
    return torch.load_program(io.BytesIO(ob.model(graph)))


def ints(name: str, *values: int) -> bytes:
    return ob.tensor(name, ob.INT64, [len(values)], values)


def scalar(name: str, value: int) -> bytes:
    return ob.tensor(name, ob.INT64, [], [value])


CASES = {
    "a list of sizes": (
        [
            ob.node("Shape", ["x"], ["s"]),
            ob.node("Concat", ["s", "one"], ["t"], axis=0),
            ob.node("Mul", ["x", "t"], ["y"]),
        ],
        [ints("one", 5)],
    ),
    "a range": (
        [
            ob.node("Size", ["x"], ["n"]),
            ob.node("Range", ["zero", "n", "two"], ["r"]),
            ob.node("Mul", ["x", "r"], ["y"]),
        ],
        [scalar("zero", 0), scalar("two", 2)],
    ),
    "zeros": (
        [
            ob.node("Shape", ["x"], ["s"]),
            ob.node("ConstantOfShape", ["s"], ["z"]),
            ob.node("Cast", ["z"], ["i"], to=ob.INT64),
            ob.node("Add", ["x", "i"], ["y"]),
        ],
        [],
    ),
    "a window": (
        [
            ob.node("HannWindow", ["n"], ["w"]),
            ob.node("Cast", ["w"], ["i"], to=ob.INT64),
            ob.node("Add", ["x", "i"], ["y"]),
        ],
        [scalar("n", 3)],
    ),
    "a constant": ([ob.node("Mul", ["x", "c"], ["y"])], [ints("c", 1, 2, 3)]),
}


@pytest.mark.parametrize("device", ["meta", "cuda"])
@pytest.mark.parametrize("case", CASES)
def test_a_model_on_a_device(case, device):
    if device == "cuda" and not torch.cuda.is_available():
        pytest.skip("no CUDA device")
    nodes, initializers = CASES[case]
    model = load(nodes, initializers)
    x = torch.arange(6).reshape(2, 3) + 1
    expected = model(x)
    found = model.to(device)(x.to(device))
    assert found.device.type == device
    assert found.shape == expected.shape
    if device == "cuda":
        assert torch.equal(found.cpu(), expected)
