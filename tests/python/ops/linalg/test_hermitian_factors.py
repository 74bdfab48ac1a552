"""`linalg.polar` and `linalg.matrix_sqrth`: values, shapes, every derivative."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru.autograd import forward_ad, gradcheck, gradgradcheck

polar, root = torch.linalg.polar, torch.linalg.matrix_sqrth
DTYPES = (torch.float32, torch.float64, torch.complex64, torch.complex128)
SHAPES = ((3, 3), (5, 3), (2, 4, 3), (2, 0, 3, 3), (0, 0), (3, 0), (2, 5, 0), (1, 1))


def _positive(a):
    return a @ a.mH + torch.eye(a.shape[-2], dtype=a.dtype)


def _normal(*shape, seed=0, dtype=torch.float64):
    torch.manual_seed(seed)
    return torch.randn(*shape, dtype=dtype)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_factors_are_the_matrix_again(shape, dtype):
    a = _normal(*shape, dtype=dtype)
    n = shape[-1]
    found = polar(a)
    U, H = found
    assert type(found) is torch.return_types.linalg_polar
    assert found.U is U
    assert H.shape == (*shape[:-2], n, n)
    assert U.dtype == H.dtype == dtype
    assert U.is_contiguous()
    assert H.is_contiguous()
    torch.testing.assert_close(U @ H, a)
    eye = torch.eye(n, dtype=dtype).expand_as(H)
    torch.testing.assert_close(U.mH @ U, eye)
    assert H.equal(H.mH)
    assert bool((torch.linalg.eigvalsh(H) >= -1e-6).all())
    whole = _positive(a.mH)
    X = root(whole)
    torch.testing.assert_close(X @ X, whole)
    assert X.equal(X.mH)
    assert X.is_contiguous()


def test_the_lower_triangle_is_read_and_negative_values_count_as_0():
    a = torch.tensor([[2.0, 7.0], [1.0, 3.0]])
    assert root(a).equal(root(torch.tensor([[2.0, 1.0], [1.0, 3.0]])))
    found = root(torch.tensor([[-1.0, 0.0], [0.0, 4.0]]))
    assert found.equal(torch.tensor([[0.0, 0.0], [0.0, 2.0]]))


# Values repeat in the last one: derivatives of eigh have none there.
MATRICES = {
    "high": _normal(4, 2),
    "complex": _normal(3, 2, dtype=torch.complex128),
    "batch": _normal(2, 2, 2, dtype=torch.complex128),
    "equal": torch.eye(2, dtype=torch.float64),
    "none": _normal(3, 0),
}


@pytest.mark.parametrize("name", MATRICES)
def test_derivatives(name):
    a = MATRICES[name].clone().requires_grad_()

    def of_positive(a):
        return root(_positive(a.mH))

    for function in (polar, of_positive):
        assert gradcheck(function, (a,), check_forward_ad=True, check_batched_grad=True)
        assert gradgradcheck(function, (a,))


def test_gradients_are_those_of_pytorch():
    grad = torch.tensor([[1.0, 2], [5, 3]], dtype=torch.float64)
    a = torch.eye(2, dtype=torch.float64, requires_grad=True)
    root(a).backward(grad)
    wanted = torch.tensor([[0.5, 1.75], [1.75, 1.5]], dtype=torch.float64)
    torch.testing.assert_close(a.grad, wanted)
    a = torch.tensor([[4.0, 1], [1, 3]], dtype=torch.float64, requires_grad=True)
    root(a).backward(grad)
    wanted = torch.tensor([[0.1315, 0.8842], [0.8842, 0.7368]], dtype=torch.float64)
    torch.testing.assert_close(a.grad, wanted, atol=1e-4, rtol=0)
    # One of two singular values is 0: there is no gradient, nor an error.
    a = torch.tensor([[1.0, 0], [0, 0], [0, 0]], requires_grad=True)
    polar(a).U.sum().backward()
    assert not bool(a.grad.isfinite().all())


def test_vmap_and_transforms():
    a = _normal(5, 4, 3)
    for function in (lambda x: polar(x).U, lambda x: root(x @ x.mT)):
        torch.testing.assert_close(torch.func.vmap(function)(a), function(a))
        moved = torch.func.vmap(function, in_dims=2)(a.movedim(0, 2))
        torch.testing.assert_close(moved, function(a))
    each = torch.func.jacrev(lambda x: polar(x).H)(a[0])
    torch.testing.assert_close(each, torch.func.jacfwd(lambda x: polar(x).H)(a[0]))
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(a, torch.ones_like(a))
        assert forward_ad.unpack_dual(polar(dual).U).tangent is not None


def test_out():
    a = _normal(3, 2)
    given = (torch.empty(0, dtype=a.dtype), torch.empty(0, dtype=a.dtype))
    found = polar(a, out=given)
    assert type(found) is torch.return_types.linalg_polar_out
    assert found.U is given[0]
    torch.testing.assert_close(given[0] @ given[1], a)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype"):
        polar(a, out=(torch.empty(0), torch.empty(0)))
    with pytest.raises(TypeError, match="must be tuple of Tensors, not Tensor"):
        polar(a, out=torch.empty(0))
    with pytest.raises(RuntimeError, match="support automatic differentiation"):
        polar(a.requires_grad_(), out=given)


@pytest.mark.parametrize("function", [polar, root], ids=["polar", "matrix_sqrth"])
def test_errors(function):
    for bad, error, text in (
        (torch.randn(2, 3), RuntimeError, "2 by 3 matrices"),
        (torch.randn(3), RuntimeError, "must have at least 2 dimensions"),
        (torch.eye(3, dtype=torch.int64), RuntimeError, "floating point or complex"),
        (torch.eye(3).half(), RuntimeError, "Low precision dtypes"),
        (torch.eye(3).to_sparse(), NotImplementedError, "must be strided"),
        (torch.full((2, 2), torch.nan), torch.linalg.LinAlgError, "converge"),
        (3, TypeError, "must be Tensor, not int"),
    ):
        with pytest.raises(error, match=text):
            function(bad)
    meta = torch.empty(2, 3, 3, device="meta")
    found = function(meta)
    for x in found if isinstance(found, tuple) else (found,):
        assert x.shape == meta.shape
        assert x.is_meta
