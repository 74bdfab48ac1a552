"""`torch.ops.aten` and the other namespaces, of packets."""

from __future__ import annotations

import types

from .. import _C, ops
from .._late import lent
from .._operators import own
from .packets import DefinedPacket, OpOverloadPacket, OwnPacket

# Functions in Python that PyTorch has among its operators alone.
_IN_PYTHON = {"_sparse_compressed_tensor_with_dims"}
# Questions that `__torch_dispatch__` is asked, which stand beside it.
_ASKED = {
    "_local_scalar_dense",
    "dim",
    "lift_fresh",
    "sym_numel",
    "sym_size",
    "sym_storage_offset",
    "sym_stride",
}


class _OpNamespace(types.ModuleType):
    """The packets of all operators, made when first asked for."""

    def __init__(self, name: str) -> None:
        super().__init__(f"torch.ops.{name}")
        self.name = name

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name in ("__origin__", "__self__"):
            raise AttributeError(
                f"Invalid attribute '{name}' for '_OpNamespace' "
                f"'{self.__dict__.get('name')}'"
            )
        if self.name == "aten" and name in _IN_PYTHON:
            return vars(self).setdefault(name, lent(name))
        if self.name == "aten" and name in _ASKED:
            lent("dispatch_questions")  # they put themselves here
            return vars(self)[name]
        made = None
        if not name.startswith("__") or name.endswith("shift__"):
            made = self._find(name)
        if made is None:
            raise AttributeError(
                f"'_OpNamespace' '{self.__dict__.get('name')}' object has no "
                f"attribute '{name}'"
            )
        setattr(self, name, made)
        return made

    def _find(self, name: str) -> OpOverloadPacket | None:
        space = self.__dict__["name"]
        if space == "aten":
            op = vars(ops).get(name)
            if isinstance(op, _C.Op):
                return OpOverloadPacket(name, op)
            lent("define_composed")(name)
        if space == "mkldnn" or (space == "aten" and "mkldnn" in name):
            lent("define_onednn")(space, name)
        if space == "quantized":
            lent("define_quantized")(name)
        if space == "prims":
            lent("define_prims")(name)
        if space == "higher_order":  # its operators are functions in Python
            lent("higher_order_operators")
            if name in vars(self):
                return vars(self)[name]
        made = DefinedPacket(name, space)
        if space == "hotaru" and not len(made) and hasattr(aten, name):
            return lent("derivatives")(getattr(aten, name))
        if len(made):
            return made
        whole = name if space == "aten" else f"{space}::{name}"
        if not _C._op_schemas(whole):
            return None
        kind = OwnPacket if name in own.names_in(space) else OpOverloadPacket
        return kind(name, _C._operator(whole), space)

    def __repr__(self) -> str:
        space = self.__dict__["name"]
        return f"<module 'torch.ops.{space}' from 'torch.ops'>"


_spaces: dict[str, _OpNamespace] = {}


def namespace(name: str) -> _OpNamespace:
    """torch.ops.<name>; there is one for every name, maybe empty."""
    found = _spaces.get(name)
    if found is None:
        found = _spaces[name] = _OpNamespace(name)
    return found


def forget(space: str, name: str) -> None:
    """Makes the next use of an operator look at its definitions again."""
    if space in _spaces:
        vars(_spaces[space]).pop(name, None)


aten = namespace("aten")
