"""Stand-ins for tensors and sizes that write down what is done with them.

A stand-in holds the value of the example and the name that it has in the
program. Operators that are handed one don't fit it, and ask `call_traced`.
"""

from __future__ import annotations

import types

import hotaru

from ... import _C
from ..._extension import misfits as _misfits
from ..._own_names import no_member
from .._library.sparse import METHODS
from .._operators import overload_of
from .autocast import call_with_casts
from .index import (
    dimensions_used,
    is_truth,
    is_tuple_of_indices,
    places_of,
    without_ellipsis,
)
from .numbers import Traced, TracedFloat, TracedInt
from .told import Told
from .warned import CONSTANTS, ITERATION, LENGTH, called_by_program, frozen, warn

_OPERATOR = type(hotaru.ops.relu)
# Methods whose operators have `self` behind another argument.
_METHODS = {id(_C.Tensor.where), id(_C.Tensor.polygamma)}


class Recorder:
    """The lines of one program, its constants and functions by name."""

    def __init__(self) -> None:
        self.lines: list = []
        self.constants: dict = {}
        # Compiled modules in the traced one, and the names they have there.
        self.modules: list = []
        # The constants that the program draws anew.
        self.drawn: set = set()
        # Tensors that the function was given, and their stand-ins, by id().
        self.given: dict = {}
        # Tensors that stand-ins hold, not copies: a module's parameters.
        self.held: set = set()
        self._count = 0
        self.told = Told()
        # True while an operator runs that the program has.
        self.runs = False
        # True once the program is written: its stand-ins are plain values.
        self.ended = False

    def give(self, tensor, name: str):
        """Argument `name` as the function gets it: the tensor itself, and
        a view where it got it already.
        """
        if id(tensor) in self.given or id(tensor) in self.held:
            tensor = tensor.view_as(tensor)
        made = TracedTensor(self, name, tensor.clone())
        self.given[id(tensor)] = (tensor, made)
        return tensor

    def adopt(self, tensor):
        """A stand-in for a constant that the program is about to write to: a
        copy, which it makes each time.
        """
        name = self._tensor(tensor)
        self.constants[name] = tensor.clone()
        copy = self._note(f"{name}.clone()")
        made = TracedTensor(self, copy, tensor.detach())
        self.given[id(tensor)] = (tensor, made)
        return made

    def stood_in(self, value):
        """The value with stand-ins in place of given tensors; itself where it
        holds none.
        """
        if isinstance(value, _C.Tensor):
            return self.given.get(id(value), (None, value))[1]
        kind = type(value)
        if kind is dict:
            items = {key: self.stood_in(item) for key, item in value.items()}
            same = all(items[key] is value[key] for key in items)
            return value if same else items
        if kind is slice:
            parts = (value.start, value.stop, value.step)
            found = self.stood_in(parts)
            return value if found is parts else slice(*found)
        if not isinstance(value, (list, tuple)):
            return value
        items = [self.stood_in(item) for item in value]
        if all(a is b for a, b in zip(items, value)):
            return value
        if kind is list:
            return items
        return kind(*items) if hasattr(kind, "_fields") else tuple(items)

    def call(self, function, args: tuple, kwargs: dict):
        """Calls an operator with the examples' values and notes the call."""
        callee = self._callee(function)
        if _writes_to_constant(function, args):
            args = (self.adopt(args[0]), *args[1:])
        args, kwargs = self.stood_in(args), self.stood_in(kwargs)
        before, self.runs = self.runs, True
        try:
            if _C._autocast_key() and isinstance(function, _OPERATOR):
                result, args, kwargs = call_with_casts(
                    self, function, args, kwargs, real
                )
            else:
                result = function(*real(args), **real(kwargs))
        finally:
            self.runs = before
        if _is(function, "cpu") and len(args) == 1:
            texts = f"{self.text(args[0])}.to(device='cpu')"
            return self.bind(texts, result)
        if _is(function, "detach_") and isinstance(args[0], TracedTensor):
            args[0].name = self._note(f"{args[0].name}.detach()")
            self.told.note(args[0].name, result)
            return args[0]
        return self.again(function, args, kwargs, result, callee)

    def again(self, function, args, kwargs, result, callee: str = ""):
        """Notes a call, and gives its result as the program's."""
        callee = callee or self._callee(function)
        texts = [self.text(argument) for argument in args]
        if id(function) in _METHODS:
            callee = f"{texts.pop(0)}.{function.__name__}"
        texts += [f"{name}={self.text(value)}" for name, value in kwargs.items()]
        return self.bind(f"{callee}({', '.join(texts)})", result)

    def born(self, made) -> None:
        """Learns of a stand-in for a tensor that was made."""

    def write(self, changed, sign: str, function, in_place, other):
        """Writes down `changed sign= other`."""
        in_place(changed.value, real(other))
        self.note(f"{changed.name} {sign}= {self.text(other)}")
        return changed

    def write_part(self, whole, index, value) -> None:
        """Writes down `whole[index] = value`."""
        place, given = whole.value[real(index)], real(value)
        # Python drops leading dimensions of 1; the operator does not.
        if isinstance(value, TracedTensor) and given.dim() > place.dim():
            value = value.view(given.shape[given.dim() - place.dim() :])
        whole.value[real(index)] = given
        self.note(f"{whole._at(index)} = {self.text(value)}")

    def draw(self, function, args: tuple, kwargs: dict):
        """`call` of a random operator without inputs of the program."""
        if function.__name__.endswith("_") and args:
            self.drawn.add(self.text(args[0]))
        if kwargs.get("requires_grad") is False:
            kwargs = {k: v for k, v in kwargs.items() if k != "requires_grad"}
        return self.call(function, args, kwargs)

    def _callee(self, function) -> str:
        if isinstance(function, _OPERATOR):
            # Operators of namespaces not PyTorch's have theirs in the name.
            return "ops." + function.__name__.replace("::", ".")
        overload = overload_of(function)
        if overload is not None:
            whole = len(overload.overloadpacket) != 1
            return f"ops.{overload if whole else overload.overloadpacket}"
        if function is _C.tensor:
            return "torch.tensor"
        if isinstance(function, _C.ScriptFunction):
            name = f"_function{len(self.constants)}"
            self.constants[name] = function
            return name
        for native, place in self.modules:
            if native.same(function.module):
                return f"{place}.{function.name}"
        raise RuntimeError(
            "jit.trace: a compiled module is called that is no submodule of "
            "the traced one"
        )

    def bind(self, expression: str, result):
        """Gives the value of an expression a name, or each of its parts."""
        if isinstance(result, _C.Tensor):
            return self._made(self._note(expression), result)
        if isinstance(result, (tuple, list, dict)):
            held = result.values() if isinstance(result, dict) else result
            # Operators leave results out that nobody asked for: they give None.
            if held and (holds_tensor(result) or all(item is None for item in held)):
                return self._parts(expression, result)
        if type(result) is int:
            return TracedInt(self, self._note(expression), result)
        if type(result) is float:
            return TracedFloat(self, self._note(expression), result)
        if result is None:
            self.lines.append(expression)
        return result

    def _made(self, name: str, value):
        self.told.note(name, value)
        return TracedTensor(self, name, value)

    def _parts(self, expression: str, result):
        """Names the tensors in a tuple, list or dict."""
        if isinstance(result, dict):
            name = self._note(expression)
            return {
                key: self.bind(f"{name}[{self.text(key)}]", item)
                for key, item in result.items()
            }
        names = [self._name() for _ in result]
        self.lines.append(f"{', '.join(names)}, = {expression}")
        items = [self._part(name, item) for name, item in zip(names, result)]
        kind = type(result)
        return kind(*items) if hasattr(kind, "_make") else kind(items)

    def _part(self, name: str, item):
        if isinstance(item, _C.Tensor):
            return self._made(name, item)
        if type(item) in (int, float):
            return (TracedInt if type(item) is int else TracedFloat)(self, name, item)
        if isinstance(item, (tuple, list, dict)) and holds_tensor(item):
            return self._parts(name, item)
        return item

    def text(self, value) -> str:
        """An argument as the program writes it."""
        if isinstance(value, (Traced, TracedInt)):
            if value.recorder is not self:
                if value.recorder.ended:
                    return self.text(value.value)
                raise RuntimeError("a value of another trace is used here")
            name = value.name
            if name.startswith("_") and name not in self.told.names:
                self.told.call(name, value)
            return name
        if type(value) is slice:
            parts = (value.start, value.stop, value.step)
            return ":".join("" if p is None else self.text(p) for p in parts)
        if value is Ellipsis:
            return "..."
        if isinstance(value, _C.Tensor):
            return self._tensor(value)
        if isinstance(value, dict):
            items = (f"{self.text(k)}: {self.text(v)}" for k, v in value.items())
            return f"{{{', '.join(items)}}}"
        if isinstance(value, list):
            return f"[{', '.join(map(self.text, value))}]"
        if isinstance(value, tuple):
            return f"({''.join(self.text(item) + ', ' for item in value)})"
        if isinstance(value, float) and value - value != 0:
            return f"float('{value}')"
        if isinstance(value, _C.device):
            return f"torch.device('{value}')"
        if value is None or isinstance(value, (bool, int, float, complex, str)):
            return repr(value)
        if isinstance(value, (_C.dtype, _C.memory_format, _C.layout)):
            return str(value)
        raise RuntimeError(
            f"jit.trace: an operator got a value of type "
            f"{type(value).__name__!r}, which compiled code cannot hold"
        )

    def note(self, line: str) -> None:
        """Adds a statement."""
        self.lines.append(line)

    def _note(self, expression: str) -> str:
        name = self._name()
        self.lines.append(f"{name} = {expression}")
        return name

    def _name(self) -> str:
        self._count += 1
        return f"_{self._count}"

    def _tensor(self, tensor) -> str:
        if id(tensor) in self.given:
            return self.given[id(tensor)][1].name
        if tensor.requires_grad:
            raise RuntimeError(
                "Cannot insert a Tensor that requires grad as a constant. "
                "Consider making it a parameter or input, or detaching the "
                f"gradient\nTensor:\n{tensor}"
            )
        for name, known in self.constants.items():
            if known is tensor:
                return name
        name = f"_constant{len(self.constants)}"
        self.constants[name] = tensor
        return name


def _is(function, name: str) -> bool:
    """Tells whether that is an operator which programs write as another."""
    return isinstance(function, _OPERATOR) and function.__name__ == name


def _writes_to_constant(function, args: tuple) -> bool:
    """Tells whether an operator in place changes what no line has made."""
    return (
        isinstance(function, _OPERATOR)
        and function.__name__.endswith("_")
        and bool(args)
        and isinstance(args[0], _C.Tensor)
        and not isinstance(args[0], TracedTensor)
    )


def real(value):
    """The value with the examples' values in place of stand-ins."""
    if isinstance(value, (Traced, TracedInt)):
        return value.value
    if isinstance(value, dict):
        return {key: real(item) for key, item in value.items()}
    if type(value) is slice:
        return slice(real(value.start), real(value.stop), real(value.step))
    if isinstance(value, (list, tuple)):
        return (
            [real(v) for v in value]
            if isinstance(value, list)
            else tuple(real(v) for v in value)
        )
    return value


def call_traced(function, args: tuple, kwargs: dict):
    """Answers operators that got no tensor where they want one."""
    recorder = recorder_of((args, tuple(kwargs.values())))
    if recorder is None:
        if not _holds_stand_in((args, kwargs)):
            return NotImplemented
        return function(*real(args), **real(kwargs))  # left by an ended trace
    if function is not _C.tensor:
        return recorder.call(function, args, kwargs)
    if args and _is_plain_tensor(args[0]):
        return _copied(args[0], **kwargs)
    if _holds_tensor(args):
        frozen("tensors to the elements of another")
        return function(*real(args), **real(kwargs))
    return recorder.call(function, _listed(args), kwargs)


def _holds_stand_in(value) -> bool:
    waiting, seen = [value], set()  # lists may hold themselves
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            value = list(value.values())
        if not isinstance(value, (list, tuple)):
            if isinstance(value, (Traced, TracedInt)):
                return True
        elif id(value) not in seen:
            seen.add(id(value))
            waiting += value
    return False


def _copied(data, dtype=None, device=None, requires_grad=False, pin_memory=False):
    """Copies a tensor as `torch.tensor` does."""
    warn(CONSTANTS)
    copy = data.detach().clone()
    if dtype is not None or device is not None:
        copy = copy.to(device=device or data.device, dtype=dtype or data.dtype)
    return copy.requires_grad_() if requires_grad else copy


def _listed(values):
    """Compiled code makes tensors of lists, and of truths as it knows them."""
    if isinstance(values, (list, tuple)):
        return [_listed(v) for v in values]
    return values.truth() if type(values) is TracedTruth else values


def _holds_tensor(values) -> bool:
    """True if there is a stand-in for a tensor in nested sequences."""
    if isinstance(values, (list, tuple)):
        return any(map(_holds_tensor, values))
    return _is_plain_tensor(values)


def holds_tensor(value) -> bool:
    """True if there is a tensor in nested lists, tuples and dicts."""
    if isinstance(value, dict):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return isinstance(value, _C.Tensor)
    return any(map(holds_tensor, value))


def _is_plain_tensor(value) -> bool:
    """True if that is a stand-in for a tensor that is no mere truth."""
    return isinstance(value, TracedTensor) and type(value) is not TracedTruth


def recorder_of(values, seen: set | None = None):
    """Recorder of a first stand-in; sees a list once, which may hold itself."""
    seen = set() if seen is None else seen
    for value in values:
        if isinstance(value, (Traced, TracedInt)):
            if not value.recorder.ended:
                return value.recorder
        elif isinstance(value, (list, tuple, dict)) and id(value) not in seen:
            seen.add(id(value))
            held = value.values() if isinstance(value, dict) else value
            found = recorder_of(held, seen)
            if found is not None:
                return found
    return None


class TracedTensor(Traced):
    """A tensor. `isinstance(x, Tensor)` holds, as programs ask that."""

    __slots__ = ("__dict__", "__weakref__")

    def __init__(self, recorder: Recorder, name: str, value: _C.Tensor) -> None:
        super().__init__(recorder, name, value)
        recorder.born(self)

    @property
    def __class__(self):
        return _C.Tensor

    def __getattr__(self, name: str):
        for base in _C.Tensor.__mro__:
            if name in vars(base):
                return self._attribute(name, vars(base)[name])
        raise no_member(_C.Tensor, name)

    def __setattr__(self, name: str, value) -> None:
        """Keeps what functions note on a tensor, beside what tensors have."""
        if not hasattr(type(self), name) and hasattr(_C.Tensor, name):
            raise AttributeError(f"attribute {name!r} cannot be set in a trace")
        object.__setattr__(self, name, value)

    def _attribute(self, name: str, value):
        if isinstance(value, _OPERATOR):
            return lambda *args, **kwargs: self.recorder.call(
                value, (self, *args), kwargs
            )
        if name == "to_sparse" or (
            name in METHODS and self.value.layout is not _C.strided
        ):  # which Python answers in the program, too
            return lambda *args: self.recorder.bind(
                f"{self.name}.{name}({', '.join(map(repr, args))})",
                getattr(self.value, name)(*args),
            )
        if isinstance(value, (types.FunctionType, _C.Function)):
            return types.MethodType(value, self)
        if isinstance(value, property):
            return value.fget(self)
        result = getattr(self.value, name)
        if isinstance(result, _C.Tensor):
            return self.recorder.bind(f"{self.name}.{name}", result)
        return result

    # --- sizes ---

    @property
    def requires_grad(self) -> bool:
        return self.value.requires_grad

    @requires_grad.setter
    def requires_grad(self, needed: bool) -> None:
        if needed != self.value.requires_grad:
            self.value.requires_grad = needed
            self.recorder.note(f"{self.name}.requires_grad_({needed})")

    @property
    def shape(self) -> tuple:
        return TracedShape(self.size(i) for i in range(self.value.dim()))

    def size(self, dim: int | None = None):
        if dim is None:
            return self.shape
        size = self.value.size(dim)
        return self.recorder.bind(f"{self.name}.size({dim})", size)

    def numel(self):
        return self.recorder.bind(f"{self.name}.numel()", self.value.numel())

    nelement = numel

    def __len__(self) -> int:
        if called_by_program():
            warn(LENGTH)
        return len(self.value)

    def __iter__(self):
        return iter(_Row.of(self, called_by_program()))

    # --- values, which the program cannot know ---

    def item(self):
        frozen("a tensor to a Python number")
        return self.value.item()

    def tolist(self):
        frozen("a tensor to a Python list")
        return self.value.tolist()

    def numpy(self):
        frozen("a tensor to a NumPy array")
        return self.value.numpy()

    def __bool__(self) -> bool:
        frozen("a tensor to a Python boolean")
        return bool(self.value)

    def __int__(self) -> int:
        frozen("a tensor to a Python integer")
        return int(self.value)

    def __float__(self) -> float:
        frozen("a tensor to a Python float")
        return float(self.value)

    def __index__(self) -> int:
        frozen("a tensor to a Python index")
        return self.value.__index__()

    # --- parts ---

    def _at(self, index) -> str:
        parts = index if is_tuple_of_indices(index) else (index,)
        parts = without_ellipsis(parts, self.value.dim())
        place, base, texts = 0, self.name, []
        for part in parts:
            if is_truth(part):
                # A dimension of one, of which it takes the element or none.
                base += f".unsqueeze({place})"
                part = places_of(part)
            place += dimensions_used(part)
            texts.append(self.recorder.text(_as_index(part)))
        return f"{base}[{', '.join(texts)}]"

    def __getitem__(self, index):
        index = self.recorder.stood_in(index)
        return self.recorder.bind(self._at(index), self.value[real(index)])

    def __setitem__(self, index, value) -> None:
        self.recorder.write_part(self, *self.recorder.stood_in((index, value)))

    __hash__ = Traced.__hash__


class _Late(TracedTensor):
    """A tensor that the program has a line for once it is computed with."""

    __slots__ = ("_known",)

    def __init__(self, recorder: Recorder, value: _C.Tensor) -> None:
        self.recorder = recorder
        self.value = value
        self._known: str | None = None
        recorder.born(self)

    @property
    def name(self) -> str:
        if self._known is None:
            self._write()
        return self._known

    @name.setter
    def name(self, name: str) -> None:
        self._known = name

    def _write(self) -> None:
        """Writes the line, and sets the name."""
        raise NotImplementedError

    __hash__ = Traced.__hash__


class TracedTruth(_Late):
    """How a size compares: a tensor of one truth, as sizes of PyTorch's traces
    are tensors.
    """

    __slots__ = ("_expression",)

    def __init__(self, recorder: Recorder, expression: str, value: bool):
        super().__init__(recorder, _C.tensor(value))
        self._expression = expression

    def _write(self) -> None:
        text = f"torch.tensor({self._expression})"
        self._known = self.recorder._note(text)

    def truth(self) -> Traced:
        """The same as a boolean of the program."""
        return Traced(self.recorder, self._expression, bool(self.value))

    def __bool__(self) -> bool:
        if called_by_program():
            frozen("a tensor to a Python boolean")
        return bool(self.value)

    __hash__ = Traced.__hash__


class _Row(_Late):
    """Row that an iteration gives: a program that uses one unbinds them all."""

    __slots__ = ("_rows", "_warns", "_whole")

    @classmethod
    def of(cls, whole: TracedTensor, warns: bool) -> list:
        """Rows of a tensor. With `warns` their use warns."""
        rows = [cls(whole.recorder, row) for row in whole.value.unbind(0)]
        for row in rows:
            row._rows, row._warns, row._whole = rows, warns, whole
        return rows

    def _write(self) -> None:
        if self._warns:
            warn(ITERATION)
        parts = self._whole.unbind(0)
        for row, part in zip(self._rows, parts):
            row._known = part.name

    __hash__ = Traced.__hash__


def size_of(count: _C.Tensor) -> int:
    """Size that a tensor of one integer says; a trace reads it again."""
    if not isinstance(count, TracedTensor):
        return int(count)
    return count.recorder.bind(f"int({count.name})", int(count.value))


def _as_index(part):
    """A part of an index as compiled code takes it: tensors that bound a slice
    as numbers.
    """
    if type(part) is not slice:
        return part
    bounds = (part.start, part.stop, part.step)
    return slice(*(size_of(b) if isinstance(b, TracedTensor) else b for b in bounds))


class TracedShape(tuple):
    """Sizes of a stand-in."""

    def __getitem__(self, index):
        found = super().__getitem__(index)
        return TracedShape(found) if isinstance(index, slice) else found

    def numel(self):
        """Their product."""
        out = 1
        for size in self:
            out = out * size
        return out


_misfits.register(call_traced, TracedInt)
