"""Tensors with shapes and devices, but without memory or values."""

from __future__ import annotations

import contextlib
import functools

from .. import _C, get_default_device
from .._C import Tensor
from .._dispatch.derivative import Derivative
from .._dispatch.stack import native
from .._extension.grad_mode import no_grad
from .._functorch import config
from .._ops import aten
from .._own_names import no_attribute
from ..utils import _pytree
from ..utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode_stack,
)
from . import fake_cache, fake_devices, fake_names, fake_reals
from .fake_cache import cached, extract_tensor_metadata
from .fake_class import FakeTensor, fakes_in
from .fake_constants import Constants, written
from .fake_convert import FakeTensorConverter
from .fake_copies import FakeCopyMode
from .fake_errors import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    MetadataMismatchError,
    UnsupportedFakeTensorException,
    UnsupportedOperatorException,
)

__all__ = [
    "DataDependentOutputException",
    "DynamicOutputShapeException",
    "FakeCopyMode",
    "FakeTensor",
    "FakeTensorConverter",
    "FakeTensorMode",
    "MetadataMismatchError",
    "UnsupportedFakeTensorException",
    "UnsupportedOperatorException",
    "extract_tensor_metadata",
    "is_fake",
    "unset_fake_temporarily",
]

_REAL = (
    "Please convert all Tensors to FakeTensors first or instantiate "
    "FakeTensorMode with 'allow_non_fake_inputs'. Found in {}"
)


class _CacheKeyState:
    """State that keys depend on beside a call: none, as sizes are numbers."""


class FakeTensorMode(TorchDispatchMode):
    """Inside, functions that make tensors make fake ones, on any device,
    and operators take them: shapes are numbers.

    Args:
        allow_fallback_kernels: an operator without a kernel for the meta
            device runs on the CPU, with ones, for the shape of its result.
        allow_non_fake_inputs: real tensors are converted where they meet
            operators, instead of a complaint.
        shape_env: None, or an environment, of which no size is asked for:
            each is the number it is. What depends on values raises.
        static_shapes: None or True, as they are.

    Raises, from operators:
        DynamicOutputShapeException, DataDependentOutputException: it depends
            on values.
        UnsupportedOperatorException: it has no kernel for this.
        RuntimeError: tensors are on two devices.
        AssertionError: a real tensor, or tensors of two modes.
    """

    _sees_whole = True

    def __init__(
        self,
        *,
        allow_fallback_kernels: bool = True,
        allow_non_fake_inputs: bool = False,
        shape_env=None,
        static_shapes: bool | None = None,
    ) -> None:
        super().__init__()
        if static_shapes is False:
            raise NotImplementedError(
                "FakeTensorMode: sizes are numbers; leave static_shapes out"
            )
        self.allow_fallback_kernels = allow_fallback_kernels
        self.allow_non_fake_inputs = allow_non_fake_inputs
        self.shape_env = shape_env
        self.static_shapes = True
        self.fake_tensor_converter = FakeTensorConverter()
        self.constants = Constants()
        self.in_kernel_invocation = False
        self.propagate_real_tensors = config.fake_tensor_propagate_real_tensors

    def from_tensor(
        self, tensor: Tensor, *, static_shapes=None, source=None, symbolic_context=None
    ):
        """The fake tensor that stands for `tensor`; the same each time.

        NotImplementedError where sizes should be symbols.
        """
        if static_shapes is False or symbolic_context is not None:
            raise NotImplementedError(
                "from_tensor: hotaru has no symbolic sizes; leave "
                "static_shapes and symbolic_context out"
            )
        if isinstance(tensor, FakeTensor) and tensor.fake_mode is self:
            return tensor
        return self.fake_tensor_converter.from_real_tensor(self, tensor)

    def _cache_key(self, state, func, args, kwargs):
        """Returns what is remembered of a call; of no use to programs but
        tests.
        """
        return fake_cache.key_of(func, args, kwargs)

    @staticmethod
    def cache_clear() -> None:
        """Forgets what results of operators look like, in all modes."""
        fake_cache.clear()

    @staticmethod
    def cache_info() -> fake_cache.DispatchCacheInfo:
        """How often that was of use since it was forgotten."""
        return fake_cache.info()

    def __enter__(self):
        modes = _get_current_dispatch_mode_stack()
        self.__dict__.setdefault("_entered", []).append(self in modes[-1:])
        return self if self._entered[-1] else super().__enter__()

    def __exit__(self, *exception) -> None:
        if not self._entered.pop():
            super().__exit__(*exception)

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if any(not issubclass(kind, FakeTensor) for kind in types):
            return NotImplemented
        return self._answer(func, args, kwargs or {})

    def _answer(self, func, args: tuple, kwargs: dict):
        if isinstance(func, Derivative):
            return self._derivative(func, *args)
        if func.name() == "aten::lift_fresh":
            with _disable_current_modes():
                real = args[0]
                if isinstance(real, FakeTensor):
                    return real
                return self.fake_tensor_converter.from_real_tensor(
                    self, real, make_constant=True
                )
        args, kwargs = self._as_fakes(func, args, kwargs)
        fakes = fakes_in((args, kwargs))
        if func.name() == "aten::cpu":  # of the meta device there is none
            func, args = aten.to.prim_Device, (args[0], "cpu")
        if func.name() == "aten::_local_scalar_dense":
            return _number(func, fakes[0])
        if not hasattr(func, "_text"):
            return native(func, args, kwargs)
        return self._operator(func, args, kwargs, fakes)

    def _operator(self, func, args, kwargs, fakes):
        changed = written(func, args, kwargs)
        known = self._values(func, args, kwargs, fakes)
        replay = (
            fake_reals.Replay(func, args, kwargs)
            if self.propagate_real_tensors
            else None
        )
        device, args, kwargs = self._device(func, args, kwargs, fakes)
        kwargs.pop("generator", None)
        if known is None and changed:
            self.constants.forget_memory_of(changed)
        with no_grad(), _autocast_of(device):
            result = cached(self, func, args, kwargs, changed)
        if result is NotImplemented:
            return NotImplemented
        same = any(result is fake for fake in fakes)
        if same and _moved(func, fakes, device):
            result = native(Tensor.clone, (result,), {})
        found = self._wrapped(result, device, fakes)
        if known is not None:
            self.constants.keep_all(found, known)
        if replay is not None:
            replay.compare(found)
        return found

    def _values(self, func, args, kwargs, fakes):
        """The result itself, where values are known; None else."""
        if not fakes and _only_numbers(func, args):
            with _disable_current_modes():
                return func(*args, **kwargs)
        if fake_devices.asked(func, args, kwargs)[0] is not None:
            return None
        return self.constants.computed(func, args, kwargs, fakes)

    def _device(self, func, args, kwargs, fakes):
        """Where the result is, and the call with the meta device there."""
        named, args, kwargs = fake_devices.asked(func, args, kwargs)
        found = fake_devices.common(func, fakes)
        if named is not None:
            _allow(_C.device(named))
            return named, args, dict(kwargs)
        if found is not None:
            return found, args, dict(kwargs)
        device = get_default_device()
        _allow(device)
        if fake_devices.place_of(func) is not None:
            kwargs = {**kwargs, "device": _C.device("meta")}
        return device, args, dict(kwargs)

    def _derivative(self, func, grads, wanted, args, kwargs):
        leaves = _pytree.tree_leaves((args, kwargs))
        tensors = [x for x in leaves if isinstance(x, Tensor)]

        def plain(x):
            if not isinstance(x, Tensor):
                return x
            if x.device.type == "meta" and not isinstance(x, FakeTensor):
                return x
            if isinstance(x, FakeTensor):
                return native(Tensor.detach, (x,), {})
            return x.detach().to("meta")

        with _disable_current_modes():
            given = _pytree.tree_map(plain, (grads, wanted, args, kwargs))
            found = native(func, given, {})
        return [
            None if x is None else self._wrapped(x, tensors[place].device)
            for x, place in zip(found, wanted)
        ]

    def _as_fakes(self, func, args, kwargs):
        def convert(x):
            if not isinstance(x, Tensor):
                return x
            if isinstance(x, FakeTensor):
                if x.fake_mode is not self:
                    raise AssertionError("Mixing fake modes NYI")
                return x
            if not self.allow_non_fake_inputs:
                raise AssertionError(_REAL.format(func))
            return self.fake_tensor_converter.from_real_tensor(self, x)

        return _pytree.tree_map(convert, (args, kwargs))

    def _wrapped(self, result, device, fakes=()):
        def wrap(x):
            if not isinstance(x, Tensor) or isinstance(x, FakeTensor):
                return x
            made = FakeTensor(self, x, device)
            for fake in fakes:
                if _C._shares_storage(fake, made):
                    made._view_of = fake if fake._base is None else fake._base
                    break
            return made

        with _disable_current_modes():
            return _pytree.tree_map(wrap, result)


def _allow(device) -> None:
    if device.type == "meta" and not config.fake_tensor_allow_meta:
        raise AssertionError(
            "device type 'meta' unsupported: fake_tensor_allow_meta is off"
        )


_PLAIN = contextlib.nullcontext()


def _autocast_of(device):
    """The scope in which autocast takes fake tensors for those of a device."""
    return _standing_for(device) if _C._autocast_key() else _PLAIN


@contextlib.contextmanager
def _standing_for(device):
    before = _C._autocast_meta_as(_C.device(device).type)
    try:
        yield
    finally:
        _C._autocast_meta_as(before)


def _moved(func, fakes, device) -> bool:
    """True if a result that is an argument should be on another device."""
    name = func.overloadpacket.__name__
    place = fake_devices.normalized(device)
    return name == "to" and place != fakes[0].device


@functools.cache
def _takes_tensors(func) -> bool:
    return any("Tensor" in str(a.type) for a in func._schema.arguments)


def _only_numbers(func, args) -> bool:
    """True if numbers are where the operator takes tensors."""
    return (
        bool(args)
        and _takes_tensors(func)
        and all(isinstance(x, (int, float, complex)) for x in args)
    )


def _number(func, fake: FakeTensor):
    if fake.constant is None:
        raise DataDependentOutputException(func)
    with _disable_current_modes():
        return fake.constant.item()


def is_fake(x: object) -> bool:
    """True if it is a fake tensor, or a wrapper that is made of those."""
    from ..utils._python_dispatch import is_traceable_wrapper_subclass

    if isinstance(x, FakeTensor):
        return True
    if isinstance(x, Tensor) and is_traceable_wrapper_subclass(x):
        names, _ = x.__tensor_flatten__()
        return all(is_fake(getattr(x, name)) for name in names)
    return False


unset_fake_temporarily = _disable_current_modes
_is_tensor_constructor = fake_names.is_tensor_constructor


def __getattr__(name: str):
    """Sets of operators, made when first asked for."""
    if name == "_like_tensor_constructors":
        return fake_names.like_tensor_constructors()
    if name == "_device_not_kwarg_ops":
        return fake_names.device_not_kwarg_ops()
    raise no_attribute(__name__, name)
