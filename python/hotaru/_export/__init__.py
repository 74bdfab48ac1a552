"""PyTorch's older names around exported programs."""

from __future__ import annotations

from .._inductor import aot_compile as _written
from .._inductor import aoti_load_package
from ..export import export
from ..nn import Module

__all__ = ["aot_compile", "aot_load"]


class _Called(Module):
    """A function as a module."""

    def __init__(self, function) -> None:
        super().__init__()
        self.forward = function


def aot_compile(
    f,
    args: tuple,
    kwargs: dict | None = None,
    *,
    dynamic_shapes=None,
    options: dict | None = None,
    remove_runtime_assertions: bool = False,
    disable_constraint_solver: bool = False,
    same_signature: bool = True,
):
    """Exports a module or function, and writes the program. Returns its path, for
    `aot_load`.

    Args:
        f: the module, or the function.
        args, kwargs: example arguments.
        dynamic_shapes: as `torch.export.export` takes them.
        options: as `torch._inductor.aot_compile` takes them.
        remove_runtime_assertions, disable_constraint_solver, same_signature:
            taken, and change nothing.
    """
    module = f if isinstance(f, Module) else _Called(f)
    program = export(module, args, kwargs, dynamic_shapes=dynamic_shapes)
    return _written(program.module(), args, kwargs, options=options)


def aot_load(so_path: str, device: str):
    """Loads what `aot_compile` wrote, to be called.

    Args:
        so_path: the path.
        device: "cpu", "cuda" or "cuda:1".

    RuntimeError: another device, or a file that PyTorch's compiler wrote.
    """
    if device == "cpu":
        return aoti_load_package(so_path)
    kind, _, index = device.partition(":")
    if kind != "cuda":
        raise RuntimeError("Unsupported device " + device)
    return aoti_load_package(so_path, device_index=int(index or 0))
