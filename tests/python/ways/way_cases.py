"""Calls that take each algorithm of the CPU's kernels, with exact results.

Numbers are small integers: sums are exact in every dtype and in any order, so
that results are those of integers to the bit, which one plain algorithm
computes, or Python. Attention alone is compared with float64's, closely. Run
as a program it checks all of them in this process.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import hotaru.nn.functional as F

import hotaru as torch

F32, F64 = torch.float32, torch.float64
BF16, F16, I64 = torch.bfloat16, torch.float16, torch.int64
C64 = torch.complex64
#: Algorithms that not every processor has, or whose gains hang on its vectors.
BY_MACHINE = {
    "amx",
    "amx_planes",
    "pair_scores",
    "pair_values",
    "pairs",
    "spread",
    "whole",
    "wide",
}


class Case(NamedTuple):
    """A call: `function` of tensors of these shapes takes an algorithm."""

    kernel: str
    way: str
    function: object
    shapes: tuple
    dtype: object = F32
    precision: str = "highest"
    graphed: bool = False
    #: Computes the result from the same tensors; None: the function, of
    #: integers.
    exact: object = None
    #: How far off a result may be.
    tolerance: float = 0

    def __str__(self) -> str:
        dtype = str(self.dtype).removeprefix("torch.")
        return f"{self.kernel}-{dtype}-{self.way}"


def _conv(**kwargs):
    def call(x, w):
        dims = x.dim() - 2
        return getattr(F, f"conv{dims}d")(x, w, **kwargs)

    return call


def _data(**kwargs):
    """The kernel of the input's gradient: a transposed convolution."""

    def call(x, w):
        dims = x.dim() - 2
        return getattr(F, f"conv_transpose{dims}d")(x, w, **kwargs)

    return call


def _grad_of_weight(y, x, w, **kwargs):
    """The weight's gradient, by integers for integers."""
    if w.dtype.is_floating_point:
        dims = x.dim() - 2
        call = getattr(F, f"conv{dims}d")
        w = w.detach().requires_grad_()
        return torch.autograd.grad(call(x, w, **kwargs), w, y)[0]
    exact = _grad_of_weight(y.double(), x.double(), w.double(), **kwargs)
    return exact.long()


def _weight(**kwargs):
    return lambda y, x, w: _grad_of_weight(y, x, w, **kwargs)


def _transposed_right(x, y):
    return x @ y.t()


def _lasting(x, w):
    """A product with a weight that a graph packs."""
    return F.linear(x, w)


CONVOLUTIONS = [
    Case(
        "conv_forward",
        "depthwise3",
        _conv(padding=1, groups=4),
        ((2, 4, 9, 9), (4, 1, 3, 3)),
    ),
    Case(
        "conv_forward",
        "depthwise3",
        _conv(padding=1, groups=4),
        ((2, 4, 9, 9), (4, 1, 3, 3)),
        F64,
    ),
    Case("conv_forward", "depthwise", _conv(groups=4), ((2, 4, 9, 9), (8, 1, 2, 3))),
    Case(
        "conv_forward", "depthwise", _conv(groups=4), ((2, 4, 9, 9), (8, 1, 2, 3)), F64
    ),
    Case("conv_forward", "channels", _conv(), ((1, 8, 5, 5), (16, 8, 3, 3))),
    Case("conv_forward", "channels", _conv(), ((3, 8, 30), (5, 8, 5)), F64),
    Case("conv_forward", "in_place", _conv(), ((2, 8, 9, 9), (5, 8, 1, 1))),
    Case("conv_forward", "in_place", _conv(), ((8, 8, 40), (5, 8, 1)), F64),
    Case(
        "conv_forward",
        "spread",
        _conv(padding=(1, 1, 0)),
        ((1, 3, 5, 21, 7), (4, 3, 3, 3, 1)),
    ),
    Case(
        "conv_forward",
        "spread",
        _conv(padding=(1, 1, 0)),
        ((1, 3, 5, 21, 7), (4, 3, 3, 3, 1)),
        F64,
    ),
    Case(
        "conv_forward",
        "patches",
        _conv(padding=1, stride=2),
        ((2, 8, 19, 19), (7, 8, 3, 3)),
    ),
    Case(
        "conv_forward",
        "patches",
        _conv(dilation=2),
        ((2, 8, 19, 19), (7, 8, 3, 3)),
        F64,
    ),
    Case(
        "conv_forward",
        "pairs",
        _conv(padding=1),
        ((1, 8, 12, 12), (16, 8, 3, 3)),
        F32,
        "medium",
    ),
    Case(
        "conv_forward", "pairs", _conv(padding=1), ((1, 4, 12, 12), (16, 4, 3, 3)), BF16
    ),
    Case(
        "conv_forward",
        "amx_planes",
        _conv(padding=1),
        ((2, 16, 16, 16), (16, 16, 3, 3)),
        BF16,
    ),
    Case("conv_forward", "widened", _conv(), ((1, 2, 9, 9), (3, 2, 3, 3)), BF16),
    Case("conv_forward", "widened", _conv(), ((1, 2, 9, 9), (3, 2, 3, 3)), F16),
    Case(
        "conv_data",
        "depthwise",
        _data(padding=1, groups=4),
        ((2, 4, 9, 9), (4, 1, 3, 3)),
    ),
    Case(
        "conv_data",
        "depthwise",
        _data(stride=2, groups=4),
        ((2, 4, 9, 9), (4, 1, 3, 3)),
        F64,
    ),
    Case("conv_data", "few_positions", _data(padding=1), ((2, 8, 4, 4), (8, 5, 3, 3))),
    Case("conv_data", "few_positions", _data(), ((2, 8, 20), (8, 5, 3)), F64),
    Case("conv_data", "pointwise", _data(), ((2, 8, 9, 9), (8, 5, 1, 1))),
    Case("conv_data", "pointwise", _data(), ((2, 8, 90), (8, 5, 1)), F64),
    Case("conv_data", "blocked", _data(padding=1), ((2, 16, 12, 12), (16, 24, 3, 3))),
    Case("conv_data", "patches", _data(stride=2), ((2, 8, 9, 9), (8, 6, 3, 3))),
    Case("conv_data", "patches", _data(), ((2, 8, 9, 9), (8, 6, 3, 3)), F64),
    Case(
        "conv_data",
        "unrolled",
        _data(dilation=2, output_padding=1),
        ((2, 8, 9, 9), (8, 6, 3, 3)),
    ),
    Case(
        "conv_data",
        "unrolled",
        _data(dilation=2, output_padding=1),
        ((2, 8, 9, 9), (8, 6, 3, 3)),
        F64,
    ),
    Case("conv_data", "widened", _data(), ((1, 2, 9, 9), (2, 3, 3, 3)), BF16),
    Case("conv_data", "widened", _data(), ((1, 2, 9, 9), (2, 3, 3, 3)), F16),
    Case(
        "conv_data",
        "amx_planes",
        _data(padding=1),
        ((2, 16, 16, 16), (16, 16, 3, 3)),
        BF16,
    ),
    Case(
        "conv_weight",
        "few_positions",
        _weight(),
        ((2, 5, 4, 4), (2, 8, 6, 6), (5, 8, 3, 3)),
    ),
    Case(
        "conv_weight",
        "few_positions",
        _weight(),
        ((3, 5, 9), (3, 8, 11), (5, 8, 3)),
        F64,
    ),
    Case(
        "conv_weight",
        "pointwise",
        _weight(),
        ((2, 5, 9, 9), (2, 8, 9, 9), (5, 8, 1, 1)),
    ),
    Case(
        "conv_weight", "pointwise", _weight(), ((2, 5, 90), (2, 8, 90), (5, 8, 1)), F64
    ),
    Case(
        "conv_weight",
        "blocked",
        _weight(padding=1),
        ((2, 16, 20, 20), (2, 24, 20, 20), (16, 24, 3, 3)),
    ),
    Case(
        "conv_weight",
        "patches",
        _weight(groups=2),
        ((2, 4, 9, 9), (2, 6, 11, 11), (4, 3, 3, 3)),
    ),
    Case(
        "conv_weight",
        "patches",
        _weight(),
        ((2, 4, 9, 9), (2, 6, 11, 11), (4, 6, 3, 3)),
        F64,
    ),
    Case(
        "conv_weight",
        "widened",
        _weight(),
        ((1, 3, 7, 7), (1, 2, 9, 9), (3, 2, 3, 3)),
        BF16,
    ),
    Case(
        "conv_weight",
        "widened",
        _weight(),
        ((1, 3, 7, 7), (1, 2, 9, 9), (3, 2, 3, 3)),
        F16,
    ),
    Case(
        "conv_weight",
        "amx_planes",
        _weight(padding=1),
        ((2, 16, 16, 16), (2, 16, 16, 16), (16, 16, 3, 3)),
        BF16,
    ),
]
PRODUCTS = [
    Case("matmul", "scaled_vector", torch.matmul, ((40, 1), (1, 1))),
    Case("matmul", "scaled_vector", torch.matmul, ((1, 1), (1, 40)), F64),
    Case("matmul", "long_dot", torch.dot, ((70000,), (70000,))),
    Case("matmul", "long_dot", torch.dot, ((70000,), (70000,)), F64),
    Case("matmul", "turned", _transposed_right, ((40, 300), (600, 300))),
    Case("matmul", "dot", _transposed_right, ((1, 65), (40, 65))),
    Case("matmul", "dot", _transposed_right, ((1, 65), (40, 65)), F64),
    Case("matmul", "wide", torch.matmul, ((2, 65), (65, 200))),
    Case("matmul", "wide", torch.matmul, ((2, 65), (65, 200)), F64),
    Case("matmul", "areas", torch.matmul, ((50, 65), (65, 70))),
    Case("matmul", "areas", torch.matmul, ((50, 65), (65, 70)), F64),
    Case("matmul", "pairs", torch.matmul, ((50, 65), (65, 70)), F32, "medium"),
    Case("matmul", "pairs", torch.matmul, ((4, 65), (65, 70)), BF16),
    Case("matmul", "widened", torch.matmul, ((5, 65), (65, 70)), F16),
    Case("matmul", "panels", torch.matmul, ((5, 65), (65, 70)), C64),
    Case("matmul", "one_by_one", torch.matmul, ((3, 65), (65, 70)), C64),
    Case("linear", "panels", _lasting, ((2, 64), (64, 64)), graphed=True),
    Case("linear", "areas", _lasting, ((9, 64), (64, 64)), graphed=True),
]


def _attention(**kwargs):
    def call(*qkv):
        return F.scaled_dot_product_attention(*qkv, **kwargs)

    return call


def _softmax_product(q, k, v):
    return torch.softmax(q @ k.transpose(-1, -2) * 0.25, -1) @ v


def _in_float64(function):
    return lambda *args: function(*[t.double() for t in args])


def _attends(way, shapes, dtype=F32, tolerance=1e-5, **kwargs):
    call = _attention(**kwargs)
    exact = _in_float64(call)
    return Case("attention", way, call, shapes, dtype, exact=exact, tolerance=tolerance)


def _graphed(way, keys, width, precision):
    shapes = ((2, 64, 16), (2, keys, 16), (2, keys, width))
    exact = _in_float64(_softmax_product)
    tolerance = 1e-5 if way == "floats" else 0.05
    return Case(
        "softmax_product",
        way,
        _softmax_product,
        shapes,
        F32,
        precision,
        True,
        exact,
        tolerance,
    )


ATTENTION = [
    _attends("packed", ((1, 2, 300, 16),) * 3),
    _attends("packed", ((1, 2, 300, 16),) * 3, BF16, 0.02),
    _attends("in_place", ((1, 2, 300, 16),) * 3, is_causal=True),
    _attends("in_place", ((2, 1, 130, 16),) * 3, BF16, 0.02),
    _graphed("pairs", 64, 32, "medium"),
    _graphed("pair_scores", 64, 24, "medium"),
    _graphed("pair_values", 24, 64, "medium"),
    _graphed("floats", 64, 64, "highest"),
]


def _values_and_places(values, places):
    """Both in one tensor, of float64: equal if both are."""
    return torch.stack([values.double(), places.double()])


def _places(x, find):
    """Places that `find` gives for each row, a list of numbers."""
    rows = x.tolist()
    places = [find(row) for row in rows]
    values = [[row[i] for i in found] for row, found in zip(rows, places, strict=True)]
    return _values_and_places(torch.tensor(values), torch.tensor(places))


def _ordered(row):
    """Places in order; of equal numbers the first comes first."""
    return sorted(range(len(row)), key=row.__getitem__)


def _most_frequent(row):
    number = min(set(row), key=lambda x: (-row.count(x), x))
    return [max(i for i, x in enumerate(row) if x == number)]


def _of_rows(kernel, find, places):
    """Cases of `find`, which gives each row's values and `places`."""

    def case(way, shape, dtype=F32):
        return Case(
            kernel,
            way,
            lambda x: _values_and_places(*find(x)),
            (shape,),
            dtype,
            exact=lambda x: _places(x, places),
        )

    return case


_sorts = _of_rows("sort", lambda x: x.sort(1), _ordered)
_modes = _of_rows("mode", lambda x: x.mode(1, True), _most_frequent)
_firsts = _of_rows("topk", lambda x: x.topk(5, 1, False), lambda row: _ordered(row)[:5])
SORTING = [
    _sorts("comparisons", (3, 399)),
    _sorts("comparisons", (3, 399), F64),
    _sorts("comparisons", (3, 399), I64),
    _sorts("comparisons", (3, 399), BF16),
    _sorts("radix", (3, 400)),
    _sorts("radix", (3, 400), F64),
    _sorts("radix", (3, 400), I64),
    _sorts("radix", (3, 400), BF16),
    _modes("comparisons", (3, 99)),
    _modes("radix", (3, 400)),
    _firsts("heap", (3, 320)),
    _firsts("heap", (3, 320), I64),
    _firsts("parted", (3, 319)),
    _firsts("parted", (3, 319), I64),
]


def _by_python(function, of):
    """Cases of a reduction of rows, columns or all; `of` does a line of it."""

    def lines(x, dim):
        if dim is None:
            return [x.flatten().tolist()]
        return (x if dim == 1 else x.t()).tolist()

    def case(kernel, way, shape, dim, dtype=F32):
        return Case(
            kernel,
            way,
            lambda x: function(x, dim),
            (shape,),
            dtype,
            exact=lambda x: torch.tensor(
                [of(line) for line in lines(x, dim)], dtype=F64
            ).squeeze(() if dim is not None else 0),
        )

    return case


def _largest(line):
    return [max(line), line.index(max(line))]


def _running(line):
    return list(itertools.accumulate(line))


def _turned(running, dim):
    return running.t() if dim == 0 else running


_sums = _by_python(torch.sum, sum)
_least = _by_python(torch.amin, min)
_maxima = _by_python(
    lambda x, dim: torch.stack([t.double() for t in x.max(dim)], -1), _largest
)
_places_of_max = _by_python(torch.argmax, lambda line: _largest(line)[1])
_running_sums = _by_python(lambda x, dim: _turned(x.cumsum(dim), dim), _running)
REDUCTIONS = [
    *[
        case
        for dtype in (F32, F64, I64, BF16)
        for case in (
            _sums("sum", "one_line", (7, 9), None, dtype),
            _sums("sum", "columns", (20, 9), 0, dtype),
            _sums("sum", "lines", (9, 20), 1, dtype),
        )
    ],
    _sums("sum", "one_line", (70, 1000), None),
    _sums("sum", "columns", (40, 150), 0),
    _sums("sum", "lines", (20, 3), 0),
    _least("amin", "one_line", (20, 9), None),
    _least("amin", "columns", (20, 9), 0),
    _least("amin", "lines", (9, 20), 1),
    _maxima("max_dim", "columns", (20, 9), 0),
    _maxima("max_dim", "lines", (9, 20), 1),
    _places_of_max("argmax", "columns", (20, 9), 0),
    _places_of_max("argmax", "lines", (20, 7), 0),
    *[
        case
        for dtype in (F32, F64)
        for case in (
            _running_sums("cumsum", "columns", (9, 70), 0, dtype),
            _running_sums("cumsum", "four_lines", (7, 30), 1, dtype),
            _running_sums("cumsum", "lines", (30, 3), 0, dtype),
        )
    ],
]


def _pictures(
    kernel, way, channels, outputs, size, taps=3, precision="highest", **kwargs
):
    """A convolution that a graph makes of blocks of channels."""

    def call(x, w):
        return F.relu(F.conv2d(x, w, **kwargs))

    shapes = (
        (1, channels, size, size),
        (outputs, channels // kwargs.get("groups", 1), taps, taps),
    )
    return Case(kernel, way, call, shapes, F32, precision, True)


BLOCKED = [
    _pictures("blocked_conv", "depthwise", 32, 32, 12, groups=32),
    _pictures("blocked_conv", "whole", 32, 32, 5, padding=1, stride=2),
    _pictures("blocked_conv", "tiles", 32, 32, 9, 1),
    _pictures("blocked_conv", "amx", 32, 32, 9, 1, "medium"),
    _pictures("winograd_conv", "winograd", 32, 32, 12, padding=1),
]
CASES = [*CONVOLUTIONS, *PRODUCTS, *ATTENTION, *SORTING, *REDUCTIONS, *BLOCKED]


def tensors(case: Case) -> list:
    """Small integers of the case's dtype."""
    torch.manual_seed(0)
    made = [torch.randint(-2, 3, shape) for shape in case.shapes]
    return [t.to(case.dtype) for t in made]


def answer(case: Case):
    """Asks the case's kernel: the call, or None without one."""
    args = tensors(case)
    function = case.function
    if case.graphed:
        weight = args.pop()
        function = lambda *x: case.function(*x, weight)  # noqa: E731
    calls = torch.backends.cpu.ways(function, *args, graphed=case.graphed)
    return next((c for c in calls if c.kernel == case.kernel), None)


def is_right(got, exact, tolerance: float) -> bool:
    if tolerance == 0:
        return torch.equal(got, exact.to(got.dtype))
    return bool((got.double() - exact).abs().max() <= tolerance)


def check(case: Case) -> str:
    """Runs a case; why its algorithm is not for this processor, or ""."""
    conv = torch.backends.mkldnn.conv
    before = torch.get_float32_matmul_precision(), conv.fp32_precision
    torch.set_float32_matmul_precision(case.precision)
    if case.precision != "highest":
        conv.fp32_precision = "bf16"
    try:
        call = answer(case)
        assert call is not None, f"{case}: the kernel is not called"
        args = tensors(case)
        if case.graphed:
            weight = args[-1]
            run = torch.compile(lambda *x: case.function(*x, weight))
            got = [run(*args[:-1]) for _ in range(3)][-1]
        else:
            got = case.function(*args)
    finally:
        torch.set_float32_matmul_precision(before[0])
        conv.fp32_precision = before[1]
    if case.exact:
        exact = case.exact(*args)
    else:
        exact = case.function(*[t.real.long() for t in args])
    assert is_right(got, exact, case.tolerance), f"{case}: {call}"
    if call.runs == case.way:
        return ""
    way = next((w for w in call.ways if w.name == case.way), None)
    assert case.way in BY_MACHINE, f"{case}: {call}"
    return way.why_not if way else "the table has none here"


if __name__ == "__main__":
    for one in CASES:
        check(one)
    print(len(CASES))
