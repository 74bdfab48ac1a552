"""Traces that keep `assert`."""

from __future__ import annotations

import ast
import copy
import functools
import inspect
import textwrap
import types

import hotaru

from ..._own_names import is_own
from ...nn import Module
from .._symbolic_trace import Tracer

__all__ = ["AST_Rewriter", "RewritingTracer"]


class AST_Rewriter(ast.NodeTransformer):  # noqa: N801
    """Makes `assert a, b` a call of torch._assert, which traces record, and
    keeps the types that assignments declare.
    """

    def rewrite(self, fn: types.FunctionType):
        """The function without its asserts; its globals stay its own."""
        fn = inspect.unwrap(fn)
        source, _ = inspect.getsourcelines(fn)
        tree = self.visit(ast.parse(textwrap.dedent("".join(source))))
        tree.body[0].decorator_list = []
        code = compile(ast.fix_missing_locations(tree), "<rewritten>", "exec")
        names = dict(fn.__globals__)
        names.update(zip(fn.__code__.co_freevars, _values_of(fn)))
        names["torch"] = names.get("torch", hotaru)
        exec(code, names)
        made = names[fn.__name__]
        # In the module's globals, so that what `wrap` marks there is seen.
        globals_ = fn.__globals__ if not fn.__closure__ else made.__globals__
        if "torch" not in globals_:
            globals_ = made.__globals__
        result = types.FunctionType(
            made.__code__, globals_, fn.__name__, fn.__defaults__, made.__closure__
        )
        result.__kwdefaults__ = fn.__kwdefaults__
        functools.update_wrapper(result, fn)
        del result.__wrapped__
        return result

    def visit_Assert(self, node: ast.Assert):
        called = ast.parse("torch._assert()", mode="eval").body
        message = node.msg or ast.Constant(value="")
        called.args = [node.test, message]
        return ast.copy_location(ast.Expr(value=called), node)

    def visit_AnnAssign(self, node: ast.AnnAssign):
        """Makes `a: type = b` give the node of b the type."""
        if node.value is None or not isinstance(node.target, ast.Name):
            return node
        called = ast.parse("torch.fx.annotate.annotate()", mode="eval").body
        called.args = [node.value, node.annotation]
        made = ast.Assign(targets=[node.target], value=called)
        return ast.copy_location(made, node)


def _values_of(fn) -> list:
    return [cell.cell_contents for cell in fn.__closure__ or ()]


class RewritingTracer(Tracer):
    """A tracer of programs whose asserts become nodes."""

    def trace(self, root, concrete_args=None):
        return super().trace(_rewrite(root), concrete_args)


def _rewrite(root):
    if not isinstance(root, Module):
        return AST_Rewriter().rewrite(root)
    made = copy.copy(root)
    made.__dict__.update(root.__dict__)
    made.__dict__["_modules"] = {
        name: _rewrite(child) if child is not None else None
        for name, child in root._modules.items()
    }
    cls = type(root)
    if is_own(cls.__module__):
        return made
    forward = AST_Rewriter().rewrite(cls.forward)
    made.__class__ = type(
        cls.__name__, (cls,), {"forward": forward, "__module__": cls.__module__}
    )
    return made
