"""Checkpoints: gradients, random numbers, what runs when, what is refused."""

from __future__ import annotations

import contextlib
import warnings

import pytest
from hotaru.utils.checkpoint import (
    CheckpointError,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    set_checkpoint_early_stop,
)

import hotaru as torch
from hotaru.autograd import forward_ad

HOOKS = pytest.mark.skipif(
    not hasattr(torch.autograd, "graph"),
    reason="this build has no autograd.graph.saved_tensors_hooks",
)
BOTH = pytest.mark.parametrize("reentrant", [True, pytest.param(False, marks=HOOKS)])


def leaf(*shape):
    return torch.arange(1.0, 1 + torch.Size(shape).numel()).view(shape).requires_grad_()


class Counted:
    """A function that counts its runs."""

    def __init__(self, function) -> None:
        self.function, self.runs = function, 0

    def __call__(self, *args, **kwargs):
        self.runs += 1
        return self.function(*args, **kwargs)


@BOTH
def test_gradients_are_those_without_and_it_runs_twice(reentrant):
    x, y = leaf(3), leaf(3)
    f = Counted(lambda a, b: (a.sin() * b).exp() * a)
    f.function(x, y).sum().backward()
    want = [x.grad, y.grad]
    x.grad = y.grad = None
    result = checkpoint(f, x, y, use_reentrant=reentrant)
    assert f.runs == 1
    result.sum().backward()
    assert f.runs == 2
    for got, expected in zip([x.grad, y.grad], want):
        assert torch.equal(got, expected)


@BOTH
@pytest.mark.parametrize("preserve", [True, False])
def test_random_numbers(reentrant, preserve):
    x = torch.ones(100, requires_grad=True)
    torch.manual_seed(1)
    result = checkpoint(
        lambda a: a * torch.rand(100) * a,
        x,
        use_reentrant=reentrant,
        preserve_rng_state=preserve,
    )
    after = torch.get_rng_state()
    result.sum().backward()
    assert torch.equal(x.grad, 2 * result.detach()) == preserve
    assert torch.equal(torch.get_rng_state(), after) == preserve


@BOTH
def test_arguments_and_results_that_are_no_tensors(reentrant):
    x = leaf(2)
    result, name = checkpoint(
        lambda a, b, c: (a * c, b), x, "name", 3.0, use_reentrant=reentrant
    )
    result.sum().backward()
    assert name == "name"
    assert x.grad.tolist() == [3.0, 3.0]


@BOTH
def test_sequential_checkpoints_all_segments_but_the_last(reentrant):
    layers = [Counted(torch.sin) for _ in range(5)]
    x = leaf(3)
    result = checkpoint_sequential(layers, 2, x, use_reentrant=reentrant)
    result.sum().backward()
    assert [layer.runs for layer in layers] == [2, 2, 1, 1, 1]
    got, x.grad = x.grad, None
    x.sin().sin().sin().sin().sin().sum().backward()
    assert torch.equal(got, x.grad)


@BOTH
def test_without_gradients_it_runs_once_and_keeps_nothing(reentrant):
    f = Counted(torch.sin)
    with torch.no_grad():
        result = checkpoint(f, leaf(2), use_reentrant=reentrant)
    assert f.runs == 1
    assert not result.requires_grad


def test_a_reentrant_one_warns_where_nothing_requires_a_gradient():
    weight = leaf(2)
    with pytest.warns(UserWarning, match="None of the inputs have"):
        result = checkpoint(lambda a: a * weight, torch.ones(2), use_reentrant=True)
    assert not result.requires_grad


def test_a_reentrant_one_refuses_passes_for_some_inputs():
    x = leaf(2)
    result = checkpoint(torch.sin, x, use_reentrant=True)
    for run in (
        lambda: torch.autograd.grad(result.sum(), x),
        lambda: result.sum().backward(inputs=[x]),
    ):
        with pytest.raises(RuntimeError, match="is incompatible with"):
            run()
    checkpoint(torch.sin, x, use_reentrant=True).sum().backward()
    assert torch.equal(x.grad, x.detach().cos())


def test_a_reentrant_one_needs_a_result_with_a_gradient():
    x = leaf(2)
    result = checkpoint(lambda a: a.detach() * 2, x, use_reentrant=True)
    with pytest.raises(RuntimeError, match="none of output has"):
        result.sum().backward()


def test_the_kind_has_to_be_said():
    with pytest.warns(UserWarning, match="the use_reentrant parameter should"):
        checkpoint(torch.sin, leaf(2))
    with pytest.warns(UserWarning, match="checkpoint_sequential: the use_re"):
        checkpoint_sequential([torch.sin], 1, leaf(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        checkpoint(torch.sin, leaf(2), use_reentrant=True)


@pytest.mark.parametrize(
    ("error", "text", "options"),
    [
        (
            ValueError,
            "Unexpected keyword arguments: a,b",
            {"use_reentrant": True, "a": 1, "b": 2},
        ),
        (
            ValueError,
            "`context_fn` or `debug` is only",
            {"use_reentrant": True, "debug": True},
        ),
        (
            ValueError,
            "`context_fn` or `debug` is only",
            {"use_reentrant": True, "context_fn": lambda: None},
        ),
        (
            ValueError,
            "should be one of ['default', 'none'], but got x",
            {"use_reentrant": False, "determinism_check": "x"},
        ),
        (
            ValueError,
            "debug=True is incompatible with non-default context_fn",
            {"use_reentrant": False, "debug": True, "context_fn": lambda: None},
        ),
    ],
)
def test_refused_options(error, text, options):
    with pytest.raises(error) as found:
        checkpoint(torch.sin, leaf(2), **options)
    assert text in str(found.value)


def test_detached_variables():
    x, y = leaf(2), torch.ones(2)
    a, b, c = detach_variable((x, y, 3))
    assert a.requires_grad
    assert a.is_leaf
    assert a is not x
    assert not b.requires_grad
    assert c == 3
    with pytest.raises(RuntimeError, match="Only tuple of tensors"):
        detach_variable([x])


@HOOKS
def test_gradients_of_some_inputs_and_keyword_arguments():
    x, y = leaf(2), leaf(2)
    result = checkpoint(
        lambda a, scale: (a * scale).exp(), x, scale=y, use_reentrant=False
    )
    (got,) = torch.autograd.grad(result.sum(), y)
    assert torch.allclose(got, (x * x * (x * x).exp() / x).detach())


@HOOKS
def test_a_graph_that_is_kept_is_computed_again_for_each_pass():
    x = leaf(2)
    f = Counted(lambda a: a.sin().exp())
    result = checkpoint(f, x, use_reentrant=False).sum()
    result.backward(retain_graph=True)
    first, x.grad = x.grad, None
    result.backward()
    assert f.runs == 3
    assert torch.equal(x.grad, first)


@HOOKS
@pytest.mark.parametrize("early", [True, False])
def test_the_second_run_stops_when_all_is_there(early):
    later = Counted(lambda a: a + 1)

    def f(a):
        return later(a.sin())

    x = leaf(2)
    with set_checkpoint_early_stop(early):
        result = checkpoint(f, x, use_reentrant=False)
    result.sum().backward()
    assert later.runs == (1 if early else 2)


@HOOKS
@pytest.mark.parametrize("early", [True, False])
def test_nested(early):
    inner = Counted(lambda a: a.sin().cos())

    def outer(a):
        return checkpoint(inner, a.exp(), use_reentrant=False).exp()

    x = leaf(3)
    inner.function(x.exp()).exp().sum().backward()
    want, x.grad = x.grad, None
    with set_checkpoint_early_stop(early):
        result = checkpoint(outer, x, use_reentrant=False)
        result.sum().backward()
    assert torch.equal(x.grad, want)
    assert inner.runs == 3


@HOOKS
def test_a_second_run_that_differs_is_told():
    x = leaf(2)
    for before, now, text in (
        (lambda a: a.sin(), lambda a: a.sin().cos(), None),
        (lambda a: a.sin().cos(), lambda a: a.sin(), "A different number"),
        (lambda a: a.sin(), lambda a: a.double().sin(), "have different meta"),
    ):
        functions = iter((before, now))
        result = checkpoint(
            lambda a, functions=functions: next(functions)(a), x, use_reentrant=False
        )
        # Tensors saved beyond the first run's are not seen with early stop.
        with (
            pytest.raises(CheckpointError, match=text)
            if text
            else contextlib.nullcontext()
        ):
            result.sum().backward()


@HOOKS
def test_what_is_compared_can_be_nothing():
    x = leaf(2)
    sizes = iter((2, 1))
    result = checkpoint(
        lambda a: a.sum() * torch.ones(next(sizes)),
        x,
        use_reentrant=False,
        determinism_check="none",
    )
    result.sum().backward()
    assert x.grad is not None


@HOOKS
def test_contexts_of_both_runs():
    entered = []

    @contextlib.contextmanager
    def note(name):
        entered.append(name)
        yield

    x = leaf(2)
    result = checkpoint(
        torch.sin,
        x,
        use_reentrant=False,
        context_fn=lambda: (note("first"), note("second")),
    )
    assert entered == ["first"]
    result.sum().backward()
    assert entered == ["first", "second"]


@HOOKS
def test_autocast_of_the_first_run_holds_for_the_second():
    kinds = []

    def f(a):
        result = a @ a
        kinds.append(result.dtype)
        return result

    x = leaf(2, 2)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = checkpoint(f, x, use_reentrant=False, early_stop=False)
    result.sum().backward()
    assert kinds == [torch.bfloat16] * 2


@HOOKS
def test_a_saved_tensor_is_given_once_a_pass():
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a * 2

        @staticmethod
        def backward(ctx, grad):
            ctx.saved_tensors  # noqa: B018
            ctx.saved_tensors  # noqa: B018
            return grad * 2

    result = checkpoint(Twice.apply, leaf(2), use_reentrant=False)
    with pytest.raises(CheckpointError, match="already unpacked once"):
        result.sum().backward()


@pytest.mark.parametrize("everywhere", [False, True])
def test_debug_lists_the_operators_of_both_runs(everywhere):
    from hotaru.utils.checkpoint import set_checkpoint_debug_enabled

    runs = []

    def changing(x):
        runs.append(x)
        return x.sin().cos() if len(runs) == 1 else x.sin().expand(2, 1).exp()

    with set_checkpoint_debug_enabled(True if everywhere else None):
        x = torch.ones(1, requires_grad=True)
        options = {"use_reentrant": False, "debug": not everywhere}
        out = checkpoint(changing, x, **options)
    with pytest.raises(CheckpointError) as found:
        out.sum().backward()
    text = str(found.value)
    assert "because you passed `debug=True` to checkpoint" in text
    first, second = text.split("Operators in the recomputation")
    assert "aten::cos(float32[1]) -> float32[1]\n" in first
    assert "aten::expand(float32[1], 2, 1) -> float32[2, 1]\n" in second
    assert "aten::cos" not in second
    assert f"{__file__}:" in first
    assert "different metadata" in str(found.value.__cause__)


def test_debug_changes_no_gradient():
    def function(x):
        return torch.nn.functional.softplus(x * 2).cos()

    gradients = []
    for debug in (False, True):
        x = torch.arange(3.0, requires_grad=True)
        out = checkpoint(function, x, use_reentrant=False, debug=debug)
        gradients.append(torch.autograd.grad(out.sum(), x)[0])
    assert gradients[0].equal(gradients[1])


@pytest.mark.parametrize("grouped", [True, False])
def test_passes_of_a_group_run_the_function_again_once(grouped):
    runs = []

    def function(x, y):
        runs.append(1)
        return x.sin().exp(), y.cos().exp()

    x = torch.ones(2, requires_grad=True)
    y = torch.ones(2, requires_grad=True)
    a, b = checkpoint(function, x, y, use_reentrant=False)
    group = GraphExecGroup()
    with group if grouped else contextlib.nullcontext():
        a.sum().backward(retain_graph=True)
        b.sum().backward(retain_graph=True)
    assert len(runs) == (2 if grouped else 3)
    # PyTorch 2.13's.
    assert x.grad.tolist() == pytest.approx([1.2534, 1.2534], abs=1e-4)
    assert y.grad.tolist() == pytest.approx([-1.4444, -1.4444], abs=1e-4)
    if grouped:
        used = pytest.raises(CheckpointError, match="unpacked once")
        with used, group:
            a.sum().backward(retain_graph=True)
        nested = pytest.raises(RuntimeError, match="cannot be nested")
        with nested, group, GraphExecGroup():
            pass
        with GraphExecGroup():
            a.sum().backward()
        assert len(runs) == 3


@HOOKS
@pytest.mark.parametrize("requires_grad", [False, True])
def test_tangents_pass_through(requires_grad):
    x = torch.tensor([1.0, 2.0], requires_grad=requires_grad)
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, torch.tensor([1.0, 0.0]))
        out = checkpoint(lambda x: x * x * x, dual, use_reentrant=False)
        tangent = forward_ad.unpack_dual(out).tangent
        assert tangent.tolist() == [3.0, 0.0]
        if requires_grad:
            (second,) = torch.autograd.grad(tangent.sum(), x)
            assert second.tolist() == [6.0, 0.0]
