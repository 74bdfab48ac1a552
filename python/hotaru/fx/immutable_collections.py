"""Lists and dicts that cannot be changed: arguments of nodes.

A node keeps count of who uses it; arguments that changed behind its back would
falsify that.
"""

from __future__ import annotations

from ..utils._pytree import register_pytree_node
from ._compatibility import compatibility

__all__ = ["immutable_dict", "immutable_list"]


def _refuse(self, *args, **kwargs):
    raise TypeError(
        f"{type(self).__name__!r} object does not support mutation. If you are "
        "attempting to modify the kwargs or args of a torch.fx.Node object,\n"
        "instead create a new copy of it and assign the copy to the node:\n\n"
        "    new_args = ...  # copy and mutate args\n"
        "    node.args = new_args"
    )


def _without(*names: str):
    """Decorates a class: these methods raise TypeError."""

    def decorate(cls):
        for name in names:
            setattr(cls, name, _refuse)
        return cls

    return decorate


@_without(
    "__delitem__",
    "__iadd__",
    "__imul__",
    "__setitem__",
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "remove",
    "reverse",
    "sort",
)
@compatibility(is_backward_compatible=True)
class immutable_list(list):  # noqa: N801
    """A list that raises TypeError where it would be changed; hashable."""

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __reduce__(self):
        return type(self), (tuple(self),)


@_without(
    "__delitem__",
    "__ior__",
    "__setitem__",
    "clear",
    "pop",
    "popitem",
    "setdefault",
    "update",
)
@compatibility(is_backward_compatible=True)
class immutable_dict(dict):  # noqa: N801
    """A dict that raises TypeError where it would be changed; hashable."""

    def __hash__(self) -> int:
        return hash(frozenset(self.items()))

    def __reduce__(self):
        return type(self), (tuple(self.items()),)


register_pytree_node(
    immutable_list,
    lambda items: (list(items), None),
    lambda items, _: immutable_list(items),
    serialized_type_name="torch.fx.immutable_collections.immutable_list",
)
register_pytree_node(
    immutable_dict,
    lambda items: (list(items.values()), list(items)),
    lambda items, keys: immutable_dict(zip(keys, items)),
    serialized_type_name="torch.fx.immutable_collections.immutable_dict",
)
