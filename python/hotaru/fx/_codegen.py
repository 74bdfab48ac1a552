"""Python code of a graph."""

from __future__ import annotations

import enum
import re
import typing
from collections import defaultdict

import hotaru

from . import _names
from .node import Node, _get_qualified_name, _type_repr, map_arg

# Operators of Python's syntax, as code writes them.
MAGIC_METHODS = {
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "gt": "{} > {}",
    "le": "{} <= {}",
    "ge": "{} >= {}",
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
}
REFLECTABLE_MAGIC_METHODS = {
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "floordiv": "{} // {}",
    "truediv": "{} / {}",
    "div": "{} / {}",
    "mod": "{} % {}",
    "pow": "{} ** {}",
    "lshift": "{} << {}",
    "rshift": "{} >> {}",
    "and_": "{} & {}",
    "or_": "{} | {}",
    "xor": "{} ^ {}",
    "getitem": "{}[{}]",
    "matmul": "{} @ {}",
}
MAGIC_METHODS.update(REFLECTABLE_MAGIC_METHODS)
INPLACE_METHODS = {
    "iadd": "{} += {}",
    "iand": "{} &= {}",
    "ifloordiv": "{} //= {}",
    "ilshift": "{} <<= {}",
    "imod": "{} %= {}",
    "imul": "{} *= {}",
    "imatmul": "{} @= {}",
    "ior": "{} |= {}",
    "ipow": "{} **= {}",
    "irshift": "{} >>= {}",
    "isub": "{} -= {}",
    "itruediv": "{} /= {}",
    "ixor": "{} ^= {}",
    "setitem": "{}[{}] = {}",
}


# Stands among the lines before those of a node.
_COUNTER = "# COUNTER: "


class PythonCode:
    """The code of a graph: `src`, and the `globals` that it needs."""

    def __init__(self, src: str, globals: dict, lineno_map: dict) -> None:
        self.src = src
        self.globals = globals
        # Line of the body -> index of the node that it belongs to.
        self._lineno_map = lineno_map
        self._prologue_start = 4


class CodeGen:
    """Writes `forward`; subclasses change its signature and its result."""

    def __init__(self) -> None:
        self._body_transformer = None

    def gen_fn_def(
        self, free_vars, maybe_return_annotation: str, *, expanded_def=False
    ) -> str:
        """The line with `def`; free variables are the parameters."""
        if not free_vars or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        if expanded_def:
            inside = "".join(f"    {v},\n" for v in free_vars)
            return f"def forward(\n{inside}){maybe_return_annotation}:"
        parameters = ", ".join(free_vars)
        return f"def forward({parameters}){maybe_return_annotation}:"

    def generate_output(self, output_args, *, descs=None, repr_fn=None) -> str:
        """The statement that returns the result."""
        return f"return {(repr_fn or repr)(output_args)}"

    def process_inputs(self, *args):
        """The graph's inputs from those of `forward`."""
        return args

    def process_outputs(self, outputs):
        """The result of `forward` from the graph's."""
        return outputs

    def additional_globals(self) -> list:
        """Pairs of names and objects that the code needs, too."""
        return []

    def _gen_python_code(
        self, nodes, root_module: str, namespace, **options
    ) -> PythonCode:
        return _Writer(self, nodes, root_module, namespace, options).write()


class _PyTreeInfo(typing.NamedTuple):
    """How a graph's inputs and outputs are taken from trees.

    `out_spec` is None where the result is returned as it is.
    """

    orig_args: list
    in_spec: object
    out_spec: object


class _PyTreeCodeGen(CodeGen):
    """`forward` takes trees, and returns one."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs):
        from ..utils import _pytree as pytree

        return pytree.arg_tree_leaves(*inputs)

    def process_outputs(self, out):
        from ..utils import _pytree as pytree

        if not isinstance(out, (list, tuple)):
            out = [out]
        if self.pytree_info.out_spec is None:
            raise AssertionError("pytree_info.out_spec is None")
        return pytree.tree_unflatten(out, self.pytree_info.out_spec)

    def gen_fn_def(
        self, free_vars, maybe_return_annotation: str, *, expanded_def=False
    ) -> str:
        parameters = self.pytree_info.orig_args
        if not parameters or parameters[0] != "self":
            parameters = ["self", *parameters]
        text = super().gen_fn_def(
            list(parameters), maybe_return_annotation, expanded_def=expanded_def
        )
        if not free_vars:
            return text
        annotated = [v for v in free_vars if ":" in v]
        if annotated:
            declared = "; ".join(v.partition("=")[0].strip() for v in annotated)
            text += f"\n    {declared}"
        names = [v.partition(":")[0].partition("=")[0].strip() for v in free_vars]
        trees = parameters[1:] if parameters[0] == "self" else parameters
        return text + (
            f"\n    {', '.join(names)}, = fx_pytree.tree_flatten_spec("
            f"[{', '.join(trees)}], self._in_spec)"
        )

    def generate_output(self, output_args, *, descs=None, repr_fn=None) -> str:
        shown = (repr_fn or repr)(output_args)
        if self.pytree_info.out_spec is None:
            return f"return {shown}"
        return f"return pytree.tree_unflatten({shown}, self._out_spec)"


class _Writer:
    """Writes one graph's code."""

    def __init__(self, codegen, nodes, root, namespace, options) -> None:
        self._codegen = codegen
        self._nodes = nodes
        self._root = root
        self._namespace = namespace
        self._options = options
        self._free_vars: list[str] = []
        self._lines: list[str] = []
        self._globals: dict = {}
        self._wrapped: dict = {}
        self._annotation = ""

    def write(self) -> PythonCode:
        for name, value in self._codegen.additional_globals():
            self._global(name, value)
        for name, builtin in _names.custom_builtins.items():
            self._global(name, builtin.obj)
        last_uses = self._last_uses()
        for index, node in enumerate(self._nodes):
            self._explain(node)
            self._lines.append(f"{_COUNTER}{index}\n")
            before = len(self._lines)
            self._statement(node)
            self._release(node, last_uses, before)
        if all(line.startswith(_COUNTER) for line in self._lines):
            self._lines.append("pass\n")
        return self._assemble()

    def _assemble(self) -> PythonCode:
        lines = self._lines
        if self._codegen._body_transformer is not None:
            lines = self._codegen._body_transformer(lines)
        definition = self._define()
        first = definition.count("\n")
        body, lineno_map = self._number(lines, first)
        wraps = "\n".join(
            f'torch.fx._symbolic_trace.wrap("{name}")' for name in self._wrapped
        )
        src = f"\n{wraps}\n{definition}\n" + "\n".join(f"    {line}" for line in body)
        return PythonCode(src, self._globals, lineno_map)

    def _define(self) -> str:
        options = {}
        if self._options.get("expanded_def"):
            options["expanded_def"] = True
        text = self._codegen.gen_fn_def(self._free_vars, self._annotation, **options)
        # Code generators of users begin with a line break of their own.
        return text if text.startswith("\n") else f"\n{text}"

    @staticmethod
    def _number(lines, first: int) -> tuple[list[str], dict]:
        """The lines of the body, and of which node each of them is."""
        body: list[str] = []
        found: dict = {}
        index = None
        for line in "".join(lines).split("\n"):
            if line.startswith(_COUNTER):
                index = int(line[len(_COUNTER) :])
            else:
                found[first + len(body)] = index
                body.append(line)
        return body, found

    # -- names -----------------------------------------------------------------

    def _global(self, hint: str, value) -> str:
        """The name by which code reaches an object."""
        if _names.is_from_torch(value) and value is not hotaru.device:
            return _get_qualified_name(value)
        name = re.sub(r"[^0-9a-zA-Z_]+", "_", hint)
        if name in self._globals and self._globals[name] is value:
            return name
        name = self._namespace.create_name(name, value)
        self._globals[name] = value
        return name

    def _type_name(self, kind) -> str:
        if kind == ():
            return "()"
        text = _type_repr(kind)
        origin = getattr(kind, "__origin__", None)
        if type(kind).__name__ == "UnionType":
            return "|".join(self._type_name(a) for a in typing.get_args(kind))
        if origin is None:
            return self._global(text, kind)
        args = typing.get_args(kind)
        alias = _origin_alias(kind, origin)
        name = self._global(_type_repr(alias), alias)
        if not args:
            if re.search(r"\[\(\)\]$", text):
                return f"{name}[()]" if _EMPTY_TUPLES else name
            return name
        inside = ",".join(self._type_name(a) for a in args)
        return f"{name}[{inside}]"

    def _value(self, arg) -> str:
        """An argument as code."""
        if isinstance(arg, list):
            return f"[{', '.join(self._value(a) for a in arg)}]"
        if isinstance(arg, slice):
            parts = (arg.start, arg.stop, arg.step)
            return f"slice({', '.join(self._value(p) for p in parts)})"
        if isinstance(arg, dict):
            items = ", ".join(f"{k!r}: {self._value(v)}" for k, v in arg.items())
            return f"{{{items}}}"
        if isinstance(arg, tuple) and not hasattr(arg, "_fields"):
            items = ", ".join(self._value(a) for a in arg)
            return f"({items},)" if len(arg) == 1 else f"({items})"
        if isinstance(arg, tuple):
            name = self._global(_type_repr(type(arg)), type(arg))
            return f"{name}({', '.join(self._value(a) for a in arg)})"
        if isinstance(arg, (hotaru._C.Op, type)) or _is_function(arg):
            name = _get_qualified_name(arg)
            return self._global(name, arg)
        if isinstance(arg, enum.Enum):
            cls = type(arg)
            return f"{self._global(cls.__name__, cls)}.{arg.name}"
        if isinstance(arg, Node):
            return repr(arg)
        return repr(arg)

    def _arguments(self, args, kwargs) -> str:
        parts = [self._value(a) for a in args]
        parts += [f"{k} = {self._value(v)}" for k, v in kwargs.items()]
        return ", ".join(parts)

    # -- statements ------------------------------------------------------------

    def _last_uses(self) -> dict:
        """The values that nobody needs behind each node."""
        seen: set = set()
        uses = defaultdict(list)
        for node in reversed(self._nodes):
            for used in _inputs_in_order(node):
                if used not in seen:
                    seen.add(used)
                    uses[node].append(used)
        return uses

    def _release(self, node: Node, last_uses: dict, before: int) -> None:
        """Drops what is not needed any more, on the node's last line."""
        if len(self._lines) == before:
            return
        done = list(last_uses.get(node, ()))
        if node.op in ("placeholder", "output"):
            done = []
        elif not node.users:
            done.append(node)
        if done:
            names = " = ".join(repr(n) for n in done)
            self._lines.append(f";  {names} = None\n")
        else:
            self._lines.append("\n")

    def _explain(self, node: Node) -> None:
        """In verbose code, where the node comes from."""
        if not self._options.get("verbose"):
            return
        if node.op in ("placeholder", "output"):
            return
        trace = node.stack_trace
        if trace == getattr(self, "_shown", ""):
            return
        self._shown = trace
        if not trace:
            self._lines.append("\n# No stacktrace found for following nodes\n")
            return
        match = re.findall(r'File "(.+)", line (\d+), in (.+)\n\s*(.*)', trace)
        if match:
            file, line, name, code = match[-1]
            self._lines.append(f"\n# File: {file}:{line} in {name}, code: {code}\n")

    def _statement(self, node: Node) -> None:
        getattr(self, f"_{node.op}")(node)

    def _typed(self, node: Node) -> str:
        kind = "" if node.type is None else f" : {self._type_name(node.type)}"
        return f"{node!r}{kind}"

    def _emit(self, text: str) -> None:
        self._lines.append(text)

    def _placeholder(self, node: Node) -> None:
        kind = "" if node.type is None else f" : {self._type_name(node.type)}"
        default = f" = {self._value(node.args[0])}" if node.args else ""
        self._free_vars.append(f"{node.target}{kind}{default}")
        raw = node.target.replace("*", "")
        if raw != repr(node):
            self._emit(f"{node!r} = {raw}")

    def _call_method(self, node: Node) -> None:
        this = self._value(node.args[0])
        args = self._arguments(node.args[1:], node.kwargs)
        self._emit(f"{self._typed(node)} = {this}.{node.target}({args})")

    def _call_function(self, node: Node) -> None:
        target = node.target
        module = getattr(target, "__module__", None)
        name = getattr(target, "__name__", "")
        if module == "_operator" and self._syntax(node, name):
            return
        qualified = _get_qualified_name(target)
        called = self._global(qualified, target)
        if target is getattr and self._attribute(node):
            return
        args = self._arguments(node.args, node.kwargs)
        self._emit(f"{self._typed(node)} = {called}({args})")
        if node.meta.get("is_wrapped", False):
            self._wrapped.setdefault(called)

    def _syntax(self, node: Node, name: str) -> bool:
        """Writes operators as Python's syntax has them."""
        args = [self._value(a) for a in node.args]
        if name in MAGIC_METHODS and not node.kwargs:
            if MAGIC_METHODS[name].count("{}") != len(args):
                return False
            text = MAGIC_METHODS[name].format(*args)
            self._emit(f"{self._typed(node)} = {text}")
            return True
        if name in INPLACE_METHODS and not node.kwargs:
            text = INPLACE_METHODS[name].format(*args)
            self._emit(f"{text};  {self._typed(node)} = {args[0]}")
            return True
        return False

    def _attribute(self, node: Node) -> bool:
        if len(node.args) != 2 or not isinstance(node.args[1], str):
            return False
        if not node.args[1].isidentifier():
            return False
        this = self._value(node.args[0])
        self._emit(f"{self._typed(node)} = {this}.{node.args[1]}")
        return True

    def _call_module(self, node: Node) -> None:
        target = format_target(self._root, node.target)
        args = self._arguments(node.args, node.kwargs)
        self._emit(f"{self._typed(node)} = {target}({args})")

    def _get_attr(self, node: Node) -> None:
        target = format_target(self._root, node.target)
        self._emit(f"{self._typed(node)} = {target}")

    def _output(self, node: Node) -> None:
        if node.type is not None:
            self._annotation = f" -> {self._type_name(node.type)}"
        value = node.args[0]
        try:
            text = self._codegen.generate_output(value, repr_fn=self._value)
        except TypeError:  # a generator that knows no such option
            text = self._codegen.generate_output(value)
        self._emit(text)


# From 3.11 on typing.Tuple[()] has no arguments to tell it from typing.Tuple.
_EMPTY_TUPLES = typing.get_args(typing.Tuple[()]) != ()


def _origin_alias(kind, origin):
    """typing.List for typing.List[int], list for list[int]."""
    name = getattr(kind, "_name", None)
    if type(kind).__module__ == "typing" and typing.get_args(kind):
        if origin is typing.Union:
            return typing.Union
        return getattr(typing, name, origin) if name else origin
    if repr(kind).endswith("[()]"):
        return typing.Tuple
    return origin


def _is_function(arg) -> bool:
    return isinstance(arg, (type(len), type(_is_function), hotaru._C.Function))


def _inputs_in_order(node: Node) -> list:
    found: dict = {}
    map_arg(node.args, found.setdefault)
    map_arg(node.kwargs, found.setdefault)
    return list(found)


def format_target(base: str, target: str) -> str:
    """As "self.a.b" or, where a part is no identifier, getattr(self.a, "0")."""
    text = base
    for part in target.split("."):
        named = part.isidentifier()
        text = f"{text}.{part}" if named else f'getattr({text}, "{part}")'
    return text
