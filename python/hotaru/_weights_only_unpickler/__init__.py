"""Reads pickles without running what they say: allowed names only.

Python's unpickler with its table of instructions cut down to those that make
plain values, and with the others that make objects asking who is allowed.
"""

from __future__ import annotations

import pickle
import warnings
from collections import Counter, OrderedDict
from pickle import UnpicklingError

from ._allowed import (
    _add_safe_globals,
    _allowed,
    _blocklisted_modules,
    _clear_safe_globals,
    _full_path,
    _get_allowed_globals,
    _get_safe_globals,
    _get_user_allowed_globals,
    _marked_safe_globals_set,
    _of_jagged,
    _remove_safe_globals,
    _safe_globals,
)


def get_globals_in_pkl(file) -> set[str]:
    """The names of all classes and functions that a pickle refers to.

    UnpicklingError: an instruction that is not read without trust.
    """
    import pickletools

    found = set()
    for opcode, argument, _ in pickletools.genops(file):
        if opcode.code.encode("latin1") not in _ALLOWED_INSTRUCTIONS:
            raise UnpicklingError(f"Unsupported operand {ord(opcode.code)}")
        if opcode.name == "GLOBAL":
            found.add(_full_path(*argument.split(" ", 1)))
    return found


class _Instructions(dict):
    """Instructions that are read; another is refused when it comes."""

    def __missing__(self, code: int):
        raise UnpicklingError(f"Unsupported operand {code}")


class Unpickler(pickle._Unpickler):
    """Reads what `_ALLOWED_INSTRUCTIONS` can say, of allowed names.

    load() raises UnpicklingError for the rest, EOFError at an early end.
    """

    def __init__(self, file, *, encoding: str = "bytes") -> None:
        super().__init__(file, encoding=encoding)

    def find_class(self, module: str, name: str):
        path = _full_path(module, name)
        module = path[: -len(name) - 1] if path.endswith(name) else module
        if module in _blocklisted_modules:
            raise UnpicklingError(
                f"Trying to load unsupported GLOBAL {path} whose module "
                f"{module} is blocked."
            )
        for table in (_get_allowed_globals(), _get_user_allowed_globals()):
            if path in table:
                return table[path]
        if path.startswith("torch.nested."):
            return _of_jagged(path, name)
        path = path.removeprefix("builtins.")
        raise UnpicklingError(
            f"Unsupported global: GLOBAL {path} was not an allowed global by "
            "default. "
            f"Please use `torch.serialization.add_safe_globals([{path}])` or "
            f"the `torch.serialization.safe_globals([{path}])` context manager "
            "to allowlist this global if you trust this class/function."
        )

    def load_newobj(self) -> None:
        args = self.stack.pop()
        cls = self.stack.pop()
        if not _allowed(cls):
            raise UnpicklingError(
                "Can only create new object for nn.Parameter or classes "
                f"allowlisted via `add_safe_globals` but got {cls}"
            )
        self.append(cls.__new__(cls, *args))

    def load_reduce(self) -> None:
        args = self.stack.pop()
        function = self.stack[-1]
        if not _allowed(function):
            text = f"Trying to call reduce for unrecognized function {function}"
            if hasattr(function, "__self__"):
                text += f" which belongs to {function.__self__}"
            raise UnpicklingError(text)
        self.stack[-1] = function(*args)

    def load_build(self) -> None:
        from .._C import Tensor
        from .._tensor.attributes import set_object_state
        from ..nn import Parameter

        state = self.stack.pop()
        made = self.stack[-1]
        if type(made) is Tensor:
            made.set_(*state)  # of pickles before PyTorch 0.4
        elif type(made) is OrderedDict:
            made.__dict__.update(state)
        elif type(made) is Parameter or _allowed(type(made)):
            set_object_state(made, state)
        else:
            raise UnpicklingError(
                "Can only build Tensor, Parameter, OrderedDict or types "
                f"allowlisted via `add_safe_globals`, but got {type(made)}"
            )

    def _check(self, verb: str, target, kinds, text: str) -> None:
        if type(target) not in kinds:
            raise UnpicklingError(f"Can only {verb} {text}, but got {type(target)}")

    def load_append(self) -> None:
        self._check("append to", self.stack[-2], (list,), "lists")
        super().load_append()

    def load_appends(self) -> None:
        self._check("extend", self.metastack[-1][-1], (list,), "lists")
        super().load_appends()

    def load_setitem(self) -> None:
        self._check("SETITEM for", self.stack[-3], _DICTS, _DICTS_TEXT)
        super().load_setitem()

    def load_setitems(self) -> None:
        target = self.metastack[-1][-1]
        self._check("SETITEMS for", target, _DICTS, _DICTS_TEXT)
        super().load_setitems()

    def load_binpersid(self) -> None:
        from ..serialization._names import text_of

        named = self.stack[-1]
        if type(named) is not tuple and type(named) is not int:
            raise UnpicklingError(
                f"persistent_load id must be tuple or int, but got {type(named)}"
            )
        if type(named) is tuple and named and text_of(named[0]) != "storage":
            raise UnpicklingError(
                f"Only persistent_load of storage is allowed, but got {type(named[0])}"
            )
        super().load_binpersid()

    def load_proto(self) -> None:
        self.proto = self.read(1)[0]
        if self.proto != 2:
            warnings.warn(
                f"Detected pickle protocol {self.proto} in the checkpoint, "
                "which was not the default pickle protocol used by "
                "`torch.load` (2). The weights_only Unpickler might not "
                "support all instructions implemented by this protocol, "
                "please file an issue for adding support if you encounter "
                "this.",
                stacklevel=2,
            )


_DICTS = (dict, OrderedDict, Counter)
_DICTS_TEXT = "dict, collections.OrderedDict, collections.Counter"
_MADE_HERE = {
    pickle.NEWOBJ: Unpickler.load_newobj,
    pickle.REDUCE: Unpickler.load_reduce,
    pickle.BUILD: Unpickler.load_build,
    pickle.APPEND: Unpickler.load_append,
    pickle.APPENDS: Unpickler.load_appends,
    pickle.SETITEM: Unpickler.load_setitem,
    pickle.SETITEMS: Unpickler.load_setitems,
    pickle.BINPERSID: Unpickler.load_binpersid,
    pickle.PROTO: Unpickler.load_proto,
}
_ALLOWED_INSTRUCTIONS = {
    *_MADE_HERE,
    pickle.GLOBAL,
    pickle.MARK,
    pickle.TUPLE,
    pickle.TUPLE1,
    pickle.TUPLE2,
    pickle.TUPLE3,
    pickle.NONE,
    pickle.NEWFALSE,
    pickle.NEWTRUE,
    pickle.EMPTY_TUPLE,
    pickle.EMPTY_LIST,
    pickle.EMPTY_DICT,
    pickle.EMPTY_SET,
    pickle.BININT,
    pickle.BININT1,
    pickle.BININT2,
    pickle.BINFLOAT,
    pickle.BINUNICODE,
    pickle.SHORT_BINSTRING,
    pickle.LONG1,
    pickle.BINGET,
    pickle.LONG_BINGET,
    pickle.BINPUT,
    pickle.LONG_BINPUT,
    pickle.STOP,
}
Unpickler.dispatch = _Instructions(
    {
        code[0]: _MADE_HERE.get(code, pickle._Unpickler.dispatch[code[0]])
        for code in _ALLOWED_INSTRUCTIONS
    }
)


def load(file, *, encoding: str = "ASCII"):
    """The object of a pickle; see Unpickler."""
    return Unpickler(file, encoding=encoding).load()
