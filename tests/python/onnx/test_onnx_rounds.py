"""Loop and Scan of ONNX: what rounds carry and gather, and in which order."""

from __future__ import annotations

import io

import onnx_bytes as ob
import pytest

import hotaru as torch


def load(graph: bytes, opset: int = 20):
    return torch.load_program(io.BytesIO(ob.model(graph, opset)))


def number(name: str, kind: int = ob.INT64) -> bytes:
    return ob.value_info(name, kind, [])


def test_a_round_gives_its_own_number_and_condition():
    # Carried: the number, the condition that came in, and the one before.
    body = ob.graph(
        [
            ob.node("Identity", ["i"], ["number"]),
            ob.node("Identity", ["on"], ["was"]),
            ob.node("Identity", ["i"], ["gathered"]),
            ob.node("Less", ["last", "most"], ["again"]),
            ob.node("Identity", ["last"], ["before"]),
        ],
        [
            number("i"),
            number("on", ob.BOOL),
            number("last"),
            number("older"),
            number("flag", ob.BOOL),
        ],
        [
            number("again", ob.BOOL),
            number("number"),
            number("before"),
            number("was", ob.BOOL),
            number("gathered"),
        ],
        [ob.tensor("most", ob.INT64, [], [2])],
    )
    run = load(
        ob.graph(
            [
                ob.node(
                    "Loop",
                    ["", "", "start", "start", "off"],
                    ["a", "b", "c", "d"],
                    body=("graph", body),
                )
            ],
            [number("start"), number("off", ob.BOOL)],
            [number("a"), number("b"), number("c", ob.BOOL), "d"],
        )
    )
    last, before, was, gathered = run(torch.tensor(-1), torch.tensor(False))
    # `last` is below 2 until round 3, which still runs.
    assert gathered.tolist() == [0, 1, 2, 3]
    assert (int(last), int(before), bool(was)) == (3, 2, True)


def test_a_carried_condition_ends_the_loop_after_its_round():
    # The condition is a carried value as it came in, not as it goes out.
    body = ob.graph(
        [
            ob.node("Add", ["x", "one"], ["y"]),
            ob.node("Less", ["y", "most"], ["below"]),
        ],
        [
            number("i"),
            number("on", ob.BOOL),
            number("x", ob.FLOAT),
            number("go", ob.BOOL),
        ],
        [number("go", ob.BOOL), number("y", ob.FLOAT), number("below", ob.BOOL)],
        [ob.tensor("one", ob.FLOAT, [], [1.0]), ob.tensor("most", ob.FLOAT, [], [3.0])],
    )
    run = load(
        ob.graph(
            [
                ob.node(
                    "Loop", ["", "", "x0", "go0"], ["x1", "go1"], body=("graph", body)
                )
            ],
            [number("x0", ob.FLOAT), number("go0", ob.BOOL)],
            ["x1"],
        )
    )
    # 1 and 2 are below 3; the round of 3 is the first that says no, and the
    # one behind it sees that.
    assert run(torch.tensor(0.0), torch.tensor(True)).item() == 4


def scan_body() -> bytes:
    return ob.graph(
        [ob.node("Add", ["sum", "x"], ["next"]), ob.node("Identity", ["next"], ["y"])],
        [ob.value_info("sum", dims=[2]), ob.value_info("x", dims=[2])],
        [ob.value_info("next", dims=[2]), ob.value_info("y", dims=[2])],
    )


@pytest.mark.parametrize("lengths", [None, [3, 1]])
@pytest.mark.parametrize("backwards", [0, 1])
def test_scan_of_opset_8_has_batches(lengths, backwards):
    node = ob.node(
        "Scan",
        ["n" if lengths else "", "s", "x"],
        ["f", "y"],
        body=("graph", scan_body()),
        num_scan_inputs=1,
        directions=[backwards],
    )
    inputs = [ob.value_info("s"), ob.value_info("x")]
    given = []
    if lengths:
        inputs.insert(0, ob.value_info("n", ob.INT64, [2]))
        given.append(torch.tensor(lengths))
    run = load(ob.graph([node], inputs, ["f", "y"]), 8)
    state = torch.tensor([[1.0, 0.0], [0.0, 10.0]])
    x = torch.arange(12.0).reshape(2, 3, 2)
    final, gathered = run(*given, state, x)
    for i, length in enumerate(lengths or [3, 3]):
        part = x[i, :length].flip(0) if backwards else x[i, :length]
        sums = state[i] + part.cumsum(0)
        assert torch.equal(final[i], sums[-1])
        assert torch.equal(gathered[i, :length], sums)
        assert not gathered[i, length:].any()


def test_scan_along_other_axes_and_backwards():
    node = ob.node(
        "Scan",
        ["s", "x"],
        ["f", "y"],
        body=("graph", scan_body()),
        num_scan_inputs=1,
        scan_input_axes=[1],
        scan_output_axes=[1],
        scan_output_directions=[1],
    )
    run = load(ob.graph([node], ["s", "x"], ["f", "y"]), 11)
    x = torch.arange(6.0).reshape(2, 3)
    final, gathered = run(torch.zeros(2), x)
    assert torch.equal(final, x.sum(1))
    assert torch.equal(gathered, x.cumsum(1).flip(1))
