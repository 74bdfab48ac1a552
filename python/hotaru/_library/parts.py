"""Operators of `torch.ops.aten` that PyTorch makes others of.

Programs see them where they take operators apart; here each is made of the
whole operator. `composed` defines one when it is first asked for.
"""

from __future__ import annotations

from .. import _C, ops
from .._extension.grad_mode import no_grad


def _messages(name: str, code: int) -> str:
    place = code if code > 0 else -code
    if name == "linalg.inv":
        return (
            f"The diagonal element {place} is zero, the inversion could not be "
            "completed because the input matrix is singular."
        )
    if name == "linalg.cholesky":
        return (
            "The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {place} is not "
            "positive-definite)."
        )
    if name.endswith("solve"):
        return "The solver failed because the input matrix is singular."
    return (
        "The factorization could not be completed because a diagonal element "
        f"({place}) is zero."
    )


def _linalg_check_errors(info, api_name, *, is_matrix):
    codes = info.flatten().tolist()
    for place, code in enumerate(codes):
        if code:
            batch = "" if is_matrix else f"(Batch element {place}): "
            raise _C._LinAlgError(f"{api_name}: {batch}{_messages(api_name, code)}")


def _linalg_svd(A, full_matrices=False, compute_uv=True, *, driver=None):
    if compute_uv:
        return tuple(ops.linalg_svd(A, full_matrices, driver=driver))
    values = ops.linalg_svdvals(A, driver=driver)
    return A.new_empty(0), values, A.new_empty(0)


def _linalg_eigh(A, UPLO="L", compute_v=True):
    if compute_v:
        return tuple(ops.linalg_eigh(A, UPLO))
    return ops.linalg_eigvalsh(A, UPLO), A.new_empty(0)


def _linalg_det(A):
    return (ops.linalg_det(A), *ops.linalg_lu_factor_ex(A.detach())[:2])


def _linalg_slogdet(A):
    factors = ops.linalg_lu_factor_ex(A.detach())[:2]
    return (*ops.linalg_slogdet(A), *factors)


def _linalg_solve_ex(A, B, *, left=True, check_errors=False):
    found, info = ops.linalg_solve_ex(A, B, left=left, check_errors=check_errors)
    return (found, *ops.linalg_lu_factor_ex(A.detach())[:2], info)


def _trilinear(i1, i2, i3, expand1, expand2, expand3, sumdim, unroll_dim=1):
    def wide(x, dims):
        for dim in dims:
            x = x.unsqueeze(dim)
        return x

    product = wide(i1, expand1) * wide(i2, expand2) * wide(i3, expand3)
    return product.sum(list(sumdim))


def _rrelu(self, noise, lower, upper, training, generator):
    if not training:
        return ops.leaky_relu(self, (lower + upper) / 2)
    drawn = ops.uniform_(ops.empty_like(noise), lower, upper, generator=generator)
    noise.copy_(ops.where(self <= 0, drawn, ops.ones_like(drawn)))
    return self * noise


def rrelu_with_noise(
    self, noise, lower=0.125, upper=1 / 3, training=False, generator=None
):
    """Slopes below zero are drawn, and written to `noise`."""
    return _rrelu(self, noise, lower, upper, training, generator)


def rrelu_with_noise_(
    self, noise, lower=0.125, upper=1 / 3, training=False, generator=None
):
    """The same in place."""
    return self.copy_(_rrelu(self, noise, lower, upper, training, generator))


def _multilabel(self, target, reduction):
    wide = target if target.dim() == 2 else target.unsqueeze(0)
    wide = wide.reshape(-1, wide.shape[-1]) if wide.dim() != 2 else wide
    ends = (wide < 0).cumsum(1) > 0
    rows = ops.zeros((wide.shape[0], wide.shape[1] + 1), dtype=self.dtype).scatter(
        1, ops.where(ends, wide.shape[1], wide), 1
    )
    found = ops.multilabel_margin_loss(self, target, reduction)
    return found, rows[:, :-1].reshape(target.shape)


def _cdist_forward(x1, x2, p, compute_mode):
    return ops.cdist(x1, x2, p, compute_mode)


def _attention(
    query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None
):
    given = {} if scale is None else {"scale": scale}
    found = ops.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, **given
    )
    factor = query.shape[-1] ** -0.5 if scale is None else scale
    with no_grad():
        scores = query.detach() @ key.detach().transpose(-2, -1) * factor
        if is_causal:
            keep = ops.ones_like(scores, dtype=_C.bool).tril()
            scores = scores.masked_fill(~keep, float("-inf"))
        if attn_mask is not None:
            scores = (
                scores.masked_fill(~attn_mask, float("-inf"))
                if attn_mask.dtype == _C.bool
                else scores + attn_mask
            )
        sums = scores.logsumexp(-1)
    return found, sums


def _shift(name: str):
    return lambda self, other: getattr(ops, name)(self, other)


_POOL = "(Tensor self, SymInt[{}] output_size) -> Tensor"
_NOISE = (
    "(Tensor{} self, Tensor(b!) noise, Scalar lower=0.125, "
    "Scalar upper=0.3333333333333333, bool training=False, "
    "Generator? generator=None) -> Tensor{}"
)

DEFINED = {
    "lift_fresh_copy": ("(Tensor self) -> Tensor", lambda self: self.clone()),
    "_linalg_check_errors": (
        "(Tensor info, str api_name, *, bool is_matrix) -> ()",
        _linalg_check_errors,
    ),
    "_linalg_svd": (
        "(Tensor A, bool full_matrices=False, bool compute_uv=True, *, "
        "str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)",
        _linalg_svd,
    ),
    "_linalg_eigh": (
        '(Tensor A, str UPLO="L", bool compute_v=True) -> '
        "(Tensor eigenvalues, Tensor eigenvectors)",
        _linalg_eigh,
    ),
    "_linalg_det": (
        "(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
        _linalg_det,
    ),
    "_linalg_slogdet": (
        "(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
        _linalg_slogdet,
    ),
    "_linalg_solve_ex": (
        "(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> "
        "(Tensor result, Tensor LU, Tensor pivots, Tensor info)",
        _linalg_solve_ex,
    ),
    "log_sigmoid_forward": (
        "(Tensor self) -> (Tensor output, Tensor buffer)",
        lambda self: (ops.log_sigmoid(self), self.new_empty(0)),
    ),
    "_adaptive_avg_pool2d": (
        _POOL.format(2),
        lambda self, output_size: ops.adaptive_avg_pool2d(self, output_size),
    ),
    "_adaptive_avg_pool3d": (
        _POOL.format(3),
        lambda self, output_size: ops.adaptive_avg_pool3d(self, output_size),
    ),
    "_conj_physical": ("(Tensor self) -> Tensor", lambda self: ops.conj_physical(self)),
    "rrelu_with_noise": (_NOISE.format("", ""), rrelu_with_noise),
    "rrelu_with_noise_": (_NOISE.format("(a!)", "(a!)"), rrelu_with_noise_),
    "multilabel_margin_loss_forward": (
        "(Tensor self, Tensor target, int reduction) -> "
        "(Tensor output, Tensor is_target)",
        _multilabel,
    ),
    "_trilinear": (
        "(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, "
        "int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
        _trilinear,
    ),
    "_prelu_kernel": (
        "(Tensor self, Tensor weight) -> Tensor",
        lambda self, weight: ops.where(self > 0, self, weight * self),
    ),
    "_cdist_forward": (
        "(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
        _cdist_forward,
    ),
    "_pdist_forward": (
        "(Tensor self, float p=2) -> Tensor",
        lambda self, p=2.0: ops.pdist(self, p),
    ),
    "_scaled_dot_product_flash_attention_for_cpu": (
        "(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, "
        "bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) "
        "-> (Tensor output, Tensor logsumexp)",
        _attention,
    ),
}

FURTHER = {
    f"__{start}{word}shift__": {
        f".{overload}": (
            f"(Tensor{mark} self, {overload} other) -> Tensor{mark}",
            _shift(f"bitwise_{side}_shift{end}"),
        )
        for overload in ("Tensor", "Scalar")
    }
    for start, mark, end in (("", "", ""), ("i", "(a!)", "_"))
    for word, side in (("l", "left"), ("r", "right"))
}
