"""Unsigned integers of PyTorch's beyond a byte, and Python's integers beyond
int64, which only uint64 holds.
"""

from __future__ import annotations

import hotaru.nn.functional as F
import pytest

import hotaru as torch

WIDE = [torch.uint16, torch.uint32, torch.uint64]
BIG = [2**63, 2**64 - 1]


def upper(dtype):
    """A number of the upper half, which a signed type would call negative."""
    return torch.iinfo(dtype).max - 2


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_sums_and_products(dtype):
    a = torch.tensor([[3, 1, 2], [0, 5, 7]], dtype=dtype)
    for got, want in [
        (a.sum(), 18),
        (a.sum(0), [3, 6, 9]),
        (a.sum((0, 1), keepdim=True), [[18]]),
        (a.prod(), 0),
        (a.prod(1), [6, 0]),
        (a[:, :0].sum(1), [0, 0]),
    ]:
        assert got.tolist() == want
        assert got.dtype == torch.int64
    assert a.sum(dtype=torch.float32).item() == 18.0
    if dtype != torch.uint64:
        assert torch.tensor([upper(dtype), 1], dtype=dtype).sum() == upper(dtype) + 1


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_truth(dtype):
    a = torch.tensor([[3, 0], [upper(dtype), 2]], dtype=dtype)
    assert (a.any().item(), a.all().item()) == (True, False)
    assert a.all(1).tolist() == [False, True]
    assert a.any(0, keepdim=True).tolist() == [[True, True]]
    assert a.any().dtype == torch.bool
    assert not a[:0].any()
    assert a[:0].all()


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_order(dtype):
    big = upper(dtype)
    a = torch.tensor([3, big, 2, 3, 0], dtype=dtype)
    values, indices = a.sort(stable=True)
    assert (values.tolist(), values.dtype) == ([0, 2, 3, 3, big], dtype)
    assert indices.tolist() == [4, 2, 0, 3, 1]
    assert a.argsort(descending=True, stable=True).tolist() == [1, 0, 3, 2, 4]
    assert torch.msort(a).tolist() == values.tolist()
    assert a.unique().tolist() == [0, 2, 3, big]
    got = torch.unique(a, return_inverse=True, return_counts=True)
    assert [t.tolist() for t in got] == [[0, 2, 3, big], [2, 3, 1, 2, 0], [1, 1, 2, 1]]
    rows = torch.tensor([[big, 1], [2, 1], [big, 1]], dtype=dtype)
    assert torch.unique(rows, dim=0).tolist() == [[2, 1], [big, 1]]
    assert torch.unique_consecutive(a[[0, 3, 1]]).tolist() == [3, big]
    assert torch.unique(a).dtype == dtype


@pytest.mark.parametrize("dtype", WIDE, ids=str)
def test_padding(dtype):
    a = torch.tensor([1, upper(dtype)], dtype=dtype)
    got = F.pad(a, (1, 1), value=7)
    assert (got.tolist(), got.dtype) == ([7, 1, upper(dtype), 7], dtype)


MADE = {
    "full": lambda b: torch.full((1,), b, dtype=torch.uint64),
    "full_like": lambda b: torch.full_like(torch.zeros(1, dtype=torch.uint64), b),
    "new_full": lambda b: torch.zeros(1, dtype=torch.uint64).new_full((1,), b),
    "fill_": lambda b: torch.zeros(1, dtype=torch.uint64).fill_(b),
    "copy_": lambda b: torch.zeros(1, dtype=torch.uint64).copy_(b),
    "bits": lambda b: torch.full((1,), 2**64 - 1, dtype=torch.uint64) & b,
    "product": lambda b: torch.ones(1, dtype=torch.uint64) * b,
    "tensor": lambda b: torch.tensor([b], dtype=torch.uint64),
}


@pytest.mark.parametrize("big", BIG)
@pytest.mark.parametrize("name", MADE)
def test_integers_beyond_int64(name, big):
    got = MADE[name](big)
    assert (got.tolist(), got.dtype) == ([big], torch.uint64)


@pytest.mark.parametrize("big", BIG)
def test_comparisons_beyond_int64(big):
    a = torch.tensor([big, big - 1, 0], dtype=torch.uint64)
    assert (a == big).tolist() == [True, False, False]
    assert (a != big).tolist() == [False, True, True]
    assert torch.eq(a, big).tolist() == [True, False, False]
    assert (torch.zeros(1) < big).item()
    assert torch.where(a == big, a, big).tolist() == [big] * 3


@pytest.mark.parametrize("big", BIG)
def test_floats_take_them_rounded(big):
    assert torch.full((1,), big, dtype=torch.float32).item() == float(big)
    assert torch.zeros(1).fill_(big).item() == float(big)
    assert (torch.zeros(1) + big).item() == float(big)
    assert (big + torch.zeros(1)).item() == float(big)


@pytest.mark.parametrize("number", [2**64, -(2**63) - 1])
def test_what_nothing_holds(number):
    for f in (
        lambda: torch.full((1,), number, dtype=torch.uint64),
        lambda: torch.zeros(1).fill_(number),
        lambda: torch.zeros(1) + number,
        lambda: torch.zeros(1) == number,
    ):
        with pytest.raises(OverflowError, match="int too big to convert"):
            f()


@pytest.mark.parametrize("big", BIG)
def test_signed_elements_refuse_them(big):
    text = "value cannot be converted to type int64_t without overflow"
    signed = torch.zeros(1, dtype=torch.int64)
    for f in (
        lambda: torch.full((1,), big),
        lambda: torch.full((1,), big, dtype=torch.int64),
        lambda: torch.full_like(signed, big),
        lambda: signed.fill_(big),
        lambda: signed.copy_(big),
    ):
        with pytest.raises(RuntimeError, match=text):
            f()
    assert signed.item() == 0


@pytest.mark.parametrize("dtype", WIDE)
def test_the_only_element_is_whatever_is_selected(dtype):
    """Without dimensions there is nothing to compare."""
    x = torch.tensor(2**15 + 1).to(dtype)
    for f in (
        lambda: x.max(0),
        lambda: x.min(dim=-1, keepdim=True),
        lambda: x.mode(),
        lambda: x.kthvalue(1),
        lambda: x.cummax(0),
        lambda: x.cummin(0),
    ):
        values, indices = f()
        assert values.equal(x)
        assert values.data_ptr() != x.data_ptr()
        assert indices.shape == ()
        assert indices.item() == 0
    for bound in x.aminmax(dim=0):
        assert bound.equal(x)
    for f in (x.max, x.amax, x.aminmax, lambda: x[None].max(0)):
        with pytest.raises(NotImplementedError):
            f()


@pytest.mark.parametrize("bits", [16, 32, 64])
def test_isin(bits):
    dtype, top = getattr(torch, f"uint{bits}"), 2**bits - 1
    numbers = [0, 5, top // 2, top // 2 + 1, top]
    x = torch.tensor(numbers, dtype=torch.uint64).to(dtype)
    for wanted in ([top], [0, top // 2 + 1], [7], list(range(20))):
        within = torch.tensor(wanted, dtype=torch.uint64).to(dtype)
        found = torch.isin(x, within)
        assert found.tolist() == [n in wanted for n in numbers]
        assert torch.isin(x, within, invert=True).tolist() == (~found).tolist()
    assert torch.isin(x, 5).tolist() == [n == 5 for n in numbers]
