"""Factors that are made of Hermitian ones: `linalg.polar`, `linalg.matrix_sqrth`.

Their derivatives are solutions of X L + L X = C, whose own are solutions of such
equations again. So all of them are exact, also where values repeat: derivatives
of `eigh` and `svd` themselves have none there.
"""

from __future__ import annotations

import hotaru

from .. import Tensor, linalg
from .._late import lent
from .function import Function

__all__ = ["matrix_sqrth", "polar"]


def polar(A: Tensor, *, out=None):
    """U with orthonormal columns and H, Hermitian without negative eigenvalues:
    A = U H.

    Args:
        A: [..., m, n], m at least n.
        out: two tensors that get the results.

    Returns:
        U [..., m, n] and H [..., n, n]. There are gradients where no singular
        value is 0.
    """
    _check("polar", A)
    m, n = A.shape[-2:]
    if m < n:
        raise RuntimeError(
            "linalg.polar: input must have at least as many rows as columns, but "
            f"got {m} by {n} matrices"
        )
    if out is None:
        return lent("return_types").linalg_polar(_Polar.apply(A))
    if not isinstance(out, (tuple, list)) or len(out) != 2:
        raise TypeError(
            "linalg_polar(): argument 'out' must be tuple of Tensors, not "
            f"{type(out).__name__}"
        )
    if hotaru.is_grad_enabled() and any(x.requires_grad for x in (A, *out)):
        raise RuntimeError(
            "linalg_polar(): functions with out=... arguments don't support "
            "automatic differentiation, but one of the arguments requires grad."
        )
    found = _Polar.apply(A)
    written = [_write("polar", to, x) for to, x in zip(out, found, strict=True)]
    return lent("return_types").linalg_polar_out(written)


def matrix_sqrth(A: Tensor) -> Tensor:
    """X, Hermitian without negative eigenvalues, with X X = A.

    Args:
        A: [..., n, n], Hermitian and positive; its lower triangle is read.
            Negative eigenvalues count as 0.
    """
    _check("matrix_sqrth", A)
    rows, columns = A.shape[-2:]
    if rows != columns:
        raise RuntimeError(
            "linalg.matrix_sqrth: A must be batches of square matrices, but they "
            f"are {rows} by {columns} matrices"
        )
    return _Root.apply(A)


def _check(name: str, A: Tensor) -> None:
    if not isinstance(A, Tensor):
        raise TypeError(
            f"linalg_{name}(): argument 'A' (position 1) must be Tensor, not "
            f"{type(A).__name__}"
        )
    if A.layout is not hotaru.strided:
        raise NotImplementedError(f"linalg.{name}: A must be strided, not {A.layout}")
    if A.dim() < 2:
        raise RuntimeError(
            f"linalg.{name}: The input tensor A must have at least 2 dimensions."
        )
    if A.dtype in (hotaru.float16, hotaru.bfloat16):
        raise RuntimeError(
            f"linalg.{name}: Low precision dtypes not supported. Got {A.dtype}"
        )
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(
            f"linalg.{name}: Expected a floating point or complex tensor as "
            f"input. Got {A.dtype}"
        )


def _write(name: str, to: Tensor, found: Tensor) -> Tensor:
    if to.dtype != found.dtype:
        raise RuntimeError(
            f"linalg_{name}: Expected out tensor to have dtype {found.dtype}, but "
            f"got {to.dtype} instead"
        )
    if to.shape != found.shape:
        to.resize_(found.shape)
    return to.copy_(found)


def _sym(x: Tensor) -> Tensor:
    """The Hermitian part."""
    return (x + x.mH) / 2


def _equation(X: Tensor, C: Tensor) -> Tensor:
    """L with X L + L X = C, of a Hermitian X."""
    return _Equation.apply(X, C)


class _Equation(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(X, C):
        values, V = linalg.eigh(X)
        sums = values.unsqueeze(-1) + values.unsqueeze(-2)
        return V @ ((V.mH @ C @ V) / sums) @ V.mH

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(inputs[0], output)
        ctx.save_for_forward(inputs[0], output)

    @staticmethod
    def jvp(ctx, of_x, of_c):
        X, L = ctx.saved_tensors
        of_c = hotaru.zeros_like(L) if of_c is None else of_c
        if of_x is not None:
            of_x = _sym(of_x)
            of_c = of_c - of_x @ L - L @ of_x
        return _equation(X, of_c)

    @staticmethod
    def backward(ctx, grad):
        X, L = ctx.saved_tensors
        of_c = _equation(X, grad)
        of_x = None
        if ctx.needs_input_grad[0]:
            of_x = -_sym(of_c @ L.mH + L.mH @ of_c)
        return of_x, of_c


class _Root(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(A):
        values, V = linalg.eigh(A)
        root = values.clamp(min=0).sqrt().unsqueeze(-2)
        return _sym((V * root) @ V.mH)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def jvp(ctx, of_a):
        (X,) = ctx.saved_tensors
        return _equation(X, _sym(of_a))

    @staticmethod
    def backward(ctx, grad):
        (X,) = ctx.saved_tensors
        return _equation(X, _sym(grad))


class _Polar(Function):
    """A = U H: with W = U^H dA and H O + O H = W - W^H, dU is U O and, where
    there are more rows than columns, (1 - U U^H) dA H^-1; dH is W - O H.
    """

    generate_vmap_rule = True

    @staticmethod
    def forward(A):
        left, values, right = linalg.svd(A, full_matrices=False)
        U = left @ right
        H = right.mH @ (values.unsqueeze(-1) * right)
        return U.contiguous(), _sym(H)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*output)
        ctx.save_for_forward(*output)

    @staticmethod
    def jvp(ctx, of_a):
        U, H = ctx.saved_tensors
        inside = U.mH @ of_a
        turn = _equation(H, inside - inside.mH)
        of_u = U @ turn
        if U.shape[-2] > U.shape[-1]:
            of_u = of_u + _divide(of_a - U @ inside, H)
        return of_u, inside - turn @ H

    @staticmethod
    def backward(ctx, of_u, of_h):
        U, H = ctx.saved_tensors
        of_h = _sym(of_h)
        turn = _equation(H, U.mH @ of_u - of_h @ H)
        found = U @ (of_h + turn - turn.mH)
        if U.shape[-2] > U.shape[-1]:
            found = found + _divide(of_u - U @ (U.mH @ of_u), H)
        return found


def _divide(X: Tensor, H: Tensor) -> Tensor:
    """X H^-1, of a Hermitian H; no number where there is none."""
    return linalg.solve_ex(H, X, left=False)[0]
