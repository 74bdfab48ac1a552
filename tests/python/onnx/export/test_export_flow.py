"""Conditions and loops stay in the graph."""

import io

import pytest

import hotaru as torch
from hotaru import nn


def exported(program, args, **options):
    out = torch.onnx.export(program, args, **options)
    return out, torch.onnx.load(io.BytesIO(out.to_bytes()))


def flat(value):
    if isinstance(value, (tuple, list)):
        return [x for each in value for x in flat(each)]
    return [torch.as_tensor(value)]


def assert_same(program, cases, **options):
    made, back = exported(program, cases[0], **options)
    for args in cases:
        given = [torch.as_tensor(x) for x in args]
        for a, b in zip(flat(back(*given)), flat(program(*args)), strict=True):
            torch.testing.assert_close(a, b, check_dtype=False)
    return made


@torch.jit.script
def choose(x):
    if bool(x.sum() > 0):
        return x * 2
    return x - 1


@torch.jit.script
def nested(x):
    y = x
    if bool(x[0] > 0):
        if bool(x[1] > 0):
            y = x + 1
        else:
            return x * 10
        y = y * 2
    return y - 3


@torch.jit.script
def checked(x):
    if bool(x.sum() > 100):
        raise ValueError("too much")
    assert bool(x.max() < 50), "too large"
    return x + 1


@torch.jit.script
def counted(x, n: int):
    total = torch.zeros_like(x)
    parts: list[torch.Tensor] = []
    for i in range(n):
        total = total + x * i
        parts.append(total)
    return total, torch.stack(parts), n * 2


@torch.jit.script
def halved(x):
    count = 0
    while bool(x.abs().sum() > 1.0):
        x = x * 0.5
        count += 1
    return x, count


@torch.jit.script
def left(x, n: int):
    for i in range(n):
        if i % 2 == 1:
            continue
        x = x + i
        if bool(x.sum() > 20):
            break
    return x


@torch.jit.script
def growing(x):
    out = x
    for i in range(x.size(0)):
        out = torch.cat([out, x[i : i + 1] * i], dim=0)
    return out


@torch.jit.script
def rows(x):
    out = torch.zeros_like(x)
    for i in range(x.size(0)):
        out[i] = x[i].cumsum(0)
        if bool(x[i].sum() > 0):
            out[i] += 1
    return out


def test_both_branches_are_in_the_graph():
    made = assert_same(choose, [(torch.ones(3),), (-torch.ones(3),)])
    assert made.operators()["If"] == 1


def test_returns_within_branches():
    cases = [(torch.tensor(pair),) for pair in ([1.0, 1.0], [1.0, -1.0], [-1.0, 1.0])]
    assert_same(nested, cases)


def test_errors_are_left_out():
    made = assert_same(checked, [(torch.ones(3),)])
    assert "If" not in made.operators()


def test_rounds_and_lists_are_a_loop():
    x = torch.randn(3)
    made = assert_same(counted, [(x, 4), (x, 1), (x, 9)])
    assert made.operators()["Loop"] == 1


def test_lists_that_grow_need_opset_14():
    with pytest.raises(torch.onnx.OnnxExporterError, match="opset 14"):
        torch.onnx.export(counted, (torch.ones(2), 3), opset_version=13)


def test_while_loops():
    cases = [(torch.full((3,), v),) for v in (8.0, 0.1, 100.0)]
    assert assert_same(halved, cases).operators()["Loop"] == 1


def test_break_and_continue():
    cases = [(torch.zeros(2), n) for n in (3, 0, 40)]
    assert_same(left, cases)


@pytest.mark.parametrize("program", [growing, rows])
def test_rounds_by_a_dynamic_size(program):
    torch.manual_seed(0)
    cases = [(torch.randn(n, 3),) for n in (2, 1, 6)]
    made = assert_same(program, cases, dynamic_shapes=({0: "n"},))
    assert made.operators()["Loop"] == 1


def test_known_rounds_are_unrolled():
    class Deep(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(3)])

        def forward(self, x):
            for layer in self.layers:
                x = torch.relu(layer(x))
            for i in range(2):
                x = x + i
            return x

    program = torch.jit.script(Deep())
    made = assert_same(program, [(torch.randn(2, 3),)])
    assert "Loop" not in made.operators()
    assert made.operators()["Gemm"] == 3


def test_conditions_on_modules_are_decided_now():
    net = torch.jit.script(nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)))
    net.eval()
    made = assert_same(net, [(torch.randn(2, 3),)])
    assert "If" not in made.operators()


def test_branches_of_different_ranks_are_refused_with_the_line():
    @torch.jit.script
    def ranks(x):
        y = x.unsqueeze(0) if bool(x.sum() > 0) else x
        return y

    with pytest.raises(torch.onnx.OnnxExporterError, match="dimensions") as e:
        torch.onnx.export(ranks, (torch.ones(2),))
    assert "test_export_flow.py" in str(e.value)


def test_tensors_kept_from_call_to_call_are_refused():
    class Keeps(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("last", torch.zeros(2))

        def forward(self, x):
            out = x + self.last
            self.last = x
            return out

    with pytest.raises(torch.onnx.OnnxExporterError, match="'last'"):
        torch.onnx.export(torch.jit.script(Keeps()), (torch.ones(2),))


@torch.jit.script
def doubled_if_square(x):
    if x.size() == [x.size(0), x.size(0)]:
        return x * 2
    if x.size() != [x.size(0), 3] or x.size() == [3]:
        return x - 1
    return x


def test_sizes_are_compared_as_lists():
    cases = [(torch.ones(n, m),) for n, m in ((2, 2), (2, 3), (3, 3), (2, 5))]
    made = assert_same(doubled_if_square, cases, dynamic_shapes=({0: "n", 1: "m"},))
    assert "If" in [node.op_type for node in made.model_proto.graph.node]
