"""Training that goes on from a file takes the steps it would have taken."""

from __future__ import annotations

import inspect
import io

import pytest

import hotaru as torch
from hotaru import nn

OPTIONS = {
    "SGD": [{}, {"momentum": 0.9, "nesterov": True}],
    "Adam": [{}, {"amsgrad": True, "weight_decay": 0.1}],
    "AdamW": [{}],
    "Adamax": [{}],
    "NAdam": [{}],
    "RAdam": [{}],
    "Adagrad": [{"lr_decay": 0.1}],
    "Adadelta": [{}],
    "RMSprop": [{"momentum": 0.9, "centered": True}],
    "Rprop": [{}],
    "ASGD": [{}, {"t0": 2.0, "lambd": 0.01}],
    "LBFGS": [{"max_iter": 3}, {"line_search_fn": "strong_wolfe"}],
    "Adafactor": [{}],
    "Muon": [{}],
}


def _parameters(name):
    return inspect.signature(getattr(torch.optim, name)).parameters


CASES = [
    (name, {"lr": 0.1, **options, **flag})
    for name, every in OPTIONS.items()
    for options in every
    for flag in ({}, {"foreach": True}, {"foreach": False}, {"fused": True})
    if set(flag) <= set(inspect.signature(getattr(torch.optim, name)).parameters)
]


def _steps(optimizer, param, first, n=3):
    for i in range(first, first + n):

        def closure(i=i):
            optimizer.zero_grad()
            loss = ((param - 1) ** 2 * (i + 1)).sum() + param.prod()
            loss.backward()
            return loss

        optimizer.step(closure)


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.half])
@pytest.mark.parametrize(("name", "options"), CASES)
def test_resumed_steps_are_the_same(name, options, dtype):
    kind = getattr(torch.optim, name)
    param = nn.Parameter(torch.tensor([[0.5, -1.5], [2.0, 0.25]], dtype=dtype))
    optimizer = kind([param], **options)
    _steps(optimizer, param, 0)
    file = io.BytesIO()
    torch.save(optimizer.state_dict(), file)
    file.seek(0)
    copy = nn.Parameter(param.detach().clone())
    resumed = kind([copy])
    resumed.load_state_dict(torch.load(file))
    _steps(optimizer, param, 3)
    _steps(resumed, copy, 3)
    if name == "NAdam" and dtype is torch.float64:
        # A product in float32 goes on in float64, in PyTorch as well.
        assert torch.allclose(param, copy, rtol=1e-6)
    else:
        assert torch.equal(param, copy)


def test_lbfgs_refuses_a_group_that_is_added_later():
    param, other = (nn.Parameter(torch.ones(2)) for _ in range(2))
    optimizer = torch.optim.LBFGS([param])
    optimizer.add_param_group({"params": [other]})
    with pytest.raises(AssertionError, match="exactly one param_group, but"):
        _steps(optimizer, param, 0)


@pytest.mark.parametrize("name", ["Adam", "Adamax", "NAdam", "RAdam"])
def test_a_single_beta_is_refused(name):
    with pytest.raises(IndexError):
        getattr(torch.optim, name)([nn.Parameter(torch.ones(2))], betas=(0.9,))
