"""Pooling."""

from __future__ import annotations

from .ops_conv import _each
from .table import row
from .values import Val


def _pads(x: Val, kernel, stride, padding, dilation, ceil_mode: bool) -> list:
    """Padding of both sides; what `ceil_mode` adds is on the right."""
    out = []
    sizes = x.shape[x.rank - len(kernel) :]
    for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation):
        more = 0
        if ceil_mode:
            span = n + 2 * p - (k - 1) * d - 1
            count = -(-span // s) + 1
            if (count - 1) * s >= n + p:  # it would begin in the padding
                count -= 1
            more = max((count - 1) * s - span, 0)
        out.append([p, p + more])
    return out


def _axes(x: Val, kernel) -> int:
    """How many axes are pooled: with a batch all but two."""
    if isinstance(kernel, int) or len(kernel) == 1:
        return x.rank - 2 if x.rank > 2 else 1
    return len(kernel)


def _windows(w, op, x, kernel, stride, pads, dilation) -> Val:
    before = x.rank - len(kernel)
    ones = [1] * before
    return w.window(
        op,
        x,
        [*ones, *kernel],
        [*ones, *stride],
        [[0, 0]] * before + pads,
        [*ones, *dilation],
    )


@row("max_pool1d", "max_pool2d", "max_pool3d")
def max_pool(w, self, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False):
    n = _axes(self, kernel_size)
    kernel = _each(kernel_size, n)
    stride = _each(stride, n) if stride else kernel
    dilation = _each(dilation, n)
    pads = _pads(self, kernel, stride, _each(padding, n), dilation, ceil_mode)
    return _windows(w, "maximum", self, kernel, stride, pads, dilation)


@row("avg_pool1d", "avg_pool2d", "avg_pool3d")
def avg_pool(
    w,
    self,
    kernel_size,
    stride=None,
    padding=0,
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
):
    n = _axes(self, kernel_size)
    kernel = _each(kernel_size, n)
    stride = _each(stride, n) if stride else kernel
    padding, ones = _each(padding, n), [1] * n
    pads = _pads(self, kernel, stride, padding, ones, ceil_mode)
    out = _windows(w, "add", self, kernel, stride, pads, ones)
    if divisor_override is not None:
        return w.binary("divide", out, divisor_override)
    for i in range(n):
        dim = self.rank - n + i
        counts = _counts(
            self.shape[dim],
            out.shape[dim],
            kernel[i],
            stride[i],
            padding[i],
            count_include_pad,
        )
        if len(set(counts)) == 1:
            out = w.binary("divide", out, counts[0])
        else:
            counts = w.vector(counts, out.dtype)
            out = w.binary("divide", out, w.spread(counts, out.shape, [dim]))
    return out


def _counts(size, outputs, kernel, stride, padding, with_padding) -> list:
    """By what windows of one axis divide."""
    low = -padding if with_padding else 0
    high = size + padding if with_padding else size
    out = []
    for i in range(outputs):
        begin = i * stride - padding
        out.append(min(begin + kernel, high) - max(begin, low))
    return out


def along(w, x: Val, dim: int, matrix) -> Val:
    """The product of a matrix (outputs, inputs) with one dimension of x."""
    weights = w.vector(matrix, x.dtype)
    out = w.dot(x, weights, over=([dim], [1]))
    order = list(range(x.rank - 1))
    order.insert(dim, x.rank - 1)
    return w.transpose(out, order)


@row("adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d")
def adaptive_avg_pool(w, self, output_size):
    sizes = _each(output_size, 1)
    first = self.rank - len(sizes)
    out = self
    if all(n == 1 for n in sizes):
        dims = list(range(first, self.rank))
        total = w.reduce("add", out, dims, keep=True)
        count = 1
        for d in dims:
            count *= self.shape[d]
        return w.binary("divide", total, count)
    for i, n in enumerate(sizes):
        size = self.shape[first + i]
        if n == size:
            continue
        matrix = []
        for o in range(n):
            begin, end = o * size // n, -(-(o + 1) * size // n)
            part = 1 / (end - begin)
            matrix.append([part * (begin <= j < end) for j in range(size)])
        out = along(w, out, first + i, matrix)
    return out
