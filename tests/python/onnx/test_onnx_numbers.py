"""Numbers of shapes in ONNX models: which stay on the host, and their types."""

import io

import hotaru.onnx
import onnx_bytes as ob
import pytest

import hotaru

X = hotaru.arange(12.0).view(3, 4)


def int64(name, *values):
    return ob.tensor(name, ob.INT64, [len(values)], values)


def int32(name, *values):
    return ob.tensor(name, ob.INT32, [len(values)], values)


SIZES = ob.node("Shape", ["x"], ["s"])
NARROW = ob.node("Cast", ["s"], ["i"], to=ob.INT32)
CONSTANTS = [
    int64("zero", 0),
    int64("one", 1),
    int64("two", 2),
    int64("m1", -1),
    int64("t", -1, 2, -1),
    int64("f", 4, 2, 9),
    int32("k", 2, -1),
    int32("three", 3),
    ob.tensor("scalar", ob.INT32, [], [0]),
    ob.tensor("start", ob.FLOAT, [], [0.0]),
    ob.tensor("step", ob.FLOAT, [], [1.0]),
    ob.tensor("axis", ob.INT64, [], [1]),
]


def load(nodes, outputs=("y",)):
    data = ob.model(ob.graph(nodes, ["x"], list(outputs), CONSTANTS), opset=17)
    return hotaru.onnx.load(io.BytesIO(data)).eval()


CAPTURED = {
    "reshape through int32": [
        SIZES,
        NARROW,
        ob.node("Slice", ["i", "zero", "one"], ["n"]),
        ob.node("Concat", ["n", "k"], ["j"], axis=0),
        ob.node("Cast", ["j"], ["r"], to=ob.INT64),
        ob.node("Reshape", ["x", "r"], ["y"]),
    ],
    "arithmetic of int32": [
        SIZES,
        NARROW,
        ob.node("Gather", ["i", "scalar"], ["rows"], axis=0),
        ob.node("Unsqueeze", ["rows", "zero"], ["n"]),
        ob.node("Add", ["n", "three"], ["a"]),
        ob.node("Mul", ["a", "three"], ["b"]),
        ob.node("Sub", ["b", "three"], ["c"]),
        ob.node("Div", ["c", "n"], ["d"]),
        ob.node("Min", ["d", "three"], ["e"]),
        ob.node("Cast", ["e"], ["end"], to=ob.INT64),
        ob.node("Slice", ["x", "zero", "end", "one"], ["y"]),
    ],
    "bounds of int32": [
        SIZES,
        NARROW,
        ob.node("Slice", ["i", "one", "two"], ["n"]),
        ob.node("Slice", ["x", "scalars", "n", "ones"], ["y"]),
        # Both bounds are of one type.
    ],
    "expand chosen by where": [
        ob.node("Unsqueeze", ["x", "one"], ["z"]),
        ob.node("Equal", ["t", "m1"], ["e"]),
        ob.node(
            "ConstantOfShape", ["count"], ["ones64"], value=("tensor", int64("", 1))
        ),
        ob.node("Where", ["e", "ones64", "t"], ["o"]),
        ob.node("Expand", ["z", "o"], ["y"]),
    ],
    "the least of a size and a number": [
        SIZES,
        ob.node("Slice", ["s", "one", "two"], ["n"]),
        ob.node("Min", ["n", "two"], ["end"]),
        ob.node("Slice", ["x", "zero", "end", "one"], ["y"]),
    ],
    "range of a size": [
        SIZES,
        ob.node("Gather", ["s", "axis"], ["n"], axis=0),
        ob.node("Cast", ["n"], ["c"], to=ob.FLOAT),
        ob.node("Range", ["start", "c", "step"], ["r"]),
        ob.node("Mul", ["x", "r"], ["y"]),
    ],
}
WANTED = {
    "reshape through int32": X.view(3, 2, 2),
    "arithmetic of int32": X[:, :3],
    "bounds of int32": X,
    "expand chosen by where": X.unsqueeze(1).expand(3, 2, 4),
    "the least of a size and a number": X[:, :2],
    "range of a size": X * hotaru.arange(4.0),
}
CONSTANTS += [int32("scalars", 0), int32("ones", 1), int64("count", 3)]


@pytest.mark.parametrize("name", CAPTURED)
def test_nothing_waits_for_numbers(name):
    model = load(CAPTURED[name])
    assert hotaru.equal(model(X), WANTED[name])
    run = hotaru.compile(model, fullgraph=True)
    with hotaru.no_grad():
        assert hotaru.equal(run(X), WANTED[name])


# Nodes after Shape and its Cast to int32, and what they give.
AS_DATA = {
    "a cast": ([], "i", [3, 4], "int32"),
    "a sum": ([ob.node("Add", ["i", "three"], ["y"])], "y", [6, 7], "int32"),
    "a part": ([ob.node("Slice", ["i", "one", "two"], ["y"])], "y", [4], "int32"),
    "an element": ([ob.node("Gather", ["i", "axis"], ["y"], axis=0)], "y", 4, "int32"),
    "a comparison": (
        [ob.node("Less", ["i", "f32"], ["y"])],
        "y",
        [False, True],
        "bool",
    ),
    "a comparison of sizes": (
        [ob.node("Equal", ["s", "f64"], ["y"])],
        "y",
        [True, False],
        "bool",
    ),
    "a choice": (
        [
            ob.node("Equal", ["s", "f64"], ["e"]),
            ob.node("Where", ["e", "i", "f32"], ["y"]),
        ],
        "y",
        [3, 9],
        "int32",
    ),
    "the truth as numbers": (
        [
            ob.node("Equal", ["s", "f64"], ["e"]),
            ob.node("Cast", ["e"], ["y"], to=ob.INT64),
        ],
        "y",
        [1, 0],
        "int64",
    ),
    "one truth as a number": (
        [
            ob.node("Gather", ["s", "axis"], ["n"], axis=0),
            ob.node("Equal", ["n", "axis"], ["e"]),
            ob.node("Cast", ["e"], ["y"], to=ob.INT64),
        ],
        "y",
        0,
        "int64",
    ),
    "real numbers": (
        [ob.node("Cast", ["i"], ["y"], to=ob.FLOAT)],
        "y",
        [3, 4],
        "float32",
    ),
    "a size of sizes": ([ob.node("Shape", ["i"], ["y"])], "y", [2], "int64"),
    "a square": ([ob.node("Mul", ["i", "i"], ["y"])], "y", [9, 16], "int32"),
}
CONSTANTS += [int32("f32", 2, 9), int64("f64", 3, 9)]


@pytest.mark.parametrize("name", AS_DATA)
def test_types_of_numbers_that_become_data(name):
    nodes, output, values, dtype = AS_DATA[name]
    got = load([SIZES, NARROW, *nodes], [output])(X)
    assert got.dtype == getattr(hotaru, dtype)
    assert got.tolist() == values


def test_other_numbers_in_branches_and_rounds():
    branches = {
        name: ("graph", ob.graph([ob.node(op, ["i", "three"], [out])], [], [out]))
        for name, op, out in [("then_branch", "Add", "a"), ("else_branch", "Mul", "b")]
    }
    nodes = [
        SIZES,
        NARROW,
        ob.node("Slice", ["s", "zero", "one"], ["n"]),
        ob.node("Equal", ["n", "n"], ["e"]),
        ob.node("If", ["e"], ["y"], **branches),
    ]
    got = load(nodes)(X)
    assert (got.dtype, got.tolist()) == (hotaru.int32, [6, 7])
    body = ob.graph(
        [
            ob.node("Add", ["before", "three"], ["after"]),
            ob.node("Identity", ["on"], ["again"]),
        ],
        [
            ob.value_info("round", ob.INT64, []),
            ob.value_info("on", ob.BOOL, []),
            ob.value_info("before", ob.INT32, [2]),
        ],
        [ob.value_info("again", ob.BOOL), ob.value_info("after", ob.INT32)],
    )
    nodes = [
        SIZES,
        NARROW,
        ob.node("Loop", ["two", "", "i"], ["y"], body=("graph", body)),
    ]
    got = load(nodes)(X)
    assert (got.dtype, got.tolist()) == (hotaru.int32, [9, 10])
