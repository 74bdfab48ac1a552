"""Reductions of pieces of a dimension, against loops over the pieces."""

import math

import pytest

import hotaru as torch

PIECES = [2, 0, 3, 1]
REDUCTIONS = {
    "sum": lambda x: x.sum(0),
    "mean": lambda x: x.mean(0),
    "prod": lambda x: x.prod(0),
    "max": lambda x: x.max(0)[0],
    "min": lambda x: x.min(0)[0],
}
EMPTY = {"sum": 0.0, "mean": math.nan, "prod": 1.0, "max": -math.inf, "min": math.inf}


def expected(x, reduce):
    rows = [
        REDUCTIONS[reduce](part)
        if len(part)
        else torch.full(x.shape[1:], EMPTY[reduce])
        for part in x.split(PIECES)
    ]
    return torch.stack(rows)


@pytest.mark.parametrize("reduce", REDUCTIONS)
@pytest.mark.parametrize("shape", [(6,), (6, 3), (6, 2, 2)])
def test_against_a_loop(reduce, shape):
    torch.manual_seed(0)
    x = torch.randn(shape)
    want = expected(x, reduce)
    lengths = torch.tensor(PIECES)
    got = torch.segment_reduce(x, reduce, lengths=lengths)
    assert torch.allclose(got, want, equal_nan=True)
    offsets = torch.tensor([0, 2, 2, 5, 6], dtype=torch.int32)
    got = torch.segment_reduce(x, reduce, offsets=offsets)
    assert torch.allclose(got, want, equal_nan=True)


def test_rows_have_lengths_of_their_own():
    x = torch.arange(6.0).reshape(2, 3)
    lengths = torch.tensor([[1, 2], [3, 0]])
    for axis in (1, -1):
        got = torch.segment_reduce(x, "sum", lengths=lengths, axis=axis)
        assert torch.equal(got, torch.tensor([[0.0, 3.0], [12.0, 0.0]]))


def test_initial_takes_part():
    x = torch.tensor([1.0, 2.0, 3.0])
    lengths = torch.tensor([2, 0, 1])
    options = {"lengths": lengths, "initial": 2.5}
    for reduce, want in {
        "sum": [5.5, 2.5, 5.5],
        "mean": [2.75, 2.5, 5.5],
        "max": [2.5, 2.5, 3.0],
        "prod": [5.0, 2.5, 7.5],
    }.items():
        got = torch.segment_reduce(x, reduce, **options)
        assert torch.equal(got, torch.tensor(want)), reduce


def test_offsets_may_leave_elements_out():
    x = torch.arange(6.0)
    got = torch.segment_reduce(x, "sum", offsets=torch.tensor([1, 2, 4]))
    assert torch.equal(got, torch.tensor([1.0, 5.0]))


@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_gradients(reduce):
    torch.manual_seed(0)
    x = torch.randn(6, 2, dtype=torch.float64, requires_grad=True)
    lengths = torch.tensor([2, 3, 1])
    assert torch.autograd.gradcheck(
        lambda x: torch.segment_reduce(x, reduce, lengths=lengths),
        x,
        check_forward_ad=True,
    )


def test_the_older_name():
    assert torch._segment_reduce is torch.segment_reduce


def test_what_is_refused():
    x = torch.arange(6.0)
    with pytest.raises(RuntimeError, match="rows of lengths along axis to sum"):
        torch.segment_reduce(x, "sum", lengths=torch.tensor([1, 2]))
    with pytest.raises(RuntimeError, match="lengths contains negative value"):
        torch.segment_reduce(x, "sum", lengths=torch.tensor([8, -2]))
    with pytest.raises(RuntimeError, match="Either lengths or offsets must be"):
        torch.segment_reduce(x, "sum")
    with pytest.raises(RuntimeError, match="must be either sum, prod, mean"):
        torch.segment_reduce(x, "median", lengths=torch.tensor([6]))
    with pytest.raises(RuntimeError, match="axis to be the last dimension of"):
        torch.segment_reduce(x.reshape(2, 3), "sum", lengths=torch.tensor([[3], [3]]))
    with pytest.raises(NotImplementedError, match="not implemented for 'Int'"):
        torch.segment_reduce(x.int(), "sum", lengths=torch.tensor([6]))
