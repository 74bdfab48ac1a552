"""Tangents through sparse tensors are right, or refused: never lost."""

import warnings

import pytest

import hotaru as torch
from hotaru import sparse
from hotaru.autograd import forward_ad

LAYOUTS = {
    "coo": lambda t: t.to_sparse(),
    "csr": lambda t: t.to_sparse_csr(),
    "csc": lambda t: t.to_sparse_csc(),
    "bsr": lambda t: t.to_sparse_bsr((2, 2)),
    "bsc": lambda t: t.to_sparse_bsc((2, 2)),
    "rows": lambda t: t.to_sparse(1),
}
_ROWS, _COLUMNS = torch.tensor([0, 1, 2, 3, 3]), torch.tensor([0, 1, 2])
# Sparse tensors of three values of the argument.
MADE = {
    **LAYOUTS,
    "coo of values": lambda d: torch.sparse_coo_tensor(
        torch.tensor([[0, 1, 1], [2, 0, 2]]), d[0, :3], (4, 4)
    ),
    "csr of values": lambda d: torch.sparse_csr_tensor(
        _ROWS, _COLUMNS, d[0, :3], (4, 4)
    ),
    "csc of values": lambda d: torch.sparse_csc_tensor(
        _ROWS, _COLUMNS, d[0, :3], (4, 4)
    ),
    "compressed": lambda d: torch.sparse_compressed_tensor(
        _ROWS, _COLUMNS, d[0, :3], (4, 4), layout=torch.sparse_csr
    ),
}
# Functions of the dense argument and a sparse constant.
WITH_SPARSE = {
    "sparse.mm": lambda d, s: sparse.mm(s, d),
    "s @ d": lambda d, s: s @ d,
    "d @ s": lambda d, s: d @ s,
    "s.t() @ d": lambda d, s: torch.matmul(s.t(), d),
    "s @ vector": lambda d, s: s @ d[0],
    "s * d": lambda d, s: s * d,
    "d * s": lambda d, s: d * s,
    "s * number": lambda d, s: s * d[0, 0],
    "s / number": lambda d, s: s / d[0, 0],
    "d + s": lambda d, s: d + s,
    "s + d": lambda d, s: s + d,
    "d - s": lambda d, s: d - s,
    "addmm": lambda d, s: torch.addmm(d, s, d),
    "sparse.addmm": lambda d, s: sparse.addmm(d, s, d),
    "sampled_addmm": lambda d, s: sparse.sampled_addmm(s, d, d),
    "sparse_mask": lambda d, s: d.sparse_mask(s),
    "linear": lambda d, s: torch.nn.functional.linear(d, s),
    "addmv": lambda d, s: torch.addmv(d[0], s, d[1]),
    "sum": lambda d, s: torch.sum(s * d),
    "values": lambda d, s: (s * d).values(),
    "smm": lambda d, s: torch.smm(s, d),
    "hspmm": lambda d, s: torch.hspmm(s, d),
    "where": lambda d, s: torch.where(s.to_dense() != 0, d, s.to_dense()),
    "copy_": lambda d, s: d.clone().copy_(s) * d,
    "add_": lambda d, s: d.clone().add_(s),
    "mul_": lambda d, s: d.clone().mul_(s),
}
# Functions of a sparse tensor that was made of the argument, and the argument.
OF_SPARSE = {
    "itself": lambda s, d: s,
    "s @ d": lambda s, d: s @ d,
    "s @ constant": lambda s, d: s @ torch.ones(4, 2, dtype=torch.float64),
    "coalesce": lambda s, d: s.coalesce(),
    "values": lambda s, d: s.values(),
    "sum": lambda s, d: s.sum(),
    "sparse.sum": lambda s, d: sparse.sum(s, 0),
    "softmax": lambda s, d: sparse.softmax(s, 1),
    "log_softmax": lambda s, d: sparse.log_softmax(s, 1),
    "neg": lambda s, d: -s,
    "abs": lambda s, d: s.abs(),
    "sin": lambda s, d: s.sin(),
    "s ** 2": lambda s, d: s**2,
    "s * 3": lambda s, d: s * 3,
    "s * s": lambda s, d: s * s,
    "s + s": lambda s, d: s + s,
    "s.t()": lambda s, d: s.t(),
    "s[0]": lambda s, d: s[0],
    "index_select": lambda s, d: s.index_select(0, torch.tensor([0, 1])),
    "clone": lambda s, d: s.clone(),
    "cat": lambda s, d: torch.cat([s, s]),
    "to_sparse_csr": lambda s, d: s.to_sparse_csr(),
    "relu": lambda s, d: torch.relu(s),
    "norm": lambda s, d: s.norm(),
    "sparse.mm": lambda s, d: sparse.mm(s, s),
}


def calls_of(layout: str):
    torch.manual_seed(0)
    if layout in LAYOUTS:
        constant = torch.randn(4, 4, dtype=torch.float64)
        constant = LAYOUTS[layout](constant * (constant.abs() > 0.4))
        for name, function in WITH_SPARSE.items():
            yield name, lambda d, f=function: f(d, constant)
    make = MADE[layout]
    for name, function in OF_SPARSE.items():
        yield name, lambda d, f=function: f(make(d), d)


def dense(result):
    strided = result.layout is torch.strided
    return result if strided else result.to_dense()


def difference(function, x, tangent, step=1e-6):
    plus, minus = function(x + step * tangent), function(x - step * tangent)
    return (dense(plus) - dense(minus)) / (2 * step)


@pytest.mark.parametrize("layout", MADE)
def test_tangents_are_right_or_refused(layout):
    torch.manual_seed(1)
    x = torch.randn(4, 4, dtype=torch.float64)
    tangent = torch.randn(4, 4, dtype=torch.float64)
    right, refused = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, function in calls_of(layout):
            try:
                expected = difference(function, x, tangent)
            except (RuntimeError, NotImplementedError):
                continue  # not of this layout
            with forward_ad.dual_level():
                try:
                    result = dense(function(forward_ad.make_dual(x, tangent)))
                except (RuntimeError, NotImplementedError):
                    refused.append(name)
                    continue
                found = forward_ad.unpack_dual(result).tangent
            if found is None:
                found = torch.zeros_like(result)
            assert torch.allclose(found, expected, atol=1e-5), name
            right.append(name)
    assert len(right) + len(refused) > 5
    if layout in LAYOUTS and layout != "rows":
        assert "where" in right
