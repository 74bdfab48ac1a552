"""Traces without writes: `_force_outplace=True`.

What a program changes is a new value there, and the stand-in for what was changed
becomes its name. Other stand-ins of the same memory keep theirs, so that programs
with such are warned of.
"""

from __future__ import annotations

import weakref

import hotaru

from ... import _C
from .draws import RANDOM
from .traced import Recorder, TracedTensor, real
from .warned import warn

_OPERATOR = type(hotaru.ops.relu)
# Operators in place that write no elements.
_MARKS = ("detach_", "requires_grad_")
_SHARED = (
    "There are {} live references to the data region being modified when tracing "
    "in-place operator {}. This might cause the trace to be incorrect, because all "
    "other views that also reference this data will not reflect this change in the "
    "trace! On the other hand, if all other views use the same memory chunk, but are "
    "disjoint (e.g. are outputs of torch.split), this might still be safe."
)


class OutplaceRecorder(Recorder):
    """A recorder whose programs make new values where the function writes."""

    def __init__(self) -> None:
        super().__init__()
        self._alive: list = []

    def born(self, made) -> None:
        """Keeps a stand-in in mind, for as long as it lives."""
        self._alive.append(weakref.ref(made))

    def call(self, function, args: tuple, kwargs: dict):
        name = getattr(function, "__name__", "")
        if not isinstance(function, _OPERATOR) or name in _MARKS:
            return super().call(function, args, kwargs)
        if kwargs.get("out") is not None:
            return self._call_out(function, args, dict(kwargs))
        if not name.endswith("_") or name.endswith("__") or not args:
            return super().call(function, args, kwargs)
        args, kwargs = self.stood_in(args), self.stood_in(kwargs)
        if not isinstance(args[0], _C.Tensor):
            return super().call(function, args, kwargs)
        if not isinstance(args[0], TracedTensor):
            args = (self.adopt(args[0]), *args[1:])
        changed = args[0]
        self._check_shared(changed, name)
        plain, given, named = _without_writing(name, args, kwargs)
        if plain is None:  # it changes a copy
            self._rename(changed, f"{changed.name}.clone()")
            super().call(function, args, kwargs)
            self.told.note(changed.name, changed.value)
            return changed
        alone = plain(*real(given), **real(named))
        function(*real(args), **real(kwargs))
        texts = [self.text(argument) for argument in given]
        texts += [f"{key}={self.text(value)}" for key, value in named.items()]
        line = f"{self._callee(plain)}({', '.join(texts)})"
        return self._become(changed, line, alone)

    def write(self, changed, sign: str, function, in_place, other):
        """Writes down `changed sign= other`."""
        self._check_shared(changed, in_place.__name__[1:] + "_")
        alone = function(changed.value, real(other))
        in_place(changed.value, real(other))
        line = f"{changed.name} {sign} {self.text(other)}"
        return self._become(changed, line, alone)

    def write_part(self, whole, index, value) -> None:
        """Writes down `whole[index] = value`: a copy has the part changed."""
        # A part is one more view of the memory.
        self._check_shared(whole, "copy_", int(index is not Ellipsis))
        self._rename(whole, f"{whole.name}.clone()")
        super().write_part(whole, index, value)

    def _call_out(self, function, args: tuple, kwargs: dict):
        """Calls an operator for its results, which stand for `out`."""
        out = self.stood_in(kwargs.pop("out"))
        args, kwargs = self.stood_in(args), self.stood_in(kwargs)
        outs = list(out) if isinstance(out, (tuple, list)) else [out]
        for i, each in enumerate(outs):
            if not isinstance(each, TracedTensor):
                outs[i] = self.adopt(each)
            self._check_shared(outs[i], function.__name__)
        result = super().call(function, args, kwargs)
        single = isinstance(result, TracedTensor)
        function(
            *real(args), **real(kwargs), out=outs[0].value if single else real(out)
        )
        for each, made in zip(outs, [result] if single else result):
            self._become(each, made.name, made.value)
        return outs[0] if single else result

    def _become(self, changed, line: str, alone):
        """Has the stand-in be what the line gives, of the dtype it had."""
        if alone.dtype != changed.value.dtype:
            line = f"({line}).to({self.text(changed.value.dtype)})"
        self._rename(changed, line)
        return changed

    def _rename(self, changed, line: str) -> None:
        changed.name = self._note(line)
        self.told.note(changed.name, changed.value)

    def _check_shared(self, changed, name: str, count: int = 0) -> None:
        """Warns of other stand-ins that the write is hidden from."""
        self._alive = [each for each in self._alive if each() is not None]
        memory = changed.value.untyped_storage()._cdata
        for each in self._alive:
            other = each()
            if other is not None and other.value.layout is _C.strided:
                count += other.value.untyped_storage()._cdata == memory
        if count > 1:
            warn(_SHARED.format(count, name))


def _without_writing(name: str, args: tuple, kwargs: dict) -> tuple:
    """The operator that gives what that one writes, and its arguments; None where
    there is none.
    """
    if name == "zero_":
        return hotaru.ops.zeros_like, args, kwargs
    if name == "fill_":
        return hotaru.ops.full_like, args, kwargs
    if name == "copy_":
        return hotaru.ops.expand_as, (args[1], args[0]), {}
    if name in RANDOM or name.startswith(("resize_", "set_")):
        return None, args, kwargs
    return getattr(hotaru.ops, name[:-1], None), args, kwargs
