"""Gradients of masked functions of sparse tensors, which PyTorch lacks.

They are those of the same function of strided tensors, of the elements that
the sparse ones have.
"""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch

DATA = [[1.0, 0.0, -3.0, 0.0], [0.5, 5.0, 0.0, 2.0], [0.0, 0.0, 4.0, 7.0]]
MASK = [
    [True, True, False, False],
    [False, True, True, True],
    [True, False, True, True],
]


def pair():
    return torch.tensor(DATA).requires_grad_(), torch.tensor(MASK)


@pytest.mark.parametrize("name", ["sum", "amax", "amin"])
@pytest.mark.parametrize("dim", [0, 1, (0, 1)])
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_gradients_of_reductions(name, dim, layout):
    function = getattr(torch.masked, name)
    (x, mask), (y, _) = pair(), pair()
    sparse = x.to_sparse(layout=layout)
    found = function(sparse, dim, keepdim=True, mask=mask)
    found.to_dense().pow(2).sum().backward()
    function(y, dim, keepdim=True, mask=mask).pow(2).sum().backward()
    # Zeros in the data have no element, and no gradient.
    assert torch.equal(x.grad, y.grad * (y != 0))


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_gradients_of_sparse_masked_tensors(layout):
    data, mask = pair()
    pattern = mask.to_sparse(layout=layout)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        leaf = torch.masked.masked_tensor(
            data.detach().sparse_mask(pattern), pattern, requires_grad=True
        )
        leaf.sin().exp().sum().backward()
        found = leaf.grad
    assert found.layout is layout
    assert torch.equal(found.get_mask().to_dense(), mask)
    want = (data.cos() * data.sin().exp()).detach() * mask
    assert torch.allclose(found.get_data().to_dense(), want)


def test_history_of_the_data():
    data, mask = pair()
    pattern = mask.to_sparse().coalesce()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensor = torch.masked.as_masked_tensor(data.sparse_mask(pattern), pattern)
        (tensor * tensor).sum().backward()
    assert torch.equal(data.grad.to_dense(), 2 * data.detach() * mask)


def test_parts_stay_apart_from_what_they_were_made_of():
    data, mask = pair()
    pattern = mask.to_sparse().coalesce()
    source = data.detach().sparse_mask(pattern)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tensor = torch.masked.masked_tensor(source, pattern)
        tensor.mul_(0)
    assert source.to_dense().abs().sum() > 0
    assert tensor.get_data().to_dense().abs().sum() == 0
