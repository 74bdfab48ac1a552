"""The class of tensors of the layout `_mkldnn`, their kind, and the dense ones in
them.
"""

from __future__ import annotations

from typing import Any

from .. import _C
from .._answering.base import Hidden, Kind, Wrapping
from .._answering.text import filled
from .._C import Tensor
from .._tensor.refusals import check_written, other_kind
from ..autograd import Function
from ..autograd.forward_ad import refuse_tangents
from ..nn.parameter import Parameter
from .kind import HANDLERS, NOT_ONEDNN, no_storage, refusal


class _OneDNN(Kind):
    attributes = frozenset(["grad", "_grad"])
    writes_back = False

    def answer(self, function, args, kwargs):
        # Operators of their own namespace have names of others.
        packet = getattr(function, "overloadpacket", function)
        whole = getattr(packet, "_qualified_op_name", "")
        if whole.startswith("mkldnn::"):
            return self.plain(function, *args, **kwargs)
        return super().answer(function, args, kwargs)

    def refuse(self, function, name, args, kwargs):
        raise refusal(name)

    def write(self, out, result, name):
        if not self.has(out):
            raise RuntimeError(NOT_ONEDNN)
        return write(out, result)

    def set_data(self, accessor, x, value):
        set_data(x, value)

    def finish(self, name, args, result):
        """The result, which knows the operator's name."""
        if self.has(result) and not result.is_leaf:
            result.made_by = name
        return result


ONEDNN = _OneDNN("onednn", HANDLERS)


class OneDNNTensor(Wrapping, of=ONEDNN, metaclass=Hidden):
    """A dense tensor that only the layout's operators reach.

    It has no memory of its own. Its history is that of the dense one,
    `plain(x)`.
    """

    layout = _C._mkldnn
    is_mkldnn = True

    def __repr__(self, *, tensor_contents=None) -> str:
        numbers = repr(self._dense.detach())
        said = ["layout=torch._mkldnn"]
        if self.grad_fn is not None:
            said.append(f"grad_fn=<{_made_by(self)}>")
        elif self.requires_grad:
            said.append("requires_grad=True")
        text = filled(numbers[: numbers.rindex(")")].removesuffix(","), said)
        is_parameter = isinstance(self, Parameter)
        return f"Parameter containing:\n{text}" if is_parameter else text

    __str__ = __repr__

    def __deepcopy__(self, memo):
        raise no_storage()

    def __reduce_ex__(self, protocol):
        raise no_storage()


_C._hide_class(OneDNNTensor)


def _made_by(x: OneDNNTensor) -> str:
    """The name that PyTorch gives to the node of this operator."""
    name = x.__dict__.get("made_by")
    if name is None:
        return x.grad_fn.name()
    return "".join(w.title() for w in name.strip("_").split("_")) + "Backward0"


def is_onednn(x: Any) -> bool:
    """Tells whether a value is a tensor of the layout."""
    return isinstance(x, OneDNNTensor)


def with_dense(dense: Tensor) -> OneDNNTensor:
    """A tensor around a dense one, which it keeps; without history."""
    dense = dense.detach()
    made = Tensor._make_wrapper_subclass(
        OneDNNTensor, tuple(dense.shape), dtype=dense.dtype, device=dense.device
    )
    made._dense = dense
    return made


def dense_of(x: Tensor) -> Tensor:
    """The dense tensor in one, without history; others as they are."""
    return x._dense if is_onednn(x) else x


def plain(x):
    """The dense tensor in one, with its history; other values as they are."""
    if not is_onednn(x):
        return x
    if x.requires_grad and _C.is_grad_enabled():
        return _Plain.apply(x)
    return x._dense


def around(dense: Tensor) -> OneDNNTensor:
    """A tensor around a dense one, with its history."""
    dense = dense.contiguous()
    refuse_tangents("mkldnn", dense)
    if dense.requires_grad and _C.is_grad_enabled():
        return _Around.apply(dense)
    return with_dense(dense)


def write(out: OneDNNTensor, result: Tensor) -> OneDNNTensor:
    """Gives `out` the elements of `result`, with their history.

    RuntimeError for a leaf that requires gradients in grad mode.
    """
    if not is_onednn(result):
        raise RuntimeError(NOT_ONEDNN)
    if _C.is_grad_enabled():
        check_written(out)
        if out.requires_grad or result.requires_grad:
            return _Write.apply(out, result)
    out._dense.copy_(result._dense)
    return out


def set_data(x: Tensor, value: Tensor) -> None:
    """`x.data = value`; RuntimeError for tensors of two layouts."""
    if not (is_onednn(x) and is_onednn(value)):
        raise other_kind()
    ONEDNN.plain(Tensor.data.__set__, x, with_dense(value._dense))
    x._dense = value._dense


class _Plain(Function):
    @staticmethod
    def forward(ctx, x):
        return x._dense.view_as(x._dense)

    @staticmethod
    def backward(ctx, grad):
        return around(grad)


class _Around(Function):
    @staticmethod
    def forward(ctx, dense):
        return with_dense(dense)

    @staticmethod
    def backward(ctx, grad):
        return plain(grad)


class _Write(Function):
    @staticmethod
    def forward(ctx, out, result):
        ctx.dtype = result.dtype
        out._dense.copy_(result._dense)
        ctx.mark_dirty(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, around(plain(grad).to(ctx.dtype))
