"""Walk to what captured code can read besides its arguments.

From a function or module the walk follows what its code may touch: modules
with all their dictionaries, objects and their attributes, lists and dicts,
closures, defaults, globals, classes and helper functions. What it meets is part
of the kind of call (``signature``), and everything that can change is watched
natively (``around``), so that a change is noticed whoever makes it and however.
"""

from __future__ import annotations

import collections

from ... import _C, Tensor
from ...nn import functional
from ...nn.modules import module as _module
from .._keys import Same, Signature
from . import leaf_hooks as _leaf_hooks
from . import outside as _outside
from .code import reads_options, reads_schedules
from .keepers import same_items
from .raw import attributes_of, slots_of
from .values import (
    SIMPLE,
    Leaf,
    is_array,
    is_schedule,
    kind_of,
    native_of,
    own_member,
    place,
    slotted,
    text_of,
)
from .visits import ANY, CONTAINERS, END, INSTALLED, MAX_DEPTH, METHODS, Visits

_MAX_VALUES = 20_000
_BUFFERS = (bytearray, memoryview)
_GLOBAL_HOOKS = tuple(
    f"_global_{kind}"
    for kind in (
        "forward_pre_hooks",
        "forward_hooks",
        "forward_hooks_with_kwargs",
        "forward_hooks_always_called",
        "backward_pre_hooks",
        "backward_hooks",
    )
)
# Names of code that finds attributes by other means than their names.
_BY_VALUE = {
    "getattr",
    "setattr",
    "vars",
    "dir",
    "eval",
    "exec",
    "__dict__",
    "__class__",
    "__getattribute__",
    "attrgetter",
    "asdict",
    "astuple",
    "fields",
    "replace",
    "copy",
    "deepcopy",
    "pickle",
}


class Reach(Visits):
    """Everything that code which starts at `root` can read.

    Args:
        root: a function, a module or another callable.
        own_hooks: whether the hooks of `root` itself, a module, are part of it.
    """

    def __init__(self, root, own_hooks: bool = True) -> None:
        self._root = root
        self._own_hooks = own_hooks
        #: Objects that were met, by id: when, and itself.
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
        # Set while `around` tells of every change.
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
        # Names by which the code that was met calls things; attributes of
        # objects and members of their classes wait until something has their
        # name.
        self._names: set[str] = set()
        self._waiting: dict[str, list[tuple]] = {}
        self._by_name: list[dict] = []
        self._slots: list[tuple] = []
        # Modules of Python's that others than globals lead to.
        self._homes: list[tuple[dict, int]] = []
        self._libraries: dict[int, tuple] = {}
        # Names that were looked up in modules of the user's.
        self._asked: dict[int, set[str]] = {}
        # Functions this package's layers call, which somebody may replace.
        self._functional: set[str] = set()
        self._loaded = 0
        self._classes: dict[int, type] = {}
        #: Set if it has all that the environment says.
        self.environment = False
        #: Context variables that it reads.
        self.variables: list = []
        #: Caches of results of functions (`functools.lru_cache`).
        self.caches: list = []
        self._kept: list = []
        self._follow()
        self._note_surroundings()

    def _follow(self) -> None:
        """Visits what the root leads to, and says why no graph could."""
        for name in _GLOBAL_HOOKS:
            self._push(getattr(_module, name), MAX_DEPTH, None)
        self._push(self._root, MAX_DEPTH, None)
        self._visit_all()
        for library, names in list(self._libraries.values()):
            _outside.read_library(self, library, names)
        self._visit_all()
        _leaf_hooks.follow(self, self._names, ANY in self._names)
        self._visit_all()
        if "initial_seed" in self._names:
            self.unfit = "it reads the seed of a generator"
        #: Set if code reads options of the optimizers.
        self.reads_options = bool(self.optimizers) and reads_options(self)
        if any(map(is_schedule, self._own)) and reads_schedules(self):
            self.unfit = "it reads a schedule of an optimizer"

    def _note_surroundings(self) -> None:
        """Has `around` watch every place where what was met stands."""
        for attributes in self._by_name:
            if ANY in self._names:
                self.around.add_dict(attributes)
            else:
                self.around.add_names(attributes, tuple(sorted(self._names)))
        # Members replaced in libraries count; they are followed no further.
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
            if name in self._names or ANY in self._names:
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
                if part.place is not None and (carried is None or part.place in carried)
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
        """True if libraries have more of the names by then."""
        return later._loaded > self._loaded

    def difference(self, later: Reach, carried: set) -> str:
        """Tells people what a call changed."""
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
        """Marks what there is now as what restore() goes back to."""
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

    def follow(self, value, depth: int = MAX_DEPTH) -> None:
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
        """Pushes what counts only if some code has its name."""
        entry = ((value, depth, where), (name, depth, None))
        if name in self._names or ANY in self._names:
            self._stack.extend(entry)
        else:
            self._waiting.setdefault(name, []).extend(entry)

    def learn(self, names: set[str]) -> None:
        """Code that was met uses these names."""
        new = names - self._names
        if new & _BY_VALUE:
            new.add(ANY)
        self._names |= new
        for scope, depth in self._homes:
            self._push_home(scope, depth, new)
        for name in sorted(self._waiting if ANY in new else new):
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
        if kind is complex:
            parts = (value.real.hex(), value.imag.hex())
            self._parts.append((kind, parts))
            return
        known = self.seen.get(id(value))
        if known is not None:
            self._parts.append(("again", known[0]))
            return
        self._meet(value)
        # Containers count by what they hold, not by which one it is.
        if isinstance(value, _BUFFERS) or is_array(value):
            self.read_buffer(value)
            return
        if not isinstance(value, CONTAINERS):
            native = native_of(value)
            # Wrappers of compiled modules come and go.
            self._parts.append(native.address() if native else Same(value))
        ended = depth <= 0 or INSTALLED < depth <= END
        if ended or len(self.seen) > _MAX_VALUES:
            if depth > INSTALLED:
                self.unfit = "it may read more than can be watched"
            return
        for types_, method in METHODS:
            if isinstance(value, types_):
                method(self, value, depth, where)
                return
        _outside.follow_other(self, value, depth)
        if isinstance(value, collections.abc.Iterator):
            self._iterator(value)
        if hasattr(value, "__dict__") or slotted(type(value)):
            self._object(value, depth)
