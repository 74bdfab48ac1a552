"""Who answers for tensors that lie in parts on several processes."""

from __future__ import annotations

from typing import Any

from ... import _C
from ..._answering.base import Kind
from ..._answering.names import words
from ..._answering.table import Table, answers
from ..._dispatch.same import gives_itself
from ...autograd._entry import gradients
from ...utils import _pytree
from . import _plan
from ._lists import of_lists

HANDLERS = Table()


class _Distributed(Kind):
    """Kind with, for what is not listed, the cheapest way from the parts."""

    def answer(self, function, args: tuple, kwargs: dict) -> Any:
        name = function.__name__
        if name.startswith(("_foreach_", "_fused_")):
            return of_lists(function, name, args, dict(kwargs))
        return super().answer(function, args, kwargs)

    def refuse(self, function, name, args, kwargs):
        if not self.some((args, kwargs)):
            return self.plain(function, *args, **kwargs)
        if name in self.refused:
            raise NotImplementedError(
                f"aten.{name}.default: not for DTensors; call it on to_local()"
            )
        kwargs = dict(kwargs)
        out = kwargs.pop("out", None)
        if args and self.has(args[0]):
            local = args[0]._local_tensor
            if gives_itself(name, (local, *args[1:]), kwargs):
                return args[0]
        result = _plan.operator(function, name, args, kwargs)
        if out is None:
            return result
        return _pytree.tree_map(_plan.assign, out, result)

    def set_data(self, accessor, x, value):
        if not self.has(value):
            raise RuntimeError(
                "incompatible tensor type: the data of a DTensor is a DTensor"
            )
        x._local_tensor, x._spec = value._local_tensor, value._spec
        self.plain(accessor, x, value)


DISTRIBUTED = _Distributed("distributed", HANDLERS)
DISTRIBUTED.writes_back = False


def _answers(names: str):
    return answers(*words(names), of=HANDLERS, asked=True)


@_answers(
    "item tolist numpy __bool__ __float__ __int__ __index__ __array__ "
    "__complex__ __contains__ equal allclose is_nonzero"
)
def _of_wholes(function, *args, **kwargs):
    def whole(x):
        return x.full_tensor() if DISTRIBUTED.has(x) else x

    args, kwargs = _pytree.tree_map(whole, (args, kwargs))
    return function(*args, **kwargs)


@answers("is_shared", of=HANDLERS)
def _is_shared(x):
    return x._local_tensor.is_shared()


@answers("grad", of=HANDLERS)
def _grad(*args, **kwargs):
    # No operator: a pass over histories, whose gradients may be in parts.
    return gradients(*args, **kwargs)


@answers("T", of=HANDLERS)
def _reversed(x):
    return x.permute(*reversed(range(x.dim())))


@answers("mT", of=HANDLERS)
def _transposed(x):
    return x.transpose(-2, -1)


@_answers("H mH")
def _conjugated(accessor, x):
    return x.transpose(-2, -1).conj()


@answers("data", of=HANDLERS)
def _data(x):
    return x.detach()


@answers("real", of=HANDLERS)
def _real(x):
    if not x.is_complex():
        return x
    return _plan.operator(_C.ops.real, "real", (x,), {})


@answers("imag", of=HANDLERS)
def _imag(x):
    return _plan.operator(_C.ops.imag, "imag", (x,), {})
