"""Building blocks of networks: modules, parameters, functions."""

from __future__ import annotations

from .._own_names import part
from . import attention, functional, grad, init, utils
from .modules import *
from .modules import __all__ as _modules
from .parallel import DataParallel
from .parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter

__all__ = [
    *_modules,
    "Buffer",
    "DataParallel",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "attention",
    "factory_kwargs",
    "functional",
    "grad",
    "init",
    "utils",
]


def factory_kwargs(kwargs: dict | None) -> dict:
    """The arguments of a constructor that are for the functions which make its
    tensors: device, dtype, memory_format, and those in "factory_kwargs".

    TypeError for other arguments, and for one given in both places.
    """
    if kwargs is None:
        return {}
    given = dict(kwargs)
    made = dict(given.pop("factory_kwargs", {}))
    unknown = given.keys() - {"device", "dtype", "memory_format"}
    if unknown:
        raise TypeError(f"unexpected kwargs {unknown}")
    for name, value in given.items():
        if name in made:
            raise TypeError(
                f"{name} specified twice, in **kwargs and in factory_kwargs"
            )
        made[name] = value
    return made


def __getattr__(name: str):
    # Older names of what is in `torch.ao.nn`.
    return part(__name__, name, ("intrinsic", "qat", "quantized"))
