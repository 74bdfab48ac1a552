"""The class that programs derive operators of their own from, which take
functions: `torch._ops.HigherOrderOperator`.
"""

from __future__ import annotations

import abc
import threading

from .. import _C, Tensor
from .._operators.keys import AUTOGRAD_KEYS, DEVICE_KEYS, DispatchKey
from .._ops import namespace
from ..utils import _pytree as pytree
from ..utils._python_dispatch import (
    _disable_current_modes,
    _get_current_dispatch_mode_stack,
)

__all__ = ["HigherOrderOperator"]

_space = namespace("higher_order")
# Kernels of derivatives that run in this thread: calls of the same operator
# within are those below them.
_running = threading.local()


class HigherOrderOperator(abc.ABC):
    """An operator with kernels by dispatch key, mode or class of tensors.

    Of `py_impl`: a mode that is entered is asked first, then classes of
    tensors, the kernel for `Autograd`, that of the tensors' device and last
    `CompositeExplicitAutograd`.
    """

    namespace = "higher_order"

    def __init__(self, name: str, *, cacheable: bool = False) -> None:
        self._name = self.__name__ = name
        self.__module__ = "torch.ops.higher_order"
        self._cacheable = cacheable
        self._ns = "higher_order"
        self.py_kernels: dict = {}
        self.fallthroughs: set = set()
        setattr(_space, name, self)

    def name(self) -> str:
        """Its name."""
        return self.__name__

    def cacheable(self) -> bool:
        """Tells whether results of its graphs may be kept."""
        return self._cacheable

    def py_impl(self, k):
        """A decorator of the kernel for a key, a mode or a class of tensors.

        RuntimeError: there is one.
        """
        if not isinstance(k, (DispatchKey, type)):
            raise AssertionError(
                f"expected a DispatchKey, a mode or a class, got {type(k)}"
            )
        if k in self.py_kernels:
            raise RuntimeError(f"{self} already has a kernel for {k}")

        def register(fn):
            self.py_kernels[k] = fn
            self.fallthroughs.discard(k)
            return fn

        return register

    def py_autograd_impl(self, fn):
        """The kernel for `Autograd`; a decorator."""
        return self.py_impl(DispatchKey.Autograd)(fn)

    def py_functionalize_impl(self, fn):
        """Takes a kernel that makes functions of mutations: none is asked."""
        return fn

    def has_kernel_for_dispatch_key(self, k) -> bool:
        """Tells whether `py_impl` was given a kernel for a key."""
        return k in self.py_kernels

    def fallthrough(self, dispatch_key) -> None:
        """Leaves calls to the kernels below a key."""
        self.py_kernels.pop(dispatch_key, None)
        self.fallthroughs.add(dispatch_key)

    def dispatch(self, *args, **kwargs):
        """Runs the kernel that the arguments and modes ask for.

        NotImplementedError: there is none.
        """
        tensors = [
            x for x in pytree.tree_leaves((args, kwargs)) if isinstance(x, Tensor)
        ]
        for mode in reversed(_get_current_dispatch_mode_stack()):
            return self._of_mode(mode, args, kwargs)
        for kind in dict.fromkeys(map(type, tensors)):
            if kind in self.py_kernels:
                return self.py_kernels[kind](*args, **kwargs)
        devices = [DEVICE_KEYS.get(t.device.type, "CPU") for t in tensors]
        # Functions alone have the operator run as on the CPU.
        device = devices[0] if devices else "CPU"
        below = getattr(_running, "operators", ())
        names = [AUTOGRAD_KEYS[device], "Autograd"]
        for key in (DispatchKey[name] for name in names):
            if key in self.py_kernels and self not in below:
                _running.operators = (*below, self)
                try:
                    return self.py_kernels[key](*args, **kwargs)
                finally:
                    _running.operators = below
        names = [device, "BackendSelect", "CompositeExplicitAutograd"]
        for key in (DispatchKey[name] for name in names):
            if key in self.py_kernels:
                return self.py_kernels[key](*args, **kwargs)
        raise NotImplementedError(
            f"could not find kernel for HigherOrderOperator {self.__name__} "
            f"at dispatch key {DispatchKey[AUTOGRAD_KEYS[device]]}"
        )

    def _of_mode(self, mode, args: tuple, kwargs: dict):
        kernel = self.py_kernels.get(type(mode))
        if kernel is None and not getattr(
            mode, "supports_higher_order_operators", False
        ):
            raise NotImplementedError(
                f"There was no rule registered for HigherOrderOperator "
                f"{self.__name__} and mode {mode}. Give one by "
                f"{self.__name__}.py_impl({type(mode).__name__})."
            )
        # The mode is not asked of its own calls.
        with _disable_current_modes() as modes:
            others = [m for m in modes if m is not mode]
            for other in reversed(others):
                other.__enter__()
            try:
                if kernel is not None:
                    return kernel(mode, *args, **kwargs)
                return mode.__torch_dispatch__(self, (), args, kwargs)
            finally:
                for other in others:
                    other.__exit__(None, None, None)

    @abc.abstractmethod
    def __call__(self, /, *args, **kwargs):
        relevant = tuple(pytree.tree_leaves((args, kwargs)))
        if _C._overridden(*relevant):
            return _C._handle_torch_function(self, relevant, args, kwargs)
        return self.dispatch(*args, **kwargs)

    def __str__(self) -> str:
        return self.__name__
