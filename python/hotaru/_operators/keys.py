"""Dispatch keys: the layers and devices that a kernel can be for.

A key that hotaru has no layer for (XLA, Sparse) can be registered for and
asked about; no call ever reaches such a kernel.
"""

from __future__ import annotations

import enum

from .. import _C, is_grad_enabled, set_grad_enabled

_DEVICES = [
    "CPU",
    "CUDA",
    "HIP",
    "XLA",
    "MPS",
    "IPU",
    "XPU",
    "HPU",
    "VE",
    "Lazy",
    "MTIA",
    "MAIA",
    "PrivateUse1",
    "PrivateUse2",
    "PrivateUse3",
    "Meta",
]
_KINDS = ("Quantized", "Sparse", "SparseCsr", "NestedTensor", "Autograd")
_OTHERS = [
    "Undefined",
    "CompositeExplicitAutogradNonFunctional",
    "CompositeExplicitAutograd",
    "CompositeImplicitAutogradNestedTensor",
    "CompositeImplicitAutograd",
    "AutogradOther",
    "Autograd",
    "Conjugate",
    "ZeroTensor",
    "Negative",
    "BackendSelect",
    "ADInplaceOrView",
    "PythonTLSSnapshot",
    "Python",
    "FuncTorchBatchedDecomposition",
    "FuncTorchBatched",
    "FuncTorchVmapMode",
    "FuncTorchGradWrapper",
    "PythonDispatcher",
    "PreDispatch",
    "Functionalize",
    "AutocastCPU",
    "AutocastMPS",
    "AutocastXPU",
    "AutocastHPU",
    "AutocastIPU",
    "AutocastCUDA",
    "AutocastPrivateUse1",
    "Dense",
    "AutogradFunctionality",
]

DispatchKey = enum.Enum(
    "DispatchKey",
    [*_OTHERS, *_DEVICES, *(k + d for k in _KINDS for d in _DEVICES)],
    module="torch._C",
)
DispatchKey.__doc__ = "A layer or device that a kernel is registered for."
DispatchKey.__str__ = lambda self: f"DispatchKey.{self.name}"

# The later one answers where arguments are on both.
DEVICE_KEYS = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}
AUTOGRAD_KEYS = {k: f"Autograd{k}" for k in DEVICE_KEYS.values()}
COMPOSITE = "CompositeImplicitAutograd"
EXPLICIT = ("CompositeExplicitAutogradNonFunctional", "CompositeExplicitAutograd")


def checked(key) -> str:
    """The name of a key; RuntimeError where there is none of that name."""
    if isinstance(key, DispatchKey):
        return key.name
    if key not in DispatchKey.__members__:
        raise RuntimeError(f"could not parse dispatch key: {key}")
    return key


class DispatchKeySet:
    """Some keys."""

    def __init__(self, *keys: DispatchKey) -> None:
        self._keys = frozenset(keys)

    def has(self, key: DispatchKey) -> bool:
        """True if the key is one of them."""
        return key in self._keys

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(*self._keys, *other._keys)

    def __repr__(self) -> str:
        names = ", ".join(sorted(k.name for k in self._keys))
        return f"DispatchKeySet({names})"


class _Skipped:
    """C++ has them, as its guards and its operators' calls share them."""

    @property
    def autograd(self) -> bool:
        return _C._layers_skipped()[0]

    @property
    def inplace(self) -> bool:
        return _C._layers_skipped()[1]


# Layers that calls of this thread leave out.
skipped = _Skipped()


class _Guard:
    """Leaves layers out from its making to its end, in this thread."""

    def __init__(self, autograd: bool, inplace: bool) -> None:
        layers = _C._layers_skipped()
        self._before = layers, is_grad_enabled()
        self._open = True
        _C._skip_layers(layers[0] or autograd, layers[1] or inplace)
        if autograd:
            set_grad_enabled(False)

    def _end(self) -> None:
        if self._open:
            self._open = False
            layers, grad = self._before
            _C._skip_layers(*layers)
            set_grad_enabled(grad)

    def __enter__(self):
        return self

    def __exit__(self, *exception) -> None:
        self._end()

    __del__ = _end


class AutoDispatchBelowAutograd(_Guard):
    """Inside, operators' autograd kernels are left out and nothing is
    recorded. hotaru's own operators record nothing because gradients are
    disabled, so `is_grad_enabled` is false, which PyTorch leaves as it is.
    """

    def __init__(self) -> None:
        super().__init__(autograd=True, inplace=False)


class AutoDispatchBelowADInplaceOrView(_Guard):
    """AutoDispatchBelowAutograd, without ADInplaceOrView kernels too."""

    def __init__(self) -> None:
        super().__init__(autograd=True, inplace=True)


class ExcludeDispatchKeyGuard(_Guard):
    """Inside, kernels of these keys are left out.

    NotImplementedError for keys other than Autograd and ADInplaceOrView.
    """

    _known = frozenset(
        (
            DispatchKey.ADInplaceOrView,
            DispatchKey.Autograd,
            DispatchKey.AutogradFunctionality,
            DispatchKey.AutogradCPU,
            DispatchKey.AutogradCUDA,
        )
    )

    def __init__(self, keys: DispatchKeySet) -> None:
        self._open = False
        unknown = keys._keys - self._known
        if unknown:
            names = ", ".join(sorted(k.name for k in unknown))
            raise NotImplementedError(
                f"hotaru has no layer to leave out for {names}; Autograd and "
                "ADInplaceOrView are the layers that there are"
            )
        inplace = keys.has(DispatchKey.ADInplaceOrView)
        rest = keys._keys - {DispatchKey.ADInplaceOrView}
        super().__init__(autograd=bool(rest), inplace=inplace)


def fallthrough_kernel():
    """Registered for a key, says that the key's layer does nothing."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")
