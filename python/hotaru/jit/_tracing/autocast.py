"""Calls of operators within autocast, as a trace writes them down.

The program has the casts themselves: what it gives does not depend on where it
is called, as in PyTorch.
"""

from __future__ import annotations

from ... import _C


def call_with_casts(recorder, function, args: tuple, kwargs: dict, real):
    """Calls an operator with the examples' values and notes casts and call.

    Args:
        real: gives the values in place of stand-ins.

    Returns:
        The result, and the arguments as the program has them.

    Raises:
        NotImplementedError: the operator casts what is no argument of its own.
    """
    result, notes = _C._with_noted_casts(lambda: function(*real(args), **real(kwargs)))
    casts = _Casts(recorder, real)
    called = getattr(function, "__name__", "")
    for name, tensor, dtype, filled in notes:
        if name != called:
            casts.inside = True
        elif filled < 0:
            casts.wanted.append((tensor, dtype))
        elif filled < len(args):
            args = (*args[:filled], dtype, *args[filled + 1 :])
        else:
            kwargs = {**kwargs, "dtype": dtype}
    args = tuple(casts.applied(value) for value in args)
    kwargs = {name: casts.applied(value) for name, value in kwargs.items()}
    if casts.inside or casts.found < len(casts.wanted):
        raise NotImplementedError(
            f"jit.trace: {called} casts what it computes itself where autocast "
            "is on, which a trace can't write down; trace without it, and call "
            "what comes of it within autocast"
        )
    return result, args, kwargs


class _Casts:
    """The casts of one call, to be written before it."""

    def __init__(self, recorder, real) -> None:
        self._recorder, self._real = recorder, real
        self.wanted: list = []  # (tensor, dtype)
        self.found = 0
        self.inside = False  # whether an operator within this one cast

    def applied(self, value):
        """The argument, with a stand-in for its cast where it is cast."""
        if isinstance(value, (list, tuple)):
            return type(value)([self.applied(item) for item in value])
        tensor = self._real(value)
        if not isinstance(tensor, _C.Tensor):
            return value
        for wanted, dtype in self.wanted:
            if wanted is tensor:
                self.found += 1
                text = f"{self._recorder.text(value)}.to({dtype})"
                return self._recorder.bind(text, tensor.to(dtype))
        return value
