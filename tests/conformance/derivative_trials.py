"""Derivatives of a program in every mode, at points where formulas break.

Both sides run this over their own `torch`. A program is a function of the
tensors that require grad; vectors are made of cosines, so that neither side has
to tell the other its own.
"""

from __future__ import annotations

from module_trials import tensors_in
from plain import Decoder, resolve


def as_it_is(torch, x):
    return x


def zeros(torch, x):
    return torch.zeros_like(x)


def two_zeros(torch, x):
    """Where a product's gradient is 0 and its second derivative is not."""
    if x.numel() < 3:
        return None
    flat = x.flatten().clone()
    flat[0] = flat[x.numel() // 2] = 0
    return flat.view(x.shape)


def ties(torch, x):
    """Equal elements: extremes, sorts and distances have more than one."""
    if x.numel() < 2:
        return None
    return torch.full_like(x, x.flatten()[0].item())


def singular(torch, x):
    """Matrices of a rank less than full."""
    if x.dim() < 2 or x.shape[-1] != x.shape[-2] or x.shape[-1] < 2:
        return None
    x = x.clone()
    x[..., -1, :] = x[..., 0, :]
    return x


def infinite(torch, x):
    if not x.numel():
        return None
    flat = x.flatten().clone()
    flat[-1] = float("inf")
    return flat.view(x.shape)


POINTS = (as_it_is, zeros, two_zeros, ties, singular, infinite)


def call(torch, name: str, args, kwargs):
    """A step of a program; properties are named with `.__get__`."""
    if name.endswith(".__get__"):
        return getattr(args[0], name.split(".")[-2])
    if name.endswith(".__set__"):
        return setattr(args[0], name.split(".")[-2], args[1])
    return resolve(torch, name)(*args, **kwargs)


def vector(torch, x, start: int):
    """A direction in the space of `x`, the `start`-th."""
    n = x.numel()
    t = torch.arange(n, dtype=torch.float64) * 1.7 + start
    v = t.cos()
    if x.is_complex():
        v = torch.complex(v, (t * 0.6).sin())
    return v.view(x.shape).to(x.dtype)


class Program:
    """A recorded program as a function of the tensors that require grad."""

    def __init__(self, torch, case, tensors):
        first, count = case["first"], case["count"]
        self.torch, self.case = torch, case
        self.given = [x.clone() for x in tensors[first : first + count]]
        self.places = [i for i, n in enumerate(case["needs"]) if n]
        self.outs = case.get("outs")

    def point(self) -> list:
        """The tensors that are differentiated for, where the case says."""
        change = {p.__name__: p for p in POINTS}[self.case["point"]]
        out = []
        for i in self.places:
            moved = change(self.torch, self.given[i])
            out.append(self.given[i] if moved is None else moved)
        return out

    def everything(self, *xs):
        inputs = [x.clone() for x in self.given]
        for i, x in zip(self.places, xs):
            inputs[i] = x
        decode = Decoder(self.torch, inputs)
        self.torch.manual_seed(0)
        for name, args, kwargs in self.case["steps"]:
            args, kwargs = decode(args), decode(kwargs)
            decode.results.append(call(self.torch, name, args, kwargs))
        return tensors_in(self.torch, decode(self.case["result"]))

    def __call__(self, *xs):
        """Returns the results that are differentiable, as `outs` says."""
        results = self.everything(*xs)
        return tuple(results[i] for i in self.outs)

    def cotangents(self, xs, start: int = 5) -> tuple:
        return tuple(
            vector(self.torch, y.detach(), start + 1 + i)
            for i, y in enumerate(self(*xs))
        )

    def tangents(self, xs, start: int = 0) -> tuple:
        return tuple(vector(self.torch, x, start + i) for i, x in enumerate(xs))


def leaves(xs) -> list:
    return [x.detach().clone().requires_grad_() for x in xs]


def reverse(torch, f, xs):
    """The gradients."""
    c = f.cotangents(xs)
    xs = leaves(xs)
    return torch.autograd.grad(f(*xs), xs, c, allow_unused=True)


def second(torch, f, xs):
    """The gradients of the gradients, for inputs and cotangents."""
    c = leaves(f.cotangents(xs))
    xs = leaves(xs)
    first = torch.autograd.grad(f(*xs), xs, c, allow_unused=True, create_graph=True)
    again = [g for g in first if g is not None and g.requires_grad]
    if not again:
        return ()
    v = [vector(torch, g.detach(), 3 + i) for i, g in enumerate(again)]
    return torch.autograd.grad(again, [*xs, *c], v, allow_unused=True)


def forward(torch, f, xs):
    """Tangents in forward mode."""
    return torch.func.jvp(f, tuple(xs), f.tangents(xs))[1]


def still(torch, f, xs):
    """Tangents of zeros."""
    zero = tuple(torch.zeros_like(x) for x in xs)
    return torch.func.jvp(f, tuple(xs), zero)[1]


def forward_reverse(torch, f, xs):
    """A Hessian's product as the tangents of gradients."""
    c = f.cotangents(xs)
    gradients = lambda *x: torch.func.vjp(f, *x)[1](c)  # noqa: E731
    return torch.func.jvp(gradients, tuple(xs), f.tangents(xs))[1]


def reverse_forward(torch, f, xs):
    """A Hessian's product as the gradients of tangents."""
    v, c = f.tangents(xs), f.cotangents(xs)
    tangents = lambda *x: torch.func.jvp(f, x, v)[1]  # noqa: E731
    return torch.func.vjp(tangents, *xs)[1](c)


def forward_forward(torch, f, xs):
    """Tangents of tangents."""
    v, w = f.tangents(xs), f.tangents(xs, 9)
    tangents = lambda *x: torch.func.jvp(f, x, v)[1]  # noqa: E731
    return torch.func.jvp(tangents, tuple(xs), w)[1]


def hessian(torch, f, xs):
    """The whole Hessian of the first input, if it is small and real."""
    if xs[0].numel() > 12 or xs[0].is_complex():
        return None
    c = f.cotangents(xs)

    def scalar(x):
        return sum(
            (a * b).real.sum() if b.is_complex() else (a * b).sum()
            for a, b in zip(f(x, *xs[1:]), c)
        )

    return torch.func.hessian(scalar)(xs[0])


MODES = (
    reverse,
    second,
    forward,
    still,
    forward_reverse,
    reverse_forward,
    forward_forward,
    hessian,
)


_STEP = 1e-4


def slope(torch, f, xs, vs) -> list:
    """Derivative along `vs` of a function of several tensors, by central
    differences of the fourth order: errors of the step's fourth power.
    """

    def at(t):
        return f(*(x + v * t for x, v in zip(xs, vs)))

    near = zip(at(_STEP), at(-_STEP), at(2 * _STEP), at(-2 * _STEP))
    return [(8 * (a - b) - (c - d)) / (12 * _STEP) for a, b, c, d in near]


def gradients_of(torch, f, xs, c) -> list:
    """The gradients at `xs` for cotangents `c`; zeros where there is none."""
    xs = leaves(xs)
    found = torch.autograd.grad(f(*xs), xs, c, allow_unused=True)
    return [torch.zeros_like(x) if g is None else g for x, g in zip(xs, found)]


def dot(torch, xs, ys):
    """The real inner product of two lists of tensors."""
    products = [(x.conj() * y).real.sum() for x, y in zip(xs, ys) if x is not None]
    return sum(products, torch.zeros((), dtype=torch.float64))


def differences(torch, mode, f, xs, got):
    """Computes by central differences what `got`, derivatives that a mode
    found, should be: (derivatives, numbers to compare with); None where they
    can't tell. Gradients are compared along one direction.
    """
    v, c = f.tangents(xs), f.cotangents(xs)
    plain = lambda *x: [y.detach() for y in f(*x)]  # noqa: E731
    gradients = lambda *x: gradients_of(torch, f, x, c)  # noqa: E731
    if mode is still:
        return got, [torch.zeros_like(y) for y in plain(*xs)]
    if mode is forward:
        return got, slope(torch, plain, xs, v)
    if mode in (forward_reverse, reverse_forward):
        return got, slope(torch, gradients, xs, v)
    if mode is forward_forward:
        w = f.tangents(xs, 9)
        along = lambda *x: torch.func.jvp(f, x, v)[1]  # noqa: E731
        return got, slope(torch, along, xs, w)
    if mode is hessian:
        rows = []
        for i in range(xs[0].numel()):
            e = [torch.zeros_like(x) for x in xs]
            e[0].reshape(-1)[i] = 1
            rows.append(slope(torch, gradients, xs, e)[0].flatten())
        return got, [torch.stack(rows, -1).view(xs[0].shape + xs[0].shape)]
    if mode is reverse:
        return [dot(torch, got, v)], [dot(torch, slope(torch, plain, xs, v), c)]
    return second_along(torch, f, xs, got)


def second_along(torch, f, xs, got):
    """The same for gradients of gradients."""
    n, c = len(xs), f.cotangents(xs)
    start = leaves(xs)
    first = torch.autograd.grad(
        f(*start), start, leaves(c), allow_unused=True, create_graph=True
    )
    kept = [i for i, g in enumerate(first) if g is not None and g.requires_grad]
    v = [vector(torch, xs[i], 3 + k) for k, i in enumerate(kept)]

    def weighed(*x):
        found = gradients_of(torch, f, x[:n], x[n:])
        return [dot(torch, [found[i] for i in kept], v)]

    everything = [*xs, *c]
    w = [vector(torch, x, 20 + i) for i, x in enumerate(everything)]
    return [dot(torch, got, w)], slope(torch, weighed, everything, w)


def transposed(torch, mode, f, xs, got):
    """Pairs that are equal if modes agree: tangents and gradients are one
    matrix and its transpose, and both ways to a Hessian's product are that of
    the gradients of gradients. (numbers, numbers); None for other modes.
    """
    v, c = f.tangents(xs), f.cotangents(xs)
    if mode is forward:
        found = gradients_of(torch, f, xs, c)
        return [dot(torch, c, got)], [dot(torch, found, v)]
    if mode in (forward_reverse, reverse_forward):
        xs = leaves(xs)
        first = torch.autograd.grad(f(*xs), xs, c, allow_unused=True, create_graph=True)
        pairs = [(g, w) for g, w in zip(first, v) if g is not None and g.requires_grad]
        if not pairs:
            return got, [torch.zeros_like(x) for x in xs]
        found = torch.autograd.grad(
            [g for g, _ in pairs], xs, [w for _, w in pairs], allow_unused=True
        )
        return got, [torch.zeros_like(x) if g is None else g for x, g in zip(xs, found)]
    return None
