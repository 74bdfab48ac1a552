"""Jacobians by the names that `gradcheck` once offered; deprecated."""

from __future__ import annotations

import warnings

import hotaru

from .. import Tensor
from . import _jacobians as jacobians
from ._entry import grad


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`{name}` was part of PyTorch's private API and not meant to be "
        "exposed. We are deprecating it and it will be removed in a future "
        "version of PyTorch. If you have a specific use for this or feature "
        "request for this to be a stable API, please file us an issue at "
        "https://github.com/pytorch/pytorch/issues/new",
        FutureWarning,
        stacklevel=3,
    )


def _check(name: str, grad_out: float, is_complex: bool) -> None:
    """ValueError: what these functions could do only in older versions."""
    if grad_out != 1.0:
        raise ValueError(
            "Expected grad_out to be 1.0. "
            f"{name} no longer supports values of grad_out != 1.0."
        )
    if is_complex:
        raise ValueError(
            "Expected output to be non-complex. "
            f"{name} no longer supports functions that return complex outputs."
        )


def _listed(inputs) -> list[Tensor]:
    inputs = (inputs,) if isinstance(inputs, Tensor) else inputs
    return [t for t in inputs if jacobians.has_gradient(t)]


def _complex_rows(matrix: Tensor, tensor: Tensor) -> Tensor:
    """Rows of real and imaginary parts as rows of complex numbers."""
    if not tensor.is_complex():
        return matrix
    return hotaru.complex(matrix[0::2], matrix[1::2])


def get_numerical_jacobian(fn, inputs, target=None, eps=1e-3, grad_out=1.0):
    """Jacobians of the first result of `fn(inputs)` by finite differences.

    Args:
        fn: takes the tuple of inputs, gives a tensor or several.
        inputs: the tensors, which are changed and restored.
        target: those to differentiate by; the inputs, if None.
        eps: the step.
        grad_out: 1.0.

    Returns:
        A matrix (elements of the tensor, elements of the result) for each.

    Raises:
        ValueError: another `grad_out`, or a complex result.
    """
    _deprecated("get_numerical_jacobian")
    first = jacobians.outputs_of(lambda *a: fn(a), tuple(inputs), is_tensor)[0]
    _check("get_numerical_jacobian", grad_out, first.is_complex())
    return tuple(
        _complex_rows(
            jacobians.numerical(lambda *a: fn(a), tuple(inputs), t, eps, is_tensor)[0],
            t,
        )
        for t in _listed(inputs if target is None else target)
    )


def get_numerical_jacobian_wrt_specific_input(
    fn, input_idx: int, inputs, outputs, eps, input=None, is_forward_ad=False
) -> tuple[Tensor, ...]:
    """Jacobians by one tensor from finite differences.

    Args:
        fn: takes the inputs, gives the outputs.
        input_idx: whose they are, unless `input` says.
        outputs: of the inputs; nothing of them is looked at but their dtypes.
        eps: the step.
        input: the tensor, one of the inputs, which is changed and restored.
        is_forward_ad: without effect on real numbers.

    Returns:
        A matrix (elements of the tensor, elements of the output) for each.

    Raises:
        AssertionError: the tensor does not require gradients.
        NotImplementedError: complex numbers; see `torch.autograd.gradcheck`.
    """
    tensor = inputs[input_idx] if input is None else input
    if not tensor.requires_grad:
        raise AssertionError("Expected input to have requires_grad=True")
    if any(is_tensor(t) and t.is_complex() for t in (tensor, *outputs)):
        raise NotImplementedError(
            "get_numerical_jacobian_wrt_specific_input: not of complex "
            "numbers; torch.autograd.gradcheck compares those"
        )
    return tuple(jacobians.numerical(fn, tuple(inputs), tensor, eps, is_tensor))


def is_tensor(value) -> bool:
    return isinstance(value, Tensor)


def get_analytical_jacobian(inputs, output, nondet_tol=0.0, grad_out=1.0):
    """Jacobians of `output` by backward passes, each done twice.

    Args:
        inputs: tensors; those that require gradients count.
        output: made from them.
        nondet_tol: by how much two passes may differ.
        grad_out: 1.0.

    Returns:
        The matrices (elements of the input, elements of the output), whether
        the second passes gave the same, and whether all gradients had the
        shapes and the dtypes of their inputs.

    Raises:
        ValueError: another `grad_out`, or a complex output.
    """
    _deprecated("get_analytical_jacobian")
    _check("get_analytical_jacobian", grad_out, output.is_complex())
    tensors = _listed(inputs)
    first, second = (jacobians.analytical(output, tensors) for _ in range(2))
    same = all(bool(((a - b).abs() <= nondet_tol).all()) for a, b in zip(first, second))
    seed = hotaru.ones_like(output.detach())
    grads = grad(output, tensors, seed, retain_graph=True, allow_unused=True)
    pairs = [(g, t) for g, t in zip(grads, tensors) if g is not None]
    return (
        tuple(_complex_rows(m, t) for m, t in zip(first, tensors)),
        same,
        all(g.shape == t.shape for g, t in pairs),
        all(g.dtype == t.dtype for g, t in pairs),
    )
