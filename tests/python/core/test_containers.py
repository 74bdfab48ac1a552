"""Lists that hold themselves, go deep, or change while they are read."""

from __future__ import annotations

import collections

import pytest


def cyclic():
    items = []
    items.append(items)
    return items


def half_cyclic():
    items = [1]
    items += [items, items]
    return items


def deep(make=lambda x: [x], levels=100_000):
    value = 1
    for _ in range(levels):
        value = make(value)
    return value


CONTAINERS = [cyclic, half_cyclic, deep, lambda: deep(lambda x: (x,))]
ERRORS = (RuntimeError, RecursionError, TypeError, ValueError, IndexError)


@pytest.mark.parametrize("make", CONTAINERS)
@pytest.mark.parametrize(
    "read",
    [
        lambda h, x: h.tensor(x),
        lambda h, x: h.as_tensor(x),
        lambda h, x: h.zeros(3).new_tensor(x),
        lambda h, x: h.zeros(3)[x],
        lambda h, x: h.zeros(3).__setitem__(x, 1),
        lambda h, x: h.zeros(x),
        lambda h, x: h.zeros([x]),
        lambda h, x: h.zeros(3).reshape(x),
    ],
)
def test_nests_without_an_end(hotaru, make, read):
    with pytest.raises(ERRORS):
        read(hotaru, make())


def test_a_deque_that_holds_itself(hotaru):
    items = collections.deque()
    items.append(items)
    with pytest.raises(ValueError, match="too many dimensions"):
        hotaru.tensor(items)


@pytest.mark.parametrize("make", [*CONTAINERS, lambda: deep(lambda x: {"a": x})])
def test_scripts_take_no_endless_arguments(hotaru, make):
    @hotaru.jit.script
    def f(x):
        return x

    traced = hotaru.jit.trace(lambda x: x + 1, hotaru.zeros(1))
    for call in (f, traced):
        with pytest.raises((RuntimeError, RecursionError)):
            call(make())


def test_a_dict_that_holds_itself(hotaru):
    @hotaru.jit.script
    def f(x):
        return x

    items = {}
    items["a"] = items
    with pytest.raises((RuntimeError, RecursionError)):
        f(items)


def test_nests_that_hold_arrays_and_ranges(hotaru):
    numpy = pytest.importorskip("numpy", reason="numpy is not installed here")
    assert hotaru.tensor([[1, 2], range(2)]).tolist() == [[1, 2], [0, 1]]
    assert hotaru.tensor([[1, 2], numpy.array([3, 4])]).tolist() == [[1, 2], [3, 4]]
    halves = [numpy.ones(2, dtype=numpy.float16), [1.5, 2]]
    assert hotaru.tensor(halves).tolist() == [[1, 1], [1.5, 2]]
    with pytest.raises(TypeError):
        hotaru.tensor([1, [2]])
    with pytest.raises(ValueError, match="expected sequence of length 1"):
        hotaru.tensor([[1], [2, 3]])


class Trap:
    """An integer that does something to a list when it is asked for."""

    def __init__(self, items, act):
        self.items, self.act = items, act

    def __index__(self):
        self.act(self.items)
        return 2


def empty(items):
    items.clear()


def grow(items):
    items.extend([3] * 1000)


def replace(items):
    items[:] = [1] * len(items)


@pytest.mark.parametrize("act", [empty, grow, replace])
@pytest.mark.parametrize(
    "read",
    [
        lambda h, x: h.zeros(x),
        lambda h, x: h.zeros(8).reshape(x),
        lambda h, x: h.zeros(2, 2, 2).permute(x),
        lambda h, x: h.zeros(3, 3, 3, 3).sum(x),
        lambda h, x: h.zeros(1).expand(x),
        lambda h, x: h.zeros(2).repeat(x),
        lambda h, x: h.empty_strided(x, [1, 1, 1]),
    ],
)
def test_lists_that_their_elements_change(hotaru, act, read):
    items = []
    items += [Trap(items, act) for _ in range(3)]
    try:
        result = read(hotaru, items)
    except (RuntimeError, TypeError, IndexError):
        return
    assert isinstance(result, hotaru.Tensor)
