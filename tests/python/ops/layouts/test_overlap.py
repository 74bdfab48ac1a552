"""Operators that write refuse to read what they write, with PyTorch's text."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch

TEXT = (
    "unsupported operation: some elements of the input tensor and the "
    "written-to tensor refer to a single memory location. Please clone"
)
INDEX = torch.tensor([1, 2, 3])
MASK = torch.tensor([False, True, True, True, False, False])
LONG = torch.long


def base():
    return torch.arange(1.0, 13.0)


# f(target, part of it). What must lie apart may not even be the same part.
APART = {
    "index_put_": lambda t, x: t.index_put_((INDEX,), x),
    "index_put_ adds": lambda t, x: t.index_put_((INDEX,), x, accumulate=True),
    "x[tensor] =": lambda t, x: t.__setitem__(INDEX, x),
    "x[list] =": lambda t, x: t.__setitem__([1, 2, 3], x),
    "x[mask] =": lambda t, x: t.__setitem__(MASK, x),
    "put_": lambda t, x: t.put_(INDEX, x),
    "put_ adds": lambda t, x: t.put_(INDEX, x, accumulate=True),
    "index_add_": lambda t, x: t.index_add_(0, INDEX, x),
    "index_copy_": lambda t, x: t.index_copy_(0, INDEX, x),
    "index_reduce_ prod": lambda t, x: t.index_reduce_(0, INDEX, x, "prod"),
    "index_reduce_ amax": lambda t, x: t.index_reduce_(0, INDEX, x, "amax"),
    "index_reduce_ mean": lambda t, x: t.index_reduce_(0, INDEX, x, "mean"),
    "scatter_": lambda t, x: t.scatter_(0, INDEX, x),
    "scatter_ adds": lambda t, x: t.scatter_(0, INDEX, x, reduce="add"),
    "scatter_add_": lambda t, x: t.scatter_add_(0, INDEX, x),
    "scatter_reduce_": lambda t, x: t.scatter_reduce_(0, INDEX, x, "sum"),
    "scatter_reduce_ mean": lambda t, x: t.scatter_reduce_(0, INDEX, x, "mean"),
}
# f(tensor to read, tensor to write) of three elements.
INTO = {
    "gather": lambda x, out: torch.gather(x, 0, INDEX % 3, out=out),
    "index_select": lambda x, out: torch.index_select(x, 0, INDEX % 3, out=out),
    "take": lambda x, out: torch.take(x, INDEX % 3, out=out),
    "masked_select": lambda x, out: torch.masked_select(x, x > 0, out=out),
    "cat": lambda x, out: torch.cat([x[:2], x[2:]], out=out),
    "scatter": lambda x, out: torch.scatter(x, 0, INDEX % 3, x, out=out),
    "scatter_add": lambda x, out: torch.scatter_add(x, 0, INDEX % 3, x, out=out),
    "index_add": lambda x, out: torch.index_add(x, 0, INDEX % 3, x, out=out),
    "index_copy": lambda x, out: torch.index_copy(x, 0, INDEX % 3, x, out=out),
}
# Element by element: all of the elements may be shared, but not some.
SHIFTED = {
    "add_": lambda t, x: t.add_(x),
    "sub_": lambda t, x: t.sub_(x),
    "mul_": lambda t, x: t.mul_(x),
    "div_": lambda t, x: t.div_(x),
    "div_ floor": lambda t, x: t.div_(x, rounding_mode="floor"),
    "floor_divide_": lambda t, x: t.floor_divide_(x),
    "pow_": lambda t, x: t.pow_(x),
    "copy_": lambda t, x: t.copy_(x),
    "lerp_": lambda t, x: t.lerp_(x, 0.5),
    "lerp_ by a tensor": lambda t, x: t.lerp_(torch.zeros(3), x),
    "addcmul_": lambda t, x: t.addcmul_(x, torch.ones(3)),
    "addcdiv_": lambda t, x: t.addcdiv_(torch.ones(3), x),
    "clamp_": lambda t, x: t.clamp_(x),
    "clamp_min_": lambda t, x: t.clamp_min_(x),
    "clamp_max_": lambda t, x: t.clamp_max_(x),
    "atan2_": lambda t, x: t.atan2_(x),
    "eq_": lambda t, x: t.eq_(x),
    "heaviside_": lambda t, x: t.heaviside_(x),
    "nextafter_": lambda t, x: t.nextafter_(x),
    "igamma_": lambda t, x: t.igamma_(x),
    "igammac_": lambda t, x: t.igammac_(x),
}


@pytest.mark.parametrize("name", APART)
@pytest.mark.parametrize("first", [0, 1])
def test_what_must_lie_apart(name, first):
    b = base()
    with pytest.raises(RuntimeError, match=TEXT):
        APART[name](b[:6], b[first : first + 3])
    assert torch.equal(b, base())
    APART[name](b[:6], b[6:9])  # beside each other all is well
    assert torch.equal(b[6:], base()[6:])


def test_rows_of_a_matrix():
    m = base().view(4, 3)
    with pytest.raises(RuntimeError, match=TEXT):
        m[INDEX] = m[:3]
    m[INDEX] = m[:3].clone()
    assert torch.equal(m[1:], base().view(4, 3)[:3])


def test_one_value_and_slices_may_overlap():
    b = base()
    b[MASK.repeat(2)] = b[0]
    b[1:4] = b[1:4]
    b[:6].index_fill_(0, INDEX, b[0])
    assert b[:4].tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("name", INTO)
@pytest.mark.parametrize("first", [0, 1])
def test_out(name, first):
    b = base()
    with pytest.raises(RuntimeError, match=TEXT):
        INTO[name](b[first : first + 3], b[1:4])
    assert torch.equal(b, base())
    INTO[name](b[6:9], b[1:4])


@pytest.mark.parametrize("name", SHIFTED)
def test_parts_of_the_elements(name):
    b = base()
    with pytest.raises(RuntimeError, match=TEXT):
        SHIFTED[name](b[1:4], b[:3])
    assert torch.equal(b, base())
    SHIFTED[name](b[1:4], b[1:4])
    assert torch.equal(b[4:], base()[4:])


INDICES = {
    "index_put_": lambda x, i: x.index_put_((i,), torch.ones(3, dtype=LONG)),
    "put_": lambda x, i: x.put_(i, torch.ones(3, dtype=LONG)),
    "x[tensor] =": lambda x, i: x.__setitem__(i, torch.ones(3, dtype=LONG)),
    "index_add_": lambda x, i: x.index_add_(0, i, torch.ones(3, dtype=LONG)),
    "index_copy_": lambda x, i: x.index_copy_(0, i, torch.ones(3, dtype=LONG)),
    "index_reduce_": lambda x, i: x.index_reduce_(
        0, i, torch.ones(3, dtype=LONG), "prod"
    ),
    "scatter_": lambda x, i: x.scatter_(0, i, 1),
    "gather": lambda x, i: torch.gather(torch.arange(8), 0, i, out=x[1:4]),
}


@pytest.mark.parametrize("name", INDICES)
def test_an_index_within_the_target(name):
    x = torch.arange(8)
    with pytest.raises(RuntimeError, match=TEXT):
        INDICES[name](x, x[:3])
    assert torch.equal(x, torch.arange(8))


def test_repeated_targets():
    x = torch.zeros(1).expand(4)
    with pytest.raises(RuntimeError, match="more than one element"):
        x.put_(torch.tensor([1]), torch.ones(1))
    with pytest.raises(RuntimeError, match="more than one element"):
        x.index_reduce_(0, torch.tensor([1]), torch.ones(1), "prod")
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        x.index_put_((torch.tensor([1]),), torch.ones(1))
    assert any("Use of index_put_ on expanded" in str(w.message) for w in seen)


@pytest.mark.parametrize("name", ["lcm_", "gcd_", "bitwise_xor_"])
def test_integers_that_must_lie_apart(name):
    b = torch.arange(1, 7)
    with pytest.raises(RuntimeError, match=TEXT):
        getattr(b[:5], name)(b[1:])
    assert b.tolist() == [1, 2, 3, 4, 5, 6]


COPYING = {
    "index_add": lambda x, i, s: torch.index_add(x, 0, i, s, out=x),
    "index_copy": lambda x, i, s: torch.index_copy(x, 0, i, s, out=x),
    "index_reduce": lambda x, i, s: torch.index_reduce(x, 0, i, s, "prod", out=x),
    "scatter": lambda x, i, s: torch.scatter(x, 0, i, s, out=x),
    "scatter_add": lambda x, i, s: torch.scatter_add(x, 0, i, s, out=x),
    "scatter_reduce": lambda x, i, s: torch.scatter_reduce(x, 0, i, s, "sum", out=x),
}


@pytest.mark.parametrize("name", COPYING)
def test_what_is_written_into_may_take_the_result(name):
    index, source = torch.tensor([2, 0]), torch.tensor([5.0, 7.0])
    x = torch.tensor([1.0, 2.0, 3.0])
    method = getattr(x, name)
    more = {"index_reduce": ("prod",), "scatter_reduce": ("sum",)}
    expected = method(0, index, source, *more.get(name, ())).tolist()
    assert COPYING[name](x, index, source) is x
    assert x.tolist() == expected
    with pytest.raises(RuntimeError, match=TEXT):
        COPYING[name](x, index, x[:2])
