"""Random draws that depend on no input, in programs that are traced."""

from __future__ import annotations

import hotaru

from ... import _C
from ..._overrides import is_answered
from .traced import Recorder, recorder_of

OPERATOR = type(hotaru.ops.relu)

# Operators that give something else each time.
RANDOM = {
    "rand",
    "randn",
    "randint",
    "randperm",
    "rand_like",
    "randn_like",
    "randint_like",
    "bernoulli",
    "bernoulli_",
    "multinomial",
    "normal",
    "normal_",
    "uniform_",
    "poisson",
    "dropout",
    "dropout_",
    "feature_dropout",
    "alpha_dropout",
    "feature_alpha_dropout",
    "rrelu",
    "rrelu_",
    "random_",
    "exponential_",
    "cauchy_",
    "log_normal_",
    "geometric_",
    "binomial",
}


# Operators that make tensors of no input: the program makes them, too.
MADE = {"arange", "empty", "eye", "full", "linspace", "logspace", "ones", "zeros"}


class Draws:
    """Within it the program draws where the traced function does, also what is
    made of no input and would else be a constant.

    It is a mode for functions that those who ask for such do not see.
    """

    watches = True

    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder

    def __enter__(self) -> None:
        _C._push_on_torch_function_stack(self)

    def __exit__(self, *exception) -> None:
        _C._pop_torch_function_stack()

    def __torch_function__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        inner = getattr(func, "__wrapped__", None)
        answered = is_answered(types, args, kwargs)
        if isinstance(func, _C.Function) and inner is not None and not answered:
            with self:  # for what the function calls
                return inner(*args, **kwargs)
        if self._is_draw(func, args, kwargs):
            return self._recorder.draw(func, args, kwargs)
        return func(*args, **kwargs)

    def _is_draw(self, func, args: tuple, kwargs: dict) -> bool:
        """Tells whether that is a draw that nothing else would write down, and
        that a program can hold.
        """
        if self._recorder.runs:  # and the program has it already
            return False
        if not isinstance(func, OPERATOR):
            return False
        if func.__name__ not in RANDOM and func.__name__ not in MADE:
            return False
        given = (*args, *kwargs.values())
        return recorder_of(given) is None and not any(
            isinstance(value, _C.Generator)
            or value is True  # pinned, or in need of a gradient
            or (isinstance(value, _C.Tensor) and value.requires_grad)
            for value in given
        )
