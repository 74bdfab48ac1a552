"""Functions that take sparse matrices and answer as with strided ones."""

from __future__ import annotations

import pytest

import hotaru as torch

LAYOUTS = [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc]


def matrix(rows: int, columns: int, dtype=torch.float64, seed: int = 0):
    """A matrix of which about half of the elements are 0."""
    generator = torch.Generator().manual_seed(seed)
    shape = (rows, columns)
    found = torch.randn(shape, dtype=dtype, generator=generator)
    return found * (torch.rand(shape, generator=generator) > 0.5)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", [(3,), (4, 3), (2, 2, 3)])
@pytest.mark.parametrize("with_bias", [False, True])
def test_linear_of_sparse_weights(layout, shape, with_bias):
    dense = matrix(5, 3).requires_grad_()
    weight = matrix(5, 3).to_sparse(layout=layout).requires_grad_()
    generator = torch.Generator().manual_seed(1)
    x = torch.randn(shape, dtype=torch.float64, generator=generator)
    x.requires_grad_()
    y = x.detach().clone().requires_grad_()
    bias = torch.arange(5.0, dtype=torch.float64) if with_bias else None
    found = torch.nn.functional.linear(x, weight, bias)
    want = torch.nn.functional.linear(y, dense, bias)
    assert torch.allclose(found, want)
    found.pow(2).sum().backward()
    want.pow(2).sum().backward()
    assert torch.allclose(x.grad, y.grad)
    found = weight.grad.to_dense()
    # Places where the weight has no element may have a gradient or none.
    has = dense.detach() != 0
    assert torch.allclose(found * has, dense.grad * has)


def test_linear_of_sparse_inputs():
    x, weight = matrix(4, 3), matrix(5, 3, seed=2)
    found = torch.nn.functional.linear(x.to_sparse(), weight)
    assert torch.allclose(found, x @ weight.t())


def test_modules_get_parameters_of_another_layout():
    module = torch.nn.Linear(3, 2)
    module.weight.grad = torch.ones(2, 3)
    before = module.weight
    module._apply(lambda t: t.to_sparse())
    assert module.weight.layout is torch.sparse_coo
    assert module.weight.grad.layout is torch.sparse_coo
    assert isinstance(module.weight, torch.nn.Parameter)
    assert before.layout is torch.strided
    assert torch.equal(module.weight.to_dense(), before)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (4, 4)])
@pytest.mark.parametrize("shift", [None, (1, -1), (-1, 1), (-1, -1), (1, 1)])
def test_svd_lowrank(layout, dtype, shape, shift):
    a, m = matrix(*shape, dtype=dtype), None
    if shift is not None:
        sizes = [1 if s == 1 else shape[d] for d, s in enumerate(shift)]
        m = matrix(*sizes, dtype=dtype, seed=3) + 1
    u, s, v = torch.svd_lowrank(a.to_sparse(layout=layout), q=4, M=m)
    want = a if m is None else a - m
    assert torch.allclose((u * s) @ v.mH, want)
    assert torch.allclose(s, torch.linalg.svdvals(want))


@pytest.mark.parametrize("center", [True, False])
def test_pca_lowrank(center):
    a = matrix(6, 4)
    u, s, v = torch.pca_lowrank(a.to_sparse(), q=4, center=center)
    want = a - a.mean(0, keepdim=True) if center else a
    assert torch.allclose((u * s) @ v.mH, want)


def test_pca_lowrank_of_what_it_does_not_take():
    with pytest.raises(ValueError, match="not greater than min"):
        torch.pca_lowrank(matrix(6, 4).to_sparse(), q=5)
    with pytest.raises(ValueError, match="2-dimensional"):
        torch.pca_lowrank(torch.ones(2, 2, 2).to_sparse())
    with pytest.raises(ValueError, match="niter"):
        torch.pca_lowrank(matrix(6, 4).to_sparse(), niter=-1)


@pytest.mark.parametrize("coalesced", [False, True])
def test_no_smaller_dtype_gets_the_sum(coalesced):
    whole = torch.zeros(3, dtype=torch.int64)
    part = torch.tensor([0.5, 0.0, 1.0]).to_sparse()
    part = part.coalesce() if coalesced else part
    with pytest.raises(RuntimeError, match="can't be cast"):
        whole.add_(part)
    assert whole.tolist() == [0, 0, 0]


def test_data_of_tensors_that_are_kept_in_another_way():
    x = torch.ones(2, 2)
    kinds = [x, x.to_sparse(), x.to_sparse_csr()]
    for a in kinds:
        for b in kinds:
            if a is b:
                continue
            with pytest.raises(RuntimeError, match="incompatible tensor type"):
                a.data = b


def test_data_of_a_leaf():
    leaf = torch.ones(2, 2).to_sparse().requires_grad_()
    leaf.data = leaf.detach() * 3
    assert leaf.requires_grad
    assert leaf.is_leaf
    assert leaf.to_dense().tolist() == [[3, 3], [3, 3]]


@pytest.mark.parametrize("make", [torch.zeros, torch.empty])
def test_a_dense_out_takes_no_sparse_result(make):
    with pytest.raises(RuntimeError, match="layout Sparse does not match"):
        make((3, 4), layout=torch.sparse_coo, out=torch.zeros(3, 4))


def test_relu_of_the_functional_in_place():
    x = torch.tensor([[-1, 0], [2, -3]]).to_sparse()
    found = torch.nn.functional.relu(x, inplace=True)
    assert found is x
    assert x.to_dense().tolist() == [[0, 0], [2, 0]]
    assert (
        torch.nn.functional.relu(-x, inplace=False).to_dense().tolist() == [[0] * 2] * 2
    )
