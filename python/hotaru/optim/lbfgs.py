"""L-BFGS."""

from __future__ import annotations

from .. import Tensor, cat, enable_grad, no_grad
from ._arithmetic import parts
from ._line_search import Point, StrongWolfe
from ._options import check_lr, check_options
from .optimizer import Optimizer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .optimizer import ParamsT

__all__ = ["LBFGS"]

# The product of a step and its change of gradient that is worth keeping.
_LEAST_CURVATURE = 1e-10


class LBFGS(Optimizer):
    """Quasi-Newton steps from the last gradients (Liu & Nocedal 1989).

    "On the limited memory BFGS method for large scale optimization". The state
    is of all parameters together; there is one group, and `step` needs a
    closure.

    Args:
        params: parameters, see `Optimizer`.
        lr: length of steps (1).
        max_iter: iterations of a step (20).
        max_eval: evaluations of the closure in a step (1.25 max_iter).
        tolerance_grad: end where the largest gradient is below it (1e-7).
        tolerance_change: end where neither function nor parameters change by
            more (1e-9).
        history_size: steps that are kept (100).
        line_search_fn: None or "strong_wolfe".
        maximize: the loss is made large instead of small.

    Raises:
        ValueError: a negative rate, more than one group.
        RuntimeError: another line search, in `step`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
        *,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        check_options(lr=lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        if maximize:  # a state without it is read by every PyTorch
            defaults["maximize"] = True
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS doesn't support per-parameter options (parameter groups)"
            )

    @property
    def _params(self) -> list[Tensor]:
        return self.param_groups[0]["params"]

    def step(self, closure):
        """Iterates from where the parameters are.

        Args:
            closure: computes the loss and its gradients again, and returns it.

        Returns:
            the loss at the start.

        Raises:
            AssertionError: another group was added.
        """
        if len(self.param_groups) != 1:
            raise AssertionError(
                f"Expected exactly one param_group, but got {len(self.param_groups)}"
            )
        with no_grad():
            return self._iterate(closure)

    def _iterate(self, closure):
        group = self.param_groups[0]
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        with enable_grad():
            first = closure()
        loss, evaluations, iterations = self._sign() * float(first), 1, 0
        state["func_evals"] += 1
        grad = self._flat_grad()
        if self._is_small(grad):
            return first
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            _turn(state, grad, group["history_size"])
            before = state["prev_loss"] = loss
            slope = grad.dot(state["d"])
            state["t"] = group["lr"]
            if state["n_iter"] == 1:
                state["t"] = min(1.0, 1.0 / grad.abs().sum()) * group["lr"]
            if slope > -group["tolerance_change"]:
                break
            last = iterations == group["max_iter"]
            budget = group["max_eval"] - evaluations
            loss, grad, calls = self._advance(
                closure, Point(0, loss, grad, slope), last, budget
            )
            evaluations += calls
            state["func_evals"] += calls
            moved = (state["d"] * state["t"]).abs().max()
            if (
                last
                or evaluations >= group["max_eval"]
                or self._is_small(grad)
                or moved <= group["tolerance_change"]
                or abs(loss - before) < group["tolerance_change"]
            ):
                break
        return first

    def _advance(self, closure, start: Point, last: bool, budget: int):
        """Moves along the direction; loss, gradient, calls of the closure."""
        group, state = self.param_groups[0], self.state[self._params[0]]
        direction = state["d"]
        if group["line_search_fn"] is None:
            self._move(state["t"], direction)
            if last:  # nobody needs the loss
                return start.f, start.grad, 0
            return *self._evaluate(closure), 1
        if group["line_search_fn"] != "strong_wolfe":
            raise RuntimeError("only 'strong_wolfe' is supported")
        origin = [param.clone() for param in self._params]

        def at(t):
            self._move(t, direction)
            found = self._evaluate(closure)
            self._put(origin)
            return found

        search = StrongWolfe(at, direction, start, group["tolerance_change"], budget)
        found = search.search(state["t"])
        state["t"] = found.t
        self._move(found.t, direction)
        return found.f, found.grad, search.evaluations

    def _is_small(self, grad: Tensor) -> bool:
        return bool(grad.abs().max() <= self.param_groups[0]["tolerance_grad"])

    # -- all parameters as one vector ----------------------------------------

    def _sign(self) -> int:
        """The loss is made small, or else what is opposite to it."""
        return -1 if self.param_groups[0].get("maximize", False) else 1

    def _flat_grad(self) -> Tensor:
        found = cat([_flat(param) for param in self._params])
        return found if self._sign() == 1 else -found

    def _evaluate(self, closure) -> tuple[float, Tensor]:
        with enable_grad():
            loss = self._sign() * float(closure())
        return loss, self._flat_grad()

    def _move(self, t, direction: Tensor) -> None:
        start = 0
        for param in parts(*self._params):
            piece = direction[start : start + param.numel()]
            param.add_(piece.view_as(param), alpha=t)
            start += param.numel()

    def _put(self, values: list[Tensor]) -> None:
        for param, value in zip(self._params, values):
            param.copy_(value)


def _flat(param: Tensor) -> Tensor:
    """The gradient of a parameter as a vector of reals."""
    grad = param.grad
    if grad is None:
        grad = param.new_zeros(param.shape)
    elif grad.is_sparse:
        grad = grad.to_dense()
    (grad,) = parts(grad)
    return grad.reshape(-1)


def _turn(state: dict, grad: Tensor, history_size: int) -> None:
    """Sets the direction "d" for a gradient, and keeps what the last step told.

    "old_dirs" are changes of the gradient, "old_stps" steps, "ro" one by their
    products, "H_diag" the scale of the inverse Hessian, "al" for intermediate
    results.
    """
    if state["n_iter"] == 1:
        state["d"] = -grad
        state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
    else:
        _remember(state, grad, history_size)
        state.setdefault("al", [None] * history_size)
        state["d"] = _direction(state, grad)
    state["prev_flat_grad"] = grad.clone()


def _remember(state: dict, grad: Tensor, history_size: int) -> None:
    change = grad - state["prev_flat_grad"]
    step = state["d"] * state["t"]
    product = change.dot(step)
    if not product > _LEAST_CURVATURE:
        return
    kept = state["old_dirs"], state["old_stps"], state["ro"]
    for values, new in zip(kept, (change, step, 1.0 / product)):
        if len(values) == history_size:
            values.pop(0)
        values.append(new)
    state["H_diag"] = product / change.dot(change)


def _direction(state: dict, grad: Tensor) -> Tensor:
    """The inverse Hessian times the gradient, downwards, in two loops."""
    changes, steps, inverses = state["old_dirs"], state["old_stps"], state["ro"]
    q = -grad
    shares = state["al"]
    for i in reversed(range(len(steps))):
        shares[i] = steps[i].dot(q) * inverses[i]
        q.add_(changes[i], alpha=-shares[i])
    r = q * state["H_diag"]
    for change, step, inverse, share in zip(changes, steps, inverses, shares):
        r.add_(step, alpha=share - change.dot(r) * inverse)
    return r
