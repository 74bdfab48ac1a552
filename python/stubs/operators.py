"""Definitions of operators from their schemas, as functions and methods."""

from __future__ import annotations

import ast
import keyword
import re

from .definition import Definition, Parameter
from .schema import Argument, Result, Schema, parse

_KINDS = {
    "Tensor": "Tensor",
    "int": "_int",
    "SymInt": "_int",
    "float": "_float",
    "bool": "_bool",
    "Scalar": "Number | _complex",
    "str": "str",
    "complex": "_complex",
    "ScalarType": "_dtype",
    "Layout": "_layout",
    "MemoryFormat": "memory_format",
    "Device": "DeviceLikeType",
    "Generator": "Generator",
}

# Functions with results of their own that write into no tensor of the caller's.
_NO_OUT = frozenset(
    [
        "alpha_dropout",
        "batch_norm",
        "bernoulli_",
        "bilinear",
        "binomial",
        "celu",
        "channel_shuffle",
        "clone",
        "constant_pad_nd",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_tbc",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "convolution",
        "count_nonzero",
        "cosine_similarity",
        "dropout",
        "embedding",
        "embedding_bag",
        "empty_like",
        "feature_alpha_dropout",
        "feature_dropout",
        "fill",
        "full_like",
        "group_norm",
        "gru",
        "grid_sampler",
        "gru_cell",
        "hardshrink",
        "index_fill",
        "instance_norm",
        "layer_norm",
        "linear",
        "lstm",
        "lstm_cell",
        "masked_fill",
        "max_pool1d",
        "max_pool2d",
        "max_pool3d",
        "native_dropout",
        "ones_like",
        "pairwise_distance",
        "pdist",
        "pixel_shuffle",
        "pixel_unshuffle",
        "prelu",
        "rand_like",
        "randint_like",
        "randn_like",
        "relu",
        "repeat_interleave",
        "rms_norm",
        "rnn_relu",
        "rnn_tanh",
        "rsub",
        "scaled_dot_product_attention",
        "selu",
        "softplus",
        "std_mean",
        "unique_dim",
        "var_mean",
        "zeros_like",
    ]
)
# Names of results that are types of `hotaru.return_types`.
_NAMED = "return_types."


class Operators:
    """Writes definitions of the operators that an extension has."""

    def __init__(self, extension, named: frozenset[str]) -> None:
        self._schemas = extension._op_schemas
        self._named = named

    def schemas(self, name: str) -> list[Schema]:
        """The overloads that a program can choose by what it gives."""
        found = [parse(text) for text in self._schemas(name)]
        return [s for s in found if not s.overload.startswith(("prim_", "hacked"))]

    def functions(self, operator: str, name: str | None = None) -> list[Definition]:
        """The forms of the operator as a function called `name`."""
        return self._forms(operator, name or operator, False)

    def methods(self, operator: str, name: str | None = None) -> list[Definition]:
        """The forms of the operator as a method of Tensor."""
        return self._forms(operator, name or operator, True)

    def _forms(self, operator: str, name: str, method: bool) -> list[Definition]:
        out = []
        for schema in self.schemas(operator):
            if method and schema.argument("self") is None:
                continue
            parameters = [_parameter(a, method) for a in schema.arguments]
            if method:
                parameters.sort(key=lambda p: p.name != "self")
            parameters += _options(schema, method)
            result = self._result(schema)
            out.append(Definition(name, _in_order(parameters), result))
            spread = _spread(schema, parameters)
            if spread:
                out.append(Definition(name, _in_order(spread), result))
        return out

    def _result(self, schema: Schema) -> str:
        results = schema.results
        if not results:
            return "None"
        if len(results) == 1:
            return _kind(results[0])
        if results[0].name and schema.name in self._named:
            return _NAMED + schema.name
        return f"tuple[{', '.join(map(_kind, results))}]"

    def fields(self, name: str) -> list[tuple[str, str]]:
        """Names and types of the results of an operator that names them."""
        for schema in self.schemas(name):
            if len(schema.results) > 1 and schema.results[0].name:
                return [(r.name, _kind(r)) for r in schema.results]
        return []


def _kind(result: Result) -> str:
    kind = _KINDS.get(result.type.removesuffix("[]"), "Any")
    return f"tuple[{kind}, ...]" if result.type.endswith("[]") else kind


def _type(text: str) -> str:
    """The annotation of an argument's type: `int[2]?` takes one number, too."""
    base = re.split(r"[?\[]", text, maxsplit=1)[0]
    kind = _KINDS.get(base, "Any")
    optional = text.endswith("?")
    size = re.search(r"\[(\d*)\]", text)
    if size:
        element = f"{kind} | None" if "?[" in text else kind
        one = f"{kind} | " if size.group(1) and base != "bool" else ""
        kind = f"{one}Sequence[{element}]"
    return f"{kind} | None" if optional else kind


def _parameter(argument: Argument, method: bool) -> Parameter:
    name = argument.name
    if name == "self" and method:
        return Parameter("self", "")
    if name == "self":
        name = "input"
    if keyword.iskeyword(name):
        name += "_"
    default = argument.default and _default(argument)
    return Parameter(name, _type(argument.type), default, argument.keyword_only)


def _default(argument: Argument) -> str:
    if argument.type.startswith(("ScalarType", "MemoryFormat", "Layout")):
        return "None" if argument.default == "None" else "..."
    try:
        value = ast.literal_eval(argument.default)
    except (SyntaxError, ValueError):
        return "..."
    return "..." if isinstance(value, list) else repr(value)


def makes_new(schema: Schema) -> bool:
    """True if a program may say what the result's memory is: it is a factory."""
    kinds = {a.name for a in schema.arguments if a.keyword_only}
    return {"dtype", "layout", "device"} <= kinds


def writes_out(schema: Schema) -> bool:
    """True if the function takes `out=`."""
    name = schema.name
    if name.endswith("_") or name in _NO_OUT or schema.aliases or not schema.results:
        return False
    if any(result.type != "Tensor" for result in schema.results):
        return False
    if makes_new(schema):
        return not name.endswith("_like")
    first = schema.arguments[0].type if schema.arguments else ""
    return first.startswith(("Tensor", "Scalar", "float"))


def _options(schema: Schema, method: bool) -> list[Parameter]:
    """Keywords that calls take beside the schema's arguments."""
    out = []
    if not method and writes_out(schema):
        count = len(schema.results)
        kinds = ", ".join(["Tensor"] * count)
        kind = "Tensor" if count == 1 else f"tuple[{kinds}] | list[Tensor]"
        out.append(Parameter("out", f"{kind} | None", "None", True))
    if makes_new(schema):
        out.append(Parameter("requires_grad", "_bool", "False", True))
    return out


def _in_order(parameters: list[Parameter]) -> tuple[Parameter, ...]:
    return tuple(sorted(parameters, key=lambda p: p.keyword_only))


def _spread(schema: Schema, parameters: list[Parameter]) -> list[Parameter] | None:
    """f(2, 3) for f((2, 3)), where a list of any length is all there is."""
    plain = [p for p in parameters if not p.keyword_only and p.name != "self"]
    if parameters and parameters[0].name == "input":
        plain = [p for p in plain if p.name != "input"]
    if len(plain) != 1 or plain[0].type != "Sequence[_int]":
        return None
    one = Parameter(plain[0].name, "_int", spread=True)
    return [one if p is plain[0] else p for p in parameters]
