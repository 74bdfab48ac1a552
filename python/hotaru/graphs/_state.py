"""The modules that a function uses, and what a capture does to them.

Code that rebinds an attribute (`self.state = new`) would, replayed, compute
the new value and leave the attribute alone. So attributes are compared before
and after a capture; where a tensor was replaced by one of the same kind, the
capture ends with a copy into the old tensor, which is bound again.
"""

from __future__ import annotations

from .. import _C, Tensor, no_grad
from ..nn import Module
from . import _tree
from ._surroundings.raw import attributes_of, fill, items_of, pairs_of, put_attributes
from ._surroundings.reach import Reach
from ._surroundings.values import native_of, own_member

# Attributes of every Module; the values of _parameters and _buffers are looked
# at apart.
_INTERNAL = {*vars(Module()), "forward", "_c", "_originals"} - {"training"}
_SIMPLE = (type(None), bool, int, float, complex, str)
_CONTAINERS = (list, tuple, dict)


class StateError(RuntimeError):
    """An attribute changes in a way that no graph can follow."""


class UnfitError(RuntimeError):
    """The call does what no graph would do again in the same way."""


class StartError(StateError):
    """Raised where a call itself makes what it needs: it runs plain, once."""


def attributes(owner):
    """Names and values of data that code may rebind."""
    native = native_of(owner)
    if native is not None:
        yield from native.attributes()
        return
    if not isinstance(owner, Module):
        for name, value in attributes_of(owner):
            if own_member(owner, name) and isinstance(
                value, (Tensor, *_SIMPLE, *_CONTAINERS)
            ):
                yield name, value
        return
    yield from owner._parameters.items()
    yield from owner._buffers.items()
    for name, value in vars(owner).items():
        if name not in _INTERNAL and isinstance(
            value, (Tensor, *_SIMPLE, *_CONTAINERS)
        ):
            yield name, value


def guarded(reach: Reach) -> list[Tensor]:
    """Tensors whose memory graphs know: members of modules, and all others that
    the code can reach.
    """
    out: dict[int, Tensor] = {}
    for owner in reach.owners:
        if isinstance(owner, Module):
            for tensor in (
                *owner.parameters(recurse=False),
                *owner.buffers(recurse=False),
            ):
                out.setdefault(id(tensor), tensor)
    for tensor in reach.tensors:
        out.setdefault(id(tensor), tensor)
    return list(out.values())


class Attribute:
    """An attribute as it is, to compare with and to go back to."""

    def __init__(self, owner, name: str, value) -> None:
        self.owner = owner
        self.name = name
        self.value = value
        self.leaves: list[Tensor] = []
        self.form = _tree.flatten(value, self.leaves)
        #: Set if a call bound it to another object, not to another content.
        self.rebound = False

    def now(self):
        """Its value now."""
        native = native_of(self.owner)
        if native is not None:
            return native.attribute(self.name)
        if isinstance(self.owner, Module):
            for members in (self.owner._parameters, self.owner._buffers):
                if self.name in members:
                    return members[self.name]
            return vars(self.owner).get(self.name)
        return dict(attributes_of(self.owner)).get(self.name)

    def bind(self, leaves: list[Tensor], anew: bool = False) -> None:
        """Makes it the value of its form on these tensors; anew: a container
        that was rebound is another one then, as others may hold the old.
        """
        same = all(a is b for a, b in zip(leaves, self.leaves))
        value = _tree.rebuild(self.form, iter(leaves))
        if anew and self.rebound:
            pass
        elif isinstance(self.value, list):
            # Others may hold the list.
            fill(self.value, items_of(value))
            value = self.value
        elif isinstance(self.value, dict):
            fill(self.value, pairs_of(value))
            value = self.value
        elif same:
            value = self.value
        self.value, self.leaves = value, list(leaves)
        if self.now() is value:
            return
        if isinstance(self.owner, Module):
            setattr(self.owner, self.name, value)
        else:
            put_attributes(self.owner, [(self.name, value)])

    def containers(self) -> list:
        """Containers in which its tensors lie and that a call replaces: not
        one that it writes into.
        """
        whole = isinstance(self.value, tuple) or self.rebound
        met = _tree.Met()
        _tree.flatten(self.value, [], met)
        return [
            nest
            for nest in met.nests
            if (whole or nest is not self.value) and _holds_tensors(nest)
        ]

    @property
    def text(self) -> str:
        return f"{type(self.owner).__name__}.{self.name}"


def _holds_tensors(nest) -> bool:
    leaves: list[Tensor] = []
    _tree.flatten(nest, leaves)
    return bool(leaves)


class Snapshot:
    """All attributes of the owners before a capture or a warm-up."""

    def __init__(self, found: list, values: bool = False) -> None:
        self._found = found
        self._names = [{name for name, _ in attributes(owner)} for owner in found]
        self._attributes = [
            Attribute(owner, name, value)
            for owner in found
            for name, value in attributes(owner)
        ]
        # Copies, where what runs next is to leave no trace in values either.
        self._values: dict[int, tuple[Tensor, Tensor]] = {}
        if values:
            with no_grad():
                for attribute in self._attributes:
                    for leaf in attribute.leaves:
                        self._values[id(leaf)] = (leaf, leaf.clone())

    def changed(self) -> list[tuple[Attribute, list[Tensor]]]:
        """Attributes that were rebound, with the tensors that they have now.

        StateError where it is not tensors by tensors of the same kind.
        """
        self._check_new()
        out = []
        for attribute in self._attributes:
            leaves: list[Tensor] = []
            value = attribute.now()
            form = _tree.flatten(value, leaves)
            if form == attribute.form and all(
                a is b for a, b in zip(leaves, attribute.leaves)
            ):
                continue
            same = form == attribute.form and all(
                a.shape == b.shape and a.dtype == b.dtype
                for a, b in zip(leaves, attribute.leaves)
            )
            if not same:
                before = _tree.describe(attribute.form, iter(attribute.leaves))
                after = _tree.describe(form, iter(leaves))
                raise StateError(
                    f"the call changes the attribute {attribute.text} from "
                    f"{before} to {after}; a graph can only give it new "
                    "values of the same shape and dtype"
                )
            if any(leaf.requires_grad for leaf in leaves):
                raise StateError(
                    f"the call binds {attribute.text} to a tensor that "
                    "requires grad, which would reach from one call into "
                    "the next; detach() it"
                )
            attribute.rebound = value is not attribute.value
            out.append((attribute, leaves))
        return out

    def _check_new(self) -> None:
        for owner, names in zip(self._found, self._names):
            for name, _ in attributes(owner):
                if name not in names:
                    raise StateError(
                        f"the call creates the attribute {type(owner).__name__}.{name}"
                    )

    def restore(self) -> None:
        """Everything as it was."""
        for owner, names in zip(self._found, self._names):
            for name in [n for n, _ in attributes(owner) if n not in names]:
                if isinstance(owner, Module):
                    delattr(owner, name)
                else:
                    object.__delattr__(owner, name)
        for attribute in self._attributes:
            leaves: list[Tensor] = []
            form = _tree.flatten(attribute.now(), leaves)
            if form != attribute.form or any(
                a is not b for a, b in zip(leaves, attribute.leaves)
            ):
                attribute.bind(attribute.leaves)
        with no_grad():
            for leaf, value in self._values.values():
                leaf.copy_(value)


def check_memory(changed: list, written: set[int], others: list) -> None:
    """UnfitError where states of which each call keeps a copy would share
    memory with what others see: a state that was written before it was
    replaced, or new ones that overlap each other or what stays.

    Args:
        changed: attributes, and the tensors that they are bound to by now.
        written: by id, the tensors that the call has written to.
        others: all that the call knows by address.
    """
    pairs = [
        (attribute, old, new)
        for attribute, leaves in changed
        for old, new in zip(attribute.leaves, leaves)
        if old is not new
    ]
    for attribute, old, _ in pairs:
        if id(old) in written:
            raise UnfitError(
                f"the call writes to {attribute.text} and replaces it then"
            )
    replaced = {id(old) for _, old, _ in pairs}
    stays = [t for t in others if id(t) not in replaced]
    found = _C._aliases([new for _, _, new in pairs], stays)
    if found:
        attribute = pairs[found[0][0]][0]
        raise UnfitError(f"the call binds {attribute.text} to memory of another state")


def carry(changed: list[tuple[Attribute, list[Tensor]]]) -> None:
    """Amid a capture: copies the new values into the tensors of before."""
    put(
        [
            (old, new.detach())
            for attribute, leaves in changed
            for old, new in zip(attribute.leaves, leaves)
            if old is not new
        ]
    )
    for attribute, _ in changed:
        attribute.bind(attribute.leaves)


def put(pairs: list[tuple[Tensor, Tensor]]) -> None:
    """Copies values into tensors, all at once: one's new value may be another
    one's old value, or a view of it.
    """
    pairs = [(old, new) for old, new in pairs if old is not new]
    olds = [old for old, _ in pairs]
    with no_grad():
        pairs = [
            (
                old,
                new.clone()
                if any(_C._shares_storage(new, other) for other in olds)
                else new,
            )
            for old, new in pairs
        ]
        for old, new in pairs:
            old.copy_(new)
