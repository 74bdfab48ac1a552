"""Switches that programs set by PyTorch's names for them.

Each is read by what the comment says; a switch of PyTorch's that has no
meaning here is not there to be read, but may be set.
"""

from __future__ import annotations

import contextlib
import sys

# Set if fake tensors remember what results look like, for each mode.
fake_tensor_cache_enabled: bool = True
# Set if they compute results nevertheless, and compare.
fake_tensor_cache_crosscheck_enabled: bool = False
# Graphs that `compile` keeps of a function, one for each kind of call; those
# of functions that are compiled from then on.
recompile_limit: int = 8
# Set if `compile` gives functions back as they are.
disable: bool = False
# Lets what has no graph run without: it does, unless fullgraph is asked.
suppress_errors: bool = False
# Makes a graph be for one size of each argument at first: it always is.
assume_static_by_default: bool = True
dynamic_shapes: bool = True
automatic_dynamic_shapes: bool = True
# Makes numbers read from tensors parts of graphs: they never are.
capture_scalar_outputs: bool = False
capture_dynamic_output_shape_ops: bool = False

_ALIASES = {"cache_size_limit": "recompile_limit"}


class _Config(type(sys)):
    """The older names of switches are the same switches."""

    def __getattribute__(self, name: str):
        return super().__getattribute__(_ALIASES.get(name, name))

    def __setattr__(self, name: str, value) -> None:
        super().__setattr__(_ALIASES.get(name, name), value)


sys.modules[__name__].__class__ = _Config


@contextlib.contextmanager
def patch(arg1=None, arg2=None, **changes):
    """Other values inside of a `with` or a decorated function.

    Args:
        arg1: a name, with its value as arg2, or a dictionary of them.
    """
    if isinstance(arg1, str):
        changes = {arg1: arg2}
    elif arg1 is not None:
        changes = {**arg1, **changes}
    module = sys.modules[__name__]
    before = {name: getattr(module, name) for name in changes}
    for name, value in changes.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
