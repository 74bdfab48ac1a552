"""The bases of all pipes, and the batches that they give."""

from __future__ import annotations

import functools
from typing import ClassVar

from ..dataset import Dataset, IterableDataset
from ._hook_iterator import _SnapshotState
from ._iteration import described, guard, refuse

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe"]


class DataChunk(list):
    """A batch: a list that knows it is one.

    Subclasses may make other things of the items: `items` is the list that was
    given, `raw_iterator` goes over it.
    """

    def __init__(self, items) -> None:
        self.items = list(items)
        super().__init__(self.items)

    def as_str(self, indent: str = "") -> str:
        """The items in brackets behind `indent`."""
        return f"{indent}[{', '.join(map(str, self))}]"

    def raw_iterator(self):
        """Over the items as they were given."""
        yield from self.items


class _Pipe:
    """Base of both kinds of pipes: functions that make pipes of them."""

    _is_pipe = True
    # Hooks that programs which walk over graphs of pipes put in the place of
    # the state, of pickles and of texts. For all pipes of a kind.
    getstate_hook = None
    reduce_ex_hook = None
    str_hook = None
    repr_hook = None

    def __getattr__(self, name: str):
        if name not in type(self).functions:
            raise AttributeError(
                f"'{type(self).__name__}' object has no attribute '{name}"
            )
        make = type(self).functions[name]
        bound = functools.partial(make, self)
        bound.__doc__ = make.__doc__
        return bound

    @classmethod
    def register_function(cls, function_name: str, function) -> None:
        """Makes `pipe.function_name(...)` call `function(pipe, ...)`."""
        cls.functions[function_name] = function

    @classmethod
    def register_datapipe_as_function(
        cls, function_name: str, cls_to_register, enable_df_api_tracing=False
    ) -> None:
        """Makes `pipe.function_name(...)` a pipe `cls_to_register(pipe, ...)`.

        Raises Exception for a name that is taken, NotImplementedError for data
        frames, which no pipe here knows.
        """
        if enable_df_api_tracing:
            raise NotImplementedError(
                "functional_datapipe: pipes of data frames are not there; use "
                "pipes of rows"
            )
        if function_name in cls.functions:
            raise Exception(
                f"Unable to add DataPipe function name {function_name} as it "
                "is already taken"
            )

        def make(source, *args, **kwargs):
            return cls_to_register(source, *args, **kwargs)

        make.__doc__ = cls_to_register.__doc__
        cls.functions[function_name] = make

    @classmethod
    def set_getstate_hook(cls, hook_fn) -> None:
        """`hook_fn(pipe)` gives the state of pipes; None takes it away.

        RuntimeError: there is one.
        """
        if cls.getstate_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing getstate_hook")
        cls.getstate_hook = hook_fn

    @classmethod
    def set_reduce_ex_hook(cls, hook_fn) -> None:
        """`hook_fn(pipe)` gives the pickle of pipes; None takes it away.

        RuntimeError: there is one.
        """
        if cls.reduce_ex_hook is not None and hook_fn is not None:
            raise RuntimeError("Attempt to override existing reduce_ex_hook")
        cls.reduce_ex_hook = hook_fn

    def __getstate__(self):
        hook = type(self).getstate_hook
        return self.__dict__ if hook is None else hook(self)

    def __reduce_ex__(self, protocol):
        hook = type(self).reduce_ex_hook
        if hook is not None:
            try:
                return hook(self)
            except NotImplementedError:  # it knows nothing of this pipe
                pass
        return super().__reduce_ex__(protocol)

    def __repr__(self) -> str:
        if self.repr_hook is not None:
            return self.repr_hook(self)
        return type(self).__qualname__

    def __str__(self) -> str:
        if self.str_hook is not None:
            return self.str_hook(self)
        return type(self).__qualname__

    def __dir__(self):
        return [*super().__dir__(), *type(self).functions]

    def _no_length(self) -> TypeError:
        name = type(self).__name__
        return TypeError(f"{name} instance doesn't have valid length")


class IterDataPipe(_Pipe, IterableDataset):
    """A pipe that is iterated.

    Subclasses define `__iter__`, and `reset` where they keep anything between
    items; it is called when an iterator is made. A pipe has one iterator at a
    time: making another ends the earlier one, whose next use raises
    RuntimeError.
    """

    functions: ClassVar[dict] = {}
    _valid_iterator_id: int | None = None
    _number_of_samples_yielded = 0
    _snapshot_state = _SnapshotState.NotStarted
    _fast_forward_iterator = None

    def __init_subclass__(cls, **kwargs) -> None:
        super().__init_subclass__(**kwargs)
        guard(cls)

    def __iter__(self):
        return self

    def reset(self) -> None:
        """Forgets what earlier iterators left behind."""

    def _begin(self) -> int:
        """Ends all earlier iterators; returns the number of the new one."""
        last = self._valid_iterator_id
        self._valid_iterator_id = 0 if last is None else last + 1
        restored = self._snapshot_state is _SnapshotState.Restored
        self._snapshot_state = _SnapshotState.Iterating
        if not restored:
            self._number_of_samples_yielded = 0
            self.reset()
        return self._valid_iterator_id

    def _take_ahead(self):
        """The iterator that stands where a snapshot was, once, or None."""
        ahead = self._fast_forward_iterator
        if ahead is not None:
            self._fast_forward_iterator = None
            self._snapshot_state = _SnapshotState.Iterating
        return ahead

    def _check(self, turn: int) -> None:
        if turn != self._valid_iterator_id:
            refuse(
                "This iterator has been invalidated because another iterator "
                "has been created from the same IterDataPipe: "
                f"{described(self)}\nThis may be caused by multiple references "
                "to the same IterDataPipe. We recommend using `.fork()` if "
                "that is necessary."
            )


class MapDataPipe(_Pipe, Dataset):
    """A pipe whose items are got by keys: subclasses define `__getitem__`."""

    functions: ClassVar[dict] = {}
