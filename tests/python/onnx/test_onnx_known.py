"""Shape arithmetic of float32, of two dimensions and of truths: it stays on the
host, so that graphs can be captured, and gives what tensors would.
"""

from __future__ import annotations

import io
import warnings

import onnx_bytes as ob
import pytest

import hotaru as torch

CONSTANTS = {
    "m1": (ob.INT64, [1], [-1]),
    "one": (ob.INT64, [1], [1]),
    "zero": (ob.INT64, [1], [0]),
    "two": (ob.INT64, [1], [2]),
    "low": (ob.INT64, [1], [-(2**63) + 1]),
    "row": (ob.INT64, [2], [1, 2]),
    "col": (ob.INT64, [2], [-1, 1]),
    "pair": (ob.INT64, [2, 1], [5, 6]),
    "wide": (ob.INT64, [1, 2], [5, 6]),
    "half": (ob.FLOAT, [1], [0.5]),
    "third": (ob.FLOAT, [1], [0.7]),
    "nine": (ob.FLOAT, [], [9.0]),
    "three": (ob.INT64, [], [3]),
    "ids": (ob.INT64, [2, 1], [1, 0]),
    "ten": (ob.INT32, [2], [10, 20]),
}
BOTH = ob.tensor("", ob.FLOAT, [2, 2], [1.0, 0.5, 0.25, 2.0])
# The shape of x, [3, 4], as float32, int32 and rows.
BASE = [
    ob.node("Constant", [], ["both"], value=("tensor", BOTH)),
    ob.node("Shape", ["x"], ["s"]),
    ob.node("Cast", ["s"], ["f"], to=1),
    ob.node("Cast", ["s"], ["i"], to=6),
    ob.node("Reshape", ["s", "row"], ["m"]),
    ob.node("Reshape", ["s", "col"], ["c"]),
    ob.node("Cast", ["m"], ["g"], to=1),
]
# Operator, inputs, attributes, the numbers that it gives.
CASES = {
    "Mul floats": ("Mul", ["f", "half"], {}, [1, 2]),
    # 2.1 and 2.8 in float32; 10 * 0.7 is 7 there, in double less.
    "Mul rounds": ("Mul", ["tf", "third"], {}, [7, 7]),
    "Div": ("Div", ["f", "half"], {}, [6, 8]),
    "Add spreads": ("Add", ["f", "both"], {}, [4, 4, 3, 6]),
    "Sub matrix": ("Sub", ["pair", "m"], {}, [2, 1, 3, 2]),
    "Min": ("Min", ["f", "nine", "both"], {}, [1, 0, 0, 2]),
    "Max": ("Max", ["m", "pair"], {}, [5, 5, 6, 6]),
    "Floor": ("Floor", ["h"], {}, [1, 2]),
    "Ceil": ("Ceil", ["h"], {}, [2, 2]),
    # 1.5 and 2: ties go to the even one.
    "Round": ("Round", ["h"], {}, [2, 2]),
    "Sqrt": ("Sqrt", ["f"], {}, [1, 2]),
    "Neg twice": ("Neg", ["n"], {}, [3, 4]),
    "Transpose": ("Transpose", ["t"], {"perm": [1, 0]}, [3, 5, 4, 6]),
    "Concat rows": ("Concat", ["m", "m"], {"axis": 0}, [3, 4, 3, 4]),
    "Concat columns": ("Concat", ["c", "pair"], {"axis": -1}, [3, 5, 4, 6]),
    "Slice back": ("Slice", ["c", "m1", "low", "zero", "m1"], {}, [4, 3]),
    "Slice column": ("Slice", ["m", "one", "two", "one"], {}, [4]),
    "Gather rows": ("Gather", ["c", "ids"], {"axis": 0}, [4, 3]),
    "Gather column": ("Gather", ["g", "one"], {"axis": 1}, [4]),
    "Squeeze": ("Squeeze", ["m", "zero"], {}, [3, 4]),
    "Unsqueeze": ("Unsqueeze", ["f", "m1"], {}, [3, 4]),
    "Flatten": ("Flatten", ["m"], {"axis": 1}, [3, 4]),
    "ReduceProd": ("ReduceProd", ["m"], {"axes": [1], "keepdims": 0}, [12]),
    "ReduceProd floats": ("ReduceProd", ["f"], {"keepdims": 1}, [12]),
    "ReduceSum": ("ReduceSum", ["m", "one"], {"keepdims": 1}, [7]),
    "ReduceMax": ("ReduceMax", ["g"], {"axes": [1]}, [4]),
    "ReduceMin": ("ReduceMin", ["g"], {"axes": [1]}, [3]),
    "Where": ("Where", ["w", "f", "half"], {}, [3, 0]),
    "Where matrix": ("Where", ["v", "m", "pair"], {}, [3, 5, 3, 6]),
    "Less": ("Less", ["f", "nine"], {}, [1, 1]),
    "Not": ("Not", ["w"], {}, [0, 1]),
    "int32 matrix": ("Add", ["k", "ten"], {}, [13, 24]),
}
MORE = [
    ob.node("Mul", ["f", "half"], ["h"]),
    ob.node("Neg", ["f"], ["n"]),
    ob.node("Concat", ["m", "wide"], ["t"], axis=0),
    ob.node("Less", ["f", "nearly"], ["w"]),
    ob.node("Equal", ["m", "three"], ["v"]),
    ob.node("Cast", ["m"], ["k"], to=6),
    ob.node("Mul", ["f", "zerof"], ["zf"]),
    ob.node("Add", ["zf", "tenf"], ["tf"]),
]


def model_of(op, inputs, attributes):
    end = [
        ob.node(op, inputs, ["r0"], **attributes),
        ob.node("Cast", ["r0"], ["r1"], to=7),
        ob.node("Reshape", ["r1", "m1"], ["r"]),
        ob.node("ConstantOfShape", ["r"], ["y"]),
    ]
    more = {
        "nearly": (ob.FLOAT, [], [3.5]),
        "zerof": (ob.FLOAT, [1], [0.0]),
        "tenf": (ob.FLOAT, [1], [10.0]),
    }
    constants = [ob.tensor(name, *rest) for name, rest in {**CONSTANTS, **more}.items()]
    graph = ob.graph([*BASE, *MORE, *end], ["x"], ["y"], constants)
    return ob.model(graph, 13)


@pytest.mark.parametrize("name", CASES)
def test_numbers_are_there_at_capture(name):
    op, inputs, attributes, numbers = CASES[name]
    model = torch.onnx.load(io.BytesIO(model_of(op, inputs, attributes))).eval()
    x = torch.ones(3, 4)
    assert list(model(x).shape) == numbers
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("error")
        got = torch.compile(model, fullgraph=True)(x)
    assert list(got.shape) == numbers


def test_they_become_data_of_their_dtype():
    nodes = [
        *BASE,
        ob.node("Sqrt", ["f"], ["q"]),
        ob.node("Add", ["x", "q"], ["y"]),
        ob.node("Cast", ["m"], ["z"], to=6),
        ob.node("Equal", ["f", "nine"], ["t"]),
    ]
    constants = [ob.tensor(n, *rest) for n, rest in CONSTANTS.items()]
    graph = ob.graph(nodes, ["x"], ["y", "q", "z", "t"], constants)
    model = torch.onnx.load(io.BytesIO(ob.model(graph, 13))).eval()
    y, q, z, t = model(torch.ones(5, 2))
    assert q.dtype == torch.float32
    assert torch.equal(q, torch.tensor([5.0, 2.0]).sqrt())
    assert torch.equal(y, torch.ones(5, 2) + q)
    assert z.dtype == torch.int32
    assert z.tolist() == [[5, 2]]
    assert t.dtype == torch.bool
    assert t.tolist() == [False, False]


def test_what_is_trained_is_no_constant():
    """A parameter beside numbers of a shape keeps its gradient."""
    nodes = [
        ob.node("Shape", ["x"], ["s"]),
        ob.node("Cast", ["s"], ["f"], to=1),
        ob.node("Mul", ["f", "w"], ["y"]),
    ]
    constants = [ob.tensor("w", ob.FLOAT, [2], [2.0, 3.0])]
    graph = ob.graph(nodes, ["x"], ["y"], constants)
    model = torch.onnx.load(io.BytesIO(ob.model(graph, 13)))
    model(torch.ones(3, 4)).sum().backward()
    assert model.w.grad.tolist() == [3.0, 4.0]
