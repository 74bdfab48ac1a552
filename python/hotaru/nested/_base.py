"""Base of the nested tensors of both layouts."""

from __future__ import annotations

from typing import Any

from .. import _C
from .._answering.base import Hidden, Kind, Wrapping
from .._answering.names import form, words
from .._answering.table import Table, answers
from .._C import Tensor
from .._dims import wrap_dim
from .._tensor.refusals import check_written
from ..autograd import Function
from ..autograd.forward_ad import refuse_tangents


def _strided(args: tuple, kwargs: dict) -> bool:
    """Tells whether one of the arguments is nested, of the layout strided."""
    found = NESTED.some((args, kwargs))
    return any(not is_jagged(x) for x in found)


def _jagged(args: tuple, kwargs: dict) -> bool:
    """Tells whether all nested arguments are of the layout jagged."""
    found = NESTED.some((args, kwargs))
    return bool(found) and all(is_jagged(x) for x in found)


STRIDED = Table(_strided)
JAGGED = Table(_jagged)

VIEWS = frozenset(
    words(
        "adjoint alias chunk detach expand flatten mH mT movedim narrow "
        "permute reshape select split split_with_sizes squeeze swapaxes "
        "swapdims tensor_split transpose unbind unflatten unsqueeze view "
        "view_as"
    )
)
_REFUSED = {
    "numpy": ".numpy() is not supported for tensor subclasses.",
    "tolist": ".tolist() is not supported for tensor subclasses, got NestedTensor",
}


_OF_GEOMETRY = ("broadcast_tensors", "tolist")


class _Nested(Kind):
    absent = frozenset(words("T mT H mH real imag data nbytes"))

    def refuse(self, function, name, args, kwargs):
        found = self.some((args, kwargs))
        if not found:
            return self.plain(function, *args, **kwargs)
        x = found[0]
        if not is_jagged(x) and name in _OF_GEOMETRY:
            x.stride()  # is an error
        if not is_jagged(x):
            raise NotImplementedError(
                f"Could not run 'aten::{name}' with arguments from the "
                f"'NestedTensor{x.device.type.upper()}' backend. "
                "Call it on the elements of unbind()."
            )
        if name in _REFUSED:
            raise RuntimeError(_REFUSED[name])
        raise NotImplementedError(
            f"aten.{name}.default: not for nested tensors of the layout "
            "jagged; call it on values() or on the elements of unbind()"
        )

    def write(self, out, result, name):
        if name is not None and form(name).plain in VIEWS:
            return self.refuse(None, name, (out,), {})
        return write(out, result)

    def set_data(self, accessor, x, value):
        return self.write(x, value, None)

    def finish(self, name, args, result):
        if name not in VIEWS:
            return result
        return as_view(result, args[0])


NESTED = _Nested("nested", STRIDED, JAGGED)


@answers("__float__", "__int__", "__index__", of=STRIDED, asked=True)
@answers("__float__", "__int__", "__index__", of=JAGGED, asked=True)
def _number(function, x):
    """The only number, or the error of a tensor of several."""
    return function(whole_of(x).detach())


@answers("item", of=STRIDED)
@answers("item", of=JAGGED)
def _item(x):
    """RuntimeError unless there is one number."""
    if x.numel() != 1:
        raise RuntimeError(
            f"a Tensor with {x.numel()} elements cannot be converted to Scalar"
        )
    return plain(whole_of(x).item)


@answers("__bool__", "is_nonzero", of=STRIDED)
@answers("__bool__", "is_nonzero", of=JAGGED)
def _truth(x) -> bool:
    """RuntimeError unless there is one number."""
    if x.numel() != 1:
        raise RuntimeError(
            "Boolean value of Tensor with more than one value is ambiguous"
        )
    return bool(_item(x))


class Nested(Wrapping, of=NESTED, metaclass=Hidden):
    """A tensor of tensors, which other tensors keep. It has no memory.

    Its elements' history is that of the tensor which has them, `packed(x)`.
    Operators are answered by name in the tables STRIDED and JAGGED.
    """

    is_nested = True
    is_jagged = False
    layout = _C.strided

    # Parts by layout: the tensor with all elements, without history, ...
    def _whole(self) -> Tensor:
        raise NotImplementedError

    # ... a nested tensor with another one at the same places, ...
    def _around(self, whole: Tensor) -> Nested:
        raise NotImplementedError

    # ... and the elements of another nested tensor at these places.
    def _places(self, other: Nested) -> Tensor:
        raise NotImplementedError

    @property
    def _base(self) -> Tensor | None:
        """The tensor that it is a view of."""
        return self.__dict__.get("_seen")

    def _is_view(self) -> bool:
        return self._base is not None

    def _copied(self) -> Nested:
        return with_whole(self, whole_of(self).detach().clone())


def whole_of(x: Nested) -> Tensor:
    """The tensor with all elements, without history."""
    return _C._answering_class(x)._whole(x)


def with_whole(like: Nested, whole: Tensor) -> Nested:
    """A nested tensor of `whole`, without history, at the places of `like`."""
    return _C._answering_class(like)._around(like, whole)


def placed(like: Nested, other: Nested) -> Tensor:
    """The elements of another nested tensor at the places of `like`."""
    return _C._answering_class(like)._places(like, other)


def is_jagged(x: Nested) -> bool:
    """True if its layout is jagged."""
    return _C._answering_class(x).is_jagged


def packed(x: Nested) -> Tensor:
    """The tensor with all elements, with their history."""
    if x.requires_grad and _C.is_grad_enabled():
        return _Packed.apply(x)
    return whole_of(x)


def around(like: Nested, whole: Tensor) -> Nested:
    """A nested tensor of `whole`, with its history, at the places of `like`."""
    refuse_tangents("nested", whole)
    if whole.requires_grad and _C.is_grad_enabled():
        return _Around.apply(whole, like)
    return with_whole(like, whole)


def is_nested(x: Any) -> bool:
    """Tells whether a value is a nested tensor of either layout."""
    return isinstance(x, Nested)


def check_batches(a, b) -> None:
    """RuntimeError unless both are of matrices."""
    for i, x in enumerate((a, b), 1):
        if x.dim() != 3:
            raise RuntimeError(f"batch{i} must be a 3D tensor")


def wrap(x: Nested, dim: int, count: int | None = None) -> int:
    """The dimension from 0 on; IndexError where there is none."""
    return wrap_dim(dim, x.dim() if count is None else count)


plain = NESTED.plain


def as_view(made: Any, source: Tensor) -> Any:
    """Has nested results say what they are views of, if they share memory."""
    if isinstance(made, (tuple, list)):
        return type(made)(as_view(each, source) for each in made)
    if isinstance(made, Nested) and made is not source:
        whole = whole_of(source) if isinstance(source, Nested) else source
        memory = whole_of(made).untyped_storage().data_ptr()
        if memory == whole.untyped_storage().data_ptr():
            made._seen = source if source._base is None else source._base
    return made


def write(out: Nested, result: Nested) -> Nested:
    """Gives `out` the elements of `result`, with their history.

    RuntimeError for a leaf that requires gradients in grad mode.
    """
    if _C.is_grad_enabled():
        check_written(out)
        if out.requires_grad or result.requires_grad:
            return _Write.apply(out, result)
    whole_of(out).copy_(placed(out, result))
    return out


class _Packed(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.like = with_whole(x, whole_of(x))
        whole = whole_of(x)
        return whole.view_as(whole)

    @staticmethod
    def backward(ctx, grad):
        return around(ctx.like, grad.contiguous())


class _Around(Function):
    @staticmethod
    def forward(ctx, whole, like):
        ctx.like = with_whole(like, whole.detach())
        return with_whole(like, whole.detach())

    @staticmethod
    def backward(ctx, grad):
        return placed(ctx.like, grad), None


class _Write(Function):
    @staticmethod
    def forward(ctx, out, result):
        ctx.result = with_whole(result, whole_of(result))
        whole_of(out).copy_(placed(out, result))
        ctx.mark_dirty(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        like = ctx.result
        return None, around(like, placed(like, grad))
