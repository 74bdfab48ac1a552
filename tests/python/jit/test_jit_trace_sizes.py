"""Sizes and lists of them in traces."""

from __future__ import annotations

import warnings

import pytest

import hotaru

SMALL, LARGE = hotaru.ones(2, 2), hotaru.full((3, 2), 5.0)


def traced(function):
    return hotaru.jit.trace(function, SMALL, strict=False)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: hotaru.tensor([[1, x.size(0)], [x.size(0), 2]]),
        lambda x: hotaru.tensor([x.size(0), 2], dtype=hotaru.float32),
        lambda x: hotaru.as_tensor(x.shape),
        lambda x: hotaru.tensor(x.size(0)),
        lambda x: x[[[0, 1], [1, 0]]],
        lambda x: x[[0, x.size(0) - 1]],
        lambda x: x[[[0, 1], slice(None, 1)]],
    ],
    ids=["nest", "dtype", "shape", "number", "places", "rows", "slice"],
)
def test_programs_follow_sizes_in_lists(function):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        program = traced(function)
        assert hotaru.equal(program(LARGE), function(LARGE))
    assert program(LARGE).dtype == function(LARGE).dtype


def test_sizes_are_given_back_as_tensors():
    size, x = traced(lambda x: [x.size(0), x])(LARGE)
    assert isinstance(size, hotaru.Tensor)
    assert int(size) == 3
    assert hotaru.equal(x, LARGE)


def test_tensors_in_lists_of_numbers_are_constants_with_a_warning():
    with pytest.warns(hotaru.jit.TracerWarning, match="elements of another"):
        program = hotaru.jit.trace(
            lambda x: hotaru.tensor([x.sum(), 2.0]), SMALL, check_trace=False
        )
    assert program(LARGE).tolist() == [4, 2]


def test_what_is_no_number_is_refused_as_ever():
    with pytest.raises(RuntimeError, match="Could not infer dtype of object"):
        hotaru.tensor([object()])


def test_lists_that_hold_themselves_twice_end():
    endless = []
    endless += [endless, endless]
    with pytest.raises((RuntimeError, ValueError)):
        hotaru.tensor(endless)
