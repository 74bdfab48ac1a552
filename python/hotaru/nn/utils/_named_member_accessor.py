"""Tensors of a module by their dotted names, to put others in their place."""

from __future__ import annotations

from ... import Tensor
from ..modules import Module
from ..modules._aspects.traversal import member_of

MISSING = object()


def _check_tensor(value, where: str = "") -> None:
    known = value is MISSING or value is None
    if not known and not isinstance(value, Tensor):
        raise TypeError(f"{where}{value} is not an instance of torch.Tensor")


def set_tensor(module: Module, name: str, tensor: Tensor) -> None:
    """Puts a tensor in the place of a member; KeyError for a dotted name."""
    swap_tensor(module, name, tensor, allow_missing=True)


def swap_tensor(module: Module, name: str, tensor: Tensor, allow_missing: bool = False):
    """Puts a tensor in the place of a member; returns what was there."""
    _check_member(module, name)
    return NamedMemberAccessor(module).swap_tensor(name, tensor, allow_missing)


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Puts a module in the place of another one, which is returned."""
    _check_member(module, name)
    _check_module(submodule)
    if name not in module._modules:
        member_of(module, name)
        raise AttributeError(f"`{name}` is not a submodule")
    before, module._modules[name] = module._modules[name], submodule
    return before


def _check_member(module, name: str) -> None:
    _check_module(module)
    if "." in name:
        raise KeyError('tensor name can\'t contain "."')
    _check_name(name)


def _check_module(value) -> None:
    if not isinstance(value, Module):
        raise TypeError(f"{value} is not an instance of torch.nn.Module")


def _check_name(name: str) -> None:
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')


class NamedMemberAccessor:
    """Reads and replaces parameters, buffers and tensors that are plain
    attributes. Modules on the way are looked up once.
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self._known = {"": module}

    def get_submodule(self, name: str) -> Module:
        """The module at a path.

        Raises:
            AttributeError, TypeError: nothing, or something else, is there.
        """
        if name not in self._known:
            above, _, last = name.rpartition(".")
            parent = self.get_submodule(above)
            found = member_of(parent, last)
            if not isinstance(found, Module):
                raise TypeError(
                    f"submodule `{last}`: {found} is not an instance of torch.nn.Module"
                )
            self._known[name] = found
        return self._known[name]

    def get_tensor(self, name: str) -> Tensor:
        """The tensor at a path; AttributeError, TypeError as for modules."""
        module, last = self._split(name)
        found = getattr(module, last)
        _check_tensor(found)
        return found

    def swap_tensor(self, name: str, value, allow_missing: bool = False):
        """Puts `value` at a path and returns what was there.

        Either may be `MISSING`; what is there may only with `allow_missing`.
        """
        module, last = self._split(name)
        _check_tensor(value)
        for members in (module._parameters, module._buffers):
            if last in members:
                before = members[last]
                if value is MISSING:
                    del members[last]
                else:
                    members[last] = value
                return before
        if allow_missing:
            before = getattr(module, last, MISSING)
        else:
            before = member_of(module, last)
        _check_tensor(before, f"attribute `{last}`: ")
        if value is not MISSING:
            setattr(module, last, value)
        elif hasattr(module, last):
            delattr(module, last)
        return before

    def swap_tensors_dict(self, values: dict, allow_missing: bool = False):
        """`swap_tensor` of each; on an error all are as they were.

        Returns:
            What was there, by name, and the names where nothing was.
        """
        before: dict = {}
        missing = []
        try:
            for name, value in values.items():
                found = self.swap_tensor(name, value, allow_missing=True)
                if found is MISSING:
                    missing.append(name)
                before[name] = found
            if missing and not allow_missing:
                names = ", ".join(map(repr, missing))
                raise RuntimeError(f"Missing key(s): {names}.")
        except Exception:
            for name, value in before.items():
                self.swap_tensor(name, value, allow_missing=True)
            raise
        return before, missing

    def named_tensors(self, remove_duplicate: bool = True):
        """Parameters and buffers with their names."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def check_keys(self, keys) -> tuple[list[str], list[str]]:
        """Names that `keys` lack, and that they have too many."""
        given = set(keys)
        valid = {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return sorted(valid - given), sorted(given - valid)

    def _split(self, name: str) -> tuple[Module, str]:
        path, _, last = name.rpartition(".")
        _check_name(last)
        return self.get_submodule(path), last
