"""Tensors of a program that is being traced."""

from __future__ import annotations

from .. import Tensor
from .._subclasses.fake_tensor import FakeTensor
from .._tensor.refusals import length
from ._expressions import Expression
from ._fit import fitted, strides_of
from ._numbers import symbolic

__all__ = ["Facts", "Traced", "Value", "facts_of"]


class Facts:
    """Facts files tell of a tensor: sizes and strides may be expressions."""

    def __init__(self, tensor, shape, strides, requires_grad=False) -> None:
        self.dtype, self.device = tensor.dtype, tensor.device
        self.layout = tensor.layout
        self.shape, self.strides = tuple(shape), tuple(strides)
        self.offset = tensor.storage_offset()
        self.requires_grad = requires_grad

    def __repr__(self) -> str:
        shape = ", ".join(map(str, self.shape))
        return f"Facts({self.dtype}, [{shape}])"


def facts_of(tensor: Tensor) -> Facts:
    """Facts of a tensor whose sizes are numbers."""
    return Facts(tensor, tensor.shape, tensor.stride(), bool(tensor.requires_grad))


class Value:
    """A tensor: its node in a graph, and what it looks like in each world."""

    #: The example's tensor, where a trace runs operators with it.
    real: Tensor | None = None

    def __init__(self, home, node, fakes: list, facts: Facts) -> None:
        self.home, self.node = home, node
        self.fakes, self.facts = fakes, facts

    @property
    def varies(self) -> bool:
        """True if a size or stride is an expression."""
        return any(isinstance(s, Expression) for s in self.facts.shape)

    @staticmethod
    def of_results(trace, fakes: list, given: list, probe) -> Value:
        """Value of an operator's results, whose sizes are found here; `probe`
        gives the result for other sizes by name, or None.

        RuntimeError where no expression gives a size in all worlds.
        """
        first: FakeTensor = fakes[0]
        if all(f is first for f in fakes):
            return Value(None, None, fakes, facts_of(first))
        shape = []
        for place, numbers in enumerate(zip(*(tuple(f.shape) for f in fakes))):

            def number(world: dict, place: int = place):
                found = probe(world)
                return None if found is None else found.shape[place]

            size = fitted(trace.sizes, numbers, [*given, *shape], number)
            if size is None:
                size = _by_count(trace.sizes, fakes, shape, given)
            if size is None:
                raise RuntimeError(
                    "export: a size depends on the sizes that vary in a way "
                    f"that is not known here (for the example it is "
                    f"{numbers[0]}); at {trace.where()}"
                )
            shape.append(size)
        strides = strides_of(
            trace.sizes, tuple(shape), [tuple(f.stride()) for f in fakes]
        )
        return Value(None, None, fakes, Facts(first, shape, strides))


def _by_count(sizes, fakes: list, shape: list, given: list):
    """The size that makes the number of elements a product of those given."""
    place = len(shape)
    numbers = tuple(f.shape[place] for f in fakes)
    found = Expression.of(1)
    for one in given:
        if isinstance(one, Expression):
            found = found * one
    for known in shape:
        if isinstance(known, Expression):
            found = found // known
    return fitted(sizes, numbers, [found])


class Traced(Tensor):
    """A tensor that the program sees: without memory, all operators that it
    meets are written down.
    """

    _value: Value
    _sees_whole = True

    @staticmethod
    def of(trace, value: Value) -> Traced:
        """The stand-in for a value."""
        fake = value.fakes[0]
        made = Tensor._make_wrapper_subclass(
            Traced,
            tuple(fake.shape),
            strides=tuple(fake.stride()),
            storage_offset=fake.storage_offset(),
            dtype=fake.dtype,
            device=fake.device,
            dispatch_sizes_strides_policy="strides",
        )
        made._value, made._trace = value, trace
        return made

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        raise RuntimeError(
            f"{func}: a tensor of a program that was exported is used outside of export"
        )

    def _sizes(self) -> list:
        return [symbolic(self._trace, s) for s in self._value.facts.shape]

    def _steps(self) -> list:
        return [symbolic(self._trace, s) for s in self._value.facts.strides]

    def __repr__(self) -> str:
        return f"Traced({self._value.facts!r})"

    def __len__(self) -> int:
        return length(self._sizes()).__index__()
