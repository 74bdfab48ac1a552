"""Operators on lists: what the operator on one tensor gives, for every item."""

import pytest

import hotaru as torch


def tensors(n=3, **options):
    torch.manual_seed(0)
    return [torch.rand(i + 1, 2, **options) + 0.25 for i in range(n)]


def same(found, expected):
    assert len(found) == len(expected)
    for a, b in zip(found, expected):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        assert torch.allclose(a, b, equal_nan=True)


UNARY = """
    abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log
    log10 log1p log2 neg reciprocal round rsqrt sigmoid sign sin sinh sqrt tan
    tanh trunc
""".split()  # noqa: SIM905


@pytest.mark.parametrize("name", UNARY)
def test_unary(name):
    xs = tensors()
    expected = [getattr(torch, name)(x) for x in xs]
    same(getattr(torch, "_foreach_" + name)(xs), expected)
    assert getattr(torch, f"_foreach_{name}_")(xs) is xs
    same(xs, expected)


@pytest.mark.parametrize(
    ("name", "one"),
    [
        ("add", torch.add),
        ("sub", torch.sub),
        ("mul", torch.mul),
        ("div", torch.div),
        ("pow", torch.pow),
        ("clamp_min", torch.clamp_min),
        ("clamp_max", torch.clamp_max),
        ("maximum", torch.clamp_min),
        ("minimum", torch.clamp_max),
    ],
)
def test_binary(name, one):
    call = getattr(torch, "_foreach_" + name)
    for others in (tensors(), 0.5, [0.5, 2.0, 1.5]):
        xs = [x * 2 for x in tensors()]
        items = others if isinstance(others, list) else [others] * 3
        expected = [one(x, y) for x, y in zip(xs, items)]
        same(call(xs, others), expected)
        getattr(torch, f"_foreach_{name}_")(xs, others)
        same(xs, expected)


def test_one_tensor_for_all():
    xs = tensors()
    same(torch._foreach_mul(xs, torch.tensor(3.0)), [x * 3 for x in xs])
    same(torch._foreach_add(xs, torch.tensor(3.0), alpha=2), [x + 6 for x in xs])
    same(torch._foreach_pow(2.0, xs), [2.0**x for x in xs])


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_three_lists(name):
    a, b, c = tensors(), tensors(), [x + 1 for x in tensors()]
    one, call = getattr(torch, name), getattr(torch, "_foreach_" + name)
    same(call(a, b, c, value=0.5), [one(*xs, value=0.5) for xs in zip(a, b, c)])
    expected = [one(*x, value=v) for *x, v in zip(a, b, c, [1.0, 2.0, 3.0])]
    same(call(a, b, c, [1.0, 2.0, 3.0]), expected)
    same(call(a, b, c, torch.tensor([1.0, 2.0, 3.0])), expected)
    with pytest.raises(RuntimeError, match="to match input of length 3 but g"):
        call(a, b, c, torch.tensor([1.0, 2.0]))


def test_the_rest():
    a, b = tensors(), [x + 1 for x in tensors()]
    same(
        torch._foreach_lerp(a, b, 0.25), [torch.lerp(x, y, 0.25) for x, y in zip(a, b)]
    )
    same(torch._foreach_norm(a, 1), [x.norm(1) for x in a])
    assert torch._foreach_norm(a, dtype=torch.float64)[0].dtype == torch.float64
    same(torch._foreach_max(a), [x.max() for x in a])
    copies = torch._foreach_clone(a)
    torch._foreach_copy_(a, b)
    same(a, b)
    torch._foreach_zero_(a)
    assert not any(x.any() for x in a)
    assert copies[0].any()


def test_gradients_pass():
    xs = [x.requires_grad_() for x in tensors()]
    sum(x.sum() for x in torch._foreach_mul(xs, [1.0, 2.0, 3.0])).backward()
    assert [x.grad[0, 0].item() for x in xs] == [1, 2, 3]


def test_what_is_refused():
    xs = tensors()
    with pytest.raises(RuntimeError, match="must have at least one tensor"):
        torch._foreach_abs([])
    with pytest.raises(RuntimeError, match="same number of tensors, got 3 and"):
        torch._foreach_add(xs, xs[:2])
    with pytest.raises(RuntimeError, match="same number of elements as scalar"):
        torch._foreach_add(xs, [1.0, 2.0])
