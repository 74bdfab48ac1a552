"""Runs the Python part of hotaru over PyTorch's operators.

`install()` puts a package `hotaru` into `sys.modules` whose submodules come
from python/hotaru and whose operators, tensors and dtypes are PyTorch's. With
it the pure Python part is tested without the native extension, and any
difference from `torch.nn` is the Python part's own.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "python" / "hotaru"

# Subpackages written in Python: never resolved to PyTorch's.
_OWN = (
    "nn",
    "optim",
    "utils",
    "autograd",
    "multiprocessing",
    "_utils",
    "_alias",
    "_interpreter",
    "_own_names",
    "distributions",
    "torch_version",
    "version",
)


class _Package(types.ModuleType):
    def __getattr__(self, name: str):
        if name in _OWN:
            return importlib.import_module(f"hotaru.{name}")
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(torch, name)


class _Ops(types.ModuleType):
    """`hotaru.ops`: every operator by its schema name."""

    def __getattr__(self, name: str):
        for home in (torch._C._nn, torch._C._VariableFunctions, torch.ops.aten):
            try:
                found = getattr(home, name)
            except AttributeError:
                continue
            setattr(self, name, found)
            return found
        raise AttributeError(f"module 'hotaru.ops' has no attribute {name!r}")


def _run_backward(
    tensors, grads, keep_graph, create_graph, inputs, allow_unreachable, accumulate
):
    """Stand-in for `hotaru._C._run_backward`."""
    return torch.autograd.Variable._execution_engine.run_backward(
        tensors,
        grads,
        keep_graph,
        create_graph,
        inputs,
        allow_unreachable=allow_unreachable,
        accumulate_grad=accumulate,
    )


class _FunctionBase:
    """Stand-in for the native base of contexts."""

    _recorded = False
    _saved: tuple = ()

    def name(self) -> str:
        return type(self).__name__


def _make_python_node(name, context, inputs, outputs, differentiable, dirty, saved):
    """Stand-in for `hotaru._C._make_python_node`: one torch Function a call."""

    def forward(ctx, *args):
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*saved)
        found = tuple(
            o if d or o is None else o.detach() for o, d in zip(outputs, dirty)
        )
        ctx.mark_dirty(*[o for o, d in zip(found, dirty) if d])
        ctx.mark_non_differentiable(
            *[o for o, d in zip(found, differentiable) if o is not None and not d]
        )
        return found

    def run(ctx, *grads):
        context._recorded = True
        context._saved = ctx.saved_tensors
        return tuple(context._run(grads))

    node = type(
        name.removesuffix("Backward"),
        (torch.autograd.Function,),
        {"forward": staticmethod(forward), "backward": staticmethod(run)},
    )
    return tuple(node.apply(*inputs))


def install() -> types.ModuleType:
    """Makes `import hotaru` give this package; returns it."""
    present = sys.modules.get("hotaru")
    if isinstance(present, _Package):
        return present
    package = _Package("hotaru")
    package.__path__ = [str(SOURCE)]
    package.__file__ = str(SOURCE / "__init__.py")
    package.__spec__ = importlib.util.spec_from_loader("hotaru", None, is_package=True)
    package.ops = _Ops("hotaru.ops")
    native = types.ModuleType("hotaru._C")
    native._run_backward = _run_backward
    native._make_python_node = _make_python_node
    native._mark_view = lambda tensor, one_of_many: None
    native._warn_of_lost_history = lambda tensor: None
    native._FunctionBase = _FunctionBase
    native._Node = torch._C._FunctionBase
    native._functions = torch._C._functions
    native._autograd = torch._C._autograd
    native._count_module_change = lambda: None
    package._C = native
    sys.modules.update(
        {
            "hotaru": package,
            "hotaru.ops": package.ops,
            "hotaru.cpu": torch.cpu,
            "hotaru._C": native,
        }
    )
    parameter = importlib.import_module("hotaru.nn.parameter")
    # PyTorch's results take the subclass of their inputs unless told not to.
    plain = torch._C._disabled_torch_function_impl
    parameter.Parameter.__torch_function__ = plain
    parameter.Buffer.__torch_function__ = plain
    # PyTorch prints subclasses other than its own Parameter by their name.
    parameter.Parameter.__repr__ = lambda self: repr(
        torch.nn.Parameter(self.data, self.requires_grad)
    )
    return package
