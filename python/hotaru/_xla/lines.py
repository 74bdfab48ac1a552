"""The lines of a program, and which of them is a tensor's value by now."""

from __future__ import annotations

from .kinds import scalar_text
from .values import NotWritten, Val, type_text


class Lines:
    """A function that is written, without instructions of its own.

    In-place operators become values: `write` gives a tensor another, and views
    are made anew when they are read next.
    """

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._count = 0
        self._arguments: list[str] = []
        #: Origins of the arguments, in order; whoever adds one decides.
        self.arguments: list = []
        self._known: dict[tuple, Val] = {}
        self._depth = 2

    # --- lines ---

    def fresh(self) -> str:
        self._count += 1
        return f"%{self._count}"

    def line(self, text: str) -> None:
        """An instruction as it is, or a part of one."""
        self._lines.append("  " * self._depth + text)

    def emit(self, text: str, shape, dtype) -> Val:
        """An instruction with one result."""
        out = Val(self.fresh(), shape, dtype)
        self.line(f"{out.name} = {text}")
        return out

    def op(self, text: str, operands, shape, dtype) -> Val:
        """An instruction whose type is `(operands) -> result`."""
        types = ", ".join(self.type(x) for x in operands)
        full = f"stablehlo.{text} : ({types}) -> {type_text(shape, dtype)}"
        return self.emit(full, shape, dtype)

    def type(self, x: Val) -> str:
        return type_text(x.shape, x.dtype)

    def argument(self, tensor, shape, dtype) -> Val:
        """A further argument of the program."""
        name = f"%arg{len(self.arguments)}"
        self.arguments.append(tensor)
        self._arguments.append(f"{name}: {type_text(shape, dtype)}")
        return Val(name, shape, dtype)

    def text(self, results) -> str:
        """The module, whose function gives these."""
        types = ", ".join(map(self.type, results))
        names = ", ".join(self.use(x) for x in results)
        back = f"    return {names} : {types}" if results else "    return"
        head = f"func.func public @main({', '.join(self._arguments)})"
        return "\n".join(
            [
                "module @hotaru {",
                f"  {head} -> ({types}) {{",
                *self._lines,
                back,
                "  }",
                "}",
                "",
            ]
        )

    def use(self, x: Val) -> str:
        """The name of a tensor's value by now."""
        if x.source is not None:
            self.use(x.source)
            if x.seen != x.source.version:
                if x.make is None:
                    x.lost = True
                else:
                    x.name = x.make(x.source).name
                    x.version += 1
                x.seen = x.source.version
        if x.lost:
            raise NotWritten(
                "a tensor is read whose memory may have been written by another name"
            )
        if x.name is None:
            x.name = self._first(x).name
        return x.name

    def _first(self, x: Val) -> Val:
        if x.const is not None and not x.given and x.count == 1:
            return self.full(x.const.item(), x.shape, x.dtype)
        return self.argument(x.origin, x.shape, x.dtype)

    def write(self, x: Val, value: Val) -> None:
        """Makes `value` what `x` is from now on: the end of an in-place
        operator.
        """
        if x.given:
            raise NotWritten(f"it writes {x.given}")
        self.use(x)  # as far as it is known
        if value.shape != x.shape:
            value = self.expand(value, x.shape)
        x.name = self.use(self.cast(value, x.dtype))
        x.const = None
        x.version += 1
        if x.source is None:
            return
        if x.put is None:
            self._lose(x.source)
        else:
            self.write(x.source, x.put(x.source, x))
        x.seen = x.source.version

    def _lose(self, x: Val) -> None:
        if x.given:
            raise NotWritten(f"it may write {x.given}")
        while x is not None:
            x.lost = True
            x = x.source

    def view(self, x: Val, make, put=None) -> Val:
        """Returns what `make` gives of `x`, sharing its memory."""
        out = make(x)
        out.source, out.seen, out.make, out.put = x, x.version, make, put
        return out

    def maybe_view(self, x: Val, out: Val) -> Val:
        """`out` of `x`, which may or may not share its memory."""
        out.source, out.seen = x, x.version
        return out

    # --- constants ---

    def full(self, value, shape, dtype) -> Val:
        """A tensor with one value everywhere; scalars are written once."""
        key = (repr(value), dtype, tuple(shape))
        out = self._known.get(key)
        if out is None:
            text = f"dense<{scalar_text(value, dtype)}>"
            out = self.emit(
                f"stablehlo.constant {text} : {type_text(shape, dtype)}", shape, dtype
            )
            if self._depth == 2:  # what stands in a loop is not seen outside
                self._known[key] = out
        return out

    def vector(self, values, dtype) -> Val:
        """A tensor of one or two dimensions out of Python numbers."""
        nested = bool(values) and isinstance(values[0], (list, tuple))
        shape = (len(values), len(values[0])) if nested else (len(values),)
        if 0 in shape:
            return self.full(0, shape, dtype)

        def written(items) -> str:
            if isinstance(items, (list, tuple)):
                return f"[{', '.join(map(written, items))}]"
            return scalar_text(items, dtype)

        return self.emit(
            f"stablehlo.constant dense<{written(values)}> : {type_text(shape, dtype)}",
            shape,
            dtype,
        )

    def iota(self, shape, dim: int, dtype) -> Val:
        return self.emit(
            f"stablehlo.iota dim = {dim} : {type_text(shape, dtype)}", shape, dtype
        )
