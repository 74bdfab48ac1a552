"""Adafactor."""

from __future__ import annotations

from .. import Tensor, finfo
from ._arithmetic import numbers, plus_, updates
from ._listed import Listed, scalar
from ._options import check_amounts, check_lr, check_steps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["Adafactor", "adafactor"]


def adafactor(
    params: list[Tensor],
    grads: list[Tensor],
    row_vars: list[Tensor | None],
    col_vars: list[Tensor | None],
    variances: list[Tensor | None],
    state_steps: list[Tensor],
    foreach: bool | None = None,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
    has_complex: bool = False,
    *,
    d: float,
    lr: float | Tensor,
    beta2_decay: float,
    weight_decay: float,
    eps1: float | None,
    eps2: float,
    maximize: bool,
) -> None:
    """The update of `Adafactor`, in place, for lists with its state."""
    check_steps(state_steps, "")
    lr, weight_decay = numbers(False, lr, weight_decay)
    sizes = [param.norm(2).item() for param in params]
    steps = updates(
        params,
        grads,
        state_steps,
        row_vars,
        col_vars,
        variances,
        maximize=maximize,
        weight_decay=weight_decay,
        decoupled=lr,
    )
    for size, (param, grad, step, rows, columns, variance) in zip(sizes, steps):
        least = finfo(param.dtype).eps if eps1 is None else eps1
        share = step**beta2_decay
        if grad.dim() > 1:
            square = _factored(grad, rows, columns, share, least)
        else:
            variance.lerp_(grad * grad, share)
            square = variance.clone()
        change = square.clamp_(min=least * least).rsqrt_().mul_(grad)
        # Steps are relative to the parameter, and are clipped.
        scale = max(eps2, size / param.numel() ** 0.5) * min(lr, step**-0.5)
        excess = change.norm(2).item() / (param.numel() ** 0.5 * d)
        plus_(param, change, -scale / max(1.0, excess))


def _factored(
    grad: Tensor, rows: Tensor, columns: Tensor, share: float, least: float
) -> Tensor:
    """The mean square of each number from those of its row and column."""
    for means, dim in ((rows, -1), (columns, -2)):
        square = grad.norm(2, dim=dim, keepdim=True).square_()
        means.lerp_(square.div_(grad.size(dim)), share)
    whole = rows.mean(dim=-2, keepdim=True).clamp_(min=least)
    return (rows @ columns).div_(whole)


class Adafactor(Listed):
    """Adam in little memory (Shazeer & Stern 2018).

    "Adafactor: Adaptive Learning Rates with Sublinear Memory Cost", arXiv
    1804.04235: of the mean squares of a matrix's gradients the sums of rows and
    columns are kept alone, steps are relative to the parameter's size and are
    clipped; there is no momentum.

    Args:
        params: parameters or groups, see `Optimizer`.
        lr: largest relative step ρ (0.01).
        beta2_decay: exponent of the step in 1 - β2, at most 0 (-0.8).
        eps: least mean square (None: of the dtype) and least size of a
            parameter (None, 0.001).
        d: root mean square at which steps are clipped, at least 1 (1.0).
        weight_decay: taken from p directly, as in `AdamW` (0).
        foreach, maximize: see `hotaru.optim`.

    Raises:
        ValueError: an option out of its range.
        RuntimeError: complex parameters, in `step`.
    """

    _function = staticmethod(adafactor)
    _passes = ("d", "lr", "beta2_decay", "weight_decay", "foreach", "maximize")
    _keeps = ("row_var", "col_var", "variance", "step")
    _later = ("foreach",)

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        check_amounts(**{"Learning rate": lr})
        if not beta2_decay <= 0.0:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            check_amounts(epsilon1=eps[0])
        check_amounts(epsilon2=eps[1])
        if not d >= 1.0:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        check_amounts(weight_decay=weight_decay)
        defaults = {
            "lr": lr,
            "beta2_decay": beta2_decay,
            "eps": eps,
            "d": d,
            "weight_decay": weight_decay,
            "foreach": foreach,
            "maximize": maximize,
        }
        super().__init__(params, defaults)

    def _start(self, state: dict, param: Tensor, group: dict) -> None:
        if param.is_complex():
            raise RuntimeError("Adafactor does not support complex parameters")
        state["step"] = scalar(0.0, param, {})
        if param.dim() < 2:
            state["variance"] = param.new_zeros(param.shape)
            return
        *outer, rows, columns = param.shape
        state["row_var"] = param.new_zeros((*outer, rows, 1))
        state["col_var"] = param.new_zeros((*outer, 1, columns))

    def _options(self, group: dict) -> dict:
        options = super()._options(group)
        options["eps1"], options["eps2"] = group["eps"]
        return options
