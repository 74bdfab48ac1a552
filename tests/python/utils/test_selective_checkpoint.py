"""Checkpoints that keep some results: what runs again, what is refused.

The texts and policies' calls are those that PyTorch 2.13 gave.
"""

from __future__ import annotations

import functools
import gc
import weakref

import pytest
from hotaru.utils._python_dispatch import TorchDispatchMode, _get_current_dispatch_mode
from hotaru.utils.checkpoint import (
    SAC_IGNORED_OPS,
    CheckpointPolicy,
    checkpoint,
    create_selective_checkpoint_contexts,
)

import hotaru as torch

aten = torch.ops.aten


class Counts(TorchDispatchMode):
    """How often each operator ran."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: dict = {}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.name()
        self.calls[name] = self.calls.get(name, 0) + 1
        return func(*args, **(kwargs or {}))


def leaf(*shape):
    values = torch.linspace(0.1, 0.9, torch.Size(shape).numel())
    return values.view(shape).requires_grad_()


def selective(function, *args, policy, **options):
    contexts = functools.partial(
        create_selective_checkpoint_contexts, policy, **options
    )
    return checkpoint(function, *args, use_reentrant=False, context_fn=contexts)


def chain(x, w):
    y = torch.nn.functional.layer_norm(x.mm(w).sin(), (3,))
    return (y.exp() * y.softmax(-1)).mm(w)


POLICIES = {
    "list": [aten.mm.default, aten.layer_norm.default, aten.exp.default],
    "all": lambda ctx, op, *a, **k: CheckpointPolicy.MUST_SAVE,
    "none": lambda ctx, op, *a, **k: CheckpointPolicy.MUST_RECOMPUTE,
    "bool": lambda ctx, op, *a, **k: op is aten.softmax.int,
    "cpu": lambda ctx, op, *a, **k: CheckpointPolicy.PREFER_CPU_OFFLOAD,
}


@pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)
def test_gradients_are_those_without(policy):
    x, w = leaf(3, 3), leaf(3, 3)
    want = torch.autograd.grad(chain(x, w).sum(), (x, w))
    result = selective(chain, x, w, policy=policy)
    assert torch.equal(result, chain(x, w))
    got = torch.autograd.grad(result.sum(), (x, w))
    for a, b in zip(got, want):
        assert torch.equal(a, b)


def test_what_is_kept_runs_once():
    counts = Counts()

    def policy(ctx, op, *args, **kwargs):
        return op is aten.mm.default

    x, w = leaf(3, 3), leaf(3, 3)
    with counts:
        out = selective(lambda a, b: a.mm(b).sin().mm(b).cos(), x, w, policy=policy)
    assert counts.calls["aten::mm"] == 2
    with counts:
        out.sum().backward()
    assert counts.calls["aten::mm"] == 2  # nothing computed it again
    assert counts.calls["aten::sin"] == 2


def test_nodes_are_those_without_a_checkpoint():
    seen = []

    def f(x):
        y = x.sin()
        seen.append(type(y.grad_fn).__name__)
        return y.exp()

    out = selective(f, leaf(3), policy=[aten.sin.default])
    assert seen == ["SinBackward0"]
    assert type(out.grad_fn).__name__ == "ExpBackward0"


def test_policies_see_results_without_history_and_once():
    seen = []

    def policy(ctx, op, *args, **kwargs):
        assert not ctx.is_recompute
        assert not ctx.op_output.requires_grad
        seen.append(str(op))
        return CheckpointPolicy.PREFER_RECOMPUTE

    out = selective(lambda x: x.sin().cos().exp(), leaf(3), policy=policy)
    out.sum().backward()
    assert seen == ["aten.sin.default", "aten.cos.default", "aten.exp.default"]


def test_writes_between_the_runs():
    two = torch.tensor(2.0)

    def f(x):
        return x.sin().mul_(two).cos().exp()

    out = selective(f, leaf(3), policy=[aten.sin.default])
    with pytest.raises(RuntimeError, match="activation checkpoint has been mu"):
        out.sum().backward()
    x = leaf(3)
    (want,) = torch.autograd.grad(f(x).sum(), x)
    for kept in ([aten.mul_.Tensor], [aten.mul_.Tensor, aten.sin.default]):
        out = selective(f, x, policy=kept, allow_cache_entry_mutation=True)
        (got,) = torch.autograd.grad(out.sum(), x)
        assert torch.equal(got, want)


def test_one_backward_pass():
    out = selective(lambda x: x.sin().cos().exp(), leaf(3), policy=[aten.sin.default])
    out.sum().backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="Trying to backward an extra time"):
        out.sum().backward(retain_graph=True)


def test_runs_that_differ():
    runs = []

    def f(x):
        runs.append(None)
        first = len(runs) % 2
        return x.cos().exp().sin() if first else x.sin().sin().sin()

    text = r"aten.sin.default invocation index 1 encountered during backward "
    out = selective(f, leaf(3), policy=POLICIES["all"])
    with pytest.raises(RuntimeError, match=text + "but not found in storage"):
        out.sum().backward()

    def g(x):
        runs.append(None)
        return x.cos().exp() if len(runs) % 2 else x.tan().exp()

    out = selective(g, leaf(3), policy=POLICIES["all"])
    with pytest.raises(RuntimeError, match=r"aten\.tan\.default encountered dur"):
        out.sum().backward()


def test_what_is_kept_goes_away():
    kept = []

    def f(x):
        out = x.cos().exp()
        mode = _get_current_dispatch_mode()
        calls = mode.storage[aten.exp.default]
        if calls[0] is not None:
            kept.append(weakref.ref(calls[0].val))
        return out.sin()

    gc.disable()
    try:
        out = selective(f, leaf(3), policy=POLICIES["all"])
        assert kept[-1]() is not None
        del out
        assert kept[-1]() is None
        out = selective(f, leaf(3), policy=POLICIES["all"])
        out.sum().backward(retain_graph=True)
        assert kept[-1]() is None
    finally:
        gc.enable()


def test_operators_defined_in_python():
    runs = []

    with torch.library._scoped_library("selective_tests", "FRAGMENT"):

        @torch.library.custom_op("selective_tests::twice_sin", mutates_args=())
        def twice_sin(x: torch.Tensor) -> torch.Tensor:
            runs.append(None)
            return 2 * x.sin()

        twice_sin.register_autograd(
            lambda ctx, grad: grad * 2 * ctx.saved_tensors[0].cos(),
            setup_context=lambda ctx, inputs, output: ctx.save_for_backward(*inputs),
        )
        x = leaf(3)
        op = torch.ops.selective_tests.twice_sin.default
        out = selective(lambda x: (twice_sin(x) * x.exp()).sin(), x, policy=[op])
        (got,) = torch.autograd.grad(out.sum(), x)
        assert len(runs) == 1
        (want,) = torch.autograd.grad((twice_sin(x) * x.exp()).sin().sum(), x)
        assert torch.equal(got, want)


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"be an OpOverload but got: 2 of type"):
        create_selective_checkpoint_contexts([2])
    with pytest.raises(ValueError, match=r"Packet to a specific OpOverload.For"):
        create_selective_checkpoint_contexts([aten.sin])
    with pytest.raises(TypeError, match=r"either a function or a list of ops."):
        create_selective_checkpoint_contexts(2)


def test_questions_are_never_kept():
    assert aten.detach.default in SAC_IGNORED_OPS
    asked = []

    def policy(ctx, op, *args, **kwargs):
        asked.append(op)
        return CheckpointPolicy.MUST_SAVE

    out = selective(lambda x: (x * x.detach()).sin(), leaf(3), policy=policy)
    out.sum().backward()
    assert aten.detach.default not in asked


@pytest.mark.parametrize("respect", [None, False, True])
@pytest.mark.parametrize("inside", [False, True])
def test_hooks_of_saved_tensors_see_what_a_policy_keeps(respect, inside):
    packed, unpacked = [], []

    def pack(tensor):
        packed.append(tensor.clone())
        return tensor.clone()

    def unpack(tensor):
        unpacked.append(tensor)
        return tensor

    hooks = torch.autograd.graph.saved_tensors_hooks(pack, unpack)

    def function(x):
        y = x.sin().softmax(0)
        if inside:
            with hooks:
                return (y.exp() * 2).sum()
        return (y.exp() * 2).sum()

    ops = [aten.exp.default, aten._softmax.default]
    contexts = functools.partial(create_selective_checkpoint_contexts, ops)
    x, other = leaf(3), leaf(3)

    def run():
        return checkpoint(
            function,
            x,
            use_reentrant=False,
            context_fn=contexts,
            respect_saved_tensors_hooks=respect,
        )

    if inside:
        loss = run()
    else:
        with hooks:
            loss = run()
    kept = [t for t in packed if not t.equal(x)]
    before = other.detach().sin().softmax(0)
    if respect and not inside:
        assert len(kept) == 2
        torch.testing.assert_close(kept[0], before)
    if not inside:
        assert len(kept) == (2 if respect else 0)
    elif respect:
        assert any(t.equal(before.exp()) for t in kept)
    loss.backward()
    (other.sin().softmax(0).exp() * 2).sum().backward()
    torch.testing.assert_close(x.grad, other.grad)
    if respect:
        assert unpacked
