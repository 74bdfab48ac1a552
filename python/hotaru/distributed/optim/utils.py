"""Optimizers that take gradients as arguments, in place of `param.grad`."""

from __future__ import annotations

from ... import optim
from ..._C import Tensor
from ...optim.optimizer import NO_PARAMETERS

__all__ = ["as_functional_optim", "functional_optim_map", "register_functional_optim"]


class _Functional:
    """An optimizer whose steps are given the gradients.

    Args:
        params: parameters of `step`.
        *args: those of the optimizer behind its parameters, as are **kwargs.
        _allow_empty_param_list: whether there may be none, for `step_param`.

    ValueError: there is none.
    """

    _kind: type

    def __init__(self, params, *args, _allow_empty_param_list=False, **kwargs) -> None:
        params = list(params)
        if not params and not _allow_empty_param_list:
            raise ValueError(NO_PARAMETERS)
        # An optimizer wants a parameter to begin with.
        self._optimizer = self._kind(params or [Tensor(1)], *args, **kwargs)
        (self._group,) = self._optimizer.param_groups
        self.defaults = dict(self._optimizer.defaults)
        self.param_group = {"params": params}
        self._group["params"] = params

    @property
    def state(self):
        """The optimizer's state, by parameters."""
        return self._optimizer.state

    def step(self, gradients: list) -> None:
        """Changes the parameters by their gradients, None for those that stay.

        ValueError: there are not as many.
        """
        params = self.param_group["params"]
        if len(params) != len(gradients):
            raise ValueError(
                "the gradients passed in does not equal to the size of the "
                f"parameters!Params length: {len(params)}. "
                f"Gradients length: {len(gradients)}"
            )
        self._step(params, gradients)

    def step_param(self, param, grad) -> None:
        """Changes one parameter, of `params` or not, by its gradient."""
        self._step([param], [grad])

    def _step(self, params, gradients) -> None:
        own = [param.grad for param in params]
        before = self._group["params"]
        self._group["params"] = list(params)
        try:
            for param, gradient in zip(params, gradients):
                param.grad = gradient
            self._optimizer.step()
        finally:
            self._group["params"] = before
            for param, gradient in zip(params, own):
                param.grad = gradient


def _made(kind: type) -> type:
    return type(f"_Functional{kind.__name__}", (_Functional,), {"_kind": kind})


#: Optimizers of that kind, by the classes of optimizers or by any keys.
functional_optim_map = {
    kind: _made(kind)
    for kind in (
        optim.Adagrad,
        optim.Adam,
        optim.AdamW,
        optim.SGD,
        optim.Adadelta,
        optim.RMSprop,
        optim.Rprop,
        optim.Adamax,
    )
}


def register_functional_optim(key, optim) -> None:
    """Adds an optimizer of one's own, unless the key has one."""
    functional_optim_map.setdefault(key, optim)


def as_functional_optim(optim_cls: type, *args, **kwargs):
    """The optimizer for `step_param` of an optimizer's class.

    ValueError: there is none.
    """
    if optim_cls not in functional_optim_map:
        raise ValueError(
            f"Optimizer {optim_cls} does not have a functional counterpart!"
        )
    made = functional_optim_map[optim_cls]
    return made([], *args, **kwargs, _allow_empty_param_list=True)
