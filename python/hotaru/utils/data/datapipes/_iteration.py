"""Iterators of one pipe: only the last one made may be used.

Pipes keep what they read ahead in themselves, so two iterators would take it
from each other. Making one resets the pipe; using an earlier one then raises
RuntimeError. Pipes also count what they gave since.
"""

from __future__ import annotations

import functools
import inspect

from ...._extension.profiled import items_in_ranges, named_range

_FEEDBACK = (
    "\nFor feedback regarding this single iterator per IterDataPipe "
    "constraint, feel free to comment on this issue: "
    "https://github.com/pytorch/data/issues/45."
)
_SEEN = ("thrown by __iter__ of", "single iterator per IterDataPipe constraint")


def described(pipe) -> str:
    """The pipe's class and arguments, as far as it keeps them."""
    names = sorted(inspect.signature(type(pipe)).parameters)
    values = [(n, vars(pipe)[n]) for n in names if n in vars(pipe)]
    inside = ", ".join(
        f"{n}={v.__name__ if inspect.isfunction(v) else repr(v)}" for n, v in values
    )
    return f"{type(pipe).__name__}({inside})"


def _name_of(pipe) -> str:
    """Name of an item in profiles."""
    return f"enumerate(DataPipe)#{type(pipe).__name__}"


def refuse(what: str) -> None:
    """Says that an iterator is not the pipe's last one."""
    raise RuntimeError(what + _FEEDBACK)


def guard(cls: type) -> None:
    """Makes the class's own `__iter__` and `__next__` keep the rule."""
    own = vars(cls)
    if "__next__" in own and not inspect.isgeneratorfunction(own.get("__iter__")):
        cls.__next__ = _counted(own["__next__"])
    if "__iter__" not in own:
        return
    function = own["__iter__"]
    if inspect.isgeneratorfunction(function):
        cls.__iter__ = _guarded_generator(function)
    else:
        cls.__iter__ = _guarded_iterator(function)


def _counted(function):
    @functools.wraps(function)
    def give(pipe):
        item = function(pipe)
        pipe._number_of_samples_yielded += 1
        return item

    return give


def _guarded_generator(function):
    @functools.wraps(function)
    def generate(pipe):
        ahead = pipe._take_ahead()
        if ahead is not None:
            yield from ahead
            return
        items = items_in_ranges(function(pipe), _name_of(pipe))
        turn = pipe._begin()
        try:
            for item in items:
                pipe._number_of_samples_yielded += 1
                yield item
                pipe._check(turn)
        except Exception as error:
            _explain(error, pipe)
            raise

    return generate


def _explain(error: Exception, pipe) -> None:
    """Adds to an error's text which pipe it comes from, once."""
    text = f"\nThis exception is {_SEEN[0]} {described(pipe)}"
    if not error.args or not isinstance(error.args[0], str):
        error.args = (text,)
    elif not any(seen in error.args[0] for seen in _SEEN):
        error.args = (error.args[0] + text, *error.args[1:])


def _guarded_iterator(function):
    @functools.wraps(function)
    def make(pipe):
        ahead = pipe._take_ahead()
        if ahead is not None:
            return ahead
        found = function(pipe)
        return _Guarded(found, pipe, pipe._begin())

    return make


class _Guarded:
    """An iterator that a pipe's `__iter__` returned."""

    def __init__(self, iterator, pipe, turn: int) -> None:
        self._iterator, self._pipe, self._turn = iterator, pipe, turn
        self._counts = iterator is not pipe  # a pipe's own __next__ does

    def __iter__(self):
        return self

    def __next__(self):
        self._pipe._check(self._turn)
        with named_range(_name_of(self._pipe)):
            item = next(self._iterator)
        if self._counts:
            self._pipe._number_of_samples_yielded += 1
        return item

    def __getattr__(self, name: str):
        return getattr(self._iterator, name)
