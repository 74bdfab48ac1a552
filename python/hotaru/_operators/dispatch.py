"""Calls of operators that Python defined.

A call goes through layers, as in PyTorch: autocast, derivatives, versions of
tensors that are written to, the kernel of the device. Each layer that has no
function of its own hands the call on; a function that calls the operator again
leaves out what it stands for with the guards of `keys`.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import _C, Tensor
from . import arguments, autocast, fallback, keys
from .keys import skipped
from .own import OwnOperator
from .table import Operator

_NO_KERNEL = (
    "Could not run '{0}' with arguments from the '{1}' backend. This could be "
    "because the operator doesn't exist for this backend, or was omitted "
    "during the selective/custom build process (if using custom build). If "
    "you are a Facebook employee using PyTorch on mobile, please visit "
    "https://fburl.com/ptmfixes for possible resolutions. '{0}' is only "
    "available for these backends: [{2}]."
)
_NO_META = (
    "{}: attempted to run this operator with Meta tensors, but there was no "
    "fake impl or Meta kernel registered. You may have run into this message "
    "while using an operator with PT2 compilation APIs "
    "(torch.compile/torch.export); in order to use this operator with those "
    "APIs you'll need to add a fake impl. Please see the following for next "
    "steps:  https://pytorch.org/tutorials/advanced/"
    "custom_ops_landing_page.html"
)
_NO_TENSORS = (
    "There were no tensor arguments to this function (e.g., you passed an "
    "empty list of Tensors), but no fallback function is registered for "
    "schema {}.  This usually means that this function requires a non-empty "
    "list of Tensors, or that you (the operator writer) forgot to register a "
    "fallback function.  Available functions are [{}]."
)


# (operator, args, kwargs) -> what a mode or class answers; the protocol sets
# it, without which nobody is asked.
ask: Callable | None = None


def call(operator: Operator, args: tuple, kwargs: dict):
    """Calls an operator with arguments as a program gives them.

    RuntimeError where they do not fit the schema, NotImplementedError where
    no kernel is registered for their device.
    """
    if not operator.alive:
        raise RuntimeError(f"operator {operator.qualname} does not exist")
    try:
        args, kwargs = arguments.bind(operator.schema, args, kwargs)
    except arguments.MismatchError as error:
        raise RuntimeError(str(error)) from None
    return run(operator, args, kwargs)


def run(operator: Operator, args: tuple, kwargs: dict):
    """Calls an operator with arguments that fit its schema."""
    if isinstance(operator, OwnOperator):
        return operator.call(*args, **kwargs)  # novm: not the module
    tensors = arguments.tensors_in(args, kwargs)
    if not tensors:
        return _without_tensors(operator, args, kwargs)
    device = device_key(tensors)
    if operator.autocast:
        dtype = autocast.dtype_for(operator, device.lower())
        if dtype is not None:
            return autocast.run(
                lambda cast: run(operator, cast, kwargs), args, dtype, device.lower()
            )
    if not skipped.autograd:
        return _with_derivatives(operator, device, tensors, args, kwargs)
    return _below_derivatives(operator, device, args, kwargs)


def device_key(tensors: list[Tensor]) -> str:
    """The key of the device whose kernel answers: of several the last of
    CPU, CUDA, Meta.
    """
    kinds = {tensor.device.type for tensor in tensors}
    return [k for d, k in keys.DEVICE_KEYS.items() if d in kinds][-1]


def _plain(function) -> bool:
    """True if the layer has a function of its own."""
    return function is not None and function is not keys.fallthrough_kernel


def _with_derivatives(operator, device, tensors, args, kwargs):
    function = operator.kernels.get(keys.AUTOGRAD_KEYS[device])
    if function is None:
        if operator.has_composite() and not operator.has_backend(device):
            function = operator.kernels[keys.COMPOSITE]
            return _checked(operator, function, args, kwargs)
        function = operator.kernels.get("Autograd")
    if _plain(function):
        return _checked(operator, function, args, kwargs)

    def below():
        return _below_derivatives(operator, device, args, kwargs)

    if function is not None:  # falls through
        return below()
    return fallback.run(operator, tensors, below)


def _below_derivatives(operator, device, args, kwargs):
    if not skipped.inplace:
        function = operator.kernels.get("ADInplaceOrView")
        if _plain(function):
            return _checked(operator, function, args, kwargs)
    if _C._dispatch_applies(*arguments.tensors_in(args, kwargs)):
        return _asked(operator, args, kwargs)
    return _checked(operator, _kernel(operator, device), args, kwargs)


def _asked(operator, args, kwargs):
    """The answer of a mode, or of a class among the arguments."""
    return arguments.results(operator.schema, ask(operator, args, kwargs))


def _without_tensors(operator, args, kwargs):
    if _C._dispatch_applies():
        return _asked(operator, args, kwargs)
    for key in ("BackendSelect", *keys.EXPLICIT, keys.COMPOSITE):
        function = operator.kernels.get(key)
        if _plain(function):
            return _checked(operator, function, args, kwargs)
    raise NotImplementedError(
        _NO_TENSORS.format(operator.name, ", ".join(operator.kernels))
    )


def on_device(operator: Operator, device_type: str, args, kwargs):
    """Runs the kernel of a device, whatever the arguments are."""
    key = keys.DEVICE_KEYS.get(device_type, device_type)
    return _checked(operator, _kernel(operator, key), args, kwargs)


def _kernel(operator: Operator, key: str):
    """A device's. On meta there is nothing to do for what only writes."""
    function = operator.kernel(key)
    if _plain(function):
        return function
    schema = operator.schema
    if key == "Meta" and schema.is_mutable and not schema.returns:
        return lambda *args, **kwargs: None
    raise _missing(operator, key)


def _missing(operator: Operator, device: str) -> NotImplementedError:
    if device == "Meta":
        return NotImplementedError(_NO_META.format(operator.qualname))
    present = ", ".join(operator.kernels)
    return NotImplementedError(_NO_KERNEL.format(operator.qualname, device, present))


def _checked(operator: Operator, function, args, kwargs):
    return arguments.results(operator.schema, function(*args, **kwargs))
