"""How the walk of :class:`_reach.Reach` passes each kind of value."""

from __future__ import annotations

import argparse
import collections
import enum
import functools
import io
import sys
import types
import weakref

from ... import _C
from ..._own_names import is_own
from ...nn import Module
from .._keys import Same
from . import outside as _outside
from .code import finds_names, functional_names, names_of, texts_of
from .homes import holds_data, is_installed, is_library, is_of_library, is_ours, top_of
from .keepers import keep, keep_buffer, keep_cell, keep_members, keep_names
from .raw import items_of, pairs_of
from .values import SIMPLE, is_code, is_graphed, is_plain, key_part, native_of, place

# Functions, classes and objects that lead to each other from the first number
# down to the second, and so many values, are followed; beyond that no graph can
# be right. What functions of installed packages lead to is followed from the
# third number down to 0, and known by identity only from there on.
MAX_DEPTH, END, INSTALLED = 1_100, 1_000, 6
# Larger buffers would take too long to compare in every call.
_MAX_BYTES = 1 << 20
CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
# Members of every module and the hooks of its calls; the other hooks have
# nothing to do with them.
_MEMBERS = ("_parameters", "_buffers", "_modules")
_CALL_HOOKS = tuple(
    name for name in vars(Module()) if name.startswith(("_forward", "_backward"))
)
_UNSEEN = {*vars(Module()), "_hooked", "_c", "_originals"} - {
    "training",
    *_MEMBERS,
    *_CALL_HOOKS,
}
ANY, _INIT = "*", "__init__ "
# Classes of the standard library that are there to hold data, and no others.
_RECORDS = (
    types.SimpleNamespace,
    argparse.Namespace,
    collections.UserDict,
    collections.UserList,
    collections.UserString,
)


class Visits:
    """The part of :class:`_reach.Reach` that knows kinds of values: a method
    each, which notes what may change and has the walk follow what it leads to.
    """

    def _list(self, value, depth, where) -> None:
        self.around.add_list(value)
        self._keepers.append(functools.partial(keep, value))
        self._items(value, depth, where)

    def _watch(self, value: dict) -> None:
        self.around.add_dict(value)
        self._note(value)

    def _note(self, value: dict) -> None:
        self._keepers.append(functools.partial(keep, value))

    def _items(self, value, depth, where) -> None:
        items = items_of(value)
        self._parts.append((type(value), len(items)))
        self._push_all(items, depth, where)

    def _deque(self, value, depth, where) -> None:
        self.plain = False  # as sets
        self._keepers.append(functools.partial(keep, value))
        self._items(value, depth, where)

    def _iterator(self, value) -> None:
        """Refuses what no copy can be made of, should the code advance it.
        Those of the user's own classes are objects like others.
        """
        top = top_of(type(value))
        if isinstance(value, io.IOBase):
            return
        if is_own(top) or top in sys.stdlib_module_names:
            self.unfit = f"it reads a {type(value).__name__}, which may be advanced"

    def read_buffer(self, value) -> None:
        """Numbers in memory, which change without a trace."""
        self.plain = False
        try:
            content = memoryview(value)
        except (TypeError, ValueError, BufferError):
            content = None
        if content is None or content.nbytes > _MAX_BYTES:
            self.unfit = f"it reads a large {type(value).__name__}"
            return
        if content.format == "O":
            self.unfit = "it reads an array of objects"
            return
        self._parts.append(
            (type(value), content.format, content.shape, content.tobytes())
        )
        if not content.readonly:
            self._keepers.append(functools.partial(keep_buffer, value))

    def _set(self, value, depth, where) -> None:
        # Sets have no version; their members stand for them.
        self.plain = False
        if isinstance(value, set):
            self._keepers.append(functools.partial(keep, value))
        self._parts.append(frozenset(map(key_part, value)))
        self._push_all((v for v in value if not isinstance(v, SIMPLE)), depth, where)

    def _dict(self, value, depth, where) -> None:
        self._watch(value)
        pairs = pairs_of(value)
        self._parts.append((type(value), *(key_part(key) for key, _ in pairs)))
        self._push_all((item for _, item in pairs), depth, where)

    def _module(self, module, depth, where) -> None:
        self.owners.append(module)
        self._class(type(module), depth)
        attributes = vars(module)
        self._watch(attributes)
        native = native_of(module)
        if native is not None:
            # Native code counts changes of these itself.
            for name, value in native.attributes():
                if isinstance(value, CONTAINERS):
                    self.plain = False
                self._parts.append(name)
                self._push(value, depth, place(module, name))
            self._push_all(module.children(), depth, None)
            return
        # Hooks are called once one was registered, which `attributes` tells.
        hooked = module._hooked and (module is not self._root or self._own_hooks)
        pushed = []
        for name, value in attributes.items():
            if name in _MEMBERS:
                self._watch(value)
                self._parts.append(tuple(value))
                pushed += [
                    (v, depth, None if v is None else place(module, n))
                    for n, v in value.items()
                ]
            elif name in _CALL_HOOKS:
                if hooked:
                    pushed.append((value, depth, None))
            elif isinstance(value, weakref.ReferenceType):
                self._push_named(name, value, depth - 1, None)
            elif name not in _UNSEEN and not is_graphed(value):
                self._parts.append(name)
                pushed.append((value, depth - 1, place(module, name)))
        self._stack.extend(reversed(pushed))

    def _object(self, value, depth) -> None:
        kind = type(value)
        top = top_of(kind)
        if is_graphed(value):
            self._push(value.function, depth, None)
            return
        if hasattr(kind, "_lifted"):
            self._optimizer(value, depth)
            if is_own(top):
                return
        if is_own(top):
            self._own_object(value, depth)
            return
        if is_of_library(kind) and not isinstance(value, _RECORDS):
            return
        self.follow_attributes(value, depth)

    def _own_object(self, value, depth: int) -> None:
        """One of this package's (a scaler, a metric): graphs do not follow
        what its methods do to it, so they must do nothing. What it holds
        counts where it is there to hold it.
        """
        attributes = getattr(value, "__dict__", None)
        if not isinstance(attributes, dict):
            return
        self._own.append(value)
        self._note(attributes)
        if holds_data(type(value)):
            self.around.add_dict(attributes)
            self._parts.append(tuple(attributes))
            self._push_all(attributes.values(), depth - 1, None)
            return
        self._push_code(attributes.values(), depth - 1)
        for item in attributes.values():
            if isinstance(item, dict):
                self._note(item)
                self._push_code(item.values(), depth - 1)

    def _optimizer(self, value, depth: int) -> None:
        self.optimizers.append(value)
        self._class(type(value), depth)
        # Loading a state dict binds these anew.
        self.around.add_names(vars(value), ("state", "param_groups"))
        self.around.add_list(value.param_groups)
        for group in value.param_groups:
            self.options.add_dict(group)
            self._list(group["params"], depth, None)
        self._watch(value.state)
        for kept in value.state.values():
            if isinstance(kept, dict):
                self._watch(kept)
                self._parts.append(tuple(map(key_part, kept)))
                self._push_all(kept.values(), depth, None)
        for hooks in (
            value._optimizer_step_pre_hooks,
            value._optimizer_step_post_hooks,
        ):
            self._watch(hooks)
            self._push_all(hooks.values(), depth - 1, None)

    def _class(self, kind: type, depth: int) -> None:
        """Methods and attributes of a class and its bases."""
        for base in kind.__mro__:
            if base is object or id(base) in self._classes:
                continue
            self._classes[id(base)] = base
            self.around.add_type(base)
            self._parts.append(Same(base))
            ours = top_of(base)
            if is_own(ours):
                # Followed no further, but noticed where somebody replaces one.
                self._functional |= functional_names(base)
                forward = vars(base).get("forward")
                self._parts.append(Same(forward))
                self._parts.append(Same(vars(base).get("__call__")))
            elif not is_of_library(base):
                self._keepers.append(functools.partial(keep_members, base))
                members = dict(vars(base))
                for name in ("__dict__", "__weakref__", "__doc__"):
                    members.pop(name, None)
                self._parts.append(tuple(members))
                if is_plain(kind) or issubclass(kind, Module):
                    init = members.pop("__init__", None)
                    self._waiting.setdefault(_INIT + str(id(base)), []).append(
                        (init, depth - 1, None)
                    )
                for name, member in reversed(members.items()):
                    if is_plain(kind) and not name.startswith("__"):
                        self._push_named(name, member, depth - 1, None)
                    else:
                        self._push(member, depth - 1, None)

    def _type(self, value, depth, where) -> None:
        if not issubclass(value, enum.Enum):
            self._class(value, depth)
            if not is_of_library(type(value)):
                self._class(type(value), depth)
            # Code that has the class may make objects of it.
            self.learn({_INIT + str(id(base)) for base in value.__mro__})

    def _partial(self, value, depth, where) -> None:
        self._watch(value.keywords)
        self._parts.append(tuple(value.keywords))
        self._push_all((value.func, *value.args, *value.keywords.values()), depth, None)

    def _method(self, value, depth, where) -> None:
        self._push_all((value.__self__, value.__func__), depth, None)

    def _function(self, value, depth, where) -> None:
        if is_ours(value):
            self._code_within(value, depth)
            return
        if is_installed(value):
            depth = min(depth, INSTALLED)
        self.around.add_function(value)
        self._parts.append(Same(value.__code__))
        parts = [*(value.__defaults__ or ())]
        for name, default in (value.__kwdefaults__ or {}).items():
            self._parts.append(name)
            parts.append(default)
        for cell in value.__closure__ or ():
            self.around.add_cell(cell)
            try:
                parts.append(cell.cell_contents)
                self._keepers.append(functools.partial(keep_cell, cell))
            except ValueError:  # not bound yet
                self._parts.append("empty")
        code = value.__code__
        if depth > INSTALLED and finds_names(code):
            self.finds = f"{value.__name__} finds names while it runs"
        texts = texts_of(code)
        names = names_of(code).union(filter(str.isidentifier, texts))
        self.learn(names | texts)
        self._named(value.__globals__, tuple(sorted(names)), parts)
        wrapped = vars(value).get("__wrapped__")
        if wrapped is not None:
            parts.append(wrapped)
        self._note(vars(value))
        if vars(value):
            self._by_name.append(vars(value))
        for name, item in reversed(vars(value).items()):
            if name != "__wrapped__":
                self._push_named(name, item, depth - 1, None)
        self._push_all(parts, depth - 1, None)

    def _code_within(self, function, depth: int) -> None:
        """Code of others that one of this package's functions calls, as
        decorators of this package do.
        """
        held = [vars(function).get("__wrapped__")]
        for cell in function.__closure__ or ():
            try:
                held.append(cell.cell_contents)
            except ValueError:  # not bound yet
                continue
            self.around.add_cell(cell)
        self._push_code(held, depth)

    def _push_code(self, values, depth: int) -> None:
        """Pushes, of the values that this package holds, those that are
        others' code, or lead to such code.
        """
        self._push_all(filter(is_code, values), depth, None)

    def _python_module(self, value, depth, where) -> None:
        if is_library(value):
            # All names, also those that are yet to be met.
            self._libraries[id(value)] = (value, self._names)
            return
        self._homes.append((vars(value), depth))
        self._push_home(vars(value), depth, self._names)

    def _push_home(self, scope: dict, depth: int, names: set) -> None:
        found = sorted(name for name in names if name in scope)
        self._push_all((scope[name] for name in found), depth - 1, None)
        self._push_all(found, depth, None)

    def _named(self, scope: dict, names: tuple, parts: list) -> None:
        """Follows what names mean in the globals of a module; one further
        where that is a module of the user's.
        """
        self.around.add_names(scope, names)
        self._keepers.append(functools.partial(keep_names, scope, names))
        for name in names:
            if name not in scope:
                continue
            self._parts.append(name)
            found = scope[name]
            if not isinstance(found, types.ModuleType):
                parts.append(found)
                continue
            self._parts.append(Same(found))
            if is_library(found):
                self._library(found, names)
                continue
            if id(found) not in self.seen:
                self._meet(found)
            # Other functions have other names for what is in it.
            known = self._asked.setdefault(id(found), set())
            new = tuple(n for n in names if n not in known)
            if new:
                known.update(new)
                self._named(vars(found), new, parts)

    def _library(self, module, names: tuple) -> None:
        """A module of a library, and those of its modules that names say."""
        modules = [module]
        while modules:
            module = modules.pop()
            known = self._libraries.setdefault(id(module), (module, set()))[1]
            if known.issuperset(names):
                continue
            known.update(names)
            found = [vars(module).get(name) for name in names]
            modules += [
                m for m in found if isinstance(m, types.ModuleType) and is_library(m)
            ]

    def _property(self, value, depth, where) -> None:
        self._push_all((value.fget, value.fset), depth, None)

    def _descriptor(self, value, depth, where) -> None:
        self._push(value.__func__, depth, None)

    def _nothing(self, value, depth, where) -> None:
        """Known by identity."""


METHODS = (
    (Module, Visits._module),
    (types.FunctionType, Visits._function),
    (_C.Function, Visits._nothing),
    *_outside.METHODS,
    (types.MethodType, Visits._method),
    (functools.partial, Visits._partial),
    (enum.Enum, Visits._nothing),
    (list, Visits._list),
    (tuple, Visits._items),
    (collections.deque, Visits._deque),
    ((set, frozenset), Visits._set),
    (dict, Visits._dict),
    (types.ModuleType, Visits._python_module),
    (type, Visits._type),
    (property, Visits._property),
    ((staticmethod, classmethod), Visits._descriptor),
)
