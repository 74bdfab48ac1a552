"""Functions that make tensors of what is no tensor, under modes.

They are no operators. PyTorch asks modes for `aten.lift_fresh` of what they
made; so do these, from the first time on that a mode is entered, by all names
that modules of the package have for them. Nobody else pays for it: before
that the functions are as they were.
"""

from __future__ import annotations

import functools
import sys

from .. import _C
from .._own_names import own_root
from .calls import Call
from .questions import LIFT
from .stack import nobody_asked

_NAMES = ("as_tensor", "asarray", "from_numpy", "frombuffer", "tensor")
_installed = False


def install() -> None:
    """Makes the functions of the package ask the modes."""
    global _installed
    if _installed:
        return
    _installed = True
    import hotaru

    functions = {getattr(hotaru, name) for name in _NAMES} | {_C.tensor}
    asking = {id(function): _asking(function) for function in functions}
    for module in _modules():
        for name, value in list(vars(module).items()):
            if id(value) in asking:
                setattr(module, name, asking[id(value)])


def _modules() -> list:
    """Modules of the package that are loaded, but the native one and this
    protocol itself.
    """
    own = __package__.rpartition(".")[0]
    return [
        module
        for name, module in list(sys.modules.items())
        if (name == own or name.startswith(f"{own}."))
        and not name.startswith((__package__, f"{own}._C"))
        and module is not _C
    ]


def _asking(function):
    @functools.wraps(function)
    def made(*args, **kwargs):
        if not _C._dispatch_applies():
            return function(*args, **kwargs)
        return _lifted(function, args, kwargs)

    # Pickles look for it where it is: the native module keeps what it had.
    made.__module__ = own_root()
    return made


def _lifted(function, args: tuple, kwargs: dict):
    """Made on the CPU first, as a mode may know devices that are not there."""
    from .. import get_default_device

    source = args[0] if args else None
    if isinstance(source, _C.Tensor):
        return function(*args, **kwargs)
    device = kwargs.pop("device", None) or get_default_device()
    wanted = kwargs.pop("requires_grad", False)
    with nobody_asked():
        made = function(*args, **kwargs)
    result = Call(LIFT, (made,), {}).below()
    if _C.device(device).type != "cpu":
        result = result.to(device)
    return result.requires_grad_() if wanted else result
