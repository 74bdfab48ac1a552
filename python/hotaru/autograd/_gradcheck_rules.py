"""Rules that derivatives must obey besides having the right values."""

from __future__ import annotations

import warnings

import hotaru

from .. import Tensor
from .._late import lent
from . import _jacobians as jacobians
from ._entry import grad
from .function import Function


class GradcheckError(RuntimeError):
    """A derivative that differs from its finite difference."""


def check_same(first: Tensor, second: Tensor, nondet_tol: float) -> None:
    """Demands that what two backward passes gave agrees."""
    if first.numel() and (first - second).abs().max() > nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input "
            "and grad_output multiple times gives different values, although "
            "analytical gradient matches numerical gradient.The tolerance for "
            f"nondeterminism was {nondet_tol}."
        )


def check_constant(func, inputs: tuple, eps: float) -> None:
    """Nothing requires a gradient: then nothing may depend on the inputs."""

    def all_outputs():
        outputs = jacobians.outputs_of(func, inputs, jacobians.is_inexact)
        return [o.detach().clone() for o in outputs]

    for i, tensor in jacobians.checked(inputs):
        before = all_outputs()
        after = _after_step(tensor, eps, all_outputs)
        for j, (a, b) in enumerate(zip(before, after)):
            if not hotaru.equal(a, b):
                raise GradcheckError(
                    "Numerical gradient for function expected to be zero: "
                    f"output {j} depends on input {i} but does not require a "
                    "gradient"
                )


def _after_step(tensor: Tensor, eps: float, outputs) -> list:
    if jacobians.is_sparse(tensor):
        changed = jacobians.mover(tensor).values(tensor)
    else:
        changed = tensor.data
    changed.add_(eps)
    after = outputs()
    changed.sub_(eps)
    return after


def _gradients(func, inputs: tuple, seed_of) -> tuple[list, tuple]:
    """The checked inputs and their gradients from `seed_of(output)`s."""
    tensors = [t for _, t in jacobians.checked(inputs)]
    outputs = jacobians.outputs_of(func, inputs)
    if not outputs:
        return tensors, (None,) * len(tensors)
    seeds = [seed_of(o) for o in outputs]
    return tensors, grad(outputs, tensors, seeds, allow_unused=True)


def check_scaled(func, inputs: tuple) -> None:
    """Gradients of zeros are zeros, and shaped as their inputs."""
    for tensor, g in zip(*_gradients(func, inputs, hotaru.zeros_like)):
        if g is None:
            continue
        if g.layout != tensor.layout and g.layout is not hotaru.strided:
            raise GradcheckError(
                f"grad is incorrect layout ({g.layout} is not {tensor.layout})"
            )
        if g.shape != tensor.shape:
            raise GradcheckError("grad is incorrect size")
        if jacobians.is_sparse(g) and not g.is_mkldnn:
            _check_dims(tensor, g)
        if bool((jacobians.strided(g) != 0).any()):
            raise GradcheckError("backward not multiplied by grad_output")


def _check_dims(tensor: Tensor, g: Tensor) -> None:
    kind = str(g.layout).removeprefix("torch.").removesuffix("_coo")
    for what in ("sparse_dim", "dense_dim"):
        found, wanted = getattr(g, what)(), getattr(tensor, what)()
        if found != wanted:
            raise GradcheckError(
                f"grad is {kind} tensor, but has incorrect {what} {found}, "
                f"expected {wanted}"
            )


def check_dtypes(func, inputs: tuple) -> None:
    """Gradients have their inputs' dtypes."""
    for tensor, g in zip(*_gradients(func, inputs, hotaru.ones_like)):
        if g is not None and g.dtype != tensor.dtype:
            raise GradcheckError("Gradient has dtype mismatch")


def check_batched(func, inputs: tuple) -> None:
    """A batch of gradients gives what each alone gives."""
    try:
        _compare_batches(func, inputs)
    except GradcheckError:
        raise
    except RuntimeError as error:  # sparse ones have no batches
        raise GradcheckError(
            f"While computing batched gradients, got: {error}\n\ngradcheck or "
            "gradgradcheck failed while testing batched gradient computation."
        ) from error


def _compare_batches(func, inputs: tuple) -> None:
    tensors = [t for _, t in jacobians.checked(inputs)]
    for output in jacobians.outputs_of(func, inputs):
        seeds = [hotaru.randn_like(output.detach()) for _ in range(2)]
        single = [
            grad(output, tensors, s, retain_graph=True, allow_unused=True)
            for s in seeds
        ]
        batched = grad(
            output,
            tensors,
            hotaru.stack(seeds),
            retain_graph=True,
            allow_unused=True,
            is_grads_batched=True,
        )
        for found, expected in zip(batched, zip(*single)):
            _check_batch(found, expected, "gradient")


def _check_batch(found, expected, what: str) -> None:
    if expected[0] is None:
        return
    expected = hotaru.stack(list(expected))
    if not hotaru.allclose(found, expected, equal_nan=True):
        raise GradcheckError(
            f"gradcheck or gradgradcheck failed while testing batched {what} "
            f"computation: got\n{found}\nexpected\n{expected}"
        )


class _Undefined(Function):
    """Passes a value on and gives no gradient back."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return None


def _warn_of_the_check() -> None:
    warnings.warn(
        "Backwards compatibility: New undefined gradient support checking "
        "feature is enabled by default, but it may break existing callers of "
        "this function. If this is true for you, you can call this function "
        'with "check_undefined_grad=False" to disable the feature',
        stacklevel=4,
    )


def check_undefined(func, inputs: tuple) -> None:
    """Without gradients of outputs there are none, or zeros, of inputs.

    All outputs are tried at once, then each beside zeros for the others.
    """
    count = len(jacobians.outputs_of(func, inputs))
    choices = [set(range(count))]
    if count > 1:
        choices += [{j} for j in range(count)]
    tensors = [t for _, t in jacobians.checked(inputs)]
    for undefined in choices if count else []:
        outputs = [
            _Undefined.apply(o) if j in undefined else o
            for j, o in enumerate(jacobians.outputs_of(func, inputs))
        ]
        zeros = [hotaru.zeros_like(o) for o in outputs]
        try:
            grads = grad(outputs, tensors, zeros, allow_unused=True)
        except RuntimeError as error:
            _warn_of_the_check()
            raise GradcheckError(
                f"Expected backward function to handle undefined output grads: {error}"
            ) from error
        if any(
            g is not None and bool((jacobians.strided(g) != 0).any()) for g in grads
        ):
            _warn_of_the_check()
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all "
                "output grads are undefined or zero."
            )


def _tangents(func, inputs: tuple, tangents: dict) -> list[Tensor]:
    duals = jacobians.push_forward(func, inputs, tangents)
    return [jacobians.tangent_values(d) for d in duals]


def check_zero_tangents(func, inputs: tuple) -> None:
    """An input without tangent counts as one whose tangent is zero."""
    checked = jacobians.checked(inputs)
    for i, tensor in checked:
        others = {k: jacobians.random_direction(t) for k, t in checked if k != i}
        zero = hotaru.zeros_like(tensor.detach())
        found = _tangents(func, inputs, {**others, i: zero})
        if others:
            expected = _tangents(func, inputs, others)
        else:
            expected = [hotaru.zeros_like(f) for f in found]
        for a, b in zip(found, expected):
            if not hotaru.allclose(a, b, equal_nan=True):
                raise GradcheckError(
                    "Expected tangents of outputs to be those of a zero "
                    f"tangent where input {i} has none"
                )


def check_batched_forward(func, inputs: tuple) -> None:
    """A batch of tangents gives what each alone gives.

    RuntimeError where that draws random numbers.
    """
    for i, tensor in jacobians.checked(inputs):
        seeds = [jacobians.random_direction(tensor) for _ in range(2)]
        single, _ = [_tangents(func, inputs, {i: s}) for s in seeds]

        def tangents(seed, place=i):
            return tuple(_tangents(func, inputs, {place: seed}))

        # A loop: one pass more finds what depends on how many there were.
        batched = lent("map_slices")(tangents, 0, 0)(hotaru.stack(seeds[:1]))
        for found, expected in zip(batched, single):
            _check_batch(found, [expected], "forward gradient")
