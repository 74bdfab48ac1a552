"""Jacobians by finite differences, by the engine and by dual numbers.

All are matrices of real numbers, (values of the input, values of the output),
in which a complex element counts as its real and its imaginary part. A gradient
g of a complex input means dL = Re(conj(g) dx), which is PyTorch's convention.
"""

from __future__ import annotations

import hotaru

from .. import Tensor
from .._late import lent
from . import forward_ad
from ._entry import grad


def is_inexact(value) -> bool:
    """True if the value is a tensor that can have a gradient."""
    return isinstance(value, Tensor) and (
        value.is_floating_point() or value.is_complex()
    )


def has_gradient(value) -> bool:
    return isinstance(value, Tensor) and value.requires_grad


def checked(inputs: tuple) -> list[tuple[int, Tensor]]:
    """The inputs whose gradients are compared, with their positions."""
    return [(i, t) for i, t in enumerate(inputs) if has_gradient(t)]


def outputs_of(func, inputs: tuple, wanted=has_gradient) -> tuple:
    """The results that are `wanted`."""
    result = func(*inputs)
    result = tuple(result) if isinstance(result, (tuple, list)) else (result,)
    return tuple(o for o in result if wanted(o))


def is_sparse(tensor: Tensor) -> bool:
    """True if the layout is not strided."""
    return tensor.layout is not hotaru.strided


def strided(tensor: Tensor) -> Tensor:
    """The values in a strided tensor, without history."""
    tensor = tensor.detach()
    return tensor.to_dense() if is_sparse(tensor) else tensor


def real_values(tensor: Tensor) -> Tensor:
    """All values in one real vector, complex ones as pairs."""
    tensor = strided(tensor)
    if tensor.is_complex():
        tensor = hotaru.view_as_real(tensor.resolve_conj())
    return tensor.reshape(-1)


def unit_directions(like: Tensor):
    """Strided tensors that have a 1 (and then a 1j) in one place, in order."""
    like = strided(like)
    for index in indices(like.shape):
        for value in (1, 1j) if like.is_complex() else (1,):
            direction = hotaru.zeros_like(like)
            direction[index] = value
            yield direction


def random_direction(like: Tensor) -> Tensor:
    """A random vector of length 1, its entries positive; strided, and of a
    sparse tensor in the elements that it keeps.
    """
    values = hotaru.rand_like(strided(like)).contiguous()
    if is_sparse(like):
        values = values * kept(like).to(values.dtype)
    length = real_values(values).norm()
    return values / length if float(length) > 0 else values


def indices(shape) -> list[tuple[int, ...]]:
    """All index tuples of a shape, the last axis fastest."""
    found = [()]
    for size in shape:
        found = [(*index, i) for index in found for i in range(size)]
    return found


def differences(func, inputs, tensor: Tensor, step: Tensor, eps, wanted):
    """How the outputs change along `step` in `tensor`, in real values.

    AssertionError where shapes or dtypes of outputs depend on the values.
    """
    moved = _moved_sparse if is_sparse(tensor) else _moved_strided
    ends = [
        [o.detach().clone() for o in outputs_of(func, changed, wanted)]
        for changed in moved(inputs, tensor, step, eps)
    ]
    for low, high in zip(*ends):
        for what in ("shape", "dtype"):
            a, b = getattr(low, what), getattr(high, what)
            if a != b:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} "
                    f"when inputs are perturbed by {eps}, but got: {what}s "
                    f"{a} and {b}."
                )
    return [
        (real_values(high) - real_values(low)) / (2 * eps) for low, high in zip(*ends)
    ]


def _moved_strided(inputs, tensor: Tensor, step: Tensor, eps):
    """The inputs with `tensor` an eps before and behind, in its own memory."""
    before = tensor.data.clone()
    for distance in (-eps, eps):
        tensor.data.copy_(before + distance * step)
        yield inputs
    tensor.data.copy_(before)


def mover(tensor: Tensor):
    """The module that has what is near a tensor of its layout."""
    return lent("moved_onednn" if tensor.is_mkldnn else "moved")


def _moved_sparse(inputs, tensor: Tensor, step: Tensor, eps):
    """The same with another tensor of its elements in its place."""
    moved = mover(tensor)
    for distance in (-eps, eps):
        other = moved.along(tensor, step, distance)
        yield tuple(other if i is tensor else i for i in inputs)


def kept(tensor: Tensor) -> Tensor:
    """A strided tensor: 1 where the sparse one keeps an element, else 0."""
    return mover(tensor).kept(tensor)


def densified(inputs: tuple) -> tuple:
    """The inputs with sparse ones that keep every element."""
    if not any(isinstance(t, Tensor) and is_sparse(t) for t in inputs):
        return inputs
    return tuple(
        mover(t).densified(t) if isinstance(t, Tensor) and is_sparse(t) else t
        for t in inputs
    )


def numerical(func, inputs, tensor: Tensor, eps, wanted=has_gradient) -> list:
    """Jacobians by `tensor` from finite differences, one an output."""
    if is_sparse(tensor):
        rows = _sparse_rows(func, inputs, tensor, eps, wanted)
    else:
        rows = [
            differences(func, inputs, tensor, direction, eps, wanted)
            for direction in unit_directions(tensor)
        ]
    if not rows:
        outputs = outputs_of(func, inputs, wanted)
        return [o.new_zeros((0, real_values(o).numel())) for o in outputs]
    return [hotaru.stack(column) for column in zip(*rows)]


def _sparse_rows(func, inputs, tensor: Tensor, eps, wanted) -> list:
    """Rows of elements that are not kept are zeros."""
    there = kept(tensor)
    zeros = None
    rows = []
    for direction in unit_directions(tensor):
        if bool((direction * there != 0).any()):
            rows.append(differences(func, inputs, tensor, direction, eps, wanted))
            continue
        if zeros is None:
            outputs = outputs_of(func, inputs, wanted)
            zeros = [hotaru.zeros_like(real_values(o)) for o in outputs]
        rows.append(zeros)
    return rows


def pull_back(output: Tensor, tensors: list[Tensor], seed: Tensor) -> list:
    """The gradients of one backward pass from `seed`, in real values."""
    grads = grad(output, tensors, seed, retain_graph=True, allow_unused=True)
    return [
        real_values((hotaru.zeros_like(strided(t)) if g is None else g).to(t.dtype))
        for g, t in zip(grads, tensors)
    ]


def analytical(output: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Jacobians by backward passes, one for each value of `output`."""
    columns = [[] for _ in tensors]
    for seed in unit_directions(output):
        for column, g in zip(columns, pull_back(output, tensors, seed)):
            column.append(g)
    return [
        hotaru.stack(column, 1)
        if column
        else real_values(t).new_zeros((real_values(t).numel(), 0))
        for column, t in zip(columns, tensors)
    ]


def push_forward(func, inputs: tuple, tangents: dict) -> list:
    """Tangents (or None) of the outputs, from those of inputs by position."""
    with forward_ad.dual_level():
        duals = tuple(t.detach() if isinstance(t, Tensor) else t for t in inputs)
        duals = tuple(
            t if tangents.get(i) is None else forward_ad.make_dual(t, tangents[i])
            for i, t in enumerate(duals)
        )
        outputs = outputs_of(func, duals, is_inexact)
        return [forward_ad.unpack_dual(o) for o in outputs]


def tangent_values(dual) -> Tensor:
    """The tangent in real values; zeros where there is none."""
    primal, tangent = dual
    return real_values(
        hotaru.zeros_like(primal.detach()) if tangent is None else tangent
    )


def tangents_along(func, inputs: tuple, place: int, step: Tensor) -> list:
    """How the outputs change along `step` in the input at `place`, from dual
    numbers, in real values. The other inputs have tangents, too, of zeros.
    """
    zeros = {i: hotaru.zeros_like(t.detach()) for i, t in checked(inputs)}
    duals = push_forward(func, inputs, {**zeros, place: step})
    return [tangent_values(d) for d in duals]


def forward_mode(func, inputs: tuple, place: int) -> list[Tensor]:
    """Jacobians by the input at `place` from dual numbers, one an output."""
    rows = [
        tangents_along(func, inputs, place, v) for v in unit_directions(inputs[place])
    ]
    return [hotaru.stack(column) for column in zip(*rows)]
