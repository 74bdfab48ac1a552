"""Comparison of gradients with finite differences.

Central differences of every output by every input, in the real numbers: a
complex element counts as its real and its imaginary part, and a gradient g of a
complex input means dL = Re(conj(g) dx), which is PyTorch's convention.
"""

from __future__ import annotations

import warnings

import hotaru

from .. import Tensor
from ._entry import grad
from .function import Function


class GradcheckError(RuntimeError):
    """A gradient that differs from its finite difference."""


def gradcheck(
    func,
    inputs,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_grad_dtypes: bool = False,
    check_undefined_grad: bool = True,
    check_batched_grad: bool = False,
    fast_mode: bool = False,
) -> bool:
    """Compares the gradients of `func(*inputs)` with finite differences.

    Args:
        func: takes tensors, returns a tensor or several.
        inputs: a tensor or several; those that require gradients, in double
            precision, are checked.
        eps: step.
        atol: absolute tolerance.
        rtol: relative tolerance.
        raise_exception: False returns False instead of raising.
        nondet_tol: by how much two backward passes may differ.
        check_grad_dtypes: every gradient must have its input's dtype.
        check_undefined_grad: outputs that get no gradient must give their
            inputs none, or zeros.
        check_batched_grad: `grad` with `is_grads_batched` must give what it
            gives for each of the gradients.
        fast_mode: compares one random projection of each Jacobian, which
            takes two calls an input and one backward pass an output; the whole
            Jacobians only explain a mismatch.

    Raises:
        ValueError: no input requires a gradient.
        GradcheckError: says which gradient is wrong, and both Jacobians.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    try:
        _check_inputs(inputs)
        compare = _check_projections if fast_mode else _check_jacobians
        compare(func, inputs, eps, atol, rtol, nondet_tol)
        if check_grad_dtypes:
            _check_grad_dtypes(func, inputs)
        if check_undefined_grad:
            _check_undefined(func, inputs)
        if check_batched_grad:
            _check_batched(func, inputs)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _checked(inputs: tuple) -> list[tuple[int, Tensor]]:
    """The inputs whose gradients are compared, with their positions."""
    return [
        (i, t)
        for i, t in enumerate(inputs)
        if isinstance(t, Tensor) and t.requires_grad
    ]


def _check_inputs(inputs: tuple) -> None:
    checked = _checked(inputs)
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
        overlaps = any(
            s == 0 and n > 1 for s, n in zip(tensor.stride(), tensor.size())
        )
        if overlaps:
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck "
                "only supports "
                "inputs that are non-overlapping to be able to compute the "
                "numerical gradients correctly. You should call .contiguous on "
                "the input before passing it to gradcheck."
            )
        tensor.retain_grad()


def _outputs(func, inputs: tuple) -> tuple:
    """The differentiable tensors among the results."""
    result = func(*inputs)
    result = (result,) if isinstance(result, Tensor) else tuple(result)
    return tuple(o for o in result if isinstance(o, Tensor) and o.requires_grad)


def _real(tensor: Tensor) -> Tensor:
    """All values in one real vector, complex ones as pairs."""
    tensor = (
        tensor.detach().resolve_conj()
        if tensor.is_complex()
        else tensor.detach()
    )
    return (
        hotaru.view_as_real(tensor) if tensor.is_complex() else tensor
    ).reshape(-1)


def _check_jacobians(func, inputs, eps, atol, rtol, nondet_tol) -> None:
    outputs = _outputs(func, inputs)
    if not outputs:
        _check_constant(func, inputs, eps)
        return
    checked = _checked(inputs)
    numerical = [_numerical(func, inputs, t, eps) for _, t in checked]
    for j, output in enumerate(outputs):
        tensors = [t for _, t in checked]
        analytical = _analytical(output, tensors)
        again = _analytical(output, tensors)
        for k, (i, _) in enumerate(checked):
            a, n = analytical[k], numerical[k][j]
            n = n.to(a.dtype)
            # Written so that nan fails.
            if not bool(((a - n).abs() <= atol + rtol * n.abs()).all()):
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input "
                    f"{i},\nnumerical:{n}\nanalytical:{a}\n"
                )
            _check_same(a, again[k], nondet_tol)


def _check_same(first: Tensor, second: Tensor, nondet_tol: float) -> None:
    """What two backward passes gave must agree."""
    if first.numel() and (first - second).abs().max() > nondet_tol:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with "
            "same input and grad_output multiple times gives different "
            "values, although analytical gradient matches numerical "
            "gradient.The tolerance for nondeterminism was "
            f"{nondet_tol}."
        )


def _check_projections(func, inputs, eps, atol, rtol, nondet_tol) -> None:
    """Compares u J v by differences along v and by a backward pass from u.

    u and v have random entries that are positive and of length 1; the
    tolerance of an entry of J is scaled by their sums, as an error in every
    entry would be.
    """
    outputs = _outputs(func, inputs)
    if not outputs:
        _check_constant(func, inputs, eps)
        return
    checked = _checked(inputs)
    tensors = [t for _, t in checked]
    steps = [_direction(t) for t in tensors]
    ends = [
        _along(func, inputs, tensor, step, eps)
        for tensor, step in zip(tensors, steps)
    ]
    for j, output in enumerate(outputs):
        seed = _direction(output)
        first, second = (_backward(output, tensors, seed) for _ in range(2))
        for k, (i, _) in enumerate(checked):
            u, v = _real(seed), _real(steps[k])
            a = (first[k] * v).sum()
            n = (ends[k][j].to(u.dtype) * u).sum().to(a.dtype)
            allowed = atol * float(u.sum()) * float(v.sum())
            if not bool((a - n).abs() <= allowed + rtol * n.abs()):
                # Raises with the whole Jacobians, unless only u and v differ.
                _check_jacobians(func, inputs, eps, atol, rtol, nondet_tol)
                raise GradcheckError(
                    f"Jacobian mismatch for output {j} with respect to input "
                    f"{i},\nnumerical:{n}\nanalytical:{a}\n\nThe above "
                    "quantities relating the numerical and analytical "
                    "jacobians are computed in fast mode; the full comparison "
                    "found no mismatch.\n"
                )
            _check_same(first[k], second[k], nondet_tol)


def _direction(like: Tensor) -> Tensor:
    """A random vector of length 1, its entries positive."""
    values = hotaru.rand_like(like.detach()).contiguous()
    length = _real(values).norm()
    return values / length if float(length) > 0 else values


def _along(func, inputs, tensor: Tensor, step: Tensor, eps) -> list[Tensor]:
    """How the outputs change along `step` in `tensor`, in real values."""
    before = tensor.data.clone()
    ends = []
    for distance in (eps, -eps):
        tensor.data.copy_(before + distance * step)
        ends.append([_real(o).clone() for o in _outputs(func, inputs)])
    tensor.data.copy_(before)
    return [(up - down) / (2 * eps) for up, down in zip(*ends)]


def _backward(output: Tensor, tensors: list[Tensor], seed: Tensor):
    """The gradients of one backward pass from `seed`, in real values."""
    grads = grad(output, tensors, seed, retain_graph=True, allow_unused=True)
    values = []
    for g, tensor in zip(grads, tensors):
        g = hotaru.zeros_like(tensor) if g is None else g
        if g.shape != tensor.shape:
            raise GradcheckError("grad is incorrect size")
        values.append(_real(g.to(tensor.dtype)))
    return values


def _check_grad_dtypes(func, inputs: tuple) -> None:
    tensors = [t for _, t in _checked(inputs)]
    for output in _outputs(func, inputs):
        grads = grad(
            output,
            tensors,
            hotaru.ones_like(output),
            retain_graph=True,
            allow_unused=True,
        )
        if any(
            g is not None and g.dtype != t.dtype for g, t in zip(grads, tensors)
        ):
            raise GradcheckError("Gradient has dtype mismatch")


class _Undefined(Function):
    """Passes a value on and gives no gradient back."""

    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad_output):
        return None


def _check_undefined(func, inputs: tuple) -> None:
    """Without gradients of outputs there are none, or zeros, of inputs.

    All outputs are tried at once, then each beside zeros for the others.
    """
    count = len(_outputs(func, inputs))
    choices = [set(range(count))]
    if count > 1:
        choices += [{j} for j in range(count)]
    tensors = [t for _, t in _checked(inputs)]
    for undefined in choices if count else []:
        outputs = [
            _Undefined.apply(o) if j in undefined else o
            for j, o in enumerate(_outputs(func, inputs))
        ]
        try:
            grads = grad(
                outputs,
                tensors,
                [hotaru.zeros_like(o) for o in outputs],
                allow_unused=True,
            )
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output "
                f"grads: {error}"
            ) from error
        if any(g is not None and bool((g != 0).any()) for g in grads):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all "
                "output grads are undefined or zero."
            )


def _numerical(func, inputs: tuple, tensor: Tensor, eps: float) -> list[Tensor]:
    """Finite differences by `tensor`: (its values, values) an output."""
    values = (
        hotaru.view_as_real(tensor.data) if tensor.is_complex() else tensor.data
    )
    rows = []
    for index in _indices(values.shape):
        before = values[index].item()
        ends = []
        for step in (eps, -eps):
            values[index] = before + step
            ends.append([_real(o).clone() for o in _outputs(func, inputs)])
        values[index] = before
        rows.append([(up - down) / (2 * eps) for up, down in zip(*ends)])
    if not rows:
        return [o.new_zeros((0, o.numel())) for o in _outputs(func, inputs)]
    return [hotaru.stack(column) for column in zip(*rows)]


def _indices(shape):
    """All index tuples of a shape, the last axis fastest."""
    indices = [()]
    for size in shape:
        indices = [(*index, i) for index in indices for i in range(size)]
    return indices


def _analytical(output: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """The same by the engine: one backward pass a value of `output`."""
    columns = [[] for _ in tensors]
    directions = (1, 1j) if output.is_complex() else (1,)
    for index in _indices(output.shape):
        for direction in directions:
            seed = hotaru.zeros_like(output)
            seed[index] = direction
            for column, g in zip(columns, _backward(output, tensors, seed)):
                column.append(g)
    return [
        hotaru.stack(column, 1) if column else t.new_zeros((t.numel(), 0))
        for column, t in zip(columns, tensors)
    ]


def _check_constant(func, inputs: tuple, eps: float) -> None:
    """Nothing requires a gradient: then nothing may depend on the inputs."""

    def all_outputs(*args):
        result = func(*args)
        result = (result,) if isinstance(result, Tensor) else tuple(result)
        return [o.detach().clone() for o in result if o.is_floating_point()]

    for i, tensor in enumerate(inputs):
        if not (isinstance(tensor, Tensor) and tensor.requires_grad):
            continue
        before = all_outputs(*inputs)
        tensor.data.add_(eps)
        after = all_outputs(*inputs)
        tensor.data.sub_(eps)
        for j, (a, b) in enumerate(zip(before, after)):
            if not hotaru.equal(a, b):
                raise GradcheckError(
                    "Numerical gradient for function expected to be zero: "
                    f"output {j} depends on input {i} but does not require a "
                    "gradient"
                )


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
    fast_mode: bool = False,
) -> bool:
    """`gradcheck` of the gradient of `func`, also by its incoming gradients.

    `grad_outputs` are random where left out.
    """
    inputs = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    if grad_outputs is None:
        grads = tuple(
            hotaru.randn_like(o).requires_grad_()
            for o in _outputs(func, inputs)
        )
    else:
        grads = _requiring(grad_outputs)
    count = len(grads)

    def first_gradients(*args):
        values, given = args[:-count], args[-count:]
        values = tuple(
            v.requires_grad_()
            if isinstance(v, Tensor) and _is_inexact(v)
            else v
            for v in values
        )
        wanted = [
            v for v in values if isinstance(v, Tensor) and v.requires_grad
        ]
        found = grad(
            _outputs(func, values),
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
        fast_mode=fast_mode,
    )


def _check_batched(func, inputs: tuple) -> None:
    """Compares two gradients together with each of them alone."""
    wanted = [t for _, t in _checked(inputs)]
    for output in _outputs(func, inputs):
        given = hotaru.randn((2, *output.shape), dtype=output.dtype)
        alone = zip(
            *(
                grad(output, wanted, g, retain_graph=True, allow_unused=True)
                for g in given.unbind()
            )
        )
        together = grad(
            output, wanted, given, is_grads_batched=True, allow_unused=True
        )
        for place, (got, each) in enumerate(zip(together, alone)):
            if got is None and each[0] is None:
                continue
            if got is None or not hotaru.allclose(got, hotaru.stack(each)):
                raise GradcheckError(
                    f"For input number {place}, gradients "
                    "that were computed together differ from those of each "
                    f"alone: {got} and {each}"
                )


def _requiring(tensors) -> tuple:
    tensors = (tensors,) if isinstance(tensors, Tensor) else tuple(tensors)
    return tuple(
        t if t.requires_grad else t.detach().requires_grad_() for t in tensors
    )


def _is_inexact(tensor: Tensor) -> bool:
    return tensor.is_leaf and (
        tensor.is_floating_point() or tensor.is_complex()
    )
