"""Optimizers that are given gradients, beside those that read them."""

import pytest
from hotaru.distributed.optim.utils import (
    as_functional_optim,
    functional_optim_map,
    register_functional_optim,
)

import hotaru as torch

CASES = [
    (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.01}),
    (torch.optim.Adam, {"lr": 0.1, "amsgrad": True}),
    (torch.optim.AdamW, {"lr": 0.1}),
    (torch.optim.Adagrad, {"lr": 0.1}),
    (torch.optim.Adadelta, {"lr": 0.5}),
    (torch.optim.RMSprop, {"lr": 0.1, "centered": True}),
    (torch.optim.Rprop, {"lr": 0.1}),
    (torch.optim.Adamax, {"lr": 0.1}),
]


@pytest.mark.parametrize(("kind", "settings"), CASES)
def test_steps_are_the_optimizers(kind, settings):
    start = [torch.randn(3), torch.randn(2, 2)]
    eager = [torch.nn.Parameter(t.clone()) for t in start]
    given = [torch.nn.Parameter(t.clone()) for t in start]
    alone = [torch.nn.Parameter(t.clone()) for t in start]
    optimizer = kind(eager, **settings)
    functional = functional_optim_map[kind](given, **settings)
    single = as_functional_optim(kind, **settings)
    for _ in range(4):
        gradients = [torch.randn_like(t) for t in start]
        for param, gradient in zip(eager, gradients):
            param.grad = gradient.clone()
        optimizer.step()
        functional.step([g.clone() for g in gradients])
        for param, gradient in zip(alone, gradients):
            single.step_param(param, gradient.clone())
    for expected, one, other in zip(eager, given, alone):
        assert torch.equal(expected, one)
        assert torch.equal(expected, other)
        assert one.grad is None


def test_refusals():
    sgd = functional_optim_map[torch.optim.SGD]
    with pytest.raises(ValueError, match="empty parameter list"):
        sgd([], 0.1)
    with pytest.raises(ValueError, match="does not equal"):
        sgd([torch.nn.Parameter(torch.ones(2))], 0.1).step([])
    with pytest.raises(ValueError, match="functional counterpart"):
        as_functional_optim(torch.optim.LBFGS)


def test_a_step_without_a_gradient_leaves_the_parameter():
    param = torch.nn.Parameter(torch.ones(2))
    param.grad = torch.full((2,), 7.0)
    sgd = functional_optim_map[torch.optim.SGD]([param], 0.1)
    sgd.step([None])
    assert param.tolist() == [1, 1]
    assert param.grad.tolist() == [7, 7]


def test_optimizers_of_ones_own():
    class Own:
        pass

    register_functional_optim("own", Own)
    try:
        assert functional_optim_map["own"] is Own
        register_functional_optim("own", int)
        assert functional_optim_map["own"] is Own
    finally:
        del functional_optim_map["own"]
