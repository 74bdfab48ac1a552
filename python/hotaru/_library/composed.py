"""Operators of `torch.ops.aten` that are compositions of others here.

Programs name them where they take operators apart (`__torch_dispatch__`); each
is defined when it is first asked for.
"""

from __future__ import annotations

from operator import attrgetter, methodcaller

from . import checks, parts
from .definitions import Library

_library: Library | None = None


def _to_copy(
    self,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    non_blocking=False,
    memory_format=None,
):
    out = self.to(
        device=self.device if device is None else device,
        dtype=self.dtype if dtype is None else dtype,
        non_blocking=non_blocking,
        copy=True,
        **({} if memory_format is None else {"memory_format": memory_format}),
    )
    return out.pin_memory() if pin_memory else out


def _pin_memory(self, device=None):
    return self.pin_memory()


def _sparse_addmm(self, mat1, mat2, *, beta=1, alpha=1):
    return self.addmm(mat1, mat2, beta=beta, alpha=alpha)


def _sparse_mm_reduce_impl(self, other, reduce):
    raise NotImplementedError(
        "aten::_sparse_mm_reduce_impl is not implemented in hotaru: "
        "torch.sparse.mm(a, b) gives the sum"
    )


_DEFINED = {
    "_to_copy": (
        "(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, "
        "bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor",
        _to_copy,
    ),
    "_pin_memory": ("(Tensor self, Device? device=None) -> Tensor", _pin_memory),
    "_sparse_addmm": (
        "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
        "Scalar alpha=1) -> Tensor",
        _sparse_addmm,
    ),
    "_sparse_mm_reduce_impl": (
        "(Tensor self, Tensor other, str reduce) -> (Tensor, Tensor)",
        _sparse_mm_reduce_impl,
    ),
}


# Methods of a tensor that answer a question about it, by what they give.
_QUESTIONS = {
    "bool": "is_coalesced is_complex is_conj is_contiguous is_distributed "
    "is_floating_point is_inference is_neg is_nonzero is_signed",
    "int": "dense_dim element_size get_device numel q_per_channel_axis "
    "q_zero_point sparse_dim storage_offset",
    "float": "q_scale",
    "Scalar": "item",
}
for _given, _names in _QUESTIONS.items():
    for _name in _names.split():
        _DEFINED[_name] = f"(Tensor self) -> {_given}", methodcaller(_name)
for _name, _given in {
    "is_leaf": "bool",
    "retains_grad": "bool",
    "output_nr": "int",
    "_version": "int",
}.items():
    _DEFINED[_name] = f"(Tensor self) -> {_given}", attrgetter(_name)
for _name, _other in {"is_same_size": "other", "is_set_to": "tensor"}.items():
    _DEFINED[_name] = (
        f"(Tensor self, Tensor {_other}) -> bool",
        lambda self, other, name=_name: getattr(self, name)(other),
    )

# Overloads beside the default ones, of questions that have such.
_FURTHER = {
    "size": {
        "": ("(Tensor self) -> int[]", lambda self: list(self.size())),
        ".int": ("(Tensor self, int dim) -> int", lambda x, d: x.size(d)),
    },
    "stride": {
        "": ("(Tensor self) -> int[]", lambda self: list(self.stride())),
        ".int": ("(Tensor self, int dim) -> int", lambda x, d: x.stride(d)),
    },
}


def define(name: str) -> None:
    """Defines the operator of this name, if it is one of these."""
    global _library
    for module in (checks, parts):
        if name in module.DEFINED:
            _DEFINED[name] = module.DEFINED.pop(name)
    if name in parts.FURTHER:
        _FURTHER[name] = parts.FURTHER.pop(name)
    overloads = _FURTHER.pop(name, None)
    if overloads is None:
        overloads = {"": _DEFINED.pop(name)} if name in _DEFINED else {}
    if overloads and _library is None:
        _library = Library("aten", "FRAGMENT")
    for overload, (schema, kernel) in overloads.items():
        _library.define(name + overload + schema)
        _library.impl(name + overload, kernel, "CompositeImplicitAutograd")
