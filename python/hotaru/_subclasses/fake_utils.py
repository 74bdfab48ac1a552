"""Memory that results of operators share with their arguments."""

from __future__ import annotations

from .. import _C
from .._C import Tensor
from ..utils import _pytree
from .fake_class import FakeTensor

__all__ = [
    "output_alias_each_other",
    "outputs_alias_inputs",
    "outputs_are_inputs",
    "try_convert_fake_to_real",
]


def _tensors(tree) -> list[Tensor]:
    leaves = _pytree.tree_leaves(tree)
    return [x for x in leaves if isinstance(x, Tensor) and x.layout is _C.strided]


def outputs_alias_inputs(outputs, inputs) -> bool:
    """True if a strided tensor of one shares memory with one of the other."""
    given = _tensors(inputs)
    return any(_C._shares_storage(out, x) for out in _tensors(outputs) for x in given)


def outputs_are_inputs(outputs, inputs) -> bool:
    """True if a tensor is in both."""
    given = {id(x) for x in _tensors(inputs)}
    return any(id(out) in given for out in _tensors(outputs))


def output_alias_each_other(outputs) -> bool:
    """True if two of them share memory."""
    found = _tensors(outputs)
    return any(
        _C._shares_storage(a, b) for place, a in enumerate(found) for b in found[:place]
    )


def try_convert_fake_to_real(tensors: list) -> list:
    """In place of fake tensors that share memory with the fake of a real one,
    that look at the real one's memory; others as they are.
    """
    return [_real(x) for x in tensors]


def _real(fake):
    if not isinstance(fake, FakeTensor):
        return fake
    memo = fake.fake_mode.fake_tensor_converter.tensor_memo
    for real, known in memo.items():
        if (
            known.storage_offset() == 0
            and known.dtype == fake.dtype == real.dtype
            and _C._shares_storage(known, fake)
        ):
            place = fake.size(), fake.stride(), fake.storage_offset()
            return real.detach().as_strided(*place)
    return fake
