"""Programs that are exchanged as files, beside the layers of the database:
those of `export/` and functions with what exported programs can express.
"""

from __future__ import annotations

import dataclasses
import math
import sys
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent / "export"))

import torch
from export_table import AUTO, Entry, batch, entries, x
from own_table import more
from torch import nn
from torch.export import Dim
from torch.nn import functional as F

# A copy of another for other runs.
_LEFT_OUT = {"mobilenet_strict"}


class Call(nn.Module):
    """A function."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args, **kwargs):
        return self.function(*args, **kwargs)


@dataclasses.dataclass
class Point:
    """A result with fields."""

    place: torch.Tensor
    weight: torch.Tensor


torch.export.register_dataclass(Point, serialized_type_name="interchange.Point")


class Pair(NamedTuple):
    """A result with names."""

    low: torch.Tensor
    high: torch.Tensor


# Views and what is written through them.


def views(x):
    y = x.view(x.shape[0], 2, 3).transpose(1, 2)
    return y.reshape(x.shape[0], 6), y.diagonal(0, 1, 2), y.movedim(0, 2)


def strided(x):
    return x.as_strided((2, 3), (1, 2), 1), x.unfold(1, 3, 2), x.t()[1:, ::2]


def parts(x):
    a, b = x.chunk(2, 1)
    c, d, e = x.split([1, 2, 3], 1)
    return a * b, c + d.sum(1, True), e, x.unbind(1)[-1], x.narrow(1, 2, 3)


def expanded(x):
    return x[:, None].expand(-1, 2, -1) + x[:, :2, None], x[None, ..., -1]


def written(x):
    y = x.clone()
    y[0] = 1.5
    y[:, 1].mul_(2)
    y.t()[2:4].add_(1)
    y[:, ::3] -= 0.25
    return y


def written_rows(x):
    y = torch.zeros_like(x)
    for i, row in enumerate(x.unbind(1)):
        y[:, i] = row * i
    return y


def written_input(x, y):
    x.add_(y)
    x[0].zero_()
    y[:, :2].mul_(3)
    return x * 2


def returned_input(x, y):
    x.mul_(2)
    return x, y, x


# Indices, scatters and sorting.


def indexed(x):
    at = torch.tensor([2, 0, 1])
    return x[at], x[:, at], x[at, at], x[1:, at[:2]], x[..., None, at]


def put(x):
    y = x.clone()
    at = torch.tensor([0, 2, 2])
    y[at, at] = 4.0
    y.index_put_((at,), torch.ones(3, 6), accumulate=True)
    return y, y.index_add(1, at, x[:, :3]), y.index_fill(0, at, 0.5)


def scattered(x):
    at = x.argsort(1)
    y = torch.zeros_like(x).scatter(1, at, x)
    return y, x.gather(1, at), y.scatter_add(1, at, x), at.to(torch.int32)


def reduced(x):
    at = torch.tensor([[0, 1, 1, 0, 2, 2]]).expand(x.shape[0], 6)
    y = torch.ones(x.shape[0], 3)
    return y.scatter_reduce(1, at, x, "amax"), y.scatter_reduce(
        1, at, x, "sum", include_self=False
    )


def masked(x):
    mask = x > 0.2
    y = x.masked_fill(mask, math.inf)
    return y, torch.where(mask, x, -1), x.clamp(-0.5, 0.5), mask.any(1)


def ordered(x):
    values, places = x.sort(dim=1, descending=True, stable=True)
    top = x.topk(2, 1)
    return values, places, top.values, top.indices, x.median(1), x.kthvalue(2)


def counted(x):
    n = (x * 3).round().long().clamp(0, 5)
    return (torch.bincount(n.flatten(), minlength=6), F.one_hot(n, 6), n.cumsum(1))


# Kinds of numbers.


def types(x):
    return (
        x.double(),
        x.half(),
        x.bfloat16(),
        x.to(torch.uint8),
        x > 0,
        (x * 10).to(torch.int16),
        x.to(torch.complex64),
        x.long() // 2,
    )


def spectra(x):
    y = torch.fft.rfft(x)
    z = torch.view_as_real(y)
    return y, z, y.abs(), y.angle() * 0, torch.fft.irfft(y, n=6), y.conj() * 2j


def bits(x):
    n = x.long() * 5
    return n & 3, n | 8, n ^ 1, ~n, n << 2, n >> 1, n % 3, n // 3


def literals(x):
    table = torch.tensor([[1.0, -math.inf, math.nan], [0.1, 1e-30, 3e38]])
    return x[:, :3] + table[0, 0], table, torch.full((2,), 2**40), torch.eye(3)


def scalars(x):
    y = torch.tensor(3.5) * x + True
    return y, x.sum(), x.shape[1] * 2, 0.25, True, None


def empty(x):
    return x[:, :0], torch.zeros(0, 3), torch.cat([x[:, :0], x], 1)


def made(x):
    n = x.shape[0]
    return (
        torch.arange(n),
        torch.linspace(0, 1, 5),
        torch.ones(n, 2).tril(),
        torch.full_like(x, -1, dtype=torch.int64),
        x.new_zeros(n, 1),
    )


# Containers.


def nested(tree, pair, *, gain):
    a, (b, c) = pair
    return {
        "sum": tree["x"] + a,
        "all": [tree["more"][0] * b, (c, {"deep": tree["more"][1] * gain})],
    }


def named(x):
    return Pair(x.amin(1), x.amax(1)), {"pair": Pair(low=x, high=x + 1)}


def fields(point, scale):
    return Point(point.place * scale, point.weight + 1)


def optional(x, y=None, *, z=None):
    out = x if y is None else x + y
    return out if z is None else out * z


# Control flow and sizes.


def branches(x):
    def yes(x, y):
        return x.sin() + y, y * 2

    def no(x, y):
        return x.cos() - y, y - 1

    return torch.cond(x.sum() > 0, yes, no, (x, x + 1))


def branches_within(x):
    def high(x):
        return torch.cond(x.sum() > 5, torch.exp, lambda x: x * 3, (x,))

    return torch.cond(x.mean() > 0, high, torch.neg, (x,))


def sizes(x, y):
    n, m = x.shape[0], y.shape[0]
    z = torch.cat([x, y]).view(n + m, 2, 3)
    return z[n:], z.flatten(1)[: m * 2], x.new_full((n, m), n / m), n * m + 1


def twice(x, y):
    return x + y[::2], y.view(x.shape[0], -1)


def learned(x):
    if x.shape[0] > 1:
        return x[1:] - x[:-1]
    return x


def found_number(x):
    n = x.clamp(1, 4).sum(dtype=torch.int64).clamp(max=6).item()
    torch._check(n >= 0)
    torch._check(n <= 6)
    return torch.arange(6) * n, x * n


def found_rows(x):
    at = torch.nonzero(x > 0)
    return at, x[x > 0]


# Calculations.


def matmuls(x):
    y = x @ x.t()
    z = torch.einsum("bi,bj->bij", x, x)
    return (
        y,
        z.bmm(z),
        torch.baddbmm(z, z, z, beta=0.5),
        torch.addmm(y, x, x.t(), alpha=0.1),
        x[0].outer(x[1]),
        x.mv(x[0]),
    )


def matrices(x):
    y = x.view(x.shape[0], 2, 3)
    z = y @ y.mT + 3 * torch.eye(2)
    return (
        torch.linalg.inv(z),
        torch.linalg.cholesky(z),
        torch.linalg.det(z),
        torch.linalg.solve(z, y),
        torch.linalg.vector_norm(x, 3, 1),
    )


def specials(x):
    y = x.abs() + 0.5
    return (
        torch.special.erfinv(x.tanh()),
        y.lgamma(),
        torch.special.bessel_j0(x),
        torch.xlogy(y, y),
        y.digamma(),
        x.sinc(),
        torch.special.ndtri(0.5 * x.sigmoid()),
    )


def statistics(x):
    return (
        x.std(1),
        x.var(0, correction=0),
        x.logsumexp(1),
        x.prod(1),
        torch.cov(x),
        x.quantile(0.3, 1),
        x.cummax(1),
        x.nansum(),
        x.softmax(-1),
        F.log_softmax(x, 0),
        torch.cdist(x, x + 1),
    )


def pictures(x):
    y = x.reshape(-1, 1, 4, 6)
    n = y.shape[0]
    turn = torch.eye(2, 3)[None].expand(n, 2, 3)
    grid = F.affine_grid(turn, (n, 1, 3, 3), align_corners=False)
    return (
        F.interpolate(y, scale_factor=2, mode="bilinear"),
        F.interpolate(y, (3, 5), mode="nearest"),
        F.pixel_unshuffle(y, 2),
        F.grid_sample(y, grid, align_corners=False),
        F.pad(y, (1, 2, 0, 1), "reflect"),
        F.unfold(y, (2, 3)),
        F.adaptive_max_pool2d(y, 2),
        F.max_pool2d(y, 2, return_indices=True),
    )


def attention(x):
    q = x.view(x.shape[0], 2, 3, 4)
    mask = torch.ones(3, 3, dtype=torch.bool).tril()
    return F.scaled_dot_product_attention(
        q, q * 2, q, attn_mask=mask
    ), F.scaled_dot_product_attention(q, q, q, is_causal=True, scale=0.3)


def losses(x, y):
    logs = x.log_softmax(1)[:, None].expand(-1, 2, -1)
    lengths = torch.full((2,), x.shape[0])
    return (
        F.cross_entropy(x, y, label_smoothing=0.1),
        F.nll_loss(x, y, ignore_index=1),
        F.smooth_l1_loss(x, x * 0.5, beta=0.3),
        F.kl_div(x, x.exp(), reduction="batchmean"),
        F.gaussian_nll_loss(x, x + 1, x.exp()),
        F.ctc_loss(logs, y[:4].view(2, 2) % 5 + 1, lengths, torch.tensor([2, 1])),
    )


def activations(x):
    return (
        F.gelu(x),
        F.gelu(x, approximate="tanh"),
        F.silu(x),
        F.mish(x),
        F.hardswish(x),
        F.elu(x, 0.7),
        F.leaky_relu(x, 0.2),
        F.softplus(x, 2, 1),
        F.glu(x),
        F.hardtanh(x, -0.3, 0.4),
        F.celu(x),
        F.prelu(x, x[0, :1]),
        F.threshold(x, 0.1, -2),
        F.softshrink(x, 0.3),
        F.normalize(x, 1),
    )


def mixed(x):
    """The bytes of elements within autocast and without."""
    with torch.autocast("cpu", dtype=torch.bfloat16):
        low = torch.mm(x, x.t())
        with torch.autocast("cpu", enabled=False):
            high = torch.mm(x, x.t())
    zero = low.to(torch.float32) * 0
    return zero + low.element_size(), high, zero + high.element_size()


def ranged(x):
    with torch.profiler.record_function("outer"):
        y = x + 1
        with torch.profiler.record_function("inner"):
            y = y * 2
    return y


def fields_of_results(x):
    best = torch.max(x, dim=0)
    lines = torch.sort(x, descending=True)
    split = torch.linalg.slogdet(x[:3, :3])
    return best.values, best.indices, lines.values, split.logabsdet


class Held(nn.Module):
    """Parameters in containers, some that do not learn, and a plain tensor."""

    def __init__(self):
        super().__init__()
        self.rows = nn.ParameterList([torch.randn(6) for _ in range(2)])
        self.by_name = nn.ParameterDict({"gain": torch.randn(6)})
        self.still = nn.Parameter(torch.randn(6), requires_grad=False)
        self.layers = nn.ModuleList([nn.Linear(6, 6), nn.Linear(6, 6)])
        self.register_buffer("scale", torch.randn(6))
        self.plain = torch.arange(6.0)

    def forward(self, x):
        for layer, row in zip(self.layers, self.rows):
            x = layer(x) * row
        return x * self.by_name["gain"] + self.still * self.scale + self.plain


class Counts(nn.Module):
    """Buffers that calls change: one grows, one is replaced, one is a flag."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))
        self.register_buffer("mean", torch.zeros(6))
        self.register_buffer("seen", torch.zeros(6, dtype=torch.bool))

    def forward(self, x):
        self.calls += 1
        self.mean.lerp_(x.mean(0), 0.25)
        self.seen.logical_or_(x.amax(0) > 0.5)
        return x * self.calls + self.mean, self.seen.sum()


class Normed(nn.Module):
    """Parametrized weights, and one layer at two places."""

    def __init__(self):
        super().__init__()
        weight_norm = nn.utils.parametrizations.weight_norm
        self.first = weight_norm(nn.Linear(6, 6))
        self.again = self.first

    def forward(self, x):
        return self.again(self.first(x).relu())


_BATCHED = [
    views,
    strided,
    parts,
    expanded,
    written,
    written_rows,
    indexed,
    put,
    scattered,
    reduced,
    masked,
    ordered,
    counted,
    types,
    spectra,
    bits,
    literals,
    scalars,
    empty,
    made,
    named,
    branches,
    branches_within,
    learned,
    found_number,
    found_rows,
    matmuls,
    matrices,
    specials,
    statistics,
    activations,
    mixed,
    ranged,
    fields_of_results,
]
_STILL = {ordered, found_number, found_rows, strided, put, reduced}


def functions() -> list[Entry]:
    """Lists functions that take a batch of rows, then the others."""
    out = [
        Entry(
            f.__name__,
            lambda f=f: Call(f),
            x(6),
            (({0: AUTO},),) if f not in _STILL else None,
            (3, 5) if f not in _STILL else (3, 3),
        )
        for f in _BATCHED
    ]
    two = lambda n: (torch.randn(n, 6), torch.randn(n, 6))  # noqa: E731
    size = Dim("size", min=2, max=64)

    def tree(n):
        one, two, three, four, five, six = torch.randn(6, n, 4).unbind(0)
        given = {"x": one, "more": [two, three]}
        return given, (four, (five, six)), {"gain": torch.randn(4)}

    return [
        *out,
        Entry(
            "written_input", lambda: Call(written_input), two, (({0: AUTO}, {0: AUTO}),)
        ),
        Entry(
            "returned_input",
            lambda: Call(returned_input),
            two,
            (({0: AUTO}, {0: AUTO}),),
        ),
        Entry("nested", lambda: Call(nested), tree, None, (3, 3)),
        Entry(
            "fields",
            lambda: Call(fields),
            lambda n: (Point(*two(n)), torch.randn(6)),
            None,
            (3, 3),
        ),
        Entry(
            "optional",
            lambda: Call(optional),
            lambda n: (torch.randn(n, 6), {"z": torch.randn(6)}),
            None,
            (3, 3),
        ),
        Entry(
            "sizes_of_two",
            lambda: Call(sizes),
            lambda n: (torch.randn(n, 6), torch.randn(n + 1, 6)),
            (({0: AUTO}, {0: AUTO}),),
        ),
        Entry(
            "twice",
            lambda: Call(twice),
            lambda n: (torch.randn(n, 6), torch.randn(2 * n, 6)),
            (({0: size}, {0: 2 * size}),),
        ),
        Entry("pictures", lambda: Call(pictures), x(24), (({0: AUTO},),)),
        Entry("attention", lambda: Call(attention), x(24), (({0: AUTO},),)),
        Entry(
            "losses",
            lambda: Call(losses),
            lambda n: (torch.randn(n, 6), torch.arange(n) % 6),
            None,
            (5, 5),
        ),
        Entry("held", Held, x(6), batch()),
        Entry("counts", Counts, x(6), batch()),
        Entry("normed", Normed, x(6), batch()),
    ]


def _all() -> dict[str, Entry]:
    rows = [*entries(), *more(), *functions()]
    found = {e.name: e for e in rows if e.name not in _LEFT_OUT}
    assert len(found) == len(rows) - len(_LEFT_OUT), "a name is there twice"
    return found


PROGRAMS = _all()
