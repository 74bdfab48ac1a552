"""Modules that learn from their first input how many features it has.

Until then their parameters are uninitialized, and `load_state_dict` takes any
shape; with the first call they become the module they stand for.
"""

from __future__ import annotations

from ... import no_grad
from ..parameter import UninitializedBuffer, UninitializedParameter, is_lazy
from . import batchnorm, conv
from .linear import Linear

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]


class LazyModuleMixin:
    """The waiting, first among the bases of a module.

    Subclasses make parameters and buffers without a shape in `__init__`, and
    give all of them one in `initialize_parameters`.
    """

    # The module's class from the first call on; None: it stays.
    cls_to_become: type | None = None

    def __init__(self, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self.register_load_state_dict_pre_hook(_take_shapes)
        self._initialize_hook = self.register_forward_pre_hook(
            _on_first_call, with_kwargs=True
        )

    def _waiting(self) -> dict:
        return {
            name: value
            for values in (self._parameters, self._buffers)
            for name, value in values.items()
            if is_lazy(value)
        }

    def has_uninitialized_params(self) -> bool:
        """Tells whether a parameter or buffer has no shape yet."""
        return bool(self._waiting())

    def initialize_parameters(self, *args, **kwargs) -> None:
        """Makes everything ready for the arguments of the first call."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def _apply(self, fn, recurse: bool = True):
        waiting = {k: v for k, v in self._buffers.items() if is_lazy(v)}
        super()._apply(fn, recurse)
        for name in waiting:
            now = self._buffers[name]
            self._buffers[name] = UninitializedBuffer(False, now.device, now.dtype)
        return self

    def share_memory(self):
        for value in self._waiting().values():
            value.share_memory_()
        return super().share_memory()

    def _save_to_state_dict(self, destination, prefix, keep_vars) -> None:
        super()._save_to_state_dict(destination, prefix, True)
        waiting = self._waiting()
        for name, value in self._local_state().items():
            if not keep_vars and name not in waiting:
                destination[prefix + name] = value.detach()


def _take_shapes(module, state_dict, prefix, *_) -> None:
    """Takes the shapes of what is going to be loaded."""
    for name, waiting in module._waiting().items():
        given = state_dict.get(prefix + name)
        if given is not None and not is_lazy(given):
            with no_grad():
                waiting.materialize(given.shape)


def _on_first_call(module, args, kwargs) -> None:
    """Initializes the module, which is from now on what it stands for."""
    module.initialize_parameters(*args, **kwargs)
    if module.has_uninitialized_params():
        raise RuntimeError(
            f"module {module._get_name()} has not been fully initialized"
        )
    module._load_hook.remove()
    module._initialize_hook.remove()
    del module._load_hook, module._initialize_hook
    if module.cls_to_become is not None:
        module.__class__ = module.cls_to_become


class _Lazy(LazyModuleMixin):
    """The modules of this file: they say what an input tells in `_learn`, and
    how the attribute for the number of features is called in `_features`.
    """

    _features = ""

    def _wait(self, *names, device=None, dtype=None) -> None:
        """Leaves these parameters and buffers without a shape."""
        for name in names:
            if name in self._buffers:
                waiting = UninitializedBuffer(False, device, dtype)
                self._buffers[name] = waiting
            else:
                waiting = UninitializedParameter(True, device, dtype)
                self._parameters[name] = waiting

    def _learn(self, input) -> dict:
        """Shapes of parameters and buffers for an input."""
        raise NotImplementedError

    def initialize_parameters(self, input, *args, **kwargs) -> None:
        """Takes number and shapes from an input, and draws the values."""
        shapes = self._learn(input)
        waiting = self._waiting()
        if not waiting:
            return
        with no_grad():
            for name, value in waiting.items():
                value.materialize(shapes[name])
            self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the values; nothing as long as they have no shape."""
        if getattr(self, self._features) != 0 and not self._waiting():
            super().reset_parameters()


class LazyLinear(_Lazy, Linear):
    """`Linear` whose in_features the first input tells."""

    cls_to_become = Linear
    _features = "in_features"

    def __init__(
        self, out_features: int, bias: bool = True, device=None, dtype=None
    ) -> None:
        self.in_features = 0
        super().__init__(0, 0, bias, device, dtype)
        self.out_features = out_features
        names = ("weight", "bias") if bias else ("weight",)
        self._wait(*names, device=device, dtype=dtype)

    def _learn(self, input) -> dict:
        self.in_features = input.shape[-1]
        out = self.out_features
        return {"weight": (out, self.in_features), "bias": (out,)}


class _LazyConv(_Lazy):
    _features = "in_channels"

    def __init__(self, out_channels: int, kernel_size, *args, **kwargs):
        options = {k: kwargs.get(k) for k in ("device", "dtype")}
        super().__init__(0, 0, kernel_size, *args, **kwargs)
        self.out_channels = out_channels
        names = ("weight",) if self.bias is None else ("weight", "bias")
        self._wait(*names, **options)

    def _learn(self, input) -> dict:
        axes = self._axes
        if input.dim() not in (axes + 1, axes + 2):
            raise RuntimeError(
                f"Expected {axes + 1}D (unbatched) or {axes + 2}D (batched) "
                f"input to {type(self).__name__}, but got input of size: "
                f"{input.shape}"
            )
        inputs, outputs = input.shape[-axes - 1], self.out_channels
        conv._check(
            inputs, outputs, self.stride, self.padding, self.groups, self.padding_mode
        )
        self.in_channels = inputs
        channels = (outputs, inputs // self.groups)
        if self.transposed:
            channels = (inputs, outputs // self.groups)
        return {"weight": (*channels, *self.kernel_size), "bias": (outputs,)}


class _LazyNorm(_Lazy):
    _features = "num_features"

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device=None,
        dtype=None,
        **bias,
    ) -> None:
        self.num_features = 0
        super().__init__(
            0, eps, momentum, affine, track_running_stats, device, dtype, **bias
        )
        names = ("weight", "bias", "running_mean", "running_var")
        named = {**self._parameters, **self._buffers}
        chosen = [name for name in names if named[name] is not None]
        self._wait(*chosen, device=device, dtype=dtype)

    def _learn(self, input) -> dict:
        self._check_input_dim(input)
        axis = 1
        if isinstance(self, batchnorm._InstanceNorm):
            axis = input.dim() - self._axes_of_places() - 1
        self.num_features = input.shape[axis]
        names = ("weight", "bias", "running_mean", "running_var")
        return dict.fromkeys(names, (self.num_features,))

    def _axes_of_places(self) -> int:
        return int(self.cls_to_become.__name__[-2])


def _lazy(kind, base):
    """The lazy class of a module."""
    name = f"Lazy{kind.__name__}"
    doc = f"`{kind.__name__}` whose number of features the first input tells."
    values = {"cls_to_become": kind, "__doc__": doc, "__module__": __name__}
    return type(name, (base, kind), values)


LazyConv1d = _lazy(conv.Conv1d, _LazyConv)
LazyConv2d = _lazy(conv.Conv2d, _LazyConv)
LazyConv3d = _lazy(conv.Conv3d, _LazyConv)
LazyConvTranspose1d = _lazy(conv.ConvTranspose1d, _LazyConv)
LazyConvTranspose2d = _lazy(conv.ConvTranspose2d, _LazyConv)
LazyConvTranspose3d = _lazy(conv.ConvTranspose3d, _LazyConv)
LazyBatchNorm1d = _lazy(batchnorm.BatchNorm1d, _LazyNorm)
LazyBatchNorm2d = _lazy(batchnorm.BatchNorm2d, _LazyNorm)
LazyBatchNorm3d = _lazy(batchnorm.BatchNorm3d, _LazyNorm)
LazyInstanceNorm1d = _lazy(batchnorm.InstanceNorm1d, _LazyNorm)
LazyInstanceNorm2d = _lazy(batchnorm.InstanceNorm2d, _LazyNorm)
LazyInstanceNorm3d = _lazy(batchnorm.InstanceNorm3d, _LazyNorm)
