"""Properties of tensors in coordinates of every shape: derivatives, copies in
other processes, memory that is bounded, operators of strided tensors.
"""

from __future__ import annotations

import pytest


def random_coo(torch, size, nnz, dense=(), seed=0, dtype=None):
    """Indices may repeat."""
    torch.manual_seed(seed)
    rows = [torch.randint(0, n, (nnz,)) for n in size]
    index = torch.stack(rows)
    values = torch.randn(nnz, *dense, dtype=dtype or torch.float64)
    return torch.sparse_coo_tensor(index, values, (*size, *dense))


def test_products_are_those_of_strided_matrices(hotaru):
    torch = hotaru
    a = random_coo(torch, (30, 40), 200)
    b = random_coo(torch, (40, 20), 150, seed=1)
    d = torch.randn(40, 7, dtype=torch.float64)
    for left in (a, a.coalesce()):
        dense = left.to_dense()
        torch.testing.assert_close(torch.mm(left, d), dense @ d)
        found = torch.sparse.mm(left, b)
        assert found.is_coalesced()
        torch.testing.assert_close(found.to_dense(), dense @ b.to_dense())


def test_product_of_many_elements_needs_parts(hotaru, monkeypatch):
    from hotaru.sparse.coo import products

    torch = hotaru
    a = random_coo(torch, (30, 40), 200)
    d = torch.randn(40, 7, dtype=torch.float64)
    monkeypatch.setattr(products, "_MOST_AT_ONCE", 400)
    torch.testing.assert_close(torch.mm(a, d), a.to_dense() @ d)


@pytest.mark.parametrize("dense", [(), (2,), (2, 0)])
def test_sums_of_parts_are_those_of_the_whole(hotaru, dense):
    torch = hotaru
    x = random_coo(torch, (4, 5, 3), 30, dense)
    whole = x.to_dense()
    for dim in range(3 + len(dense)):
        found = torch.sparse.sum(x, dim).to_dense()
        torch.testing.assert_close(found, whole.sum(dim))
        narrow = x.narrow_copy(dim, 0, x.shape[dim]).to_dense()
        torch.testing.assert_close(narrow, whole)
    index = torch.tensor([2, -1, 0, 2])
    for dim in range(3):
        torch.testing.assert_close(
            x.index_select(dim, index).to_dense(),
            whole.index_select(dim, index % x.shape[dim]),
        )


def test_gradient_of_equal_indices_is_that_of_their_sum(hotaru):
    torch = hotaru
    index = torch.tensor([[0, 0, 2]])
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    x = torch.sparse_coo_tensor(index, values, (3,))
    (x.coalesce().values() * torch.tensor([10.0, 100.0])).sum().backward()
    assert values.grad.tolist() == [10.0, 10.0, 100.0]
    leaf = x.detach().requires_grad_()
    torch.sparse.sum(leaf * leaf).backward()
    assert leaf.grad.to_dense().tolist() == [6.0, 0.0, 6.0]


def test_gradcheck_sees_a_wrong_sparse_gradient(hotaru):
    torch = hotaru

    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.pattern = x.detach()
            return x.to_dense()

        @staticmethod
        def backward(ctx, grad):
            return grad.sparse_mask(ctx.pattern) * 2

    x = random_coo(torch, (3, 4), 5).coalesce().requires_grad_()
    for fast_mode in (False, True):
        with pytest.raises(RuntimeError, match="mismatch"):
            torch.autograd.gradcheck(Wrong.apply, x, masked=True, fast_mode=fast_mode)
    with pytest.raises(ValueError, match="Sparse output is not supported"):
        torch.autograd.gradcheck(lambda t: t * 2, x)


def test_masked_gradient_is_no_whole_one(hotaru):
    torch = hotaru
    x = torch.tensor([[1.0, 0.0]], dtype=torch.float64)
    x = x.to_sparse().requires_grad_()

    def masked(t):
        return t.to_dense(masked_grad=True)

    assert torch.autograd.gradcheck(masked, x, masked=True)
    with pytest.raises(RuntimeError, match="mismatch"):
        torch.autograd.gradcheck(masked, x, masked=False)


def test_writing_in_place(hotaru):
    torch = hotaru
    x = random_coo(torch, (3, 4), 5).coalesce()
    other = random_coo(torch, (3, 4), 5, seed=3).coalesce()
    wanted = x.to_dense() + other.to_dense()
    kept = torch.zeros(3, 4, dtype=torch.float64)
    assert kept.add_(x) is kept
    torch.testing.assert_close(kept, x.to_dense())
    turned = torch.zeros(4, 3, dtype=torch.float64).t()
    torch.testing.assert_close(turned.add_(x), x.to_dense())
    same = x
    same += other
    assert same is x
    torch.testing.assert_close(x.to_dense(), wanted)
    copy = torch.sparse_coo_tensor((3, 4), dtype=torch.float64).copy_(x)
    copy._values().zero_()
    torch.testing.assert_close(x.to_dense(), wanted)
    with pytest.raises(RuntimeError, match="can't be cast"):
        x.long().add_(x)


def test_indices_of_files_are_looked_at(hotaru, tmp_path):
    torch = hotaru
    x = torch.sparse_coo_tensor([[5]], [1.0], (3,))
    torch.save(x, tmp_path / "x.pt")
    for weights_only in (True, False):
        with pytest.raises(RuntimeError, match="size is inconsistent"):
            torch.load(tmp_path / "x.pt", weights_only=weights_only)


class _Parts:
    """A dataset of sparse tensors."""

    def __init__(self, tensors):
        self.tensors = tensors

    def __len__(self):
        return len(self.tensors)

    def __getitem__(self, index):
        return self.tensors[index]


def test_workers_send_sparse_tensors(hotaru):
    torch = hotaru
    data = [random_coo(torch, (3, 4), n, seed=n) for n in range(4)]
    loader = torch.utils.data.DataLoader(_Parts(data), batch_size=None, num_workers=1)
    for sent, found in zip(data, loader):
        assert found.is_coalesced() == sent.is_coalesced()
        assert torch.equal(found._indices(), sent._indices())
        assert torch.equal(found._values(), sent._values())


def test_invariants_are_looked_at_where_asked(hotaru):
    torch = hotaru
    checks = torch.sparse.check_sparse_tensor_invariants
    index, values = torch.tensor([[5]]), torch.ones(1)

    def make(**options):
        return torch.sparse_coo_tensor(index, values, (3,), **options)

    assert make().shape == (3,)
    with checks():
        with pytest.raises(RuntimeError, match="size is inconsistent"):
            make()
        assert make(check_invariants=False)._nnz() == 1
        with checks(False):
            make()
    assert not checks.is_enabled()
    with pytest.raises(RuntimeError, match="found negative index -5"):
        torch.sparse_coo_tensor(-index, values, (3,), check_invariants=True)


@pytest.mark.filterwarnings("ignore:torch.sparse.SparseTensor")
def test_legacy_classes(hotaru):
    torch = hotaru
    made = torch.sparse.DoubleTensor(2, 3)
    assert (made.dtype, made.layout) == (torch.float64, torch.sparse_coo)
    assert isinstance(made, torch.sparse.DoubleTensor)
    assert not isinstance(made, torch.sparse.FloatTensor)
    assert made.type() == "torch.sparse.DoubleTensor"


def test_where_of_a_condition_alone(hotaru):
    torch = hotaru
    rows, columns = torch.where(torch.tensor([[0, 3], [4, 0]]))
    assert (rows.tolist(), columns.tolist()) == ([0, 1], [1, 0])
    picked = torch.where(torch.tensor([True, False]), 1.0, torch.zeros(2))
    assert picked.tolist() == [1.0, 0.0]
    with pytest.raises(TypeError, match="where"):
        torch.where(torch.tensor([True]), torch.ones(1))


def test_unknown_operators_say_what_to_do(hotaru):
    x = hotaru.eye(2).to_sparse()
    for call in (lambda: x.exp(), lambda: x == x, lambda: x.max()):
        with pytest.raises(NotImplementedError, match="to_dense"):
            call()


def test_what_is_detached_has_no_history(hotaru):
    torch = hotaru
    values = torch.ones(2, requires_grad=True)
    made = torch.sparse_coo_tensor([[0, 1]], values * 2, (3,)).coalesce()
    assert made.requires_grad
    assert made.values().requires_grad
    for part in (made.detach().values(), made.detach()._values()):
        assert not part.requires_grad
    assert not made.detach().to_dense().requires_grad
    with torch.no_grad():
        assert not (made * 2).values().requires_grad


@pytest.mark.parametrize("moves", [(0, 1), (0, -1), ((0, 1), (1, 2)), (2, 0)])
def test_dimensions_move(hotaru, moves):
    x = hotaru.arange(24.0).reshape(2, 3, 4)
    assert x.to_sparse().movedim(*moves).to_dense().equal(x.movedim(*moves))


def test_elements_stay_where_there_are_as_many(hotaru):
    x = hotaru.eye(2).to_sparse_csr()
    assert x.clone().resize_as_sparse_(x).values().tolist() == [1, 1]
