"""Text of archives as functions of Python.

Only what TorchScript has is taken, and every name is looked up here: text
reaches tables of functions, its own classes and nothing of Python's.
"""

from __future__ import annotations

import ast
import textwrap

from .builtins import GLOBALS, call, constant, constructor, get, put, special

_ALLOWED = (
    ast.FunctionDef,
    ast.arguments,
    ast.arg,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.Expr,
    ast.If,
    ast.For,
    ast.While,
    ast.Return,
    ast.Pass,
    ast.Break,
    ast.Continue,
    ast.Assert,
    ast.Call,
    ast.Name,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Subscript,
    ast.Slice,
    ast.Attribute,
    ast.BinOp,
    ast.UnaryOp,
    ast.BoolOp,
    ast.Compare,
    ast.IfExp,
    ast.keyword,
    ast.expr_context,
    ast.operator,
    ast.unaryop,
    ast.boolop,
    ast.cmpop,
    ast.ListComp,
    ast.comprehension,
)
_SPACES = {"torch", "ops", "CONSTANTS", "__torch__", "math"}


class Code:
    """The classes and functions of an archive."""

    def __init__(self, sources: dict) -> None:
        self.sources = sources
        self.constants: tuple = ()
        self._trees: dict = {}
        self._made: dict = {}

    def find(self, qualified: str):
        """A class or function by its name. RuntimeError: there is none."""
        if qualified not in self._made:
            module, _, name = qualified.rpartition(".")
            for node in self._tree(module):
                if getattr(node, "name", None) == name:
                    self._made[qualified] = self._define(node, qualified)
                    break
            else:
                raise RuntimeError(f"the archive defines no {qualified}")
        return self._made[qualified]

    def _tree(self, module: str) -> list:
        if module not in self._trees:
            text = self.sources.get(module, "")
            try:
                self._trees[module] = ast.parse(text).body
            except (SyntaxError, RecursionError, MemoryError) as error:
                raise RuntimeError(f"{module}: {error} is no TorchScript") from None
        return self._trees[module]

    def _define(self, node, qualified: str):
        if isinstance(node, ast.ClassDef):
            from .objects import make_class

            return make_class(self, node, qualified)
        return self.function(node, qualified)

    def function(self, node, qualified: str):
        """The function of a definition."""
        if not isinstance(node, ast.FunctionDef):
            raise RuntimeError(f"{qualified} is no function of TorchScript")
        return compiled(self, node, qualified)

    def text_of(self, node, module: str) -> str:
        """The text of a definition."""
        found = ast.get_source_segment(self.sources[module], node) or ""
        first, _, rest = found.partition("\n")
        return f"{first}\n{textwrap.dedent(rest)}" if rest else first


def compiled(code: Code, node: ast.FunctionDef, qualified: str):
    """A function of Python for one of TorchScript."""
    for part in ast.walk(node):
        if not isinstance(part, _ALLOWED):
            raise RuntimeError(
                f"{qualified}: {type(part).__name__} at line "
                f"{getattr(part, 'lineno', '?')} is not run by Python"
            )
    names = {
        "__get": get,
        "__put": put,
        "__global": code.find,
        "__constant": lambda n: code.constants[n],
        "__builtins__": {},
    }
    made = _Rewriter(names).visit(_copied(node))
    made.name = "__function"
    tree = ast.fix_missing_locations(ast.Module([made], []))
    exec(compile(tree, f"<{qualified}>", "exec"), names)
    function = names["__function"]
    function.__name__ = node.name
    function.__qualname__ = qualified
    return function


def _copied(node: ast.FunctionDef) -> ast.FunctionDef:
    return ast.parse(ast.unparse(node)).body[0]


def _path(node) -> list | None:
    """The names of `a.b.c`."""
    names: list = []
    while isinstance(node, ast.Attribute):
        names.insert(0, node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        return [node.id, *names]
    return None


class _Rewriter(ast.NodeTransformer):
    """Puts calls of ours in place of names and attributes."""

    def __init__(self, names: dict) -> None:
        self._names = names
        self._called = None

    def _known(self, value):
        name = f"__k{len(self._names)}"
        self._names[name] = value
        return ast.Name(name, ast.Load())

    def visit_FunctionDef(self, node):
        node.returns = None
        node.decorator_list = []
        spec = node.args
        for argument in (*spec.args, *spec.kwonlyargs):
            argument.annotation = None
            _plain_name(argument.arg)
        return self.generic_visit(node)

    def visit_Name(self, node):
        _plain_name(node.id)
        if isinstance(node.ctx, ast.Load) and node.id in GLOBALS:
            return self._known(GLOBALS[node.id])
        return node

    def visit_AnnAssign(self, node):
        value = node.value or ast.Constant(None)
        return self.visit(ast.Assign([node.target], value))

    def visit_Assign(self, node):
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, ast.Attribute):
            return ast.Expr(
                ast.Call(
                    ast.Name("__put", ast.Load()),
                    [
                        self.visit(target.value),
                        ast.Constant(target.attr),
                        self.visit(node.value),
                    ],
                    [],
                )
            )
        return self.generic_visit(node)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Attribute):
            read = ast.Attribute(node.target.value, node.target.attr, ast.Load())
            whole = ast.BinOp(read, node.op, node.value)
            return self.visit_Assign(ast.Assign([node.target], whole))
        return self.generic_visit(node)

    def visit_Attribute(self, node):
        path = _path(node)
        if path and path[0] in _SPACES:
            return self._of_space(path, node)
        return ast.Call(
            ast.Name("__get", ast.Load()),
            [self.visit(node.value), ast.Constant(node.attr)],
            [],
        )

    def _of_space(self, path: list, node):
        if path[0] == "CONSTANTS":
            number = ast.Constant(int(path[1].removeprefix("c")))
            return ast.Call(ast.Name("__constant", ast.Load()), [number], [])
        if path[0] == "__torch__":
            name = ".".join(path)
            made = constructor(name)
            if made is not None:
                return self._known(made)
            found = ast.Name("__global", ast.Load())
            return ast.Call(found, [ast.Constant(name)], [])
        known = constant(path) if self._called is not node else call(path)
        if known is None:
            raise RuntimeError(f"{'.'.join(path)} is no value")
        return self._known(known)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name):
            made = special(node.func.id, node.args)
            if made is not None:
                return self.visit(made)
            if node.func.id == "getattr":
                node.func.id = "__get"
                return self.generic_visit_call(node)
        return self.generic_visit_call(node)

    def generic_visit_call(self, node):
        """Visits what is called, but for names of ours."""
        if not (isinstance(node.func, ast.Name) and node.func.id == "__get"):
            self._called = node.func
            node.func = self.visit(node.func)
        node.args = [self.visit(a) for a in node.args]
        for keyword in node.keywords:
            keyword.value = self.visit(keyword.value)
        return node


def _plain_name(name: str) -> None:
    """RuntimeError for a name that is not the text's to use."""
    if name.startswith("__"):
        raise RuntimeError(f"a program cannot use the name {name!r}")
