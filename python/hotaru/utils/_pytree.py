"""Trees: nested containers, taken apart into leaves and a specification.

Containers are tuples, lists, dicts, OrderedDicts, defaultdicts, deques, named
tuples, Sizes and what `register_pytree_node` adds; all else is a leaf, None
too. Dicts keep the order of their keys. `is_leaf` in the functions below makes
containers for which it is true leaves, too.
"""

from __future__ import annotations

import dataclasses
import functools
import types
import typing
from collections import OrderedDict, defaultdict

from .._late import lent
from .._own_names import no_attribute, not_iterable
from .._trees import nodes as _nodes
from .._trees.nodes import (
    ConstantNode,
    GetAttrKey,
    Kind,
    MappingKey,
    SequenceKey,
    is_namedtuple_class,
    is_structseq_class,
)

__all__ = [
    "ConstantNode",
    "GetAttrKey",
    "LeafSpec",
    "MappingKey",
    "PyTreeSpec",
    "SequenceKey",
    "TreeSpec",
    "arg_tree_leaves",
    "is_namedtuple",
    "is_namedtuple_class",
    "is_namedtuple_instance",
    "is_structseq",
    "is_structseq_class",
    "is_structseq_instance",
    "key_get",
    "keystr",
    "register_constant",
    "register_dataclass",
    "register_pytree_node",
    "tree_all",
    "tree_all_only",
    "tree_any",
    "tree_any_only",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_is_leaf",
    "tree_iter",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_",
    "tree_map_only",
    "tree_map_only_",
    "tree_map_with_path",
    "tree_structure",
    "tree_unflatten",
    "treespec_dumps",
    "treespec_loads",
    "treespec_pprint",
]

PyTree = Context = typing.Any
NodeDef = Kind
SUPPORTED_NODES = _nodes.KINDS
BUILTIN_TYPES = _nodes.BUILTINS
_MAPPINGS = (dict, OrderedDict, defaultdict)


class TreeSpec:
    """The form of a tree: its containers, with `*` for the leaves.

    `type` is the container's class (`namedtuple` for all named tuples, None
    for a leaf), `context` what the class needs besides its children.
    """

    __slots__ = ("_children", "context", "num_leaves", "num_nodes", "type")

    def __init__(self, type, context, children_specs) -> None:
        self.type = type
        self.context = context
        self._children = list(children_specs)
        self.num_nodes = 1 + sum(c.num_nodes for c in self._children)
        self.num_leaves = 1 if type is None else self._count()

    def _count(self) -> int:
        return sum(c.num_leaves for c in self._children)

    @property
    def num_children(self) -> int:
        return len(self._children)

    @property
    def children_specs(self) -> list:
        return self._children

    def children(self) -> list:
        """The specifications of the children."""
        return list(self._children)

    def child(self, index: int) -> TreeSpec:
        return self._children[index]

    def is_leaf(self) -> bool:
        return self.type is None

    def __eq__(self, other) -> bool:
        if not isinstance(other, TreeSpec):
            return NotImplemented
        return (
            self.type is other.type
            and self.context == other.context
            and self._children == other._children
        )

    def __hash__(self) -> int:
        # Contexts may be lists: equal ones print the same.
        return hash((self.type, _hashable(self.context), tuple(self._children)))

    def __repr__(self) -> str:
        return self._text(0)

    def _text(self, indent: int) -> str:
        if self.type is None:
            return "*"
        prefix = f"TreeSpec({self.type.__name__}, {self.context}, ["
        inner = indent + 2
        parts = [child._text(inner) for child in self._children]
        return prefix + (",\n" + " " * inner).join(parts) + "])"

    def unflatten(self, leaves):
        """The tree of this form; ValueError for another number of leaves."""
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            raise ValueError(
                "treespec.unflatten(leaves): `leaves` has length "
                f"{len(leaves)} but the spec refers to a pytree that holds "
                f"{self.num_leaves} items ({self})."
            )
        return self._make(iter(leaves))

    def _make(self, leaves):
        if self.type is None:
            return next(leaves)
        children = [child._make(leaves) for child in self._children]
        return _nodes.KINDS[self.type].unflatten_fn(children, self.context)

    def flatten_up_to(self, tree) -> list:
        """Lists the parts of a tree in the places of this form's leaves.

        ValueError where the tree has no such form.
        """
        found: list = []
        self._collect(tree, found)
        return found

    def _collect(self, tree, found: list) -> None:
        if self.type is None:
            found.append(tree)
            return
        for spec, child in zip(self._children, self._same_children(tree)):
            spec._collect(child, found)

    def _same_children(self, tree) -> list:
        cls = _nodes.kind_class(tree)
        mappings = self.type in _MAPPINGS and cls in _MAPPINGS
        if cls is not self.type and not mappings:
            raise ValueError(
                f"Node type mismatch; expected {self.type!r}, but got {cls!r}."
            )
        if mappings:
            return self._same_values(tree)
        children, context = _nodes.KINDS[cls].flatten_fn(tree)
        if len(children) != self.num_children:
            raise ValueError(
                f"Node arity mismatch; expected {self.num_children}, but got "
                f"{len(children)}."
            )
        # A deque's length may differ; nothing else of a form may.
        if context != self.context and cls.__name__ != "deque":
            raise ValueError(
                f"Node context mismatch for custom node type {self.type!r}."
            )
        return children

    def _same_values(self, tree: dict) -> list:
        keys = self.context[1] if self.type is defaultdict else self.context
        missing, extra = set(keys) - set(tree), set(tree) - set(keys)
        if len(tree) != len(keys) and not missing and not extra:
            raise ValueError("Node arity mismatch.")
        if missing or extra:
            text = f"; missing key(s): {missing}" if missing else ""
            text += f"; extra key(s): {extra}" if extra else ""
            raise ValueError(f"Node keys mismatch{text}.")
        return [tree[key] for key in keys]


PyTreeSpec = TreeSpec


def _hashable(context):
    try:
        hash(context)
    except TypeError:
        return repr(context)
    return context


class _LeafMeta(type):
    def __instancecheck__(cls, obj) -> bool:
        return isinstance(obj, TreeSpec) and obj.is_leaf()


class LeafSpec(TreeSpec, metaclass=_LeafMeta):
    """The form of a leaf; there is one."""

    __slots__ = ()

    def __new__(cls):
        return _LEAF

    def __init__(self) -> None:
        pass


_LEAF = TreeSpec(None, None, [])
_LEAF_SPEC = _LEAF


# --- what may be a container --------------------------------------------------


def register_pytree_node(
    cls,
    flatten_fn,
    unflatten_fn,
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context=None,
    from_dumpable_context=None,
    flatten_with_keys_fn=None,
) -> None:
    """Objects of exactly this class are containers from now on.

    `flatten_fn(obj)` gives (children, context), `unflatten_fn(children,
    context)` such an object; `flatten_with_keys_fn(obj)` gives pairs of keys
    and children in the place of children, for paths. ValueError for a class
    that is one already, or one of the two functions for dumps alone.
    """
    if (to_dumpable_context is None) ^ (from_dumpable_context is None):
        raise ValueError(
            "Both to_dumpable_context and from_dumpable_context for "
            f"{cls} must be None or registered."
        )
    _nodes.register(
        cls,
        Kind(
            cls,
            flatten_fn,
            unflatten_fn,
            flatten_with_keys_fn,
            serialized_type_name,
            to_dumpable_context,
            from_dumpable_context,
        ),
    )


_register_pytree_node = _private_register_pytree_node = register_pytree_node


def _deregister_pytree_node(cls) -> None:
    _nodes.deregister(cls)


def _register_namedtuple(cls, *, serialized_type_name: str) -> None:
    """Named tuples of this class may be dumped, by that name."""
    _nodes.NAMED_TUPLES[cls] = serialized_type_name


def register_dataclass(
    cls, *, field_names=None, drop_field_names=None, serialized_type_name=None
) -> None:
    """Objects of a dataclass are containers of their fields.

    Fields that are None when it is taken apart belong to the form. Only
    `field_names`, or all but `drop_field_names`, are taken.
    """
    if not dataclasses.is_dataclass(cls):
        raise ValueError(f"Only dataclasses are supported, got {cls}")
    if field_names is None:
        field_names = [f.name for f in dataclasses.fields(cls) if f.init]
    dropped = set(drop_field_names or ())
    names = [name for name in field_names if name not in dropped]

    def split(obj):
        present = [n for n in names if getattr(obj, n) is not None]
        return present, [n for n in names if n not in present]

    def flatten(obj):
        present, absent = split(obj)
        return [getattr(obj, n) for n in present], [present, absent]

    def keyed(obj):
        children, context = flatten(obj)
        keys = [GetAttrKey(name) for name in context[0]]
        return list(zip(keys, children)), context

    def make(children, context):
        present, absent = context
        values = dict(zip(present, children))
        return cls(**values, **dict.fromkeys(absent))

    register_pytree_node(
        cls,
        flatten,
        make,
        serialized_type_name=serialized_type_name,
        flatten_with_keys_fn=keyed,
    )
    # Generated code takes them apart by the form.
    lent("register_flatten_spec")(
        cls,
        lambda obj, spec: [getattr(obj, n) for n in spec.context[0]],
        lambda obj, spec: split(obj) == tuple(spec.context),
    )


def register_constant(cls) -> None:
    """Objects of the class belong to the form; they have no leaves.

    TypeError for a class whose objects cannot be compared or hashed.
    """
    if cls.__eq__ is object.__eq__:
        raise TypeError(
            "register_constant(cls) expects `cls` to have a non-default "
            f"`__eq__` implementation. Got: {cls}"
        )
    if cls.__hash__ is None:
        raise TypeError(
            "register_constant(cls) expects `cls` to have a non-default "
            f"`__hash__` implementation. Got: {cls}"
        )
    register_pytree_node(
        cls,
        lambda obj: ([], ConstantNode(obj)),
        lambda _, context: context.value,
        flatten_with_keys_fn=lambda obj: ([], ConstantNode(obj)),
    )


def is_namedtuple(obj) -> bool:
    return is_namedtuple_class(obj if isinstance(obj, type) else type(obj))


def is_namedtuple_instance(obj) -> bool:
    return is_namedtuple_class(type(obj))


def is_structseq(obj) -> bool:
    return is_structseq_class(obj if isinstance(obj, type) else type(obj))


def is_structseq_instance(obj) -> bool:
    return is_structseq_class(type(obj))


# --- taking apart -------------------------------------------------------------


def tree_is_leaf(tree, is_leaf=None) -> bool:
    if is_leaf is not None and is_leaf(tree):
        return True
    return _nodes.kind_class(tree) not in _nodes.KINDS


_is_leaf = tree_is_leaf


def tree_flatten(tree, is_leaf=None) -> tuple[list, TreeSpec]:
    """The leaves from left to right, and the form."""
    leaves: list = []
    return leaves, _flatten(tree, leaves, is_leaf)


def _flatten(tree, leaves: list, is_leaf) -> TreeSpec:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return _LEAF
    cls = _nodes.kind_class(tree)
    children, context = _nodes.KINDS[cls].flatten_fn(tree)
    specs = [_flatten(child, leaves, is_leaf) for child in children]
    return TreeSpec(cls, context, specs)


def tree_unflatten(leaves, treespec: TreeSpec):
    """The tree of that form with those leaves."""
    if not isinstance(treespec, TreeSpec):
        if not hasattr(leaves, "__iter__"):
            raise not_iterable(leaves)
        raise TypeError(
            "Expected `treespec` to be an instance of PyTreeSpec but got item "
            f"of type {type(treespec)}."
        )
    return treespec.unflatten(leaves)


def tree_iter(tree, is_leaf=None):
    """Gives the leaves one by one."""
    if tree_is_leaf(tree, is_leaf):
        yield tree
        return
    kind = _nodes.KINDS[_nodes.kind_class(tree)]
    for child in kind.flatten_fn(tree)[0]:
        yield from tree_iter(child, is_leaf)


def tree_leaves(tree, is_leaf=None) -> list:
    leaves: list = []
    _collect(tree, leaves, is_leaf)
    return leaves


def _collect(tree, leaves: list, is_leaf) -> None:
    if tree_is_leaf(tree, is_leaf):
        leaves.append(tree)
        return
    kind = _nodes.KINDS[_nodes.kind_class(tree)]
    for child in kind.flatten_fn(tree)[0]:
        _collect(child, leaves, is_leaf)


def tree_structure(tree, is_leaf=None) -> TreeSpec:
    return tree_flatten(tree, is_leaf)[1]


def arg_tree_leaves(*args, **kwargs) -> list:
    """The leaves of a call's arguments."""
    leaves: list = []
    for arg in (*args, *kwargs.values()):
        leaves.extend(tree_iter(arg))
    return leaves


# --- functions over leaves ----------------------------------------------------


def tree_map(func, tree, *rests, is_leaf=None):
    """The tree whose leaves are `func` of those of the trees.

    The first says the form, others may go on below its leaves; ValueError
    where one does not have it.
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    return spec.unflatten(map(func, leaves, *others))


def tree_map_(func, tree, *rests, is_leaf=None):
    """Calls `func` for the leaves; returns the first tree itself."""
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    for args in zip(leaves, *others):
        func(*args)
    return tree


_UNION = getattr(types, "UnionType", type(None))


def _predicate(which):
    if isinstance(which, (type, tuple, _UNION)):
        return lambda leaf: isinstance(leaf, which)
    if callable(which):
        return which
    raise TypeError("Argument must be a type, a tuple of types, or a callable.")


def map_only(which):
    """Decorates a function of leaves: others than `which` stay as they are."""
    chosen = _predicate(which)

    def decorate(func):
        @functools.wraps(func)
        def call(leaf):
            return func(leaf) if chosen(leaf) else leaf

        return call

    return decorate


def tree_map_only(which, /, func, tree, is_leaf=None):
    """tree_map over leaves of types, or for which `which` is true."""
    return tree_map(map_only(which)(func), tree, is_leaf=is_leaf)


def tree_map_only_(which, /, func, tree, is_leaf=None):
    return tree_map_(map_only(which)(func), tree, is_leaf=is_leaf)


def tree_all(pred, tree, is_leaf=None) -> bool:
    return all(map(pred, tree_iter(tree, is_leaf)))


def tree_any(pred, tree, is_leaf=None) -> bool:
    return any(map(pred, tree_iter(tree, is_leaf)))


def tree_all_only(types_, /, pred, tree, is_leaf=None) -> bool:
    leaves = tree_iter(tree, is_leaf)
    return all(pred(leaf) for leaf in leaves if isinstance(leaf, types_))


def tree_any_only(types_, /, pred, tree, is_leaf=None) -> bool:
    leaves = tree_iter(tree, is_leaf)
    return any(pred(leaf) for leaf in leaves if isinstance(leaf, types_))


def _broadcast_to_and_flatten(tree, treespec: TreeSpec, is_leaf=None):
    """Leaves for all of a form, those of `tree` repeated; None if none fit."""
    if tree_is_leaf(tree, is_leaf):
        return [tree] * treespec.num_leaves
    if treespec.is_leaf() or _nodes.kind_class(tree) is not treespec.type:
        return None
    children, context = _nodes.KINDS[treespec.type].flatten_fn(tree)
    if len(children) != treespec.num_children or context != treespec.context:
        return None
    found: list = []
    for child, spec in zip(children, treespec.children()):
        leaves = _broadcast_to_and_flatten(child, spec, is_leaf)
        if leaves is None:
            return None
        found.extend(leaves)
    return found


# --- paths --------------------------------------------------------------------


def keystr(kp) -> str:
    """A path as Python writes it: "['a'][0].x"."""
    return "".join(str(key) for key in kp)


def key_get(obj, kp):
    """Returns the part of a tree that is at a path."""
    for key in kp:
        obj = key.get(obj)
    return obj


def tree_flatten_with_path(tree, is_leaf=None):
    """Pairs of a path and a leaf, and the form.

    ValueError for containers that have no keys.
    """
    _, spec = tree_flatten(tree, is_leaf)
    return list(_paths((), tree, is_leaf)), spec


def _paths(path: tuple, tree, is_leaf):
    if tree_is_leaf(tree, is_leaf):
        yield path, tree
        return
    cls = _nodes.kind_class(tree)
    keyed = _nodes.KINDS[cls].flatten_with_keys_fn
    if keyed is None:
        raise ValueError(
            f"Did not find a flatten_with_keys_fn for type: {cls}. Please pass "
            "a flatten_with_keys_fn argument to register_pytree_node."
        )
    for key, child in keyed(tree)[0]:
        yield from _paths((*path, key), child, is_leaf)


def tree_leaves_with_path(tree, is_leaf=None) -> list:
    return list(_paths((), tree, is_leaf))


def tree_map_with_path(func, tree, *rests, is_leaf=None):
    """tree_map whose function takes the path first."""
    pairs, spec = tree_flatten_with_path(tree, is_leaf)
    others = [spec.flatten_up_to(rest) for rest in rests]
    paths = [path for path, _ in pairs]
    leaves = [leaf for _, leaf in pairs]
    return spec.unflatten(map(func, paths, leaves, *others))


# --- text ---------------------------------------------------------------------

_PROTOCOL = 1


def _check_protocol(protocol: int) -> None:
    if protocol != _PROTOCOL:
        raise ValueError(
            f"Unknown protocol {protocol}. Available protocols: [{_PROTOCOL}]"
        )


def treespec_dumps(treespec: TreeSpec, protocol: int | None = None) -> str:
    """JSON of a form; NotImplementedError where a class has no name there."""
    if not isinstance(treespec, TreeSpec):
        raise TypeError(
            "treespec_dumps(treespec, protocol): Expected `treespec` to be "
            f"instance of TreeSpec but got item of type {type(treespec)}."
        )
    if protocol is not None:
        _check_protocol(protocol)
    import json

    return json.dumps([_PROTOCOL, _to_json(treespec)])


def _to_json(spec: TreeSpec) -> dict:
    if spec.is_leaf():
        return {"type": None, "context": None, "children_spec": []}
    import json

    kind = _nodes.KINDS[spec.type]
    if kind.serialized_name is None:
        raise NotImplementedError(
            f"No registered serialization name for {spec.type} found. "
            "Please update your _register_pytree_node call with a "
            "`serialized_type_name` kwarg."
        )
    if kind.dump_context is not None:
        context = json.dumps(kind.dump_context(spec.context))
    else:
        try:
            context = json.dumps(spec.context)
        except TypeError as error:
            raise TypeError(
                "Unable to serialize context. "
                "Please make the context json dump-able, or register a custom "
                "serializer using _register_pytree_node."
            ) from error
    return {
        "type": kind.serialized_name,
        "context": context,
        "children_spec": [_to_json(child) for child in spec.children()],
    }


def treespec_loads(serialized: str) -> TreeSpec:
    """The form that `treespec_dumps` wrote."""
    import json

    protocol, content = json.loads(serialized)
    _check_protocol(protocol)
    return _from_json(content)


def _context(text: str):
    if text == "null":  # a tuple's or list's
        return None
    if text == "[]":  # an empty dict's
        return []
    import json

    return json.loads(text)


def _from_json(content: dict) -> TreeSpec:
    if content["type"] is None:
        return _LEAF
    cls = _nodes.class_of_name(content["type"])
    context = _context(content["context"])
    load = _nodes.KINDS[cls].load_context
    if load is not None:
        context = load(context)
    children = [_from_json(child) for child in content["children_spec"]]
    return TreeSpec(cls, context, children)


class _Star:
    def __repr__(self) -> str:
        return "*"


def treespec_pprint(treespec: TreeSpec) -> str:
    """A form as its tree, with `*` for the leaves."""
    return repr(treespec.unflatten(_Star() for _ in range(treespec.num_leaves)))


def __getattr__(name: str):
    """Functions of one kind by PyTorch's names, as `_dict_flatten`."""
    if name == "_get_node_type":
        return _nodes.kind_class
    found = _nodes.function_of(name)
    if found is None:
        raise no_attribute(__name__, name)
    return found
