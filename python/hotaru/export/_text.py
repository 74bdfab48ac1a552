"""Graphs as text, in the form in which PyTorch prints exported programs."""

from __future__ import annotations

import linecache
import operator

from .. import _C
from ..fx import Node

__all__ = ["program_text", "signature_text", "type_text"]

_SHORT = {
    "float32": "f32",
    "float64": "f64",
    "float16": "f16",
    "bfloat16": "bf16",
    "int64": "i64",
    "int32": "i32",
    "int16": "i16",
    "int8": "i8",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool": "b8",
    "complex64": "c64",
    "complex128": "c128",
    "complex32": "c32",
    "float8_e4m3fn": "f8e4m3fn",
    "float8_e5m2": "f8e5m2",
    "float8_e4m3fnuz": "f8e4m3fnuz",
    "float8_e5m2fnuz": "f8e5m2fnuz",
    "float8_e8m0fnu": "f8e8m0fnu",
    "float4_e2m1fn_x2": "f4e2m1fnx2",
}
_SIGNS = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.truediv: "/",
    operator.pow: "**",
}


def type_text(node: Node) -> str | None:
    """Text of what a node gives: `f32[s77, 3]`, or `Sym(2*s77)`."""
    facts = node.meta.get("facts")
    if facts is not None:
        name = str(facts.dtype).partition(".")[2]
        shape = ", ".join(map(str, facts.shape))
        return f"{_SHORT.get(name, name)}[{shape}]"
    if "expression" in node.meta:
        return f"Sym({node.meta['expression']})"
    return "Sym(float)" if "float" in node.meta else None


def _argument(x) -> str:
    if isinstance(x, Node):
        return x.name
    if isinstance(x, (list, tuple)):
        inner = ", ".join(map(_argument, x))
        if isinstance(x, list):
            return f"[{inner}]"
        return f"({inner},)" if len(x) == 1 else f"({inner})"
    if isinstance(x, _C.device):
        return repr(x)
    if isinstance(x, (_C.dtype, _C.memory_format, _C.layout)):
        return "torch." + str(x).rpartition(".")[2]
    return repr(x)


def _call(node: Node) -> str:
    if node.op == "get_attr":
        return f"self.{node.target}"
    args = [_argument(x) for x in node.args]
    if node.target is operator.getitem:
        return f"{args[0]}[{args[1]}]"
    if node.target in _SIGNS:
        return f"{args[0]} {_SIGNS[node.target]} {args[1]}"
    args += [f"{k} = {_argument(v)}" for k, v in node.kwargs.items()]
    target = node.target
    return f"{target.__module__}.{target.__name__}({', '.join(args)})"


def _last_uses(graph) -> dict:
    """The nodes that are used last by a node."""
    found: dict = {}
    seen: set = set()
    for node in reversed(list(graph.nodes)):
        last = [n for n in node.all_input_nodes if n not in seen]
        seen.update(last)
        if not node.users and node.op not in ("placeholder", "output"):
            last.append(node)
        found[node] = last
    return found


def _graph_lines(module) -> list[str]:
    """`forward` of a module, and the classes of those in it."""
    graph = module.graph
    inputs = ["self"]
    for node in graph.nodes:
        if node.op == "placeholder":
            shown = type_text(node)
            inputs.append(f'{node.name}: "{shown}"' if shown else node.name)
    lines = [f"def forward({', '.join(inputs)}):"]
    last_uses = _last_uses(graph)
    before = None
    for node in graph.nodes:
        if node.op == "placeholder":
            continue
        if node.op == "output":
            lines.append(f"    return {_argument(node.args[0])}")
            continue
        place = _place(node)
        if place != before:
            if len(lines) > 1:
                lines.append("")
            lines.append(f"    # {place}")
            before = place
        shown = type_text(node)
        name = f'{node.name}: "{shown}"' if shown else node.name
        text = f"    {name} = {_call(node)}"
        if last_uses[node]:
            dead = " = ".join(n.name for n in last_uses[node])
            text += f";  {dead} = None"
        lines.append(text)
    for name, child in module.named_children():
        lines += ["", *_class_lines(name, child)]
    return lines


def _place(node: Node) -> str:
    stack = node.meta.get("stack")
    if not stack:
        return "No stacktrace found for following nodes"
    file, line, function = stack[-1]
    code = linecache.getline(file, line).strip()
    return f"File: {file}:{line} in {function}, code: {code}"


def _class_lines(name: str, module) -> list[str]:
    head = f"class {name}(torch.nn.Module):"
    return [head, *(f"    {line}".rstrip() for line in _graph_lines(module))]


def signature_text(signature) -> str:
    """The inputs and outputs, a line each."""
    lines = ["# inputs"]
    for spec in signature.input_specs:
        text = f"{spec.arg.name}: {spec.kind.name}"
        if spec.target is not None:
            text += f" target='{spec.target}'"
        if spec.persistent is not None:
            text += f" persistent={spec.persistent}"
        lines.append(text)
    lines += ["", "# outputs"]
    for spec in signature.output_specs:
        text = f"{spec.arg.name}: {spec.kind.name}"
        if spec.target is not None:
            text += f" target='{spec.target}'"
        lines.append(text)
    return "\n".join(lines) + "\n"


def program_text(module, signature, ranges: dict) -> str:
    """All of a program."""
    code = "\n".join(_class_lines("GraphModule", module)) + "\n"
    code = code.replace("\n", "\n    ")
    shown = signature_text(signature).replace("\n", "\n    ")
    bounds = ", ".join(f"{name}: {values}" for name, values in ranges.items())
    return (
        f"ExportedProgram:\n    {code}\nGraph signature: \n    {shown}\n"
        f"Range constraints: {{{bounds}}}\n"
    )
