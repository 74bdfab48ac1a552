"""Operators that take sizes, axes or counts as inputs: where these come from
arithmetic on a shape, the model becomes a graph that gives the same.
"""

from __future__ import annotations

import io
import warnings

import onnx_bytes as ob
import pytest

import hotaru as torch

INT64 = ob.INT64
# Ways that the numbers go before the operator takes them.
KINDS = (
    "int64",
    "through int32",
    "by Where",
    "as int32",
    "through float32",
    "of two dimensions",
)


def numbers(kind: str, name: str, values):
    """Nodes and constants that give `values`, a list or a number, as the shape
    of x, [3, 4], less what it is.
    """
    count = [len(values)] if isinstance(values, list) else []
    values = values if isinstance(values, list) else [values]

    def own(part):
        return f"{name}_{part}"

    constants = [
        ob.tensor(own("values"), INT64, count, values),
        ob.tensor(own("three"), INT64, [], [3]),
        ob.tensor(own("zero"), INT64, [], [0]),
    ]
    nodes = [
        ob.node("Shape", ["x"], [own("shape")]),
        ob.node("Gather", [own("shape"), own("zero")], [own("rows")]),
        ob.node("Sub", [own("rows"), own("three")], [own("nothing")]),
        ob.node("Add", [own("nothing"), own("values")], [own("sum")]),
    ]
    if kind == "through int32":
        nodes.append(ob.node("Cast", [own("sum")], [own("short")], to=6))
        nodes.append(ob.node("Cast", [own("short")], [name], to=INT64))
    elif kind == "as int32":
        nodes.append(ob.node("Cast", [own("sum")], [name], to=6))
    elif kind == "through float32":
        nodes.append(ob.node("Cast", [own("sum")], [own("real")], to=ob.FLOAT))
        nodes.append(ob.node("Floor", [own("real")], [own("floor")]))
        nodes.append(ob.node("Cast", [own("floor")], [name], to=INT64))
    elif kind == "of two dimensions":
        constants += [
            ob.tensor(own("wide"), INT64, [2], [1, -1]),
            ob.tensor(own("back"), INT64, [len(count)], [-1] * len(count)),
        ]
        wide = [own("sum"), own("wide")]
        nodes.append(ob.node("Reshape", wide, [own("row")]))
        nodes.append(ob.node("Reshape", [own("row"), own("back")], [name]))
    elif kind == "by Where":
        where = [own("there"), own("sum"), own("values")]
        nodes.append(ob.node("Greater", [own("rows"), own("zero")], [own("there")]))
        nodes.append(ob.node("Where", where, [name]))
    else:
        nodes.append(ob.node("Identity", [own("sum")], [name]))
    return nodes, constants


def reals(name, dims, values):
    return ob.tensor(name, ob.FLOAT, dims, [float(v) for v in values])


SHARED = [
    reals("off_on", [2], [0, 1]),
    ob.tensor("ids", INT64, [2], [1, 3]),
    reals("theta", [1, 2, 3], [1, 0, 0, 0, 1, 0]),
    reals("columns", [1, 4, 9], range(36)),
    reals("signal", [1, 8, 1], range(8)),
    reals("flat_signal", [1, 8], range(8)),
    reals("pooled", [1, 1, 2, 2], [1, 2, 3, 4]),
    ob.tensor("places", INT64, [1, 1, 2, 2], [0, 3, 8, 12]),
    ob.tensor("rate", INT64, [], [16000]),
    reals("low", [], [10]),
    reals("high", [], [8000]),
    ob.tensor("as_image", INT64, [4], [1, 1, 3, 4]),
    ob.tensor("as_one", INT64, [3], [1, 3, 4]),
]
# Operator, opset, inputs (x, constants, numbers), attributes, the numbers.
CASES = [
    ("Reshape", 13, ["x", "a"], {}, {"a": [2, 6]}),
    ("Reshape", 14, ["x", "a"], {}, {"a": [0, -1]}),
    ("Reshape", 14, ["x", "a"], {"allowzero": 1}, {"a": [2, 6]}),
    ("Expand", 13, ["x", "a"], {}, {"a": [2, 3, 4]}),
    ("Slice", 13, ["x", "a", "b"], {}, {"a": [0, 1], "b": [2, 3]}),
    (
        "Slice",
        13,
        ["x", "a", "b", "c", "d"],
        {},
        {"a": [0], "b": [4], "c": [1], "d": [2]},
    ),
    ("Tile", 13, ["x", "a"], {}, {"a": [2, 1]}),
    ("Pad", 13, ["x", "a"], {}, {"a": [0, 1, 1, 0]}),
    ("Pad", 18, ["x", "a", "", "c"], {}, {"a": [1, 2], "c": [1]}),
    ("ConstantOfShape", 9, ["a"], {}, {"a": [2, 3]}),
    ("Range", 13, ["a", "b", "c"], {}, {"a": 0, "b": 5, "c": 2}),
    ("Resize", 13, ["image", "", "", "a"], {"mode": "nearest"}, {"a": [1, 1, 6, 8]}),
    ("TopK", 11, ["x", "a"], {}, {"a": [2]}),
    ("OneHot", 13, ["ids", "a", "off_on"], {}, {"a": 5}),
    ("OneHot", 13, ["ids", "a", "off_on"], {}, {"a": [5]}),
    ("Squeeze", 13, ["one", "a"], {}, {"a": [0]}),
    ("Unsqueeze", 13, ["x", "a"], {}, {"a": [0]}),
    ("Unsqueeze", 21, ["x", "a"], {}, {"a": [0, -1]}),
    ("Split", 13, ["x", "a"], {"axis": 1}, {"a": [1, 3]}),
    ("Trilu", 14, ["x", "a"], {}, {"a": 1}),
    ("CumSum", 13, ["x", "a"], {}, {"a": 1}),
    ("ReduceSum", 13, ["x", "a"], {}, {"a": [1]}),
    ("ReduceMax", 18, ["x", "a"], {}, {"a": [1]}),
    ("Gather", 13, ["x", "a"], {}, {"a": 1}),
    ("Gather", 13, ["x", "a"], {}, {"a": [1, 0]}),
    ("CenterCropPad", 18, ["x", "a"], {}, {"a": [2, 5]}),
    ("AffineGrid", 20, ["theta", "a"], {}, {"a": [1, 1, 2, 3]}),
    ("Col2Im", 18, ["columns", "a", "b"], {}, {"a": [4, 4], "b": [2, 2]}),
    ("DFT", 17, ["signal", "a"], {"axis": 1}, {"a": 4}),
    ("HannWindow", 17, ["a"], {}, {"a": 6}),
    ("BlackmanWindow", 17, ["a"], {}, {"a": 6}),
    ("STFT", 17, ["flat_signal", "a", "", "b"], {}, {"a": 2, "b": 4}),
    (
        "MaxUnpool",
        11,
        ["pooled", "places", "a"],
        {"kernel_shape": [2, 2], "strides": [2, 2]},
        {"a": [1, 1, 5, 5]},
    ),
    ("SplitToSequence", 13, ["x", "a"], {"axis": 1}, {"a": 2}),
    ("SequenceAt", 13, ["sequence", "a"], {}, {"a": 0}),
    ("MelWeightMatrix", 17, ["a", "b", "rate", "low", "high"], {}, {"a": 4, "b": 16}),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("case", CASES, ids=lambda c: f"{c[0]} {c[4]}")
def test_sizes_from_a_shape_are_known_at_capture(case, kind):
    op, opset, inputs, attributes, given = case
    nodes = [
        ob.node("Reshape", ["x", "as_image"], ["image"]),
        ob.node("Reshape", ["x", "as_one"], ["one"]),
        ob.node("SequenceConstruct", ["x", "x"], ["sequence"]),
    ]
    constants = list(SHARED)
    for name, values in given.items():
        more, own = numbers(kind, name, values)
        nodes += more
        constants += own
    outputs = ["y", "rest"] if op in ("Split", "TopK") else ["y"]
    nodes.append(ob.node(op, inputs, outputs, **attributes))
    last = "y"
    if op == "SplitToSequence":
        nodes.append(ob.node("ConcatFromSequence", ["y"], ["all"], axis=1))
        last = "all"
    graph = ob.graph(nodes, ["x"], [last], constants)
    # Sequences are of opset 11.
    model = torch.onnx.load(io.BytesIO(ob.model(graph, max(opset, 11)))).eval()
    x = torch.arange(12.0).view(3, 4)
    with warnings.catch_warnings(), torch.no_grad():
        want = model(x)
        warnings.simplefilter("error")
        got = torch.compile(model, fullgraph=True)(x)
    assert torch.equal(got, want)
