"""Names that PyTorch has since 2.14 and 2.15, and what they do."""

from __future__ import annotations

import copy
import pickle

import hotaru.accelerator.random as accelerator_random
import numpy as np
import pytest
from hotaru.autograd.graph import queue_callback, saved_tensors_hooks
from hotaru.optim import functional
from hotaru.utils.checkpoint import checkpoint
from hotaru.utils.dlpack import ReadOnlyTensorWrapper
from hotaru.utils.flop_counter import FlopCounterMode

import hotaru as torch
from hotaru import distributed as dist
from hotaru import nn


def test_lbfgs_makes_a_loss_large():
    def best(sign, search, maximize):
        x = nn.Parameter(torch.tensor([3.0, -2.0]))
        optimizer = torch.optim.LBFGS([x], line_search_fn=search, maximize=maximize)

        def closure():
            optimizer.zero_grad()
            loss = sign * ((x - torch.tensor([1.0, 2.0])) ** 2).sum()
            loss.backward()
            return loss

        first = optimizer.step(closure)
        return x.detach(), first.item(), optimizer

    for search in (None, "strong_wolfe"):
        low, first, _ = best(1, search, False)
        high, opposite, optimizer = best(-1, search, True)
        torch.testing.assert_close(low, torch.tensor([1.0, 2.0]))
        assert torch.equal(low, high)
        assert first == -opposite == 20.0
        state = optimizer.state_dict()
        assert state["param_groups"][0]["maximize"] is True
        # States of before have no such option.
        del state["param_groups"][0]["maximize"]
        optimizer.load_state_dict(copy.deepcopy(state))
        optimizer.step(lambda high=high: (-(high**2)).sum())


def test_steps_as_functions():
    x, gradient = torch.ones(2), torch.full((2,), 0.5)
    functional.sgd(
        [x],
        [gradient],
        [None],
        weight_decay=0.0,
        momentum=0.0,
        lr=0.1,
        dampening=0.0,
        nesterov=False,
        maximize=False,
    )
    torch.testing.assert_close(x, torch.full((2,), 0.95))
    assert functional.adam is torch.optim.adam.adam
    assert len(functional.__all__) == 14


def test_draws_of_gamma_by_a_generator():
    gamma = torch.distributions.Gamma(torch.tensor([2.0, 0.5]), torch.ones(2))

    def draw(method, seed=1):
        generator = torch.Generator().manual_seed(seed)
        return method((3,), generator=generator)

    before = torch.get_rng_state()
    assert torch.equal(draw(gamma.rsample), draw(gamma.sample))
    assert not torch.equal(draw(gamma.rsample), draw(gamma.rsample, 2))
    assert torch.equal(torch.get_rng_state(), before)


def test_checkpoint_is_a_decorator():
    ran = []

    class Layer(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(2))

        @checkpoint(use_reentrant=False, preserve_rng_state=False)
        def forward(self, x, scale=1):
            """Scales."""
            ran.append(scale)
            return (self.weight * x).sin() * scale

    layer = Layer()
    layer(torch.ones(2), scale=2).sum().backward()
    assert ran == [2, 2]
    torch.testing.assert_close(layer.weight.grad, 2 * torch.cos(torch.ones(2)))
    assert Layer.forward.__doc__ == "Scales."
    with pytest.raises(ValueError, match="arguments without a function"):
        checkpoint(use_reentrant=False, extra=1)
    with pytest.raises(ValueError, match="use_reentrant=False"):
        checkpoint(
            torch.sin,
            torch.ones(1),
            use_reentrant=True,
            respect_saved_tensors_hooks=True,
        )
    x = torch.ones(2, requires_grad=True)
    packed = []
    with saved_tensors_hooks(lambda t: packed.append(t) or t, lambda t: t):
        checkpoint(
            torch.sin, x, use_reentrant=False, respect_saved_tensors_hooks=False
        ).sum().backward()
    torch.testing.assert_close(x.grad, x.detach().cos())


def test_memory_for_reading_alone():
    x = torch.arange(3.0)
    wrapped = ReadOnlyTensorWrapper(x)
    array = np.from_dlpack(wrapped)
    assert array.tolist() == [0.0, 1.0, 2.0]
    assert not array.flags.writeable
    x[0] = 5
    assert array[0] == 5
    assert np.from_dlpack(x).flags.writeable
    for wrong in (
        lambda: wrapped + 1,
        lambda: wrapped.shape,
        lambda: setattr(wrapped, "a", 1),
    ):
        with pytest.raises((RuntimeError, TypeError)):
            wrong()
    with pytest.raises(BufferError, match=r"version 1\.0"):
        wrapped.__dlpack__()
    with pytest.raises(TypeError, match="expected a tensor"):
        ReadOnlyTensorWrapper(1)


def test_operators_without_a_formula():
    with FlopCounterMode(display=False) as counter:
        x = torch.ones(2, 2)
        (x @ x).sin().sin()
    found = counter.get_unsupported_ops()["Global"]
    assert found[torch.ops.aten.sin] == 2
    assert torch.ops.aten.mm not in found
    with counter:
        pass
    assert counter.get_unsupported_ops().get("Global", {}) == {}


def test_callbacks_at_the_end_of_a_backward_pass():
    ended = []
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: queue_callback(lambda: ended.append(x.grad)))
    y.sum().backward()
    assert ended[0].tolist() == [2.0, 2.0]
    with pytest.raises(RuntimeError):
        queue_callback(print)


def test_generators_of_the_accelerator():
    if torch.accelerator.is_available():
        state = accelerator_random.get_rng_state()
        assert state.dtype == torch.uint8
        assert len(accelerator_random.get_rng_state_all())
        return
    assert accelerator_random.get_rng_state_all() == []
    for call in ("get_rng_state", "initial_seed"):
        with pytest.raises((RuntimeError, AssertionError)):
            getattr(accelerator_random, call)()


class _Unknown:
    def __reduce__(self):
        return print, ("run by whoever receives it",)


def test_objects_of_known_classes_alone(tmp_path, capsys):
    dist.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    try:
        known = {"x": [1, "a", None, 2.5], "t": torch.arange(3)}
        found = [None]
        dist.all_gather_object(found, known, weights_only=True)
        assert found[0]["x"] == known["x"]
        assert torch.equal(found[0]["t"], known["t"])
        out = [None]
        dist.scatter_object_list(out, [{"a": 1}], src=0, weights_only=True)
        assert out == [{"a": 1}]
        with pytest.raises(pickle.UnpicklingError):
            dist.all_gather_object(found, _Unknown(), weights_only=True)
        assert capsys.readouterr().out == ""
        dist.all_gather_object(found, _Unknown())
        assert "run by" in capsys.readouterr().out
        whole = torch.zeros(1, 3)
        dist.gather_single(torch.arange(3.0), whole)
        assert whole.tolist() == [[0.0, 1.0, 2.0]]
        for wrong, text in (
            (None, "must be specified"),
            (torch.zeros(4), "elements"),
            (torch.zeros(3, 2)[:, 0], "contiguous"),
        ):
            with pytest.raises(ValueError, match=text):
                dist.gather_into_tensor(torch.ones(3), wrong)
        assert dist.get_backend_impl() is dist.group.WORLD
        from datetime import timedelta

        dist.set_timeout(timedelta(seconds=7))
        assert dist.group.WORLD._timeout == timedelta(seconds=7)
    finally:
        dist.destroy_process_group()


def test_capabilities_of_the_processor():
    found = torch.cpu.get_capabilities()
    assert isinstance(found["architecture"], str)
    assert all(isinstance(v, (bool, int, str)) for v in found.values())
    if found.get("avx512_f"):
        assert found["avx2"]
        assert found["sse2"]
    with pytest.raises(TypeError):
        found["sse2"] = False


def test_functions_know_of_no_buffers():
    class Product(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, grad):
            assert ctx.input_grad_buffers == (None, None)
            x, y = ctx.saved_tensors
            return grad * y, grad * x

    x = torch.ones(2, requires_grad=True)
    (Product.apply(x, x * 2) + x).sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
