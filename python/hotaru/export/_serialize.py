"""Programs as the JSON of PyTorch's `.pt2` files (schema 8)."""

from __future__ import annotations

import math
import operator

from .. import _C
from .._higher_order_ops._operator import HigherOrderOperator
from ..fx import Node
from ..utils import _pytree as pytree
from ._arguments import SymFloatArgument, SymIntArgument
from ._expressions import Expression
from ._frames import stack_text
from .graph_signature import ConstantArgument, InputKind

__all__ = ["SCHEMA", "program_json", "tensor_meta"]

SCHEMA = {"major": 8, "minor": 20}
_TYPES = {
    "uint8": 1,
    "int8": 2,
    "int16": 3,
    "int32": 4,
    "int64": 5,
    "float16": 6,
    "float32": 7,
    "float64": 8,
    "complex32": 9,
    "complex64": 10,
    "complex128": 11,
    "bool": 12,
    "bfloat16": 13,
    "uint16": 28,
    "float8_e4m3fn": 29,
    "float8_e5m2": 30,
    "float8_e4m3fnuz": 31,
    "float8_e5m2fnuz": 32,
    "float8_e8m0fnu": 33,
    "uint32": 34,
    "uint64": 35,
}
_LAYOUTS = {
    "sparse_coo": 1,
    "sparse_csr": 2,
    "sparse_csc": 3,
    "sparse_bsr": 4,
    "sparse_bsc": 5,
    "strided": 7,
}
_FORMATS = {
    "contiguous_format": 1,
    "channels_last": 2,
    "channels_last_3d": 3,
    "preserve_format": 4,
}
_POSITIONAL, _KEYWORD = 1, 2
# A newline and similar stand between parts of metadata.
_BETWEEN = ";"


def _short(value) -> str:
    return str(value).rpartition(".")[2]


def _type(dtype) -> int:
    number = _TYPES.get(_short(dtype))
    if number is None:
        raise NotImplementedError(f"export: files have no dtype {dtype}")
    return number


def _device(device) -> dict:
    device = _C.device(device)
    return {"type": device.type, "index": device.index}


class _Numbers:
    """Sizes as files have them."""

    def __init__(self, sizes) -> None:
        self.sizes = sizes

    def size(self, value) -> dict:
        """A number, or an expression with the example's number."""
        if not isinstance(value, Expression):
            return {"as_int": int(value)}
        hint = {"as_int": self.sizes.hint(value)}
        return {"as_expr": {"expr_str": value.spelled(), "hint": hint}}


def tensor_meta(facts, sizes) -> dict:
    """Describes a tensor as files do."""
    number = _Numbers(sizes).size
    return {
        "dtype": _type(facts.dtype),
        "sizes": [number(s) for s in facts.shape],
        "requires_grad": facts.requires_grad,
        "device": _device(facts.device),
        "strides": [number(s) for s in facts.strides],
        "storage_offset": {"as_int": facts.offset},
        "layout": _LAYOUTS[_short(facts.layout)],
    }


class _Writer:
    """One graph."""

    def __init__(self, module, sizes) -> None:
        self.module, self.sizes = module, sizes
        self.tensors: dict = {}
        self.ints: dict = {}
        self.floats: dict = {}
        self.nodes: list = []

    def graph(self) -> dict:
        """The graph of the module."""
        inputs, outputs, single = [], [], False
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                inputs.append(self._input(node))
            elif node.op == "output":
                single = isinstance(node.args[0], Node)
                results = node.args if single else node.args[0]
                outputs = [self._argument(x, "") for x in results]
            elif node.op != "get_attr" and node.target is not operator.getitem:
                self.nodes.append(self._node(node))
        return {
            "inputs": inputs,
            "outputs": outputs,
            "nodes": self.nodes,
            "tensor_values": self.tensors,
            "sym_int_values": self.ints,
            "sym_bool_values": {},
            "is_single_tensor_return": single,
            "custom_obj_values": {},
            "sym_float_values": self.floats,
        }

    def _input(self, node: Node) -> dict:
        if "facts" in node.meta or "expression" in node.meta:
            return self._named(node)
        return self._argument(node.meta["val"], "")

    def _named(self, node: Node) -> dict:
        """Returns what refers to a node; its looks are written once."""
        name = node.name
        if "facts" in node.meta:
            if name not in self.tensors:
                facts = node.meta["facts"]
                self.tensors[name] = tensor_meta(facts, self.sizes)
            return {"as_tensor": {"name": name}}
        if "expression" in node.meta:
            number = _Numbers(self.sizes).size(node.meta["expression"])
            self.ints[name] = number
            return {"as_sym_int": {"as_name": name}}
        if "float" in node.meta:
            hint = {"as_float": float(node.meta["val"])}
            expression = {"expr_str": node.meta["float"], "hint": hint}
            self.floats[name] = {"as_expr": expression}
            return {"as_sym_float": {"as_name": name}}
        raise RuntimeError(f"export: node {name} gives nothing that is saved")

    # --- nodes ---

    def _node(self, node: Node) -> dict:
        target = node.target
        single = None
        if isinstance(target, HigherOrderOperator):
            name = f"torch.ops.higher_order.{target.name()}"
            inputs = [
                {"name": "", "arg": self._argument(x, ""), "kind": _POSITIONAL}
                for x in node.args
            ]
            outputs = [self._named(n) for n in _parts(node)]
            single = False
        elif hasattr(target, "_schema"):
            name = f"torch.ops.{target.namespace}.{target.__name__}"
            inputs = self._inputs(node)
            outputs = self._outputs(node)
        else:
            name = f"_operator.{target.__name__}"
            inputs = [
                {"name": letter, "arg": self._argument(x, ""), "kind": _POSITIONAL}
                for letter, x in zip("ab", node.args)
            ]
            outputs = [self._named(node)]
        return {
            "target": name,
            "inputs": inputs,
            "outputs": outputs,
            "metadata": _metadata(node),
            "is_hop_single_tensor_return": single,
            "name": node.name,
        }

    def _inputs(self, node: Node) -> list[dict]:
        schema = node.target._schema.arguments
        found = []
        for argument, value in zip(schema, node.args):
            arg = self._argument(value, str(argument.type))
            kind = _KEYWORD if argument.kwarg_only else _POSITIONAL
            found.append({"name": argument.name, "arg": arg, "kind": kind})
        types = {a.name: str(a.type) for a in schema}
        for name, value in node.kwargs.items():
            name = "self" if name == "input" and name not in types else name
            arg = self._argument(value, types.get(name, ""))
            found.append({"name": name, "arg": arg, "kind": _KEYWORD})
        return found

    def _outputs(self, node: Node) -> list[dict]:
        returns = node.target._schema.returns
        if not returns:
            return []
        if len(returns) == 1:
            if "List[Tensor]" in str(returns[0].type):
                for part in _parts(node):
                    self._named(part)
                names = [{"name": part.name} for part in _parts(node)]
                return [{"as_tensors": names}]
            return [self._named(node)]
        parts = {part.args[1]: part for part in _parts(node)}
        return [
            self._named(parts[i]) if i in parts else {"as_none": True}
            for i in range(len(returns))
        ]

    # --- arguments ---

    def _argument(self, x, kind: str) -> dict:
        if isinstance(x, Node):
            if x.op == "get_attr":
                return self._graph(x.target)
            return self._named(x)
        if x is None:
            return {"as_none": True}
        if isinstance(x, bool):
            return {"as_bool": x}
        if isinstance(x, (int, float)) and "float" in kind:
            return {"as_float": _finite(float(x))}
        if isinstance(x, int):
            return {"as_int": x}
        if isinstance(x, float):
            return {"as_float": _finite(x)}
        if isinstance(x, complex):
            return {"as_complex": {"real": x.real, "imag": x.imag}}
        if isinstance(x, str):
            if kind.endswith(("Device]", "Device")):
                return {"as_device": _device(x)}
            return {"as_string": x}
        if isinstance(x, _C.dtype):
            return {"as_scalar_type": _type(x)}
        if isinstance(x, _C.device):
            return {"as_device": _device(x)}
        if isinstance(x, _C.layout):
            return {"as_layout": _LAYOUTS[_short(x)]}
        if isinstance(x, _C.memory_format):
            return {"as_memory_format": _FORMATS[_short(x)]}
        if isinstance(x, (list, tuple)):
            return self._list(list(x), kind)
        raise NotImplementedError(
            f"export: files have no arguments of type {type(x).__name__}"
        )

    def _list(self, items: list, kind: str) -> dict:
        tensors = "Tensor" in kind or not kind
        if any(isinstance(x, Node) for x in items):
            metas = [x.meta for x in items if isinstance(x, Node)]
            if any("facts" in meta for meta in metas):
                return self._tensor_list(items)
            named = [
                self._named(x)["as_sym_int"] if isinstance(x, Node) else {"as_int": x}
                for x in items
            ]
            return {"as_sym_ints": named}
        if not items:
            return {"as_tensors" if tensors else "as_ints": []}
        if tensors and all(x is None for x in items):
            return {"as_optional_tensors": [{"as_none": True} for _ in items]}
        if all(isinstance(x, bool) for x in items):
            return {"as_bools": items}
        if "float" in kind or any(isinstance(x, float) for x in items):
            return {"as_floats": [_finite(float(x)) for x in items]}
        if all(isinstance(x, int) for x in items):
            return {"as_ints": items}
        if all(isinstance(x, str) for x in items):
            return {"as_strings": items}
        raise NotImplementedError(f"export: files have no such list: {items}")

    def _tensor_list(self, items: list) -> dict:
        if any(x is None for x in items):
            return {
                "as_optional_tensors": [
                    {"as_none": True} if x is None else self._named(x) for x in items
                ]
            }
        named = [self._named(x) for x in items]
        if all("as_tensor" in x for x in named):
            return {"as_tensors": [x["as_tensor"] for x in named]}
        raise NotImplementedError(
            "export: an operator that takes programs gets tensors and sizes; "
            "files have no such list"
        )

    def _graph(self, target: str) -> dict:
        module = getattr(self.module, target)
        graph = _Writer(module, self.sizes).graph()
        return {"as_graph": {"name": target, "graph": graph}}


def _parts(node: Node) -> list[Node]:
    """The nodes of the elements, in order."""
    users = [u for u in node.users if u.target is operator.getitem]
    return sorted(users, key=lambda u: u.args[1])


def _finite(x: float):
    """JSON has no infinities; PyTorch spells them."""
    if math.isfinite(x):
        return x
    return "NaN" if x != x else ("Infinity" if x > 0 else "-Infinity")


def _metadata(node: Node) -> dict:
    found = {}
    stack = stack_text(node.meta.get("stack") or [])
    if stack:
        found["stack_trace"] = stack
    modules = node.meta.get("modules")
    if modules:
        parts = []
        for path, kind in modules:
            key = "L__self__" + path.replace(".", "_")
            if kind.startswith("hotaru."):
                kind = "torch." + kind.removeprefix("hotaru.")
            parts.append(f"{key},{path},{kind}")
        found["nn_module_stack"] = _BETWEEN.join(parts)
    return found


# --- the signature ---


def _constant(value) -> dict:
    if value is None:
        return {"as_none": True}
    for kind, name in ((bool, "bool"), (int, "int"), (float, "float")):
        if isinstance(value, kind):
            shown = _finite(value) if kind is float else value
            return {f"as_{name}": shown}
    return {"as_string": value}


def _input_spec(spec) -> dict:
    name = {"name": spec.arg.name}
    if spec.kind is InputKind.PARAMETER:
        return {"parameter": {"arg": name, "parameter_name": spec.target}}
    if spec.kind is InputKind.BUFFER:
        return {
            "buffer": {
                "arg": name,
                "buffer_name": spec.target,
                "persistent": spec.persistent,
            }
        }
    if spec.kind is InputKind.CONSTANT_TENSOR:
        return {"tensor_constant": {"arg": name, "tensor_constant_name": spec.target}}
    if isinstance(spec.arg, ConstantArgument):
        value = _constant(spec.arg.value)
        return {"constant_input": {"name": spec.arg.name, "value": value}}
    return {"user_input": {"arg": {"as_tensor": name}}}


def _output_spec(spec) -> dict:
    if isinstance(spec.arg, ConstantArgument):
        return {"user_output": {"arg": _constant(spec.arg.value)}}
    kind = "as_tensor"
    name = {"name": spec.arg.name}
    if isinstance(spec.arg, SymIntArgument):
        kind, name = "as_sym_int", {"as_name": spec.arg.name}
    elif isinstance(spec.arg, SymFloatArgument):
        kind, name = "as_sym_float", {"as_name": spec.arg.name}
    return {"user_output": {"arg": {kind: name}}}


def _call_entry(entry) -> dict:
    signature = None
    if entry.signature is not None:
        signature = {
            "inputs": [],
            "outputs": [],
            "in_spec": pytree.treespec_dumps(entry.signature.in_spec),
            "out_spec": pytree.treespec_dumps(entry.signature.out_spec),
            "forward_arg_names": entry.signature.forward_arg_names,
        }
    return {"fqn": entry.fqn, "signature": signature}


def program_json(program) -> dict:
    """All but the tensors."""
    sizes = program._trace_sizes
    signature = program.graph_signature
    graph = _Writer(program.graph_module, sizes).graph()
    ranges = {
        name: {
            "min_val": int(bounds.lower),
            "max_val": None if bounds.upper == math.inf else int(bounds.upper),
        }
        for name, bounds in program.range_constraints.items()
    }
    return {
        "graph_module": {
            "graph": graph,
            "signature": {
                "input_specs": list(map(_input_spec, signature.input_specs)),
                "output_specs": list(map(_output_spec, signature.output_specs)),
            },
            "module_call_graph": list(map(_call_entry, program.module_call_graph)),
            "metadata": {},
            "treespec_namedtuple_fields": {},
        },
        "opset_version": {"aten": 10},
        "range_constraints": ranges,
        "schema_version": dict(SCHEMA),
        "verifiers": ["TRAINING"],
        "torch_version": program.torch_version,
        "guards_code": program._guards_code,
    }
