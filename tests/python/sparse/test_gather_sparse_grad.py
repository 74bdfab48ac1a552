"""`gather(sparse_grad=True)`: the gradient has the elements gathered alone."""

import pytest

import hotaru as torch


@pytest.mark.parametrize(
    ("shape", "dim", "index"),
    [
        ((3, 4), 1, [[0, 0], [3, 1]]),
        ((3, 4), 0, [[2, 0, 1, 1]]),
        ((5,), 0, [4, 4, 0]),
        ((2, 3, 2), -1, [[[1], [0], [1]]]),
        ((2, 3), 0, []),
    ],
)
def test_gradient_is_that_of_gather_in_coordinates(shape, dim, index):
    x = torch.randn(shape, dtype=torch.float64)
    at = torch.tensor(index, dtype=torch.int64)
    if at.numel() == 0:
        at = at.reshape(0, 3)
    plain, sparse = x.clone().requires_grad_(), x.clone().requires_grad_()
    out = torch.gather(plain, dim, at)
    weights = torch.randn(out.shape, dtype=torch.float64)
    (out * weights).sum().backward()
    (torch.gather(sparse, dim, at, sparse_grad=True) * weights).sum().backward()
    assert sparse.grad.layout is torch.sparse_coo
    assert sparse.grad._nnz() == at.numel()
    torch.testing.assert_close(sparse.grad.to_dense(), plain.grad)


def test_gradient_of_a_number():
    x = torch.tensor(2.0, requires_grad=True)
    torch.gather(x, 0, torch.tensor(0), sparse_grad=True).backward()
    assert x.grad.layout is torch.sparse_coo
    assert x.grad.to_dense() == 1


def test_gradients_add_up():
    x = torch.zeros(4, requires_grad=True)
    for index in ([1, 1], [3]):
        torch.gather(x, 0, torch.tensor(index), sparse_grad=True).sum().backward()
    assert x.grad.to_dense().tolist() == [0, 2, 0, 1]
