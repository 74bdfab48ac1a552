"""Results of vmap that are parts of complex tensors, or pairs of real ones."""

from __future__ import annotations

import pytest

import hotaru as torch

X = torch.randn(2, 3, 4, dtype=torch.complex64)
Y = torch.randn(2, 3, 4, 2)
VIEWS = {
    "real": (torch.real, X),
    "imag": (torch.imag, X),
    "part of imag": (lambda v: v.imag[1:].t(), X),
    "view_as_real": (torch.view_as_real, X),
    "view_as_complex": (torch.view_as_complex, Y),
    "part of view_as_complex": (lambda v: torch.view_as_complex(v)[1:], Y),
}


@pytest.mark.parametrize("name", VIEWS)
@pytest.mark.parametrize("dims", [(0, 0), (1, 1), (1, 0), (0, 2)])
def test_they_are_views(name, dims):
    function, x = VIEWS[name]
    found = torch.vmap(function, *dims)(x)
    wanted = torch.stack([function(s) for s in x.unbind(dims[0])], dims[1])
    assert torch.equal(found, wanted)
    assert found._base is x


@pytest.mark.parametrize("name", VIEWS)
def test_within_another_map(name):
    function, x = VIEWS[name]
    found = torch.vmap(torch.vmap(function))(x)
    wanted = torch.stack([torch.stack([function(s) for s in r]) for r in x])
    assert torch.equal(found, wanted)
