"""Sizes and lists of them in traces."""

from __future__ import annotations

import io
import math
import warnings

import pytest
from hotaru.nn.functional import interpolate
from hotaru.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from hotaru.utils._pytree import tree_leaves

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


class Packed(hotaru.nn.Module):
    """A padded batch through a recurrent layer that sees no padding."""

    def __init__(self, kind, in_order, options):
        super().__init__()
        self.layer = getattr(hotaru.nn, kind)(3, 4, batch_first=True, **options)
        self.in_order = in_order

    def forward(self, x, lengths):
        packed = pack_padded_sequence(
            x, lengths, batch_first=True, enforce_sorted=self.in_order
        )
        output, state = self.layer(packed)
        padded, found = pad_packed_sequence(
            output, batch_first=True, padding_value=-1.0, total_length=5
        )
        return padded, found, state


@pytest.mark.parametrize("options", [{}, {"bidirectional": True}])
@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_lengths_of_packed_sequences_are_those_of_the_call(kind, in_order, options):
    hotaru.manual_seed(0)
    module = Packed(kind, in_order, options)
    traced = hotaru.jit.trace(module, (hotaru.randn(2, 4, 3), hotaru.tensor([4, 2])))
    saved = io.BytesIO()
    hotaru.jit.save(traced, saved)
    saved.seek(0)
    calls = [[4, 2], [3, 1], [2, 2], [3, 2, 1], [1], *([] if in_order else [[1, 3]])]
    for one in (traced, hotaru.jit.load(saved), hotaru.jit.freeze(traced.eval())):
        for lengths in calls:
            x = hotaru.randn(len(lengths), 4, 3)
            given = (x, hotaru.tensor(lengths))
            expected = module(*given)
            assert expected[1].tolist() == lengths
            leaves = zip(tree_leaves(one(*given)), tree_leaves(expected))
            for found, eager in leaves:
                assert hotaru.equal(found, eager)


def test_lengths_in_a_list_are_constants_and_the_trace_says_so():
    def packed(x):
        return pack_padded_sequence(x, [2, 1]).data

    with pytest.warns(UserWarning, match="Python list of sequence lengths"):
        hotaru.jit.trace(packed, hotaru.ones(3, 2, 1))


LONGER = hotaru.full((7, 2), 5.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: n**0.5,
        lambda n: n**-0.5,
        lambda n: n / 2,
        lambda n: 3 / n,
        lambda n: n * 1.5,
        lambda n: 1.5 - n,
        lambda n: -n * 0.5,
        lambda n: n**2,
        lambda n: 2**n,
        lambda n: (-2) ** n,
        lambda n: +n,
        lambda n: abs(-n),
        lambda n: n & 3,
        lambda n: n | 1,
        lambda n: n ^ 1,
        lambda n: n << 1,
        lambda n: n >> 1,
        lambda n: n // 2.0,
        lambda n: n % 1.5,
        lambda n: n * 0.5 * n,
        lambda n: (n / 2) ** 2,
        lambda n: math.floor(n * 0.3),
        lambda n: math.ceil(n / 4),
        lambda n: math.trunc(n / -4),
        lambda n: math.floor(n / -4),
        lambda n: n * True,
    ],
)
def test_numbers_made_of_sizes_are_those_of_the_call(make):
    def scaled(x):
        return x * make(x.size(0))

    assert hotaru.equal(traced(scaled)(LONGER), scaled(LONGER))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x @ x.t() / x.size(-1) ** 0.5,
        lambda x: hotaru.full((2,), 1 / x.size(0)),
        lambda x: hotaru.arange(x.size(0) * 1.0),
        lambda x: hotaru.tensor(x.size(0) / 2),
        lambda x: LARGE * (x.size(0) / 2),
        lambda x: hotaru.ones(x.shape[:1].numel()),
        lambda x: interpolate(x[None, None], scale_factor=2, mode="area"),
        lambda x: interpolate(
            x[None, None], scale_factor=1.5, recompute_scale_factor=True
        ),
    ],
)
def test_operators_take_numbers_made_of_sizes(function):
    assert hotaru.equal(traced(function)(LONGER), function(LONGER))


def test_numbers_that_leave_the_program_are_told_of():
    with pytest.warns(hotaru.jit.TracerWarning, match="a Python float"):
        traced(lambda x: x * math.sqrt(x.size(0)))


@pytest.mark.parametrize(
    "compare",
    [
        lambda n: n > 3,
        lambda n: n >= 7,
        lambda n: n < 3,
        lambda n: n <= 6,
        lambda n: n == 7,
        lambda n: n != 2,
        lambda n: n > 2.5,
        lambda n: n / 2 > 1.5,
        lambda n: n // 3 == 2,
        lambda n: n > n - 1,
        lambda n: (n > 3) & (n < 9),
        lambda n: (n > 9) | (n == 7),
        lambda n: (n > 3) ^ (n > 4),
        lambda n: (n > 3) & True,
        lambda n: True & (n > 3),
    ],
)
@pytest.mark.parametrize(
    "use",
    [
        lambda x, t: x * t,
        lambda x, t: t * x,
        lambda x, t: x + t,
        lambda x, t: x - t * 2,
        lambda x, t: x * (t * x.size(0)),
        lambda x, t: x * (x.size(0) * t),
        lambda x, t: x ** (t + 0),
        lambda x, t: hotaru.tensor(t) * x,
        lambda x, t: hotaru.ones(t + 1),
        lambda x, t: x.masked_fill(x > 0, t),
        lambda x, t: x[t, 0] if type(t) is bool else x[t][:, 0],
        lambda x, t: x[:, :t],
        lambda x, t: hotaru.full((2,), t),
    ],
)
def test_programs_compute_with_comparisons_of_sizes(compare, use):
    def function(x):
        return use(x, compare(x.size(0)))

    program = hotaru.jit.trace(function, SMALL, check_trace=False)
    expected = function(LONGER)
    assert hotaru.equal(program(LONGER).reshape(expected.shape), expected)
    assert program(LONGER).dtype == expected.dtype


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x * ~(x.size(0) > 3), 0),
        (lambda x: (x.size(0) > 3).float() * x, 70),
        (lambda x: x.size(0).float() * x, 490),
        (lambda x: x.size(0).item() * x, 490),
        (lambda x: hotaru.where(x.size(0) > 3, x, 0 * x), 70),
        (lambda x: x * hotaru.logical_and(x.size(0) > 3, x.size(1) > 1), 70),
        (lambda x: x.size(0) > x.sum(), 0),
        (lambda x: hotaru.tensor([[x.size(0) > 3, True, x.size(1) > 3]]), 2),
        (lambda x: x.sum() > x.size(0), 1),
        (lambda x: (x.size(0) > 3) == (x.size(1) > 3), 0),
        (lambda x: x * (x.size(0) == None), 0),  # noqa: E711
        (lambda x: x * (x.size(0) != "seven"), 70),
        (lambda x: x * sum(size > 3 for size in x.shape), 70),
    ],
)
def test_comparisons_of_sizes_are_tensors(function, expected):
    program = hotaru.jit.trace(function, SMALL, check_trace=False)
    assert program(LONGER).sum() == expected


@pytest.mark.parametrize(
    ("function", "kind"),
    [
        (lambda x: x.size(0) > 3, hotaru.bool),
        (lambda x: x.size(0) == 7, hotaru.bool),
        (lambda x: x.size(0) / 2, hotaru.float32),
        (lambda x: x.size(0), hotaru.int64),
    ],
)
def test_programs_give_numbers_back_as_tensors(function, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = traced(function)(LONGER)
    assert found.dtype == kind
    assert found.item() == function(LONGER)


@pytest.mark.parametrize(
    "decide",
    [
        lambda x: x if x.size(0) > 3 else -x,
        lambda x: -x if not x.size(0) > 3 else x,
        lambda x: x if x.size(0) in (7, 8) else -x,
        lambda x: x if x.shape == (7, 2) else -x,
        lambda x: x * max(x.size(0), 3) / -3,
        lambda x: -x * (1 - int(x.size(0) > 3)),
    ],
)
def test_what_python_decides_by_sizes_is_the_examples_and_told_of(decide):
    with pytest.warns(hotaru.jit.TracerWarning, match="Python (bool|int)"):
        program = hotaru.jit.trace(decide, SMALL, check_trace=False)
    assert hotaru.equal(program(LONGER), -LONGER)


def test_what_the_package_decides_by_sizes_is_not_told_of():
    def function(x):
        return hotaru.nn.functional.instance_norm(x[None])

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        hotaru.jit.trace(function, hotaru.rand(3, 4))


@pytest.mark.parametrize(
    "index",
    [
        True,
        False,
        (None, True),
        (None, False),
        (True, 0),
        (0, True),
        (Ellipsis, True),
        (slice(None), True),
        (Ellipsis, None, False),
        (slice(None), False, None),
        (slice(1, 3), True),
        (True, True),
        (True, Ellipsis, 0),
        (True, slice(1, 2)),
    ],
)
def test_truths_are_indices(index):
    numbers = hotaru.arange(14.0).view(7, 2)
    truth = hotaru.tensor(True)

    def taken(x):
        return x[index]

    def written(x):
        x = x.clone()
        x[index] = -1
        return x

    def by_tensor(x):
        return x[(x.sum() > 40) & truth]

    for function in (taken, written, by_tensor):
        found, expected = traced(function)(numbers), function(numbers)
        assert found.shape == expected.shape
        assert hotaru.equal(found, expected)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * len(x), "Using len to get tensor shape"),
        (lambda x: sum(row for row in x), "Iterating over a tensor"),
        (lambda x: x * hotaru.tensor(x.sum()), "results are registered"),
    ],
)
def test_lengths_and_copies_are_told_of(function, message):
    with pytest.warns(hotaru.jit.TracerWarning, match=message) as caught:
        program = hotaru.jit.trace(function, SMALL, check_trace=False)
    assert {w.filename for w in caught} == {__file__}
    assert hotaru.equal(program(2 * SMALL), function(2 * SMALL))


def test_copies_of_tensors_are_those_of_the_call():
    def function(x):
        kept = hotaru.tensor(x, dtype=hotaru.float64)
        x.zero_()
        return kept

    with pytest.warns(hotaru.jit.TracerWarning):
        program = hotaru.jit.trace(function, SMALL, check_trace=False)
    found = program(LONGER.clone())
    assert found.dtype == hotaru.float64
    assert hotaru.equal(found, LONGER.double())


def test_rows_that_no_line_uses_do_not_bind_a_program_to_their_count():
    def function(x):
        list(x)
        return x * 2

    assert hotaru.equal(traced(function)(LONGER), 2 * LONGER)
