"""StableHLO's instructions, a line each."""

from __future__ import annotations

from .. import bool as bool_
from .. import float32, int64
from .kinds import broadcast_shape, neutral, numbers, promoted
from .lines import Lines
from .values import NAMES, NotWritten, Val, type_text


class Writer(Lines):
    """Writes a function: instructions give `Val`s, `text` all of it.

    Operands have the types that StableHLO wants, or are numbers; only `cast`
    and `promote` change dtypes.
    """

    # --- element by element ---

    def unary(self, op: str, x: Val) -> Val:
        return self.emit(
            f"stablehlo.{op} {self.use(x)} : {self.type(x)}", x.shape, x.dtype
        )

    def binary(self, op: str, x: Val, y: Val) -> Val:
        """Combines tensors with the same type, or a number in the place of
        one.
        """
        x, y = self._pair(x, y)
        return self.emit(
            f"stablehlo.{op} {self.use(x)}, {self.use(y)} : {self.type(x)}",
            x.shape,
            x.dtype,
        )

    def _pair(self, x, y) -> tuple:
        if not isinstance(x, Val):
            x = self.full(x, y.shape, y.dtype)
        if not isinstance(y, Val):
            y = self.full(y, x.shape, x.dtype)
        if x.shape != y.shape:
            shape = broadcast_shape(x.shape, y.shape)
            x, y = self.expand(x, shape), self.expand(y, shape)
        if x.dtype != y.dtype:
            raise NotWritten(f"operands of {x.dtype} and {y.dtype}")
        return x, y

    def compare(self, which: str, x, y) -> Val:
        x, y = self._pair(x, y)
        kind = "FLOAT" if x.floating else "SIGNED"
        if NAMES[x.dtype] in ("i1", "ui8"):
            kind = "UNSIGNED"
        text = f"compare {which}, {self.use(x)}, {self.use(y)}, {kind}"
        return self.op(text, (x, y), x.shape, bool_)

    def where(self, condition: Val, x, y) -> Val:
        x, y = self._pair(x, y)
        shape = broadcast_shape(condition.shape, x.shape)
        condition = self.expand(condition, shape)
        x, y = self.expand(x, shape), self.expand(y, shape)
        names = f"{self.use(condition)}, {self.use(x)}, {self.use(y)}"
        types = f"{self.type(condition)}, {self.type(x)}"
        return self.emit(f"stablehlo.select {names} : {types}", shape, x.dtype)

    def cast(self, x: Val, dtype) -> Val:
        if dtype is None or x.dtype == dtype:
            return x
        if dtype == bool_:
            return self.compare("NE", x, 0)
        return self.op(f"convert {self.use(x)}", (x,), x.shape, dtype)

    def promote(self, *values, floating: bool = False) -> list[Val]:
        """Tensors and numbers with the dtype that PyTorch gives them."""
        dtype = promoted(*values)
        if floating and not dtype.is_floating_point:
            dtype = float32
        return [
            self.cast(v, dtype) if isinstance(v, Val) else self.full(v, (), dtype)
            for v in values
        ]

    # --- shapes ---

    def reshape(self, x: Val, shape) -> Val:
        if x.shape == tuple(shape):
            return x
        return self.op(f"reshape {self.use(x)}", (x,), shape, x.dtype)

    def transpose(self, x: Val, order) -> Val:
        if list(order) == list(range(x.rank)):
            return x
        shape = [x.shape[i] for i in order]
        text = f"transpose {self.use(x)}, dims = {list(order)}"
        return self.op(text, (x,), shape, x.dtype)

    def spread(self, x: Val, shape, dims) -> Val:
        """`x` with its dimension i as `dims[i]` of the result."""
        if x.shape == tuple(shape) and list(dims) == list(range(x.rank)):
            return x
        text = f"broadcast_in_dim {self.use(x)}, dims = {list(dims)}"
        return self.op(text, (x,), shape, x.dtype)

    def expand(self, x: Val, shape) -> Val:
        """Broadcast to a shape of as many dimensions or more."""
        first = len(shape) - x.rank
        return self.spread(x, shape, range(first, len(shape)))

    def slice(self, x: Val, begins, ends, steps=None) -> Val:
        steps = steps or [1] * x.rank
        parts = [
            f"{b}:{e}:{s}" if s != 1 else f"{b}:{e}"
            for b, e, s in zip(begins, ends, steps)
        ]
        shape = [max(0, -(-(e - b) // s)) for b, e, s in zip(begins, ends, steps)]
        text = f"slice {self.use(x)} [{', '.join(parts)}]"
        return self.op(text, (x,), shape, x.dtype)

    def cut(self, x: Val, dim: int, begin: int, end: int, step=1) -> Val:
        """A range of one dimension."""
        begins, ends = [0] * x.rank, list(x.shape)
        steps = [1] * x.rank
        begins[dim], ends[dim], steps[dim] = begin, end, step
        return self.slice(x, begins, ends, steps)

    def concatenate(self, values, dim: int) -> Val:
        if len(values) == 1:
            return values[0]
        shape = list(values[0].shape)
        shape[dim] = sum(v.shape[dim] for v in values)
        names = ", ".join(map(self.use, values))
        text = f"concatenate {names}, dim = {dim}"
        return self.op(text, values, shape, values[0].dtype)

    def reverse(self, x: Val, dims) -> Val:
        text = f"stablehlo.reverse {self.use(x)}, dims = {list(dims)}"
        return self.emit(f"{text} : {self.type(x)}", x.shape, x.dtype)

    def pad(self, x: Val, value, low, high, interior=None) -> Val:
        """With a number around, and between where `interior` says."""
        interior = interior or [0] * x.rank
        filler = self.full(value, (), x.dtype)
        shape = [
            lo + hi + n + max(n - 1, 0) * between
            for n, lo, hi, between in zip(x.shape, low, high, interior)
        ]
        text = (
            f"pad {self.use(x)}, {filler.name}, low = {list(low)}, "
            f"high = {list(high)}, interior = {list(interior)}"
        )
        return self.op(text, (x, filler), shape, x.dtype)

    # --- sums and products ---

    def reduce(self, op: str, x: Val, dims, keep: bool = False) -> Val:
        """`op`: add, multiply, maximum, minimum, and, or."""
        dims = sorted(dims)
        start = self.full(neutral(op, x.dtype), (), x.dtype)
        shape = [n for i, n in enumerate(x.shape) if i not in dims]
        out = self.op(
            f"reduce({self.use(x)} init: {start.name}) applies "
            f"stablehlo.{op} across dimensions = {dims}",
            (x, start),
            shape,
            x.dtype,
        )
        if keep:
            kept = [1 if i in dims else n for i, n in enumerate(x.shape)]
            return self.reshape(out, kept)
        return out

    def dot(self, x: Val, y: Val, batch=((), ()), over=((), ())) -> Val:
        """Sums of products over dimensions `over` of both, for each index of
        `batch`; those come first in the result, then x's others and y's.
        """
        shape = [x.shape[i] for i in batch[0]]
        shape += [n for i, n in enumerate(x.shape) if i not in (*batch[0], *over[0])]
        shape += [n for i, n in enumerate(y.shape) if i not in (*batch[1], *over[1])]
        text = f"dot_general {self.use(x)}, {self.use(y)}"
        if batch[0]:
            text += f", batching_dims = {list(batch[0])} x {list(batch[1])}"
        text += f", contracting_dims = {list(over[0])} x {list(over[1])}"
        return self.op(text, (x, y), shape, x.dtype)

    def window(self, op: str, x: Val, sizes, strides, pads, dilations) -> Val:
        """`reduce` over windows; every list has an entry a dimension."""
        start = self.full(neutral(op, x.dtype), (), x.dtype)
        shape = [
            (n + lo + hi - (k - 1) * d - 1) // s + 1
            for n, k, s, (lo, hi), d in zip(x.shape, sizes, strides, pads, dilations)
        ]
        element = type_text((), x.dtype)
        a, b, c = self.fresh(), self.fresh(), self.fresh()
        region = (
            f"({{ ^bb0({a}: {element}, {b}: {element}): "
            f"{c} = stablehlo.{op} {a}, {b} : {element} "
            f"stablehlo.return {c} : {element} }})"
        )
        around = [[lo, hi] for lo, hi in pads]
        text = (
            f'"stablehlo.reduce_window"({self.use(x)}, {start.name}) {region} '
            f"{{window_dimensions = {numbers(sizes)}, "
            f"window_strides = {numbers(strides)}, "
            f"window_dilations = {numbers(dilations)}, "
            f"padding = dense<{around}> : tensor<{x.rank}x2xi64>}} : "
            f"({self.type(x)}, {element}) -> {type_text(shape, x.dtype)}"
        )
        return self.emit(text, shape, x.dtype)

    # --- rows ---

    def gather(self, x: Val, where: Val, dims, offset_dims) -> Val:
        """Elements of x at index vectors, the last dimension of `where`,
        whose entries are indices of `dims`. The other dimensions come whole,
        as `offset_dims` of the result.
        """
        sizes = [1 if i in dims else n for i, n in enumerate(x.shape)]
        others = iter([n for i, n in enumerate(x.shape) if i not in dims])
        batch = iter(where.shape[:-1])
        rank = where.rank - 1 + len(offset_dims)
        shape = [next(others) if i in offset_dims else next(batch) for i in range(rank)]
        text = (
            f'"stablehlo.gather"({self.use(x)}, {self.use(where)}) '
            "{dimension_numbers = #stablehlo.gather<"
            f"offset_dims = {list(offset_dims)}, "
            f"collapsed_slice_dims = {list(dims)}, "
            f"start_index_map = {list(dims)}, "
            f"index_vector_dim = {where.rank - 1}>, "
            f"slice_sizes = {numbers(sizes)}, "
            "indices_are_sorted = false} : "
            f"({self.type(x)}, {self.type(where)}) -> "
            f"{type_text(shape, x.dtype)}"
        )
        return self.emit(text, shape, x.dtype)

    def repeat(self, count: int, states, body) -> list[Val]:
        """A loop: `body(i, states)` gives the next states of the same types.

        Constants outside are not those inside.
        """
        first = self.full(0, (), int64)
        inner = [Val(self.fresh(), (), int64)]
        inner += [Val(self.fresh(), s.shape, s.dtype) for s in states]
        given = [first, *states]
        heads = ", ".join(f"{i.name} = {self.use(g)}" for i, g in zip(inner, given))
        types = ", ".join(map(self.type, inner))
        whole = self.fresh()
        self.line(f"{whole}:{len(inner)} = stablehlo.while({heads}) : {types}")
        self._depth += 1
        self.line("cond {")
        limit = self.full(count, (), int64)
        goes_on = self.compare("LT", inner[0], limit)
        self.line(f"stablehlo.return {goes_on.name} : tensor<i1>")
        self.line("} do {")
        then = [
            self.binary("add", inner[0], self.full(1, (), int64)),
            *body(inner[0], inner[1:]),
        ]
        names = ", ".join(map(self.use, then))
        self.line(f"stablehlo.return {names} : {types}")
        self.line("}")
        self._depth -= 1
        return [Val(f"{whole}#{i + 1}", s.shape, s.dtype) for i, s in enumerate(states)]
