"""Graphs that Python holds, made to run."""

# ruff: noqa: N802, N815  (named after the kinds)
from __future__ import annotations

import typing

import hotaru

from ... import _C
from ..._function_schema import parse_schema
from ..._types import DictType, ListType, OptionalType, TensorType, TupleType, Type
from .graph import Graph
from .nodes import Block, Node
from .values import Value

_SHOWN = 4  # spaces a level
_INFIX = {"aten::__is__": "is", "aten::__isnot__": "is not"}


def create_function_from_graph(qualname: str, graph: Graph):
    """A ScriptFunction that does what the graph says.

    Args:
        qualname: its name.
        graph: of operators, constants, containers, prim::If and prim::Loop;
            the function does not follow it when it changes.

    Raises:
        RuntimeError: the graph's nodes do not fit together.
        NotImplementedError: it has nodes of other kinds.
    """
    from .._compilation_unit import define_text
    from .._scripter import _UNIT

    source, names = source_of_graph(qualname.rpartition(".")[2], graph)
    with _UNIT:
        (function,) = define_text(source, "__torch__", names)
        function._compile()
    return function


def source_of_graph(name: str, graph: Graph) -> tuple[str, dict]:
    """The source of a function that does what the graph says, and the values of
    names in it.
    """
    graph.lint()
    writer = _Writer()
    return writer.function(name, graph), writer.names


def _name(value: Value) -> str:
    return f"v{value.unique()}"


def _any_value(type: Type) -> str:
    if isinstance(type, TensorType):
        return "torch.empty([0])"
    if isinstance(type, ListType):
        return "[]"
    if isinstance(type, DictType):
        return "{}"
    if isinstance(type, OptionalType):
        return "None"
    if isinstance(type, TupleType):
        return "(" + "".join(f"{_any_value(t)}, " for t in type.elements()) + ")"
    known = {"int": "0", "float": "0.0", "bool": "False", "str": "''"}
    if type.str() in known:
        return known[type.str()]
    raise NotImplementedError(f"no value of type {type} is known")


def _names(values) -> str:
    return ", ".join(map(_name, values))


class _Writer:
    """The source of one function, and what its names mean."""

    def __init__(self) -> None:
        self.names: dict = {"torch": hotaru, **vars(typing)}
        self._lines: list[str] = []
        self._depth = 0

    def function(self, name: str, graph: Graph) -> str:
        params = ", ".join(
            f"{_name(v)}: {v.type().annotation_str}" for v in graph.inputs()
        )
        self._line(f"def {name}({params}):")
        self._depth += 1
        self._block(graph.block())
        results = list(graph.outputs())
        one = _name(results[0]) if len(results) == 1 else self._tuple(results)
        self._line(f"return {one}")
        return "\n".join([*self._lines, ""])

    def _line(self, text: str) -> None:
        self._lines.append(" " * (_SHOWN * self._depth) + text)

    def _tuple(self, values) -> str:
        return "(" + "".join(f"{_name(v)}, " for v in values) + ")"

    def _block(self, block: Block) -> None:
        for node in block.nodes():
            special = getattr(self, f"_{node.kind().replace('::', '_')}", None)
            if special is not None:
                special(node)
            else:
                self._give(node, self._expression(node))

    def _give(self, node: Node, text: str) -> None:
        outputs = list(node.outputs())
        if not outputs:
            self._line(text)
        elif len(outputs) == 1:
            self._line(f"{_name(outputs[0])} = {text}")
        else:
            self._line(f"{_names(outputs)}, = {text}")

    def _typed(self, node: Node, text: str) -> None:
        output = node.output()
        annotation = output.type().annotation_str
        self._line(f"{_name(output)}: {annotation} = {text}")

    # --- nodes ---

    def _method(self, node: Node) -> None:
        """A method of the first input; lists' give the list itself."""
        name = node.kind().partition("::")[2]
        first, *rest = node.inputs()
        text = f"{_name(first)}.{name}({_names(rest)})"
        outputs = list(node.outputs())
        if not outputs or not name.startswith(("append", "insert", "extend")):
            self._give(node, text)
            return
        self._line(text)
        self._line(f"{_name(outputs[0])} = {_name(first)}")

    def _prim_MMTreeReduce(self, node: Node) -> None:
        from .._library.products import summed_products

        self.names["_summed_products"] = summed_products
        left, right = list(node.inputs())[::2], list(node.inputs())[1::2]
        text = f"_summed_products([{_names(left)}], [{_names(right)}])"
        self._give(node, text)

    def _prim_MMBatchSide(self, node: Node) -> None:
        from .._library.products import products_of_left, products_of_right

        common, *others = node.inputs()
        function = products_of_right if node.i("side") else products_of_left
        self.names[function.__name__] = function
        text = f"{function.__name__}({_name(common)}, [{_names(others)}])"
        self._line(f"{_names(node.outputs())}, = {text}")

    _aten_format = _aten_join = _aten_append = _aten_insert = _aten_extend = _method

    def _expression(self, node: Node) -> str:
        if node.kind() in _INFIX:
            left, right = map(_name, node.inputs())
            return f"{left} {_INFIX[node.kind()]} {right}"
        space, _, name = node.kind().partition("::")
        if space not in ("aten", "prim") or not _C._script_has_operator(name):
            raise NotImplementedError(
                f"a graph with nodes of kind '{node.kind()}' cannot be made a function"
            )
        texts = list(map(_name, node.inputs()))
        if node._schema is not None:
            known = parse_schema(node._schema).arguments
            texts = [
                f"{argument.name}={text}" if argument.kwarg_only else text
                for argument, text in zip(known, texts)
            ]
        return f"torch.ops.{space}.{name}({', '.join(texts)})"

    def _prim_Constant(self, node: Node) -> None:
        value = node.output().toIValue()
        if isinstance(value, (_C.Tensor, _C.device)):
            from .._resolve import Constant

            name = f"_constant{len(self.names)}"
            tensor = isinstance(value, _C.Tensor)
            self.names[name] = Constant(value) if tensor else value
            self._give(node, name)
        elif isinstance(value, float):
            self._give(node, f"float('{value!r}')")
        elif isinstance(value, (list, dict)):
            self._typed(node, repr(value))
        else:
            self._give(node, repr(value))

    def _prim_Uninitialized(self, node: Node) -> None:
        """Nobody reads it: any value of the type."""
        type = node.output().type()
        self._typed(node, _any_value(type))

    def _prim_ListConstruct(self, node: Node) -> None:
        self._typed(node, f"[{_names(node.inputs())}]")

    def _prim_DictConstruct(self, node: Node) -> None:
        items = list(map(_name, node.inputs()))
        pairs = (f"{k}: {v}" for k, v in zip(items[::2], items[1::2]))
        self._typed(node, f"{{{', '.join(pairs)}}}")

    def _prim_TupleConstruct(self, node: Node) -> None:
        self._give(node, self._tuple(node.inputs()))

    def _prim_TupleIndex(self, node: Node) -> None:
        values, index = node.inputs()
        self._give(node, f"{_name(values)}[{index.toIValue()}]")

    def _unpack(self, node: Node) -> None:
        outputs = "".join(f"{_name(v)}, " for v in node.outputs())
        if outputs:
            self._line(f"{outputs}= {_name(node.input())}")

    _prim_TupleUnpack = _prim_ListUnpack = _unpack

    def _prim_Print(self, node: Node) -> None:
        self._line(f"print({_names(node.inputs())})")

    def _prim_RaiseException(self, node: Node) -> None:
        self._line(f"raise RuntimeError({_name(node.inputsAt(0))})")

    def _prim_If(self, node: Node) -> None:
        self._line(f"if {_name(node.input())}:")
        then, otherwise = node.blocks()
        for block in (then, otherwise):
            self._depth += 1
            self._line("pass")
            self._block(block)
            for output, value in zip(node.outputs(), block.outputs()):
                self._line(f"{_name(output)} = {_name(value)}")
            self._depth -= 1
            if block is then:
                self._line("else:")

    def _prim_Loop(self, node: Node) -> None:
        limit, condition, *carried = node.inputs()
        (body,) = node.blocks()
        index, *params = map(_name, body.inputs())
        for param, value in zip(params, carried):
            self._line(f"{param} = {_name(value)}")
        count, holds = f"_n{index}", f"_c{index}"
        self._line(f"{count} = 0")
        self._line(f"{holds} = {_name(condition)}")
        self._line(f"while {holds} and {count} < {_name(limit)}:")
        self._depth += 1
        self._line(f"{index} = {count}")
        self._block(body)
        again, *values = body.outputs()
        if params:
            self._line(f"{', '.join(params)}, = {self._tuple(values)}")
        self._line(f"{holds} = {_name(again)}")
        self._line(f"{count} = {count} + 1")
        self._depth -= 1
        for output, param in zip(node.outputs(), params):
            self._line(f"{_name(output)} = {param}")
