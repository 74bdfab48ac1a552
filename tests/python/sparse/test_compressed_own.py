"""Compressed layouts where PyTorch 2.13 on the CPU has no answer to compare
with: against strided tensors.
"""

from __future__ import annotations

import copy
import io
import itertools

import pytest

LAYOUTS = ("csr", "csc", "bsr", "bsc")


def _some(torch, *size):
    """Numbers of which a third are 0, in each batch the same ones."""
    x = torch.sin(torch.arange(float(torch.Size(size).numel())) + 1)
    x = x.reshape(size).double()
    zero = torch.arange(size[-1] * size[-2]).reshape(size[-2:]) % 3 == 1
    return x.masked_fill(zero, 0)


def _in(x, layout, torch, block=(2, 2)):
    return x.to_sparse(
        layout=getattr(torch, f"sparse_{layout}"),
        blocksize=block if layout[0] == "b" else None,
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_deepcopy_has_parts_of_its_own(hotaru, layout):
    x = _in(_some(hotaru, 4, 6), layout, hotaru)
    y = copy.deepcopy(x)
    y.values().mul_(2)
    assert y.layout is x.layout
    assert hotaru.equal(y.to_dense(), x.to_dense() * 2)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_gradients_are_those_of_the_values(hotaru, layout):
    dense = _some(hotaru, 4, 6)
    x = _in(dense, layout, hotaru).requires_grad_()
    weight = hotaru.cos(hotaru.arange(24.0)).reshape(4, 6).double()
    ((x * 3).sin().to_dense() * weight).sum().backward()
    assert x.grad.layout is x.layout
    want = 3 * hotaru.cos(3 * dense) * weight
    wanted = want.sparse_mask(x.detach())
    hotaru.testing.assert_close(x.grad.to_dense(), wanted.to_dense())


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
@pytest.mark.parametrize("lead", [(), (3,), (2, 3)])
def test_products_with_strided_batches(hotaru, layout, lead):
    a, b = _some(hotaru, *lead, 4, 6), _some(hotaru, *lead, 6, 5)
    x = _in(a, layout, hotaru)
    hotaru.testing.assert_close(x @ b, a @ b)
    turned = b.transpose(-1, -2) @ x.transpose(-1, -2)
    if layout != "bsr":
        hotaru.testing.assert_close(turned, (a @ b).transpose(-1, -2))
    if len(lead) == 1:
        c = hotaru.ones(*lead, 4, 5).double()
        got = hotaru.baddbmm(c, x, b, beta=2, alpha=3)
        hotaru.testing.assert_close(got, 2 * c + 3 * (a @ b))


@pytest.mark.parametrize("layout", ["csr", "csc", "bsr"])
def test_gradients_of_products(hotaru, layout):
    a, b = _some(hotaru, 4, 6), _some(hotaru, 6, 5)
    x = _in(a, layout, hotaru).requires_grad_()
    left, right = a.clone().requires_grad_(), b.clone().requires_grad_()
    b.requires_grad_()
    hotaru.sparse.mm(x, b).sin().sum().backward()
    (left @ right).sin().sum().backward()
    wanted = left.grad.sparse_mask(x.detach())
    hotaru.testing.assert_close(x.grad.to_dense(), wanted.to_dense())
    hotaru.testing.assert_close(b.grad, right.grad)


@pytest.mark.parametrize(("first", "second"), itertools.product(LAYOUTS, LAYOUTS))
def test_sums_of_any_two_layouts(hotaru, first, second):
    a, b = _some(hotaru, 4, 6), _some(hotaru, 6, 4).t().roll(1, 1)
    x, y = _in(a, first, hotaru), _in(b, second, hotaru)
    got = hotaru.add(x, y, alpha=2)
    assert got.layout is x.layout
    hotaru.testing.assert_close(got.to_dense(), a + 2 * b)
    hotaru.testing.assert_close((x - y).to_dense(), a - b)
    hotaru.testing.assert_close((x * y).to_dense(), a * b)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_dense_dimensions(hotaru, layout):
    x = _some(hotaru, 3, 4, 6).permute(1, 2, 0).contiguous()
    y = x.to_sparse(
        layout=getattr(hotaru, f"sparse_{layout}"),
        blocksize=(2, 2) if layout[0] == "b" else None,
        dense_dim=1,
    )
    assert (y.sparse_dim(), y.dense_dim()) == (2, 1)
    hotaru.testing.assert_close(y.to_dense(), x)
    hotaru.testing.assert_close(y.to_sparse().to_dense(), x)
    hotaru.testing.assert_close((y + y).to_dense(), 2 * x)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_saved_and_loaded(hotaru, layout):
    x = _in(_some(hotaru, 4, 6), layout, hotaru)
    file = io.BytesIO()
    hotaru.save(x, file)
    assert b"_get_layout" in file.getvalue()
    file.seek(0)
    y = hotaru.load(file)
    assert y.layout is x.layout
    assert hotaru.equal(y.to_dense(), x.to_dense())


def test_a_product_needs_no_strided_matrix(hotaru):
    n = 1 << 20  # n * n elements would be 4 TiB
    ends = hotaru.arange(n + 1)
    x = hotaru.sparse_csr_tensor(ends, hotaru.arange(n).flip(0), hotaru.ones(n), (n, n))
    v = hotaru.arange(float(n))
    assert hotaru.equal(x @ v, v.flip(0))
    twice = x @ x
    assert twice._nnz() == n
    assert hotaru.equal(twice.col_indices(), hotaru.arange(n))
    assert hotaru.equal((x + x).values(), hotaru.full((n,), 2.0))
    other = hotaru.sparse_csr_tensor(ends, hotaru.arange(n), hotaru.ones(n), (n, n))
    assert (x + other)._nnz() == 2 * n
    assert float((x * other.to_sparse_csc()).sum()) == 0


def test_equal_indices_of_different_blocks_are_different_places(hotaru):
    ones = hotaru.ones(1, 1, 2)
    x = hotaru.sparse_bsr_tensor([0, 1], [1], ones, (1, 6))
    y = hotaru.sparse_bsr_tensor([0, 1], [1], hotaru.ones(1, 1, 3), (1, 6))
    want = [[0, 0, 0, 1, 0, 0]]
    assert (x * y).to_dense().tolist() == want
    assert (x + y).to_dense().tolist() == [[0, 0, 1, 2, 1, 1]]


@pytest.mark.parametrize("layout", ["csr", "csc"])
def test_mm_has_strided_derivatives(hotaru, layout):
    a, b = _some(hotaru, 4, 6), _some(hotaru, 6, 5)
    for f in (
        lambda m: m @ b,
        lambda m: b.t() @ m.transpose(0, 1),
        lambda m: hotaru.addmm(b[:4], m, b, beta=2, alpha=3),
        lambda m: hotaru.mv(m, b[:, 0]),
    ):
        x = _in(a, layout, hotaru).requires_grad_()
        left = a.clone().requires_grad_()
        f(x).sin().sum().backward()
        f(left).sin().sum().backward()
        hotaru.testing.assert_close(x.grad, left.grad)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_meta_has_no_elements(hotaru, layout):
    x = _in(_some(hotaru, 4, 6), layout, hotaru).to("meta")
    assert (x.is_meta, x._nnz(), tuple(x.shape)) == (True, 0, (4, 6))


@pytest.mark.parametrize("weights_only", [True, False])
def test_indices_of_files_are_looked_at(hotaru, tmp_path, weights_only):
    def loaded(offsets, columns, **checked):
        x = hotaru.sparse_csr_tensor(offsets, columns, [1.0, 2.0], (2, 3))
        hotaru.save(x, tmp_path / "x.pt")
        with hotaru.sparse.check_sparse_tensor_invariants(**checked):
            return hotaru.load(tmp_path / "x.pt", weights_only=weights_only)

    for offsets, columns, text in (
        ([3, 1, 2], [0, 1], r"`crow_indices\[..., 0\] == 0` is not satisfied"),
        ([0, 1, 2], [0, 7], r"`0 <= col_indices < ncols` is not satisfied"),
    ):
        with pytest.raises(RuntimeError, match=text):
            loaded(offsets, columns, enable=False)
    # As scipy may have them: PyTorch loads them unless it is to check.
    found = loaded([0, 2, 2], [2, 0], enable=False)
    assert found.to_dense().tolist() == [[2, 0, 1], [0, 0, 0]]
    with pytest.raises(RuntimeError, match="are sorted and distinct"):
        loaded([0, 2, 2], [2, 0], enable=True)
    assert loaded([0, 1, 2], [2, 0], enable=True)._nnz() == 2
    there = hotaru.load(tmp_path / "x.pt", map_location="meta")
    assert there.is_meta
