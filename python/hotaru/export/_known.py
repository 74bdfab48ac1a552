"""Tensors of a compiled program that are computed of its own numbers.

Files of other makers compute sizes with tensors: a shape becomes one, is cast,
cut and joined, and read again. Beside what an operator writes down, its value
is computed here, so that whoever asks for numbers gets them.
"""

from __future__ import annotations

from .. import Tensor, device, dtype, layout, memory_format
from ..utils._python_dispatch import _disable_current_modes
from ._numbers import SymbolicFloat, SymbolicInt

__all__ = ["KnownValues"]

# Longer ones are data.
_MOST = 4096
_PLAIN = (bool, int, float, complex, str, device, dtype, layout, memory_format)
# Their results are no function of their arguments.
_DRAWN = {
    "bernoulli",
    "dropout",
    "empty",
    "empty_like",
    "empty_permuted",
    "empty_strided",
    "exponential",
    "feature_dropout",
    "multinomial",
    "native_dropout",
    "new_empty",
    "new_empty_strided",
    "normal",
    "poisson",
    "rand",
    "rand_like",
    "randint",
    "randint_like",
    "randn",
    "randn_like",
    "random",
    "randperm",
    "rrelu",
    "uniform",
}


class KnownValues:
    """Values by the tensor that stands for them in the trace."""

    def __init__(self) -> None:
        # By identity; the entries keep the tensors alive.
        self._values: dict[int, tuple[Tensor, Tensor]] = {}

    def keep(self, tensor: Tensor, value: Tensor) -> None:
        """Notes a tensor's value."""
        if value.numel() <= _MOST:
            self._values[id(tensor)] = (tensor, value)

    def keep_constant(self, tensor: Tensor) -> None:
        """Notes a tensor that the program has and does not change."""
        if id(tensor) not in self._values and tensor.numel() <= _MOST:
            with _disable_current_modes():
                self.keep(tensor, tensor.detach().clone())

    def of(self, tensor: Tensor) -> Tensor | None:
        """The value, if it is known."""
        found = self._values.get(id(tensor))
        return found[1] if found else None

    def called(self, base: str, schema, inputs, result, call) -> None:
        """Notes what an operator gave: `call(inputs)` computes it."""
        given = [self._replaced(x) for x in inputs]
        drawn = base.removesuffix("_") in _DRAWN
        if drawn or any(x is _Unknown for x in given):
            for argument, value in zip(schema.arguments, inputs):
                alias = argument.alias_info
                if alias is not None and alias.is_write:
                    self._forget(value)
            return
        with _disable_current_modes():
            value = call(given)
        if isinstance(result, Tensor) and isinstance(value, Tensor):
            self.keep(result, value)
        elif isinstance(result, (list, tuple)):
            for one, its in zip(result, value):
                if isinstance(one, Tensor):
                    self.keep(one, its)

    def _replaced(self, value):
        if isinstance(value, Tensor):
            found = self.of(value)
            return _Unknown if found is None else found
        if isinstance(value, (list, tuple)):
            items = [self._replaced(x) for x in value]
            return _Unknown if any(x is _Unknown for x in items) else items
        symbolic = type(value) in (SymbolicInt, SymbolicFloat)
        plain = value is None or isinstance(value, _PLAIN)
        return value if plain and not symbolic else _Unknown

    def _forget(self, value) -> None:
        """Forgets what shares memory with a tensor that was changed."""
        known = self.of(value) if isinstance(value, Tensor) else None
        if known is None:
            return
        place = known.untyped_storage().data_ptr()
        for key, (_, one) in list(self._values.items()):
            if one.untyped_storage().data_ptr() == place:
                del self._values[key]


class _Unknown:
    """Stands for a value that only the run has."""
