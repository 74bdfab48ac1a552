"""Between a tensor in parts and this rank's part, with their history.

The history of a tensor in parts is its own. A gradient of it lies where it
does, and is whole in each rank where it is a reduction of what they have
(`DTensorSpec.dual`).
"""

from __future__ import annotations

from ... import Tensor, is_grad_enabled
from ..._tensor.refusals import check_written
from ...autograd import Function
from ._dtensor_spec import DTensorSpec
from ._redistribute import moved
from .placement_types import Partial

_made: list = []  # the class DTensor, once it is defined


def wrap(local: Tensor, spec: DTensorSpec):
    """The tensor in parts that has this part: its memory, without history."""
    return _made[0](local, spec, requires_grad=False)


def part(x) -> Tensor:
    """This rank's part, with the history of the whole."""
    if x.requires_grad and is_grad_enabled():
        return _Part.apply(x)
    return x._local_tensor


def whole(local: Tensor, spec: DTensorSpec):
    """The tensor that has this part, with the part's history."""
    if local.requires_grad and is_grad_enabled():
        return _Whole.apply(local, spec)
    return wrap(local, spec)


def redistributed(x, placements):
    """The same tensor in other placements."""
    placements = tuple(placements)
    if x._spec.placements == placements:
        return x
    if x.requires_grad and is_grad_enabled():
        return _Moved.apply(x, placements)
    return wrap(moved(x._local_tensor, x._spec, placements), x._spec.placed(placements))


def shared(local: Tensor, spec: DTensorSpec, dims) -> Tensor:
    """A part of which ranks along dimensions of the mesh each use something:
    its gradient is the sum of theirs.
    """
    if dims and local.requires_grad and is_grad_enabled():
        return _Shared.apply(local, spec, tuple(dims))
    return local


def written(out, result: Tensor):
    """Gives `out` the part `result`; RuntimeError for a leaf with gradients."""
    if is_grad_enabled() and (out.requires_grad or result.requires_grad):
        check_written(out)
        # Parts that a graph has kept stay as they were.
        out._local_tensor = out._local_tensor.clone()
        return _Written.apply(out, result)
    if out._local_tensor is not result:
        out._local_tensor.copy_(result)
    return out


def at(gradient, spec: DTensorSpec) -> Tensor:
    """This rank's part of a gradient, where the gradient of `spec` lies."""
    if isinstance(gradient, _made[0]):
        return part(redistributed(gradient, spec.dual().placements))
    return gradient


class _Part(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.spec, ctx.count = x._spec.dual(), x._spec.averaged
        local = x._local_tensor
        return local.view_as(local)

    @staticmethod
    def backward(ctx, grad):
        return whole(grad if ctx.count == 1 else grad * ctx.count, ctx.spec)


class _Whole(Function):
    @staticmethod
    def forward(ctx, local, spec):
        ctx.spec = spec
        return wrap(local.detach(), spec)

    @staticmethod
    def backward(ctx, grad):
        found, count = at(grad, ctx.spec), ctx.spec.averaged
        return (found if count == 1 else found / count), None


class _Moved(Function):
    @staticmethod
    def forward(ctx, x, placements):
        ctx.spec, ctx.placements = x._spec, placements
        local = moved(x._local_tensor, x._spec, placements)
        if local is x._local_tensor or local._base is not None:
            local = local.view_as(local)
        return wrap(local, x._spec.placed(placements))

    @staticmethod
    def backward(ctx, grad):
        found = redistributed(grad, ctx.spec.placed(ctx.placements).dual().placements)
        found = redistributed(found, ctx.spec.dual().placements)
        return found, None


class _Shared(Function):
    @staticmethod
    def forward(ctx, local, spec, dims):
        ctx.spec, ctx.dims = spec, dims
        return local.view_as(local)

    @staticmethod
    def backward(ctx, grad):
        source, target = list(ctx.spec.dual().placements), ctx.spec.dual()
        for dim in ctx.dims:
            source[dim] = Partial()
        found = whole(grad, target.placed(source))
        return part(redistributed(found, target.placements)), None, None


class _Written(Function):
    @staticmethod
    def forward(ctx, out, result):
        ctx.spec = out._spec
        if out._local_tensor is not result:
            out._local_tensor.copy_(result)
        ctx.mark_dirty(out)
        return out

    @staticmethod
    def backward(ctx, grad):
        return None, at(grad, ctx.spec)
