"""What captured code can read besides its arguments.

From a function or module the walk follows what its code may touch: modules
with all their dictionaries, objects and their attributes, lists and dicts,
closures, defaults, globals, classes and helper functions. What it meets is part
of the kind of call (``signature``), and everything that can change is watched
natively (``around``), so that a change is noticed whoever makes it and however.
"""

from __future__ import annotations

import argparse
import collections
import enum
import functools
import io
import sys
import types
import weakref

from .. import _C, Tensor
from .._own_names import is_own
from ..nn import Module, functional
from ..nn.modules import module as _module
from . import _leaf_hooks, _outside
from ._code import (
    finds_names,
    functional_names,
    names_of,
    reads_options,
    reads_schedules,
    texts_of,
)
from ._homes import (
    holds_data,
    is_installed,
    is_library,
    is_of_library,
    is_ours,
    top_of,
)
from ._keepers import (
    keep,
    keep_buffer,
    keep_cell,
    keep_members,
    keep_names,
    same_items,
)
from ._keys import Same, Signature
from ._raw import attributes_of, items_of, pairs_of, slots_of
from ._values import (
    SIMPLE,
    Leaf,
    is_array,
    is_code,
    is_graphed,
    is_plain,
    is_schedule,
    key_part,
    kind_of,
    native_of,
    own_member,
    place,
    slotted,
    text_of,
)

# Functions, classes and objects that lead to each other from the first number
# down to the second, and so many values, are followed; beyond that no graph can
# be right. What functions of installed packages lead to is followed from the
# third number down to 0, and known by identity only from there on.
_MAX_DEPTH, _END, _INSTALLED = 1_100, 1_000, 6
_MAX_VALUES = 20_000
# Larger buffers would take too long to compare in every call.
_MAX_BYTES = 1 << 20
_BUFFERS = (bytearray, memoryview)
_CONTAINERS = (list, tuple, dict, set, frozenset, collections.deque)
# Of every module: members and the hooks of calls; the other hooks have nothing
# to do with them.
_MEMBERS = ("_parameters", "_buffers", "_modules")
_CALL_HOOKS = tuple(
    name
    for name in vars(Module())
    if name.startswith(("_forward", "_backward"))
)
_UNSEEN = {
    *vars(Module()), "_hooked", "_c", "_originals",
} - {"training", *_MEMBERS, *_CALL_HOOKS}  # fmt: skip
_GLOBAL_HOOKS = tuple(
    f"_global_{kind}"
    for kind in (
        "forward_pre_hooks", "forward_hooks", "forward_hooks_with_kwargs",
        "forward_hooks_always_called", "backward_pre_hooks", "backward_hooks",
    )
)  # fmt: skip
# Names of code that finds attributes by other means than their names.
_BY_VALUE = {
    "getattr", "setattr", "vars", "dir", "eval", "exec", "__dict__",
    "__class__", "__getattribute__", "attrgetter", "asdict", "astuple",
    "fields", "replace", "copy", "deepcopy", "pickle",
}  # fmt: skip
_ANY, _INIT = "*", "__init__ "
# Of the standard library's classes only those that are there to hold data.
_RECORDS = (
    types.SimpleNamespace, argparse.Namespace, collections.UserDict,
    collections.UserList, collections.UserString,
)  # fmt: skip


class Reach:
    """Everything that code which starts at `root` can read.

    Args:
        root: a function, a module or another callable.
        own_hooks: whether the hooks of `root` itself, a module, are part of it.
    """

    def __init__(self, root, own_hooks: bool = True) -> None:
        self._root = root
        self._own_hooks = own_hooks
        #: What was met, by id: when, and itself.
        self.seen: dict[int, tuple[int, object]] = {}
        # Objects whose attributes code may rebind: modules first of all.
        self.owners: list = []
        # Tensors outside of states, in the order in which they are met.
        self.tensors: list[Tensor] = []
        self.around = _C._Surroundings()
        # Optimizers of this package, and the groups of their options, which
        # change while graphs stay right (_training).
        self.optimizers: list = []
        self.options = _C._Surroundings()
        # Whether `around` tells of every change.
        self.plain = True
        # (place or None, tensor) for tensors, else what has to be equal.
        self._parts: list = []
        #: Why no graph can follow what the code reads, if so.
        self.unfit = ""
        #: The same where the caller's word counts, if it asked for a graph.
        self.finds = ""
        # Each, called, gives a function that brings back what a container or
        # names hold now.
        self._keepers: list = []
        # Objects of this package's, whose attributes are their own business.
        self._own: list = []
        self._stack: list[tuple] = []
        # What the code that was met calls things; attributes of objects and
        # members of their classes wait until something has their name.
        self._names: set[str] = set()
        self._waiting: dict[str, list[tuple]] = {}
        self._by_name: list[dict] = []
        self._slots: list[tuple] = []
        # Modules of Python's that others than globals lead to.
        self._homes: list[tuple[dict, int]] = []
        self._libraries: dict[int, tuple] = {}
        # Of modules of the user's the names that were looked up in them.
        self._asked: dict[int, set[str]] = {}
        # What this package's layers call, which somebody may replace.
        self._functional: set[str] = set()
        self._loaded = 0
        self._classes: dict[int, type] = {}
        #: Whether it has all that the environment says.
        self.environment = False
        #: Context variables that it reads.
        self.variables: list = []
        #: What keeps results of functions (`functools.lru_cache`).
        self.caches: list = []
        self._kept: list = []
        for name in _GLOBAL_HOOKS:
            self._push(getattr(_module, name), _MAX_DEPTH, None)
        self._push(root, _MAX_DEPTH, None)
        self._visit_all()
        for library, names in list(self._libraries.values()):
            _outside.read_library(self, library, names)
        self._visit_all()
        _leaf_hooks.follow(self, self._names, _ANY in self._names)
        self._visit_all()
        if "initial_seed" in self._names:
            self.unfit = "it reads the seed of a generator"
        #: Whether code reads options of the optimizers.
        self.reads_options = bool(self.optimizers) and reads_options(self)
        if any(map(is_schedule, self._own)) and reads_schedules(self):
            self.unfit = "it reads a schedule of an optimizer"
        for attributes in self._by_name:
            if _ANY in self._names:
                self.around.add_dict(attributes)
            else:
                self.around.add_names(attributes, tuple(sorted(self._names)))
        # What is replaced in libraries counts; they are followed no further.
        watched = list(self._libraries.values())
        if self._functional:
            watched.append((functional, self._functional))
        for library, names in watched:
            known = tuple(sorted(n for n in names if n in vars(library)))
            self._loaded += len(known)
            self.around.add_names(vars(library), known)
            self._parts += [Same(vars(library)[name]) for name in known]
        for scope, _ in self._homes:
            self.around.add_names(scope, tuple(sorted(self._names)))
        for name, owner, member in self._slots:
            if name in self._names or _ANY in self._names:
                self.around.add_slot(owner, member)

    def signature(self, carried: set | None) -> Signature:
        """Equal as long as graphs that were captured stay right.

        Tensors are known by identity, but for attributes in `carried` (see
        :func:`place`; None: all), whose values go from call to call.
        """
        return Signature(
            tuple(
                part
                if type(part) is not Leaf
                else kind_of(part.tensor)
                if part.place is not None
                and (carried is None or part.place in carried)
                else Same(part.tensor)
                for part in self._parts
            )
        )

    def renew_options(self) -> None:
        """Groups of options are known as they are now."""
        self.options = _C._Surroundings()
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                self.options.add_dict(group)

    def is_loading(self, later: Reach) -> bool:
        """Whether libraries have more of the names by then."""
        return later._loaded > self._loaded

    def difference(self, later: Reach, carried: set) -> str:
        """What a call changed, for people."""
        for before, after in zip(
            self.signature(carried).parts, later.signature(carried).parts
        ):
            if before != after:
                return (
                    "the call changes what it depends on itself: "
                    f"{text_of(before)} became {text_of(after)}"
                )
        return "the call adds to what it depends on itself, or takes from it"

    def mark(self) -> None:
        """What restore() goes back to is what there is now."""
        self._undo = [keeper() for keeper in self._keepers]
        self._own_before = [dict(vars(value)) for value in self._own]

    def changed_own(self):
        """An object of this package's that has other attributes by now."""
        for value, before in zip(self._own, self._own_before):
            now = vars(value)
            if not same_items(now, before) or not same_items(
                now.values(), before.values()
            ):
                return value
        return None

    def restore(self) -> None:
        """Containers and names as they were at mark()."""
        for back in self._undo:
            back()

    # -- for what is outside (_outside) ------------------------------------

    def follow(self, value, depth: int = _MAX_DEPTH) -> None:
        """Goes on with a value."""
        self._push(value, depth, None)

    def follow_attributes(self, value, depth: int, keeps: bool = True) -> None:
        """Goes on with an object's attributes, as far as code has their names;
        `keeps`: what it rebinds of them is looked after, and kept alive.
        """
        attributes = getattr(value, "__dict__", {})
        if not isinstance(attributes, dict):
            return
        kind = type(value)
        self._class(kind, depth)
        slots = slots_of(kind) if slotted(kind) else {}
        if keeps:
            self.owners.append(value)
            self._slots += [(n, value, member) for n, member in slots.items()]
        if attributes or not slots:
            self._note(attributes)
            self._by_name.append(attributes)
        for name, item in reversed(attributes_of(value)):
            if own_member(value, name):
                self._push_named(name, item, depth - 1, place(value, name))

    def add_part(self, part) -> None:
        """Has something be equal, too."""
        self._parts.append(part)

    def keep(self, value) -> None:
        """Keeps an object as long as this one."""
        self._kept.append(value)

    # -- the walk ----------------------------------------------------------

    def _visit_all(self) -> None:
        while self._stack:
            self._visit(*self._stack.pop())

    def _push(self, value, depth: int, where) -> None:
        self._stack.append((value, depth, where))

    def _meet(self, value) -> None:
        """Notes that a value was seen, and keeps it: ids are used again."""
        self.seen[id(value)] = (len(self.seen), value)

    def _push_all(self, values, depth: int, where) -> None:
        self._stack.extend((v, depth, where) for v in reversed(list(values)))

    def _push_named(self, name: str, value, depth: int, where) -> None:
        """What counts only if some code has its name."""
        entry = ((value, depth, where), (name, depth, None))
        if name in self._names or _ANY in self._names:
            self._stack.extend(entry)
        else:
            self._waiting.setdefault(name, []).extend(entry)

    def learn(self, names: set[str]) -> None:
        """Code that was met uses these names."""
        new = names - self._names
        if new & _BY_VALUE:
            new.add(_ANY)
        self._names |= new
        for scope, depth in self._homes:
            self._push_home(scope, depth, new)
        for name in sorted(self._waiting if _ANY in new else new):
            self._stack.extend(self._waiting.pop(name, ()))

    def _visit(self, value, depth: int, where) -> None:
        """One value; `where` is the attribute that it belongs to, or None."""
        if isinstance(value, Tensor):
            self._parts.append(Leaf(where, value))
            self.tensors.append(value)
            return
        kind = type(value)
        if kind in SIMPLE:
            self._parts.append((kind, value))
            return
        if kind is float:
            self._parts.append((kind, value.hex()))
            return
        known = self.seen.get(id(value))
        if known is not None:
            self._parts.append(("again", known[0]))
            return
        self._meet(value)
        # Of containers what they hold counts, not which one it is.
        if isinstance(value, _BUFFERS) or is_array(value):
            self.read_buffer(value)
            return
        if not isinstance(value, _CONTAINERS):
            native = native_of(value)
            # Wrappers of compiled modules come and go.
            self._parts.append(native.address() if native else Same(value))
        ended = depth <= 0 or _INSTALLED < depth <= _END
        if ended or len(self.seen) > _MAX_VALUES:
            if depth > _INSTALLED:
                self.unfit = "it may read more than can be watched"
            return
        for types_, method in _METHODS:
            if isinstance(value, types_):
                method(self, value, depth, where)
                return
        _outside.follow_other(self, value, depth)
        if isinstance(value, collections.abc.Iterator):
            self._iterator(value)
        if hasattr(value, "__dict__") or slotted(type(value)):
            self._object(value, depth)

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
        """What no copy can be made of, should the code advance it. Those of the
        user's own classes are objects like others.
        """
        top = top_of(type(value))
        if isinstance(value, io.IOBase):
            return
        if is_own(top) or top in sys.stdlib_module_names:
            self.unfit = (
                f"it reads a {type(value).__name__}, which may be advanced"
            )

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
        self._push_all(
            (v for v in value if not isinstance(v, SIMPLE)), depth, where
        )

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
                if isinstance(value, _CONTAINERS):
                    self.plain = False
                self._parts.append(name)
                self._push(value, depth, place(module, name))
            self._push_all(module.children(), depth, None)
            return
        # Hooks are called once one was registered, which `attributes` tells.
        hooked = module._hooked and (
            module is not self._root or self._own_hooks
        )
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
        self._push_all(
            (value.func, *value.args, *value.keywords.values()), depth, None
        )

    def _method(self, value, depth, where) -> None:
        self._push_all((value.__self__, value.__func__), depth, None)

    def _function(self, value, depth, where) -> None:
        if is_ours(value):
            self._code_within(value, depth)
            return
        if is_installed(value):
            depth = min(depth, _INSTALLED)
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
        if depth > _INSTALLED and finds_names(code):
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
        """Of values that this package holds those that are others' code, or
        lead to such code.
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
        """What names mean in the globals of a module; one further where that
        is a module of the user's.
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
                m
                for m in found
                if isinstance(m, types.ModuleType) and is_library(m)
            ]

    def _property(self, value, depth, where) -> None:
        self._push_all((value.fget, value.fset), depth, None)

    def _descriptor(self, value, depth, where) -> None:
        self._push(value.__func__, depth, None)

    def _nothing(self, value, depth, where) -> None:
        """Known by identity."""


_METHODS = (
    (Module, Reach._module),
    (types.FunctionType, Reach._function),
    (_C.Function, Reach._nothing),
    *_outside.METHODS,
    (types.MethodType, Reach._method),
    (functools.partial, Reach._partial),
    (enum.Enum, Reach._nothing),
    (list, Reach._list),
    (tuple, Reach._items),
    (collections.deque, Reach._deque),
    ((set, frozenset), Reach._set),
    (dict, Reach._dict),
    (types.ModuleType, Reach._python_module),
    (type, Reach._type),
    (property, Reach._property),
    ((staticmethod, classmethod), Reach._descriptor),
)
