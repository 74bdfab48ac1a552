"""What PyTorch's operators call of each other, as its profiler shows it.

Here an operator is often one kernel where PyTorch calls several operators;
programs look these up in profiles (`aten::mm` below `aten::matmul`). What
allocates, fills and converts is left out.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

from .. import _C
from . import _geometry as g
from ._flops import flops_of
from ._geometry import Given
from ._inputs import shapes_of, values_of


class Row(NamedTuple):
    """An operator inside of another one.

    Attributes:
        name: without "aten::". shapes, values: of its inputs, in the schema's
            order. rows: what is inside of it. works: whether it is what takes
            the time. size: how many they are, it included. flops: its count.
    """

    name: str
    shapes: list
    values: list
    rows: tuple[Row, ...]
    works: bool
    size: int
    flops: int


def inner(name: str, inputs) -> tuple[Row, ...]:
    """What is inside of an operator, in order.

    Args:
        inputs: a `Given` in the place of a tensor; tuples for lists.
    """
    if name not in CALLS:
        return ()
    try:
        return _rows(name, *inputs)
    except TypeError:  # what cannot be a key is no input of these
        return ()


@functools.lru_cache(maxsize=4096, typed=True)
def _rows(name: str, *inputs) -> tuple[Row, ...]:
    if any(map(_strange, inputs)):
        return ()
    body = Body()
    try:
        CALLS[name](body, *inputs)
    except (IndexError, TypeError, ValueError, ZeroDivisionError):
        return ()  # arguments that the operator itself has refused
    return tuple(body.rows)


def _strange(value) -> bool:
    if isinstance(value, Given):
        return value.stride is None
    return isinstance(value, tuple) and any(map(_strange, value))


class Body:
    """The operators that another one calls."""

    def __init__(self) -> None:
        self.rows: list[Row] = []

    def call(self, name: str, *inputs, works: bool = True) -> None:
        """Adds an operator, with what is inside of it."""
        given = [tuple(i) if type(i) is list else i for i in inputs]
        rows = inner(name, given)
        size = 1 + sum(row.size for row in rows)
        shapes, values = shapes_of(given), values_of(given)
        flops = flops_of(name, given)
        self.rows.append(Row(name, shapes, values, rows, works, size, flops))

    def view(self, name: str, x: Given, *inputs) -> Given:
        """Adds an operator of `VIEWS`; gives its result."""
        self.call(name, x, *inputs, works=False)
        return VIEWS[name][0](x, *inputs)

    def reshape(self, x: Given, *size) -> Given:
        """Adds a `reshape`; gives its result."""
        self.call("reshape", x, list(size), works=False)
        shape = g.known_size(x, size)
        return x.like(shape, g.view_strides(x, shape))

    def as_view(self, x: Given, *size, name: str = "view") -> Given:
        """Adds a `view`; gives its result."""
        self.call(name, x, list(size), works=False)
        return x.like(g.known_size(x, size))


# --- views -------------------------------------------------------------------


def _t(x: Given) -> Given:
    return g.transpose(x, 0, 0 if x.dim < 2 else 1)


def _swapped(x: Given) -> Given:
    return g.transpose(x, -2, -1)


def _narrow(x: Given, dim: int, start: int, length: int) -> Given:
    return g.slice_of(x, dim, start, start + length)


# What they give, and what they call: an operator with the arguments that
# follow, or as_strided. The last says whether that is told the offset.
VIEWS = {
    "t": (_t, lambda x: ("transpose", 0, 0 if x.dim < 2 else 1)),
    "mT": (_swapped, lambda x: ("transpose", -2, -1)),
    "mH": (_swapped, lambda x: ("transpose", -2, -1)),
    "adjoint": (_swapped, lambda x: ("transpose", -2, -1)),
    "swapaxes": (g.transpose, lambda x, a, b: ("transpose", a, b)),
    "swapdims": (g.transpose, lambda x, a, b: ("transpose", a, b)),
    "narrow": (
        _narrow,
        lambda x, dim, start, length: (
            "slice", dim, start, start + length, 1
        ),
    ),
    "expand_as": (
        lambda x, other: g.expand(x, other.shape),
        lambda x, other: ("expand", list(other.shape), False),
    ),
    "transpose": (g.transpose, False),
    "permute": (g.permute, False),
    "unsqueeze": (g.unsqueeze, False),
    "squeeze": (g.squeeze, False),
    "expand": (g.expand, False),
    "select": (g.select, True),
    "slice": (g.slice_of, True),
}  # fmt: skip


def _calls_of_view(name: str):
    result, calls = VIEWS[name]

    def body(b: Body, x: Given, *inputs) -> None:
        if callable(calls):
            inside, *arguments = calls(x, *inputs)
            b.view(inside, x, *arguments)
            return
        made = result(x, *inputs)
        offset = made.offset if calls else None
        b.call(
            "as_strided", x, list(made.shape), list(made.stride), offset,
            works=False,
        )  # fmt: skip

    return body


def _reshape(b: Body, x: Given, size: tuple) -> None:
    shape = g.known_size(x, size)
    steps = g.view_strides(x, shape)
    if steps is None:
        b.call("clone", x, 0)
        b.as_view(x, *size, name="_unsafe_view")
    elif g.is_contiguous(x):
        b.as_view(x, *size)
    else:
        b.call("_reshape_alias", x, shape, list(steps), works=False)


def _flatten(b: Body, x: Given, first: int, last: int) -> None:
    if x.dim == 0:
        b.reshape(x, 1)
        return
    first, last = first % x.dim, last % x.dim
    if first == last:
        return
    joined = 1
    for size in x.shape[first : last + 1]:
        joined *= size
    shape = [*x.shape[:first], joined, *x.shape[last + 1 :]]
    if g.view_strides(x, shape) is not None and g.is_contiguous(x):
        b.as_view(x, *shape)
    else:
        b.reshape(x, *shape)


def _split(b: Body, x: Given, size, dim: int) -> None:
    length = x.shape[dim]
    sizes = size
    if not isinstance(size, tuple):
        sizes = [min(size, length - i) for i in range(0, length, size)]
    start = 0
    for part in sizes:
        b.view("narrow", x, dim, start, part)
        start += part


def _chunk(b: Body, x: Given, chunks: int, dim: int) -> None:
    b.call("split", x, -(-x.shape[dim] // chunks), dim, works=False)


def _unbind(b: Body, x: Given, dim: int) -> None:
    for i in range(x.shape[dim]):
        b.view("select", x, dim, i)


def _stack(b: Body, tensors: tuple, dim: int) -> None:
    first = tensors[0]
    at = dim % (first.dim + 1)
    if at == first.dim:
        lifted = [b.view("unsqueeze", t, dim) for t in tensors]
        b.call("cat", lifted, dim)
        return
    shape = list(first.shape)
    shape[at] *= len(tensors)
    b.call("cat", tensors, at)
    result = [*first.shape[:at], len(tensors), *first.shape[at:]]
    b.as_view(first.like(shape), *result)


def _contiguous(b: Body, x: Given, memory_format) -> None:
    if not g.is_contiguous(x):
        b.call("clone", x, memory_format)


# --- products ----------------------------------------------------------------


def _matmul(b: Body, x: Given, y: Given) -> None:
    if x.dim == 1 and y.dim == 1:
        return b.call("dot", x, y)
    if x.dim == 2 and y.dim == 1:
        return b.call("mv", x, y)
    if x.dim == 1 and y.dim == 2:
        row = b.view("unsqueeze", x, 0)
        b.call("mm", row, y)
        return b.call("squeeze_", x.like((1, y.shape[1])), 0, works=False)
    if x.dim == 2 and y.dim == 2:
        return b.call("mm", x, y)
    if (
        x.dim >= 3
        and y.dim <= 2
        and g.view_strides(x, (x.numel // max(x.shape[-1], 1), x.shape[-1]))
    ):
        return _folded(b, x, y)
    return _batched(b, x, y)


def _folded(b: Body, x: Given, y: Given) -> None:
    rows = b.reshape(x, x.numel // max(x.shape[-1], 1), x.shape[-1])
    b.call("mv" if y.dim == 1 else "mm", rows, y)
    made = x.like((rows.shape[0], *y.shape[1:]))
    b.as_view(made, *x.shape[:-1], *y.shape[1:], name="_unsafe_view")


def _batched(b: Body, x: Given, y: Given) -> None:
    if x.dim <= 2:
        b.view("mT", y)  # which side is folded is asked of it
    left = x if x.dim > 1 else g.unsqueeze(x, 0)
    right = y if y.dim > 1 else g.unsqueeze(y, 1)
    batch = _broadcast(left.shape[:-2], right.shape[:-2])
    count = 1
    for size in batch:
        count *= size
    sides = []
    for given, side in ((x, left), (y, right)):
        wide = b.view("expand", given, [*batch, *side.shape[-2:]], False)
        sides.append(b.reshape(wide, count, *side.shape[-2:]))
    b.call("bmm", *sides)
    shape = (count, left.shape[-2], right.shape[-1])
    rows = left.shape[-2:-1] if x.dim > 1 else ()
    columns = right.shape[-1:] if y.dim > 1 else ()
    b.as_view(x.like(shape), *batch, *rows, *columns, name="_unsafe_view")


def _broadcast(*shapes) -> tuple[int, ...]:
    longest = max(map(len, shapes))
    padded = [(1,) * (longest - len(s)) + tuple(s) for s in shapes]
    return tuple(
        next((n for n in sizes if n != 1), 1) for sizes in zip(*padded)
    )


def _mv(b: Body, x: Given, vector: Given) -> None:
    b.call("addmv_", x.like(x.shape[:1]), x, vector, 0, 1)


def _addmm(b: Body, bias: Given, x: Given, y: Given, *_) -> None:
    shape = [x.shape[0], y.shape[1]]
    if list(bias.shape) != shape:
        b.view("expand", bias, shape, False)


def _linear(b: Body, x: Given, weight: Given, bias: Given | None) -> None:
    if bias is None:
        b.call("matmul", x, b.view("t", weight))
    elif x.dim == 2 or g.is_contiguous(x):
        rows = x
        if x.dim != 2:
            rows = b.as_view(x, x.numel // max(x.shape[-1], 1), x.shape[-1])
        b.call("addmm", bias, rows, b.view("t", weight), 1, 1)
        if x.dim != 2:
            made = x.like((rows.shape[0], weight.shape[0]))
            b.as_view(made, *x.shape[:-1], weight.shape[0])
    else:
        b.call("matmul", x, b.view("t", weight))
        b.call("add_", x.like((*x.shape[:-1], weight.shape[0])), bias, 1)


def _outer(b: Body, x: Given, y: Given) -> None:
    b.call("mul", b.reshape(x, x.shape[0], 1), y)


# --- einsum ------------------------------------------------------------------


def _einsum(b: Body, equation: str, tensors: tuple, path) -> None:
    """As ATen: the result's labels come first, then those that are summed."""
    if path is not None:
        return
    left, arrow, right = equation.replace(" ", "").partition("->")
    terms = [_labels(term, t.dim) for term, t in zip(left.split(","), tensors)]
    if any(len(set(term)) != len(term) for term in terms):
        return
    every = [label for term in terms for label in term]
    dots = max((e for e in every if isinstance(e, int)), default=-1) + 1
    wide = list(range(dots - 1, -1, -1))
    once = sorted({e for e in every if isinstance(e, str)})
    if arrow:
        result = _labels(right, len(right.replace("...", "")) + dots)
    else:
        result = [*wide, *(e for e in once if every.count(e) == 1)]
    order = [*result, *(e for e in once if e not in result)]
    operands = []
    for term, tensor in zip(terms, tensors):
        given, labels = tensor, list(term)
        for label in order:
            if label not in term:
                given = b.view("unsqueeze", given, given.dim)
                labels.append(label)
        places = [labels.index(label) for label in order]
        operands.append(b.view("permute", given, places))
    if len(operands) == 1:
        if len(order) > len(result):
            dims = list(range(len(result), len(order)))
            b.call("sum", operands[0], dims, False, None)
        return
    made = operands[0]
    for i, other in enumerate(operands[1:], 1):
        summed = [
            d
            for d, label in enumerate(order)
            if label not in result
            and not any(label in term for term in terms[i + 1 :])
            and not (made.shape[d] == 1 and other.shape[d] == 1)
        ]
        made = _summed_product(b, made, other, summed)
    if len(order) > len(result):
        b.as_view(made, *made.shape[: len(result)])


def _labels(term: str, dim: int) -> list:
    """Letters, and numbers for what dots stand for, 0 the last of these."""
    before, dots, after = term.partition("...")
    if not dots:
        return list(term)
    hidden = dim - len(before) - len(after)
    return [*before, *range(hidden - 1, -1, -1), *after]


def _summed_product(b: Body, x: Given, y: Given, summed: list) -> Given:
    """The product as a `bmm`, with dimensions of one where it was summed."""
    if not summed:
        b.call("mul", x, y)
        return x.like(_broadcast(x.shape, y.shape))
    both, left, right = [], [], []
    for d, sizes in enumerate(zip(x.shape, y.shape)):
        if d not in summed:
            kind = both if min(sizes) > 1 else left if sizes[0] > 1 else right
            kind.append(d)

    def total(given: Given, dims: list) -> int:
        count = 1
        for d in dims:
            count *= given.shape[d]
        return count

    batch, inside = total(x, both), total(x, summed)
    rows, columns = total(x, left), total(y, right)
    first = b.view("permute", x, [*both, *left, *summed, *right])
    first = b.reshape(first, batch, rows, inside)
    second = b.view("permute", y, [*both, *summed, *right, *left])
    second = b.reshape(second, batch, inside, columns)
    b.call("bmm", first, second)
    order = [*both, *left, *summed, *right]
    sizes = [
        *(x.shape[d] for d in (*both, *left)),
        *(1 for _ in summed),
        *(y.shape[d] for d in right),
    ]
    made = b.as_view(x.like((batch, rows, columns)), *sizes)
    back = sorted(range(len(order)), key=order.__getitem__)
    return b.view("permute", made, back)


# --- layers ------------------------------------------------------------------


def _convolution_of(transposed: bool):
    def body(b: Body, x, weight, bias, stride, padding, *rest) -> None:
        if isinstance(padding, str):
            b.call("_convolution_mode", x, weight, bias, stride, padding, *rest)
            return
        if transposed:
            more, groups, dilation = rest
        else:
            (dilation, groups), more = rest, [0] * len(stride)
        given = x
        if x.dim < weight.dim:
            given = b.view("unsqueeze", x, 0)
        inputs = (
            given, weight, bias, stride, padding, dilation, transposed, more,
            groups,
        )  # fmt: skip
        b.call("convolution", *inputs)
        if x.dim < weight.dim:
            b.view("squeeze", _convolved(*inputs), 0)

    return body


def _convolution_mode(
    b: Body, x, weight, bias, stride, padding, dilation, groups
) -> None:
    reach = [d * (k - 1) for d, k in zip(dilation, weight.shape[2:])]
    if padding == "valid":
        reach = [0] * len(reach)
    if any(total % 2 for total in reach):
        return  # padded before, by more on one side
    b.call(
        "convolution", x, weight, bias, stride, [r // 2 for r in reach],
        dilation, False, [0] * len(reach), groups,
    )  # fmt: skip


def _convolution(b: Body, *inputs) -> None:
    b.call("_convolution", *inputs, False, False, True, True)


def _convolution_on_cpu(b: Body, x: Given, weight: Given, *inputs) -> None:
    """One of many kernels; of sequences, as an image of one row."""
    if weight.dim == 3:
        b.view("unsqueeze", x, 2)
        b.view("unsqueeze", weight, 2)
        made = _convolved(x, weight, *inputs[:7])
        row = made.like((*made.shape[:2], 1, made.shape[2]))
        b.view("squeeze", row, 2)


def _convolved(
    x, weight, bias, stride, padding, dilation, transposed, more, groups
) -> Given:
    if not transposed:
        sizes = g.convolved_size(x, weight, stride, padding, dilation)
        return x.like((x.shape[0], weight.shape[0], *sizes))
    sizes = []
    for d, size in enumerate(x.shape[2:]):
        reach = dilation[d] * (weight.shape[2 + d] - 1)
        wide = (size - 1) * stride[d] - 2 * padding[d] + reach
        sizes.append(wide + more[d] + 1)
    return x.like((x.shape[0], weight.shape[1] * groups, *sizes))


def _layer_norm(b: Body, x, shape, weight, bias, eps, *_) -> None:
    b.call("native_layer_norm", x, shape, weight, bias, eps)


def _native_layer_norm(b: Body, x: Given, shape: tuple, *_) -> None:
    kept = x.shape[: x.dim - len(shape)]
    count = 1
    for size in kept:
        count *= size
    for _ in ("mean", "rstd"):
        b.as_view(x.like((count,)), *kept, *(1 for _ in shape))


def _group_norm(b: Body, x: Given, groups, weight, bias, eps, *_) -> None:
    batch, channels = x.shape[:2]
    inside = x.numel // max(batch * channels, 1)
    b.call(
        "native_group_norm", x, weight, bias, batch, channels, inside, groups,
        eps,
    )  # fmt: skip


def _batch_norm(b: Body, *inputs) -> None:
    b.call("_batch_norm_impl_index", *inputs)


def _batch_norm_impl(b: Body, *inputs) -> None:
    b.call("native_batch_norm", *inputs[:-1])


def _instance_norm(
    b: Body, x, weight, bias, mean, var, use_stats, momentum, eps, cudnn
) -> None:
    batch, channels = x.shape[:2]
    flat = b.as_view(x, 1, batch * channels, *x.shape[2:])
    if batch == 1 or all(t is None for t in (weight, bias, mean, var)):
        b.call(
            "batch_norm", flat, weight, bias, mean, var, use_stats, momentum,
            eps, cudnn,
        )  # fmt: skip
        b.as_view(flat, *x.shape)


def _softmax_of(name: str):
    def body(b: Body, x: Given, dim: int, dtype) -> None:
        if dtype is not None:
            b.call(
                "to", x, dtype, 0, None, None, False, False, None, works=False
            )
        b.call(name, x, dim, False)

    return body


def _embedding(b: Body, weight: Given, indices: Given, *_) -> None:
    flat = indices
    if indices.dim != 1:
        flat = b.reshape(indices, -1)
    b.call("index_select", weight, 0, flat)
    if indices.dim != 1:
        made = weight.like((flat.shape[0], weight.shape[1]))
        b.as_view(made, *indices.shape, weight.shape[1])


def _dropout(b: Body, x: Given, p: float, train: bool) -> None:
    if train and 0 < p < 1 and x.numel:
        b.call("bernoulli_", x, 1 - p, None)
        b.call("div_", x, 1 - p)
        b.call("mul", x, x)


def _max_pool2d(b: Body, *inputs) -> None:
    b.call("max_pool2d_with_indices", *inputs)


def _adaptive_avg_pool2d(b: Body, x: Given, size: tuple) -> None:
    if list(size) == [1, 1]:
        b.call("mean", x, [-1, -2], True, None)
    else:
        b.call("_adaptive_avg_pool2d", x, size)


def _relu(b: Body, x: Given) -> None:
    b.call("clamp_min", x, 0)


def _rsub(b: Body, x: Given, other, alpha) -> None:
    if not isinstance(other, Given):
        other = x.like(())
    b.call("sub", other, x, alpha)


def _pad(b: Body, x: Given, pad: tuple, mode: str, value) -> None:
    if mode == "constant":
        b.call("constant_pad_nd", x, pad, float(value or 0))


def _filled_by(name: str, *values):
    def body(b: Body, size, *_) -> None:
        if isinstance(size, Given):  # as in rand_like
            size = size.shape
        b.call(name, Given(tuple(size), g.dense(size)), *values)

    return body


# --- losses and means --------------------------------------------------------


def _mean(b: Body, x: Given, *inputs) -> None:
    dims, keepdim, dtype = [], False, inputs[0]
    if len(inputs) > 1:
        dims, keepdim, dtype = inputs[:3]
        dims = dims or []
    chosen = {d % max(x.dim, 1) for d in dims} or set(range(x.dim))
    left, count = [], 1
    for d, size in enumerate(x.shape):
        if d not in chosen:
            left.append(size)
            continue
        count *= size
        if keepdim:
            left.append(1)
    code = dtype if dtype is not None else _C._dtype_number(x.dtype)
    made = x.like(left)
    b.call("sum", x, dims, keepdim, code, made)
    b.call("div_", made, count)


_MEAN, _SUM = 1, 2  # of what losses call `reduction`


def _reduced(b: Body, x: Given, reduction: int, *, inside: bool) -> None:
    """The mean or sum; `inside` of it the loss is written."""
    name = {_MEAN: "mean", _SUM: "sum"}.get(reduction)
    if name is not None:
        written = ([], False, None, x.like(()))
        b.call(name, x, *(written if inside else (None,)))


def _mse_loss(b: Body, x: Given, y: Given, reduction: int, *_) -> None:
    wide = x.like(_broadcast(x.shape, y.shape))
    _reduced(b, wide, reduction, inside=True)


def _huber_loss(b: Body, x: Given, y: Given, reduction: int, *_) -> None:
    wide = x.like(_broadcast(x.shape, y.shape))
    _reduced(b, wide, reduction, inside=False)


def _l1_loss(b: Body, x: Given, y: Given, reduction: int) -> None:
    wide = x.like(_broadcast(x.shape, y.shape))
    b.call("sub", x, y, 1)
    b.call("abs", wide)
    _reduced(b, wide, reduction, inside=False)


def _kl_div(b: Body, x: Given, y: Given, reduction, log_target) -> None:
    wide = x.like(_broadcast(x.shape, y.shape))
    if log_target:
        b.call("exp", y)
        b.call("sub", y, x, 1)
        b.call("mul", y, wide)
    else:
        b.call("mul", y, x)
        b.call("xlogy", y, y)
        b.call("sub", wide, wide, 1)
    _reduced(b, wide, reduction, inside=False)


def _binary_cross_entropy(b: Body, x: Given, y, weight, reduction) -> None:
    for tensor in (x, y, x):
        b.view("squeeze", tensor)
    _reduced(b, x, reduction, inside=False)


def _with_logits(b: Body, x: Given, y: Given, *inputs) -> None:
    weight, by_sign, reduction = inputs
    if weight is not None or by_sign is not None:
        return
    b.call("log_sigmoid", x)
    b.call("sub_", x, y, 1)
    b.call("mul_", x, x)
    b.call("sub_", x, x, 1)
    _reduced(b, x, reduction, inside=False)


def _cross_entropy(
    b: Body, x: Given, target: Given, weight, reduction, ignored, smoothing
) -> None:
    dim = 0 if x.dim == 1 else 1
    b.call("log_softmax", x, dim, _C._dtype_number(x.dtype))
    if x.shape != target.shape:
        b.call("nll_loss_nd", x, target, weight, reduction, ignored)
        return
    b.call("mul", x, target)
    if weight is None and smoothing == 0 and reduction == _MEAN:
        b.call("sum", x, None)
        b.call("neg", x.like(()))
        b.call("div", x.like(()), x.numel // max(x.shape[dim], 1))


def _nll_loss_nd(b: Body, x: Given, target: Given, *inputs) -> None:
    if x.dim <= 2:
        b.call("nll_loss", x, target, *inputs)
        return
    if x.dim != 4:
        x = b.as_view(x, *x.shape[:2], 1, -1)
        target = b.as_view(target, target.shape[0], 1, -1)
    b.call("nll_loss2d", x, target, *inputs)


def _forward(name: str):
    def body(b: Body, *inputs) -> None:
        b.call(name, *inputs)

    return body


# What operators call, by their names.
CALLS = {
    **{name: _calls_of_view(name) for name in VIEWS},
    "_batch_norm_impl_index": _batch_norm_impl,
    "adaptive_avg_pool2d": _adaptive_avg_pool2d,
    "addmm": _addmm,
    "batch_norm": _batch_norm,
    "chunk": _chunk,
    "contiguous": _contiguous,
    **{f"conv{n}d": _convolution_of(False) for n in (1, 2, 3)},
    **{f"conv_transpose{n}d": _convolution_of(True) for n in (1, 2, 3)},
    "_convolution": _convolution_on_cpu,
    "_convolution_mode": _convolution_mode,
    "convolution": _convolution,
    "binary_cross_entropy": _binary_cross_entropy,
    "binary_cross_entropy_with_logits": _with_logits,
    "rms_norm": _forward("_fused_rms_norm"),
    "cross_entropy_loss": _cross_entropy,
    "dropout": _dropout,
    "einsum": _einsum,
    "embedding": _embedding,
    "flatten": _flatten,
    "group_norm": _group_norm,
    "huber_loss": _huber_loss,
    "instance_norm": _instance_norm,
    "kl_div": _kl_div,
    "l1_loss": _l1_loss,
    "layer_norm": _layer_norm,
    "log_sigmoid": _forward("log_sigmoid_forward"),
    "linear": _linear,
    "log_softmax": _softmax_of("_log_softmax"),
    "matmul": _matmul,
    "max_pool2d": _max_pool2d,
    "mean": _mean,
    "mse_loss": _mse_loss,
    "mv": _mv,
    "native_layer_norm": _native_layer_norm,
    "nll_loss": _forward("nll_loss_forward"),
    "nll_loss2d": _forward("nll_loss2d_forward"),
    "nll_loss_nd": _nll_loss_nd,
    "outer": _outer,
    "pad": _pad,
    "relu": _relu,
    "reshape": _reshape,
    "rsub": _rsub,
    **{
        f"rand{end}": _filled_by("uniform_", 0.0, 1.0, None)
        for end in ("", "_like")
    },
    **{
        f"randn{end}": _filled_by("normal_", 0.0, 1.0, None)
        for end in ("", "_like")
    },
    "smooth_l1_loss": _mse_loss,
    "softmax": _softmax_of("_softmax"),
    "split": _split,
    "stack": _stack,
    "unbind": _unbind,
}
