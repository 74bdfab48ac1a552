"""The products of matrices that operators are made of.

hotaru's linear, matmul, einsum, attention and recurrent layers are one
operator each; counted are the products PyTorch makes of them, and those of
their derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import prod

from .._function_schema.signatures import signature
from ..functional import broadcast_shapes


@dataclass(frozen=True)
class Product:
    """A product of (a batch of) matrices of tensors of a call.

    `left` and `right` are the positions, among the tensors of the call, of
    those that the two factors depend on.
    """

    a: tuple
    b: tuple
    left: frozenset
    right: frozenset
    added: bool = False

    @property
    def name(self) -> str:
        """The operator that makes it."""
        if self.added:
            return "addmm" if len(self.a) == 2 else "baddbmm"
        return self.backward_name

    @property
    def backward_name(self) -> str:
        """The operator that makes its gradients."""
        return "mm" if len(self.a) == 2 else "bmm"

    @property
    def out(self) -> tuple:
        """The shape of the result."""
        return (*self.a[:-1], self.b[-1])

    def shapes(self) -> tuple:
        """Shapes of the arguments of the operator."""
        return ((self.out,) if self.added else ()) + (self.a, self.b)

    def gradients(self, wanted: set) -> list[tuple]:
        """The shapes of the products that are the gradients of its factors."""
        found = []
        if self.left & wanted:
            found.append((self.out, _t(self.b)))
        if self.right & wanted:
            found.append((_t(self.a), self.out))
        return found


def of(packet: str, overload, args: tuple, kwargs: dict) -> list[Product]:
    """Products of an operator's call; empty if it multiplies no matrices."""
    make = _OF.get(packet)
    return make(*_bound(overload, args, kwargs)) if make else []


def _bound(overload, args, kwargs) -> list:
    """All arguments in order, None where a value is missing."""
    parameters = signature(overload._text).parameters.values()
    given = dict(zip((p.name for p in parameters), args))
    given.update(kwargs)
    return [
        given.get(p.name, None if p.default is p.empty else p.default)
        for p in parameters
    ]


def _t(shape: tuple) -> tuple:
    return (*shape[:-2], shape[-1], shape[-2])


def _pair(a, b, left=0, right=1, added=False) -> list[Product]:
    return [Product(tuple(a), tuple(b), frozenset([left]), frozenset([right]), added)]


def _plain(a, b, *rest) -> list[Product]:
    return _pair(a.shape, b.shape)


def _added(self, a, b, *rest) -> list[Product]:
    return _pair(a.shape, b.shape, 1, 2, added=True)


def _addbmm(self, a, b, *rest) -> list[Product]:
    return _pair(a.shape, b.shape, 1, 2)


def _linear(x, weight, bias=None, *rest) -> list[Product]:
    rows = prod(x.shape[:-1])
    a, b = (rows, x.shape[-1]), tuple(reversed(weight.shape))
    return _pair(a, b, added=bias is not None) if len(b) == 2 else []


def _matmul(x, y, *rest) -> list[Product]:
    a, b = tuple(x.shape), tuple(y.shape)
    if len(b) < 2 or (len(a) == 1 and len(b) > 2):
        return []  # with vectors
    if len(b) == 2:
        return _pair((prod(a[:-1]), a[-1]), b)
    if len(a) == 2:
        return _pair(a, (b[-2], prod(b[:-2]) * b[-1]))
    batch = prod(broadcast_shapes(a[:-2], b[:-2]))
    return _pair((batch, *a[-2:]), (batch, *b[-2:]))


def _tensordot(x, y, dims_x, dims_y, *rest) -> list[Product]:
    inner = prod(x.shape[d] for d in dims_x)
    a = (x.numel() // max(inner, 1), inner)
    return _pair(a, (inner, y.numel() // max(inner, 1)))


def _inner(x, y, *rest) -> list[Product]:
    if x.dim() < 2 or y.dim() < 2:
        return []
    size = x.shape[-1]
    return _pair((prod(x.shape[:-1]), size), (size, prod(y.shape[:-1])))


def _attention(query, key, value, *rest) -> list[Product]:
    batch = prod(query.shape[:-2])
    length, size = query.shape[-2:]
    places = key.shape[-2]
    weights = Product(
        (batch, length, size), (batch, size, places), frozenset([0]), frozenset([1])
    )
    sums = Product(
        weights.out, (batch, places, value.shape[-1]), frozenset([0, 1]), frozenset([2])
    )
    return [weights, sums]


def _chain(matrices, *rest) -> list[Product]:
    """In the order that takes the fewest operations."""
    shapes = [tuple(m.shape) for m in matrices]
    if len(shapes) < 2:
        return []
    if len(shapes[0]) == 1:
        shapes[0] = (1, *shapes[0])
    if len(shapes[-1]) == 1:
        shapes[-1] = (*shapes[-1], 1)

    @cache
    def best(first: int, last: int) -> tuple[int, tuple]:
        if first == last:
            return 0, ()
        found = []
        for cut in range(first, last):
            made = Product(
                (shapes[first][0], shapes[cut][1]),
                (shapes[cut][1], shapes[last][1]),
                frozenset(range(first, cut + 1)),
                frozenset(range(cut + 1, last + 1)),
            )
            one, other = best(first, cut), best(cut + 1, last)
            cost = one[0] + other[0] + prod(made.a) * made.b[1]
            found.append((cost, (*one[1], *other[1], made)))
        return min(found, key=lambda x: x[0])

    return list(best(0, len(shapes) - 1)[1])


def _einsum(equation: str, tensors, *rest) -> list[Product]:
    """Factor by factor from the left."""
    left, arrow, out = equation.replace(" ", "").partition("->")
    terms = [_letters(term, t.dim()) for term, t in zip(left.split(","), tensors)]
    sizes: dict = {}
    for term, tensor in zip(terms, tensors):
        for letter, size in zip(term, tensor.shape):
            sizes[letter] = max(size, sizes.get(letter, 1))
    every = [letter for term in terms for letter in term]
    kept = (
        set(out.replace("...", ""))
        if arrow
        else {x for x in every if every.count(x) == 1}
    ) | {x for x in every if isinstance(x, int)}
    found = []
    have, sources = set(terms[0]), {0}
    for place, term in enumerate(terms[1:], 1):
        later = kept.union(*terms[place + 1 :])
        a, b = have, set(term)
        summed = (a & b) - later
        have = (a | b) & later
        if summed:
            a, b = a & (later | b), b & (later | a)
            found.append(_contraction(a, b, summed, sizes, sources, place))
        sources = sources | {place}
    return found


def _letters(term: str, dims: int) -> list:
    """With numbers, counted from the last, for what `...` stands for."""
    before, dots, behind = term.partition("...")
    if not dots:
        return list(term)
    others = dims - len(before) - len(behind)
    return [*before, *range(others, 0, -1), *behind]


def _contraction(a, b, summed, sizes, sources, place) -> Product:
    def size(letters) -> int:
        return prod(sizes[x] for x in letters)

    batch, inner = size((a & b) - summed), size(summed)
    return Product(
        (batch, size(a - b), inner),
        (batch, inner, size(b - a)),
        frozenset(sources),
        frozenset([place]),
    )


def _cell(x, hidden, input_weight, hidden_weight, *rest) -> list[Product]:
    state = hidden[0] if isinstance(hidden, (tuple, list)) else hidden
    behind = 1 + (len(hidden) if state is not hidden else 1)
    return _linear_at(x, input_weight, 0, behind) + _linear_at(
        state, hidden_weight, 1, behind + 1
    )


def _linear_at(x, weight, left, right) -> list[Product]:
    rows = prod(x.shape[:-1])
    a, b = (rows, x.shape[-1]), tuple(reversed(weight.shape))
    return _pair(a, b, left, right, added=True)


def _layers(x, states, weights, *rest) -> list[Product]:
    """Every weight meets every row once, the state of a later step depends on
    all that came before.
    """
    packed = not isinstance(weights, (list, tuple))
    if packed:  # (data, batch_sizes, states, weights, ...)
        states, weights = weights, rest[0]
    count = len(states) if isinstance(states, (list, tuple)) else 1
    first = 1 + packed + count
    rows = prod(x.shape[:-1])
    # Rows of the first step, where the state is the one that was given.
    given = (states[0] if count > 1 else states).shape[-2]
    seen: list[list[Product]] = []
    for place, weight in enumerate(weights):
        if weight.dim() != 2:
            continue
        outputs, inputs = weight.shape
        before = frozenset(range(first, first + place))
        if len(seen) % 2 == 0:  # from the layer below
            left = before | {0}
            parts = [(rows, left)]
        else:
            parts = [
                (given, frozenset([1 + packed])),
                (rows - given, before | {0, 1 + packed}),
            ]
        made = [
            Product(
                (n, inputs),
                (inputs, outputs),
                left,
                frozenset([first + place]),
                added=True,
            )
            for n, left in parts
        ]
        seen.append(made)
    return [product for made in seen for product in made]


_OF: dict[str, Callable] = {
    "mm": _plain,
    "bmm": _plain,
    "addmm": _added,
    "baddbmm": _added,
    "addbmm": _addbmm,
    "linear": _linear,
    "matmul": _matmul,
    "tensordot": _tensordot,
    "inner": _inner,
    "einsum": _einsum,
    "scaled_dot_product_attention": _attention,
    "chain_matmul": _chain,
    "linalg_multi_dot": _chain,
    "lstm": _layers,
    "gru": _layers,
    "rnn_tanh": _layers,
    "rnn_relu": _layers,
    "lstm_cell": _cell,
    "gru_cell": _cell,
    "rnn_tanh_cell": _cell,
    "rnn_relu_cell": _cell,
}
