"""A few eigenpairs of a large symmetric matrix: `lobpcg`.

The locally optimal block preconditioned conjugate gradient method (Knyazev,
SIAM J. Sci. Comput. 23, 517-541, 2001): Rayleigh and Ritz's method in the span
of the approximations, their preconditioned residuals and the last directions,
in a basis that is made orthonormal in each step (Stathopoulos and Wu, SIAM J.
Sci. Comput. 23, 2165-2182, 2002).
"""

from __future__ import annotations

import hotaru

from . import Tensor, linalg, no_grad
from ._overrides import overridable as _overridable
from .autograd import Function

__all__ = ["lobpcg"]

# Steps at most where the caller sets no bound.
_STEPS = 1000


def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker=None,
    ortho_iparams: dict[str, int] | None = None,
    ortho_fparams: dict[str, float] | None = None,
    ortho_bparams: dict[str, bool] | None = None,
) -> tuple[Tensor, Tensor]:
    """The `k` largest (or smallest) eigenvalues and their vectors.

    Args:
        A: symmetric, [..., m, m], strided or sparse.
        k: how many; the columns of `X`, or 1.
        B: symmetric and positive: solves A x = e B x.
        X: approximations to begin with, [..., m, n]; random ones if None.
        n: how many pairs are looked for, `k` at least.
        iK: the preconditioner, an approximation of the inverse of `A`.
        niter: steps at most; -1 as None.
        tol: of residuals, relative to the matrices; the square root of the
            dtype's precision if None.
        largest: True if None.
        method: "basic" or "ortho", which are one method here.
        tracker: called before the first step and behind each with an object
            that says what there is: `X`, `E`, `R` (the residuals), `A`, `B`,
            `iK`, and in dicts `iparams` (m, n, k, niter), `fparams` (tol),
            `bparams` (largest), `ivars` (istep, converged_count), `tvars`
            (rerr, the relative residuals).
        ortho_iparams, ortho_fparams, ortho_bparams: of PyTorch's own steps.

    Returns:
        eigenvalues [..., k], the best one first, and vectors [..., m, k].

    Raises:
        AssertionError: shapes that do not fit.
        ValueError: fewer than 3 n rows; use `torch.linalg.eigh`.
        NotImplementedError: parameters of steps; gradients of sparse matrices
            or with `B`, for which there is `torch.linalg.eigh`.
    """
    if ortho_iparams or ortho_fparams or ortho_bparams:
        raise NotImplementedError(
            "lobpcg: ortho_*params are of PyTorch's own steps; set niter and tol"
        )
    X, k = _start(A, k, X, n)
    largest = True if largest is None else largest
    problem = _Problem(A, B, iK, niter, tol, largest, tracker)
    recorded = hotaru.is_grad_enabled() and (
        A.requires_grad or (B is not None and B.requires_grad)
    )
    if not recorded:
        return _solve_all(problem, X, k)
    if B is not None or A.layout is not hotaru.strided:
        raise NotImplementedError(
            "lobpcg: there are no gradients with B, nor of sparse matrices; "
            "use torch.linalg.eigh"
        )
    return _Pairs.apply(A, problem, X, k)


def _start(matrix, k, X, n):
    """The approximations to begin with, and how many pairs are asked for."""
    m = matrix.size(-1)
    if matrix.size(-2) != m:
        raise AssertionError(f"A must be square, got shape {matrix.shape}")
    if k is None:
        k = 1 if X is None else X.size(-1)
    n = (k if X is None else X.size(-1)) if n is None else n
    if m < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows "
            f"(={m}) is smaller than 3 x the number of requested eigenpairs "
            f"(={n})"
        )
    shape = (*matrix.shape[:-2], m, n)
    if X is None:
        X = hotaru.randn(shape, dtype=matrix.dtype, device=matrix.device)
    if tuple(X.shape) != shape:
        raise AssertionError(f"X shape mismatch: got {X.shape}, expected {shape}")
    return X, k


class _Problem:
    """States what is to be solved, and how exactly."""

    def __init__(self, a, b, inverse, niter, tol, largest, tracker) -> None:
        self.a, self.b, self.inverse = a, b, inverse
        self.steps = _STEPS if niter is None or niter < 0 else niter
        self.tol = hotaru.finfo(a.dtype).eps ** 0.5 if tol is None else tol
        self.largest = largest
        self.tracker = tracker

    def item(self, at: tuple[int, ...]) -> _Problem:
        """The problem of one matrix of a batch."""
        parts = [None if t is None else t[at] for t in (self.a, self.b, self.inverse)]
        return _Problem(*parts, self.steps, self.tol, self.largest, self.tracker)

    def times_b(self, x: Tensor) -> Tensor:
        """B x."""
        return x if self.b is None else self.b @ x

    def ritz(self, basis: Tensor, n: int) -> tuple[Tensor, Tensor]:
        """The best `n` values in the span of a basis, and how the vectors are
        made of it.
        """
        inside = basis.mH @ (self.a @ basis)
        values, vectors = linalg.eigh((inside + inside.mH) / 2)
        if self.largest:
            return values.flip(-1)[:n], vectors.flip(-1)[:, :n]
        return values[:n], vectors[:, :n]

    def orthonormal(self, basis: Tensor) -> Tensor:
        """Another basis of the span, orthonormal by B; without directions that
        cannot be told from others.
        """
        for _ in range(2):
            if basis.size(-1) == 0:
                break
            gram = basis.mH @ self.times_b(basis)
            scale = gram.diagonal().real.clamp(min=_tiny(gram)).rsqrt()
            gram = gram * scale * scale[:, None]
            values, vectors = linalg.eigh((gram + gram.mH) / 2)
            eps = hotaru.finfo(values.dtype).eps
            kept = values > values[-1] * eps * len(values)
            turn = vectors[:, kept] * values[kept].rsqrt()
            basis = basis @ (scale[:, None] * turn)
        return basis

    def beside(self, basis: Tensor, x: Tensor) -> Tensor:
        """An orthonormal basis of what a span has beside that of `x`."""
        for _ in range(2):
            basis = basis - x @ (x.mH @ self.times_b(basis))
        basis = self.orthonormal(basis)
        return basis - x @ (x.mH @ self.times_b(basis))


class _Progress:
    """Progress that a tracker is told, by PyTorch's names."""

    def __init__(self, problem: _Problem, m: int, n: int, k: int) -> None:
        self.A, self.B, self.iK = problem.a, problem.b, problem.inverse
        self.iparams = {"m": m, "n": n, "k": k, "niter": problem.steps}
        self.fparams = {"tol": problem.tol}
        self.bparams = {"largest": problem.largest}
        self.ivars = {"istep": 0}
        self.tvars: dict[str, Tensor] = {}
        self._tell = problem.tracker

    def tell(self, x, values, residual, error) -> None:
        """Calls the tracker, if there is one."""
        if self._tell is None:
            return
        self.X, self.E, self.R = x, values, residual
        good = (error < self.fparams["tol"]).to(hotaru.int64)
        self.ivars["istep"] += 1
        self.ivars["converged_count"] = int(good.cumprod(0).sum())
        self.tvars["rerr"] = error
        self._tell(self)


@no_grad()
def _solve_all(problem: _Problem, start: Tensor, k: int):
    """The pairs of every matrix of a batch."""
    batch = start.shape[:-2]
    if not batch:
        return _solve(problem, start, k)
    found = [_solve(problem.item(at), start[at], k) for at in _places(batch)]
    values, vectors = (hotaru.stack(each) for each in zip(*found))
    return (
        values.view(*batch, *values.shape[1:]),
        vectors.view(*batch, *vectors.shape[1:]),
    )


def _places(shape) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for size in shape:
        found = [(*at, i) for at in found for i in range(size)]
    return found


def _solve(problem: _Problem, start: Tensor, k: int):
    n = start.size(-1)
    x = problem.orthonormal(start)
    if x.size(-1) < n:  # approximations that depended on each other
        more = problem.beside(hotaru.randn_like(start), x)
        x = hotaru.cat([x, more[:, : n - x.size(-1)]], 1)
    norms = _norm_of(problem.a, start), _norm_of(problem.b, start)
    values, turn = problem.ritz(x, n)
    x, last = x @ turn, None
    progress = _Progress(problem, start.size(0), n, k)
    for _ in range(problem.steps):
        residual = problem.a @ x - problem.times_b(x) * values
        size = linalg.vector_norm(residual, dim=0)
        bound = norms[0] + values.abs() * norms[1]
        error = size / (bound * linalg.vector_norm(x, dim=0))
        progress.tell(x, values, residual, error)
        if bool((error[:k] < problem.tol).all()):
            break
        if problem.inverse is not None:
            residual = problem.inverse @ residual
            size = linalg.vector_norm(residual, dim=0)
        # Along the residuals of about the same size, or small ones are lost.
        step = residual / size.clamp(min=_tiny(size))
        wide = step if last is None else hotaru.cat([step, last], 1)
        wide = problem.beside(wide, x)
        values, turn = problem.ritz(hotaru.cat([x, wide], 1), n)
        last = wide @ turn[n:]
        x = x @ turn[:n] + last
    return values[:k], x[:, :k].contiguous()


def _tiny(like: Tensor) -> float:
    return hotaru.finfo(like.dtype).tiny


def _norm_of(matrix: Tensor | None, start: Tensor):
    """About how much a matrix lengthens vectors."""
    if matrix is None:
        return 1.0
    length = linalg.vector_norm(start)
    return linalg.vector_norm(matrix @ start) / length


class _Pairs(Function):
    """The pairs of a strided matrix with their derivatives, from
    x' = -(A - e)^+ A' x and e' = x^T A' x.
    """

    @staticmethod
    def forward(ctx, matrix, problem, start, k):
        values, vectors = _solve_all(problem, start, k)
        ctx.save_for_backward(matrix, values, vectors)
        return values, vectors

    @staticmethod
    def backward(ctx, grad_values, grad_vectors):
        matrix, values, vectors = ctx.saved_tensors
        others, basis = linalg.eigh(matrix)
        gap = others[..., :, None] - values[..., None, :]
        eps = hotaru.finfo(matrix.dtype).eps ** 0.5
        own = gap.abs() <= eps * others.abs().amax(-1)[..., None, None]
        along = basis.mH @ grad_vectors
        along = hotaru.where(own, 0, along / hotaru.where(own, 1, -gap))
        grad = (vectors * grad_values[..., None, :] + basis @ along) @ (vectors.mH)
        return (grad + grad.mH) / 2, None, None, None


_overridable(globals(), __all__, "hotaru")
