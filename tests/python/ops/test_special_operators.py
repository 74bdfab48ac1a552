"""torch.special's functions are operators of their own, as PyTorch's are."""

from __future__ import annotations

import pytest
from hotaru.overrides import TorchFunctionMode, resolve_name

import hotaru as torch

# Function of torch.special, with the one that gives the same numbers.
PAIRS = {
    "digamma": "digamma",
    "erf": "erf",
    "erfc": "erfc",
    "exp2": "exp2",
    "expit": "sigmoid",
    "expm1": "expm1",
    "gammaln": "lgamma",
    "log1p": "log1p",
    "logit": "logit",
    "psi": "digamma",
    "round": "round",
    "sinc": "sinc",
}


class Names(TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.name = resolve_name(func)
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("name", PAIRS)
def test_special_functions_are_operators(name):
    function, other = getattr(torch.special, name), getattr(torch, PAIRS[name])
    assert function is not other
    assert function is getattr(torch, f"special_{name}", function)
    x = torch.tensor([0.1, 0.6, 0.9], requires_grad=True)
    y = torch.tensor([0.1, 0.6, 0.9], requires_grad=True)
    found, wanted = function(x), other(y)
    assert torch.equal(found, wanted)
    assert found.grad_fn.name() == wanted.grad_fn.name()
    found.sum().backward()
    wanted.sum().backward()
    assert torch.equal(x.grad, y.grad)
    out = torch.empty(3)
    assert function(x.detach(), out=out) is out
    assert torch.equal(out, wanted)
    assert torch.equal(getattr(torch.ops.aten, f"special_{name}")(x), wanted)
    with Names() as mode:
        function(x)
    assert mode.name == f"torch.special.{name}"


def test_special_functions_with_arguments():
    x = torch.tensor([0.125, 0.625])
    assert (
        torch.special.round(x, decimals=1).tolist()
        == torch.round(x, decimals=1).tolist()
    )
    special = torch.special
    assert torch.equal(special.xlogy(2, x), torch.xlogy(2, x))
    assert torch.equal(special.xlogy(x, 2), torch.xlogy(x, 2))
    assert torch.equal(special.logit(x, eps=0.2), torch.logit(x, eps=0.2))
    y = torch.rand(2, 3)
    found = special.logsumexp(y, (1,), True)
    assert torch.equal(found, torch.logsumexp(y, (1,), True))
    wide = torch.empty(2, dtype=torch.float64)
    special.logsumexp(y, 1, out=wide)
    assert torch.equal(wide, torch.logsumexp(y.double(), 1))


def test_special_functions_in_scripts():
    @torch.jit.script
    def f(x):
        return torch.special.expit(x) + torch.special.xlogy(x, x)

    x = torch.tensor([0.25, 2.0])
    assert torch.equal(f(x), torch.sigmoid(x) + torch.xlogy(x, x))
