"""`torch.foreach`: PyTorch 2.15's public names of operators over lists."""

from __future__ import annotations

import pytest

import hotaru as torch
from hotaru import foreach

UNARY = list(foreach._UNARY)


def _lists():
    torch.manual_seed(0)
    return [torch.rand(2, 3) * 0.8 + 0.1, torch.rand(4) * 0.8 + 0.1]


def _same(found, expected):
    assert isinstance(found, (list, tuple))
    for a, b in zip(found, expected):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("name", UNARY)
def test_of_each_tensor(name):
    x = _lists()
    expected = [getattr(torch, name)(t) for t in x]
    _same(getattr(foreach, name)(x), expected)
    assert getattr(foreach, name + "_")(x) is x
    _same(x, expected)


@pytest.mark.parametrize("name", list(foreach._BINARY))
def test_with_numbers_lists_and_tensors(name):
    x, y = _lists(), [t + 0.25 for t in _lists()]
    plain = {
        "clamp_max": torch.clamp_max,
        "clamp_min": torch.clamp_min,
        "div": torch.div,
        "mul": torch.mul,
        "maximum": lambda a, b: torch.maximum(a, torch.as_tensor(b)),
        "minimum": lambda a, b: torch.minimum(a, torch.as_tensor(b)),
    }[name]
    for other, each in ((0.5, [0.5] * 2), ([0.5, 2.0], [0.5, 2.0]), (y, y)):
        expected = [plain(a, b) for a, b in zip(x, each)]
        _same(getattr(foreach, name)(x, other), expected)
        copies = [t.clone() for t in x]
        assert getattr(foreach, name + "_")(copies, other) is copies
        _same(copies, expected)


def test_with_more_arguments():
    x, y = _lists(), [t + 0.25 for t in _lists()]
    _same(foreach.add(x, y, alpha=3), [a + 3 * b for a, b in zip(x, y)])
    _same(foreach.sub(x, 2), [a - 2 for a in x])
    _same(foreach.sub(x, y, alpha=2), [a - 2 * b for a, b in zip(x, y)])
    values = torch.tensor([2.0, 3.0])
    _same(
        foreach.addcmul(x, y, y, value=values),
        [a + v * b * b for a, b, v in zip(x, y, values)],
    )
    _same(
        foreach.addcdiv(x, x, y, value=[2, 3]),
        [a + v * a / b for a, b, v in zip(x, y, (2, 3))],
    )
    _same(foreach.lerp(x, y, 0.25), [torch.lerp(a, b, 0.25) for a, b in zip(x, y)])
    _same(foreach.pow(2, x), [2**a for a in x])
    _same(foreach.pow(x, [1, 2]), [x[0], x[1] ** 2])
    _same(foreach.max(x), [a.max() for a in x])
    _same(foreach.norm(x, ord=1), [a.abs().sum() for a in x])
    assert foreach.norm(x, dtype=torch.float64)[0].dtype == torch.float64
    square = [torch.rand(2, 2), torch.rand(3, 3)]
    _same(foreach.mm(square, square), [a @ a for a in square])
    copies = foreach.clone(x)
    assert all(a is not b for a, b in zip(copies, x))
    assert foreach.copy_(list(copies), y)[0] is copies[0]
    _same(copies, y)
    given = list(copies)
    for call in (
        lambda: foreach.add_(given, 1),
        lambda: foreach.sub_(given, y),
        lambda: foreach.addcmul_(given, y, y),
        lambda: foreach.addcdiv_(given, y, y),
        lambda: foreach.lerp_(given, y, 0.5),
        lambda: foreach.pow_(given, 2),
        lambda: foreach.zero_(given),
    ):
        assert call() is given
    assert not any(t.any() for t in given)


def test_lists_are_positional_and_have_tensors():
    with pytest.raises(RuntimeError, match="at least one tensor"):
        foreach.add([], 1)
    with pytest.raises(TypeError):
        foreach.abs(inputs=[torch.ones(1)])
    assert set(foreach.__all__) <= set(dir(foreach))
    x = torch.ones(2, requires_grad=True)
    foreach.mul([x], 3)[0].sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
