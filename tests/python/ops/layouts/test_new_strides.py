"""Strides of tensors that operators make anew: `out=` that is resized, and
dimensions that `expand` adds.
"""

import pytest

import hotaru as torch

ORDERS = [(0, 1, 2), (2, 1, 0), (1, 2, 0), (0, 2, 1)]
ONE = "abs exp sin neg erf sigmoid sqrt trunc isposinf logical_not".split()  # noqa: SIM905
TWO = "add mul eq lt fmax hypot pow logical_and remainder copysign".split()  # noqa: SIM905
ALONG = "sum mean amax any std cumsum logcumsumexp softmax sort max".split()  # noqa: SIM905


def _calls(x):
    for name in ONE:
        yield name, getattr(torch, name), (x,)
    for name in TWO:
        yield name, getattr(torch, name), (x, x)
        yield f"{name} of a row", getattr(torch, name), (x, x[0, 0])
    for name in ALONG:
        for dim in range(3):
            yield f"{name} along {dim}", getattr(torch, name), (x, dim)
    yield "where", torch.where, (x > 0.5, x, x)
    yield "lerp", torch.lerp, (x, x, 0.5)
    yield "addcmul", torch.addcmul, (x, x, x)


def _strides(found):
    many = isinstance(found, (tuple, list))
    return [t.stride() for t in (found if many else [found])]


@pytest.mark.parametrize("order", ORDERS)
def test_an_out_that_is_resized_has_the_strides_of_a_result(order):
    torch.manual_seed(0)
    x = torch.rand(2, 3, 4).permute(order)
    for name, call, args in _calls(x):
        want = call(*args)
        many = isinstance(want, (tuple, list))
        outs = [torch.empty(0, dtype=t.dtype) for t in (want if many else [want])]
        found = call(*args, out=tuple(outs) if many else outs[0])
        assert _strides(found) == _strides(want), name
        for one, other in zip(outs, want if many else [want]):
            assert torch.equal(one, other), name


def test_an_out_that_fits_keeps_its_strides():
    x = torch.rand(3, 4).t()
    out = torch.empty(4, 3)
    torch.exp(x, out=out)
    assert out.stride() == (3, 1)
    assert torch.equal(out, x.exp())


@pytest.mark.parametrize(
    ("shape", "size", "want"),
    [
        ((3,), (1, 1, 3), (3, 3, 1)),
        ((5,), (2, 1, 5), (0, 5, 1)),
        ((5,), (1, 2, 5), (0, 0, 1)),
        ((), (1, 2), (0, 0)),
        ((), (1, 1), (0, 0)),
        ((2, 3), (1, 2, 3), (6, 3, 1)),
        ((1,), (1, 4), (0, 0)),
    ],
)
def test_new_dimensions_of_one_element(shape, size, want):
    x = torch.rand(shape)
    assert x.expand(size).stride() == want
    assert x.broadcast_to(size).stride() == want
    assert torch.equal(
        x.expand(size), x.reshape((1,) * (len(size) - len(shape)) + shape).expand(size)
    )


@pytest.mark.parametrize("value", [2.0, torch.tensor(2.0), torch.tensor([2.0])])
@pytest.mark.filterwarnings("ignore:Use of .* on expanded tensors")
def test_a_mask_fills_repeated_elements(value):
    x = torch.tensor([0.0, 1.0]).unsqueeze(1).expand(2, 3)
    x[torch.tensor([[True, False, False], [False, False, False]])] = value
    assert x.tolist() == [[2.0] * 3, [1.0] * 3]
    x[torch.tensor([False, True])] = value
    assert x.tolist() == [[2.0] * 3, [2.0] * 3]
