"""`draft_export`: what it guesses, what it says of it, and what the graph checks.

The findings are those of PyTorch 2.13 where it makes them; it keeps sizes that
follow from elements as symbols, where these here are the example's.
"""

import copy
import io
import logging

import pytest
from hotaru.export import Dim, draft_export, load, save
from hotaru.export._draft_export import FailureType

import hotaru as torch
from hotaru import nn


@pytest.fixture(autouse=True)
def quiet():
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


def reloaded(program):
    file = io.BytesIO()
    save(program, file)
    file.seek(0)
    return load(file).module()


def module_of(function):
    class Made(nn.Module):
        def forward(self, *args):
            return function(*args)

    return Made()


def branch(x):
    if x.sum() > 0:
        return x + 1
    return x - 1


def several(x):
    n = torch.nonzero(x > 0)
    u, inverse = torch.unique(x.int(), return_inverse=True)
    y = x
    for i in range(3):
        y = y + float(x[i])
    z = torch.cond(x.sum() > 0, lambda a: a + 1, lambda a: a - 1, (x,))
    if z.max() > 100:
        y = y * 0
    repeated = torch.repeat_interleave(x, torch.tensor([1, 2, 1]))
    return y, n, u, inverse, x[x > 0], x.masked_select(x < 0), repeated, z


def kinds(program):
    return [f.failure_type.name for f in program._report.failures]


def test_a_program_without_guesses_is_that_of_export():
    model = nn.Linear(2, 2)
    program = draft_export(model, (torch.ones(1, 2),))
    assert program._report.successful()
    assert "Congratulations: No issues are found" in str(program._report)
    assert [str(n.target) for n in program.graph.nodes if n.op == "call_function"] == [
        "aten.linear.default"
    ]


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_branch_is_the_examples_and_is_checked(sign):
    x = sign * torch.ones(3)
    program = draft_export(module_of(branch), (x,))
    (failure,) = program._report.failures
    assert failure.failure_type is FailureType.DATA_DEPENDENT_ERROR
    assert failure.data["expr"] == f"Eq(u0, {int(sign > 0)})"
    assert (failure.data["result"], failure.data["occurrences"]) == ("True", 1)
    assert failure.data["user_stack"][-1]["loc"] == "if x.sum() > 0:"
    shown = "Tensor(shape: torch.Size([3]), stride: (1,), storage_offset: 0)"
    assert failure.data["frame_locals"] == {
        "loc": "if x.sum() > 0:",
        "locals": {"x": [shown]},
        "symbols": {},
    }
    text = str(program._report)
    assert "WARNING: 1 issue(s) found during export" in text
    assert f"unable to evaluate the value of `Eq(u0, {int(sign > 0)})`" in text
    for module in (program.module(), reloaded(program)):
        assert torch.equal(module(x), branch(x))
        with pytest.raises(Exception, match="Runtime assertion failed for expression"):
            module(-x)


def test_elements_and_sizes_of_the_example():
    x = torch.tensor([1.5, -2.0, 3.0])
    program = draft_export(module_of(several), (x,))
    assert set(kinds(program)) == {"DATA_DEPENDENT_ERROR"}
    found = {
        f.data["user_stack"][-1]["loc"]: f.data["occurrences"]
        for f in program._report.failures
    }
    assert found["y = y + float(x[i])"] == 3
    wanted = several(x)
    for module in (program.module(), reloaded(program)):
        for one, other in zip(module(x), wanted):
            assert torch.equal(one, other)
    with pytest.raises(Exception, match=r"Eq\(u0, 2\)"):
        program.module()(torch.tensor([1.5, 2.0, 3.0]))


def test_special_numbers_are_checked():
    for number in (float("nan"), float("inf"), 7, True):
        x = torch.tensor(number)
        program = draft_export(module_of(lambda t: torch.ones(2) * t.item()), (x,))
        module = program.module()
        wanted = torch.ones(2) * x.item()
        assert torch.equal(module(x).isnan(), wanted.isnan())
        with pytest.raises(RuntimeError, match="Runtime assertion failed"):
            module(torch.zeros_like(x))


def test_state_and_arguments_are_left_as_they_were():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.bn = nn.BatchNorm1d(3)

        def forward(self, x):
            y = self.bn(x)
            x.add_(1)
            if y.sum() > 1e6:
                y = y * 0
            return y

    model = Model()
    before = copy.deepcopy(model.state_dict())
    x = torch.randn(4, 3)
    kept, state = x.clone(), torch.get_rng_state()
    draft_export(model, (x,))
    assert torch.equal(x, kept)
    assert torch.equal(state, torch.get_rng_state())
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name])


def add(x, y):
    if x.shape[0] > 4:
        x = x * 2
    return x + y


@pytest.mark.parametrize(
    ("shapes", "guards", "automatic"),
    [
        (
            {"x": {0: Dim("a")}, "y": {0: Dim("b")}},
            {"s77 > 4": {"s77": "x"}, "Eq(s77, s17)": {"s77": "x", "s17": "y"}},
            ["x", "y"],
        ),
        (
            {"x": {0: Dim.DYNAMIC}, "y": None},
            {"s77 > 4": {"s77": "x"}, "Eq(s77, 6)": {"s77": "x"}},
            ["x"],
        ),
    ],
)
def test_promised_dimensions_give_way(shapes, guards, automatic):
    class Adds(nn.Module):
        def forward(self, x, y):
            return add(x, y)

    given = torch.ones(6, 3), torch.ones(6, 3)
    program = draft_export(Adds(), given, dynamic_shapes=shapes)
    assert kinds(program) == ["GUARD_ADDED"] * 2
    found = {f.data["expr"]: f.data["symbol_to_sources"] for f in _failures(program)}
    assert found == {
        expression: {s: f"L['{name}'].size()[0]" for s, name in sources.items()}
        for expression, sources in guards.items()
    }
    new = program._report.failures[0].data["new_dynamic_shapes"]
    assert [n for n in new if new[n] and new[n][0].kind == "AUTO"] == automatic
    locals_of = program._report.failures[1].data["frame_locals"]
    assert "torch.Size([s77, 3])" in locals_of["locals"]["x"][0]
    assert torch.equal(program.module()(*given), add(*given))


def _failures(program):
    return program._report.failures


def test_automatic_dimensions_are_no_finding():
    program = draft_export(
        module_of(add),
        (torch.ones(6, 3), torch.ones(6, 3)),
        dynamic_shapes=(({0: Dim.AUTO}, {0: Dim.AUTO}),),
    )
    assert program._report.successful()


@torch.library.custom_op("draft::nofake", mutates_args=())
def nofake(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x[:2] + y[:2]


@torch.library.custom_op("draft::wrong", mutates_args=())
def wrong(x: torch.Tensor) -> torch.Tensor:
    return x[:2].double()


@wrong.register_fake
def _(x):
    return torch.empty_like(x)


@torch.library.custom_op("draft::sized", mutates_args=())
def sized(x: torch.Tensor) -> torch.Tensor:
    return x[x > 0].clone()


@sized.register_fake
def _(x):
    return x.new_empty(torch.library.get_ctx().new_dynamic_size())


def test_operators_without_a_right_fake_kernel():
    def run(a, b):
        ops = torch.ops.draft
        return ops.nofake(a, b) * 2, ops.nofake(a, a), ops.wrong(a), ops.sized(a)

    a, b = torch.tensor([1.0, -2, 3]), torch.ones(3)
    program = draft_export(module_of(run), (a, b))
    assert kinds(program) == [
        "MISSING_FAKE_KERNEL",
        "MISMATCHED_FAKE_KERNEL",
        "DATA_DEPENDENT_ERROR",
    ]
    first, second, _ = _failures(program)
    assert first.data == {"op": "draft.nofake.default"}
    assert second.data == {
        "op": "draft.wrong.default",
        "reason": "Dtypes torch.float64 and torch.float32 are not equal!",
    }
    assert "torch.ops.draft.nofake.default is missing a fake" in str(program._report)
    for one, other in zip(program.module()(a, b), run(a, b)):
        assert torch.equal(one, other)
        assert one.dtype == other.dtype
    profiles = program._report.op_profiles
    assert set(profiles) == {"draft.nofake.default", "draft.wrong.default"}
    (profile,) = profiles["draft.nofake.default"]
    assert [p.rank for p in profile.args_profile] == [1, 1]
    assert profile.out_profile.dtype == torch.float32
    from hotaru._library.fake_profile import unsafe_generate_fake_kernels

    # With the profiles' kernels no operator is without one.
    with unsafe_generate_fake_kernels(profiles):
        again = draft_export(module_of(run), (a, b))
    assert set(kinds(again)) == {"DATA_DEPENDENT_ERROR"}
    # The checks of what such operators get are in the graph.
    with pytest.raises(RuntimeError):
        program.module()(a.double(), b.double())


def test_a_program_that_fails_fails():
    with pytest.raises(RuntimeError):
        draft_export(module_of(lambda x: x @ x), (torch.ones(2, 3),))
