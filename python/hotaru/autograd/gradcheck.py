"""Comparison of derivatives with finite differences."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import hotaru

from .. import Tensor
from . import _gradcheck_rules as rules
from . import _jacobians as jacobians
from ._entry import grad
from ._gradcheck_rules import GradcheckError
from ._old_jacobians import (  # noqa: F401  (where old programs look)
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class _Tolerance(NamedTuple):
    """By how much derivatives may differ; eps is the step of differences."""

    eps: float
    atol: float
    rtol: float
    nondet_tol: float


def gradcheck(
    func,
    inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compares the derivatives of `func(*inputs)` with finite differences.

    Args:
        func: takes tensors, returns a tensor or several.
        inputs: a tensor or several; those that require gradients, in double
            precision, are checked.
        eps: step.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: False returns False instead of raising.
        nondet_tol: by how much two backward passes may differ.
        check_undefined_grad: outputs that get no gradient must give their
            inputs none, or zeros; inputs without tangent count as zeros.
        check_grad_dtypes: every gradient must have its input's dtype.
        check_batched_grad: `grad(is_grads_batched=True)` must give what single
            passes give. Batches are loops here, so this finds backward passes
            that depend on how often they run.
        check_batched_forward_grad: the same of tangents.
        check_forward_ad: compares Jacobians of forward mode, too.
        check_backward_ad: False leaves out all that needs backward passes.
        fast_mode: compares one random projection of each Jacobian, which
            takes two calls an input and one backward pass an output; the whole
            Jacobians only explain a mismatch.
        masked: of sparse inputs, whether elements that they do not keep have
            no derivative; else differences are taken in these, too.

    Raises:
        ValueError: no input requires a gradient, or an output is sparse.
        AssertionError: options that contradict each other, or shapes of
            outputs that depend on the inputs' values.
        GradcheckError: says which gradient is wrong, and both Jacobians.
    """
    if not (check_forward_ad or check_backward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if check_batched_grad and not check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad "
            "to be True"
        )
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    tolerance = _Tolerance(eps, atol, rtol, nondet_tol)
    try:
        _check_inputs(inputs)
        if check_forward_ad and any(t.is_mkldnn for _, t in jacobians.checked(inputs)):
            raise ValueError("MKLDNN inputs are not support for forward AD gradcheck.")
        if not jacobians.outputs_of(func, inputs):
            rules.check_constant(func, inputs, eps)
        elif check_backward_ad:
            _check_layouts(func, inputs)
            compare = _check_projections if fast_mode else _check_jacobians
            compare(func, inputs, tolerance, bool(masked))
        if check_forward_ad:
            check = _check_tangents if fast_mode else _check_forward
            check(func, inputs, tolerance)
        if check_backward_ad:
            rules.check_scaled(func, inputs)
            if check_batched_grad:
                rules.check_batched(func, inputs)
            if check_grad_dtypes:
                rules.check_dtypes(func, inputs)
            if check_undefined_grad:
                rules.check_undefined(func, inputs)
        if check_forward_ad and check_undefined_grad:
            rules.check_zero_tangents(func, inputs)
        if check_batched_forward_grad:
            rules.check_batched_forward(func, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _check_inputs(inputs: tuple) -> None:
    checked = jacobians.checked(inputs)
    if not checked:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, "
            "but none of them have requires_grad=True."
        )
    for i, tensor in checked:
        if tensor.dtype not in (hotaru.float64, hotaru.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision "
                "floating point or complex. This check will likely fail if all "
                "the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=3,
            )
        tensor.retain_grad()
        if jacobians.is_sparse(tensor):
            continue
        overlaps = any(s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.size()))
        if overlaps:
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. "
                "gradcheck only supports inputs that are non-overlapping to be "
                "able to compute the numerical gradients correctly. You should "
                "call .contiguous on the input before passing it to gradcheck."
            )


def _check_layouts(func, inputs: tuple) -> None:
    for output in jacobians.outputs_of(func, inputs):
        if jacobians.is_sparse(output):
            kind = str(output.layout).removeprefix("torch.sparse_").upper()
            kind = "Sparse" if kind == "COO" else f"Sparse {kind}"
            kind = "MKLDNN" if output.is_mkldnn else kind
            raise ValueError(
                f"{kind} output is not supported at gradcheck yet. Please call "
                "to_dense(masked_grad=...) on the output of fn for gradcheck."
            )


def _check_jacobians(func, inputs: tuple, tolerance: _Tolerance, masked: bool) -> None:
    outputs = jacobians.outputs_of(func, inputs)
    checked = jacobians.checked(inputs)
    tensors = [t for _, t in checked]
    whole = inputs if masked else jacobians.densified(inputs)
    numerical = [
        jacobians.numerical(func, whole, whole[i], tolerance.eps) for i, _ in checked
    ]
    for j, output in enumerate(outputs):
        first = jacobians.analytical(output, tensors)
        second = jacobians.analytical(output, tensors)
        for k, (i, _) in enumerate(checked):
            _compare(output, j, i, first[k], numerical[k][j], tolerance)
            rules.check_same(first[k], second[k], tolerance.nondet_tol)


def _compare(
    output: Tensor, j: int, i: int, a, n, tolerance: _Tolerance, forward=False
) -> None:
    """Raises unless the Jacobian `a` is the numerical one."""
    n = n.to(a.dtype)
    # Written so that nan is none of them.
    right = (a - n).abs() <= tolerance.atol + tolerance.rtol * n.abs()
    if bool(right.all()):
        return
    part = ""
    if output.is_complex():
        name = "real" if bool(right[:, 1::2].all()) else "imaginary"
        part = f"While considering the {name} part of complex outputs only, "
    what = "Jacobian"
    if forward:
        what = "Jacobian computed with forward mode"
    raise GradcheckError(
        f"{part}{what} mismatch for output {j} with respect to input {i},\n"
        f"numerical:{n}\nanalytical:{a}\n"
    )


def _check_projections(
    func, inputs: tuple, tolerance: _Tolerance, masked: bool
) -> None:
    """Compares u J v by differences along v and by a backward pass from u.

    u and v have random entries that are positive and of length 1; the
    tolerance of an entry of J is scaled by their sums, as an error in every
    entry would be.
    """
    outputs = jacobians.outputs_of(func, inputs)
    checked = jacobians.checked(inputs)
    tensors = [t for _, t in checked]
    whole = inputs if masked else jacobians.densified(inputs)
    moved = [whole[i] for i, _ in checked]
    steps = [jacobians.random_direction(t) for t in moved]
    ends = [
        jacobians.differences(
            func, whole, t, step, tolerance.eps, jacobians.has_gradient
        )
        for t, step in zip(moved, steps)
    ]
    for j, output in enumerate(outputs):
        seed = jacobians.random_direction(output)
        first, second = (jacobians.pull_back(output, tensors, seed) for _ in range(2))
        for k, (i, _) in enumerate(checked):
            u, v = map(jacobians.real_values, (seed, steps[k]))
            a = (first[k] * v).sum()
            n = (ends[k][j].to(u.dtype) * u).sum().to(a.dtype)
            allowed = tolerance.atol * float(u.sum()) * float(v.sum())
            if not bool((a - n).abs() <= allowed + tolerance.rtol * n.abs()):
                # Raises with the whole Jacobians, unless only u and v differ.
                _check_jacobians(func, inputs, tolerance, masked)
                raise _only_projections_differ("Jacobian", j, i, a, n)
            rules.check_same(first[k], second[k], tolerance.nondet_tol)


def _only_projections_differ(what: str, j: int, i: int, a, n) -> GradcheckError:
    return GradcheckError(
        f"{what} mismatch for output {j} with respect to input {i},\n"
        f"numerical:{n}\nanalytical:{a}\n\nThe above quantities relating the "
        "numerical and analytical jacobians are computed in fast mode; the "
        "full comparison found no mismatch.\n"
    )


def _check_tangents(func, inputs: tuple, tolerance: _Tolerance) -> None:
    """Compares u J v by differences along v and by the tangent of v; u, v and
    the tolerance are those of `_check_projections`.
    """
    wanted = jacobians.is_inexact
    for i, tensor in jacobians.checked(inputs):
        step = jacobians.random_direction(tensor)
        ends = jacobians.differences(func, inputs, tensor, step, tolerance.eps, wanted)
        found = jacobians.tangents_along(func, inputs, i, step)
        v = float(jacobians.real_values(step).sum())
        for j, (tangent, end) in enumerate(zip(found, ends)):
            u = jacobians.random_direction(tangent)
            a, n = (tangent * u).sum(), (end.to(u.dtype) * u).sum()
            allowed = tolerance.atol * float(u.sum()) * v
            if not bool((a - n).abs() <= allowed + tolerance.rtol * n.abs()):
                _check_forward(func, inputs, tolerance)
                what = "Jacobian computed with forward mode"
                raise _only_projections_differ(what, j, i, a, n)


def _check_forward(func, inputs: tuple, tolerance: _Tolerance) -> None:
    """Compares the Jacobians of forward mode, for all inexact outputs."""
    outputs = jacobians.outputs_of(func, inputs, jacobians.is_inexact)
    for i, tensor in jacobians.checked(inputs):
        numerical = jacobians.numerical(
            func, inputs, tensor, tolerance.eps, jacobians.is_inexact
        )
        found = jacobians.forward_mode(func, inputs, i)
        for j, (a, n) in enumerate(zip(found, numerical)):
            _compare(outputs[j], j, i, a, n, tolerance, forward=True)


def gradgradcheck(
    func,
    inputs,
    grad_outputs=None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """`gradcheck` of the gradient of `func`, also by its incoming gradients.

    `grad_outputs` are random where left out, and not contiguous if
    `gen_non_contig_grad_outputs`; of those given, what requires gradients is
    differentiated by. `check_fwd_over_rev` takes the second
    derivative by forward mode, `check_rev_over_rev` by a backward pass.
    """
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError(
            "Expected at least one of check_fwd_over_rev or check_rev_over_rev "
            "to be True"
        )
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        grads = tuple(
            _random_gradient(o, gen_non_contig_grad_outputs)
            for o in jacobians.outputs_of(func, inputs)
        )
    else:
        given = isinstance(grad_outputs, Tensor)
        grads = (grad_outputs,) if given else tuple(grad_outputs)
    count = len(grads)
    differentiable = [jacobians.has_gradient(t) for t in inputs]

    def first_gradients(*args):
        values, given = args[:-count], args[-count:]
        values = tuple(
            v.requires_grad_() if wanted and v.is_leaf else v
            for v, wanted in zip(values, differentiable)
        )
        wanted = [v for v in values if jacobians.has_gradient(v)]
        found = grad(
            jacobians.outputs_of(func, values),
            wanted,
            given,
            create_graph=True,
            allow_unused=True,
        )
        return tuple(g for g in found if g is not None)

    return gradcheck(
        first_gradients,
        (*inputs, *grads),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _random_gradient(output: Tensor, gaps: bool) -> Tensor:
    values = hotaru.randn_like(output.detach())
    if gaps:
        values = hotaru.stack([values, values], -1).select(-1, 1)
    return values.requires_grad_()
