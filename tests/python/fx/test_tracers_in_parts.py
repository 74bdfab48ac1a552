"""Tracers with a `trace` of their own, of the parts of `fx._symbolic_trace`, as
PyTorch Geometric's.
"""

from __future__ import annotations

import math

import hotaru.fx._symbolic_trace as parts

import hotaru as torch
from hotaru import fx, nn


class Kept:
    """A class with a `__call__` that is no module's."""

    def __call__(self, x):
        return x * 2


class Whole(fx.Tracer):
    """Records every module but Sequential, and calls of `Kept`."""

    def is_leaf_module(self, module, *args):
        return not isinstance(module, nn.Sequential)

    @parts.compatibility(is_backward_compatible=True)
    def trace(self, root, concrete_args=None):
        self.root = root
        self.submodule_paths = {m: name for name, m in root.named_modules()}
        self.graph = fx.Graph(tracer_cls=type(self))
        self.tensor_attrs = {
            value: name
            for name, value in vars(root).items()
            if isinstance(value, (torch.Tensor, parts.ScriptObject))
        }
        function = type(root).forward
        assert isinstance(function, parts.FunctionType)
        names = function.__globals__
        function, args = self.create_args_for_root(function, True, concrete_args)
        cache: dict = {}

        @parts.functools.wraps(parts._orig_module_getattr)
        def module_getattr(module, name):
            value = parts._orig_module_getattr(module, name)
            return self.getattr(name, value, cache)

        @parts.functools.wraps(parts._orig_module_call)
        def module_call(module, *args, **kwargs):
            def forward(*args, **kwargs):
                return parts._orig_module_call(module, *args, **kwargs)

            return self.call_module(module, forward, args, kwargs)

        def kept(obj, x):
            return self.create_proxy("call_method", "double", (x,), {})

        with parts._Patcher() as patcher:
            for cls, name, new in (
                (nn.Module, "__getattr__", module_getattr),
                (nn.Module, "__call__", module_call),
                (Kept, "__call__", kept),
            ):
                patcher.patch_method(cls, name, new, deduplicate=False)
            parts._patch_wrapped_functions(patcher)
            parts._autowrap_check(patcher, names, self._autowrap_function_ids)
            for module in self._autowrap_search:
                patched = vars(module)
                parts._autowrap_check(patcher, patched, self._autowrap_function_ids)
            result = self.create_arg(function(*args))
            self.create_node("output", "output", (result,), {})
        self.submodule_paths = None
        return self.graph


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
        self.weight = nn.Parameter(torch.ones(2))
        self.scale = torch.tensor(3.0)
        self.kept = Kept()

    def forward(self, x):
        x = self.steps(x) * self.weight * self.scale
        return self.kept(x) + math.floor(x.shape[0])


def test_a_tracer_of_parts_records_as_it_says():
    call, get = nn.Module.__call__, nn.Module.__getattr__
    graph = Whole().trace(Net())
    assert [(node.op, str(node.target)) for node in graph.nodes][:6] == [
        ("placeholder", "x"),
        ("call_module", "steps.0"),
        ("call_module", "steps.1"),
        ("get_attr", "weight"),
        ("call_function", "<built-in function mul>"),
        ("get_attr", "scale"),
    ]
    targets = [node.target for node in graph.nodes]
    assert "double" in targets
    assert math.floor in targets
    assert (nn.Module.__call__, nn.Module.__getattr__) == (call, get)
    assert Kept()(2) == 4
    assert math.floor(1.5) == 1


def test_exchanges_are_done_once_unless_they_are_to_be_repeated():
    class Thing:
        def a(self):
            return 0

    for deduplicate, value in ((True, 1), (False, 2)):
        with parts._Patcher() as patcher:
            patcher.patch_method(Thing, "a", lambda self: 1, deduplicate)
            patcher.patch_method(Thing, "a", lambda self: 2, deduplicate)
            assert Thing().a() == value
        assert Thing().a() == 0
    names = {"f": len}
    for deduplicate, value in ((True, 1), (False, 2)):
        with parts._Patcher() as patcher:
            patcher.patch(names, "f", lambda: 1, deduplicate)
            patcher.patch(names, "f", lambda: 2, deduplicate)
            assert names["f"]() == value
        assert names["f"] is len
