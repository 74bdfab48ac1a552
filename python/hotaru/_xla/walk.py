"""From script IR to StableHLO: an inlined graph, node by node.

Shapes are known, so sizes, lists and conditions on them are computed here:
branches that are not taken and loops leave no trace. What depends on no
argument and no parameter is computed here as well.
"""

from __future__ import annotations

from .. import Tensor, ops, tensor
from .._function_schema import parse_schema
from ..jit._ir import walk
from . import scalars, table
from .values import DRAWS, NO_ROW, NotWritten, Val, dtype_of
from .writer import Writer

# They give what they were given, whatever their schema says.
_SAME = {"dropout", "feature_dropout", "alpha_dropout", "detach"}


class Walk(walk.Walk):
    """One program that is written.

    Args:
        places: lines of the user's program for lines of a trace.
    """

    refused = NotWritten

    def __init__(self, writer: Writer, places=None) -> None:
        super().__init__()
        self.writer = writer
        self._places = places
        self._tensors: dict[int, Val] = {}

    def visit(self, node) -> None:
        """Computes a node; errors get its name and line."""
        try:
            super().visit(node)
        except NotWritten as error:
            raise self._placed(error, node) from None
        except (IndexError, KeyError, TypeError, ValueError) as error:
            text = f"{type(error).__name__}: {error}"
            raise self._placed(NotWritten(text), node) from error

    def _placed(self, error: NotWritten, node) -> NotWritten:
        """With the operator's name and line, if it has none yet."""
        if getattr(error, "placed", False):
            return error
        name = (node._schema or node.kind()).partition("(")[0]
        out = NotWritten(f"{name}{self._where(node)}: {error}")
        out.placed = True
        return out

    def _where(self, node) -> str:
        if not node._place:
            return ""
        file, line = node._place[:2]
        if file.startswith("<__torch__") and self._places is not None:
            found = self._places(line)
            if found is None:
                return ""
            file, line = found
        return f' at File "{file}", line {line}'

    def _other(self, kind: str, inputs):
        base = kind.partition("::")[2]
        known, out = scalars.asked(base, inputs)
        if known:
            return out
        if any(map(_has_tensor, inputs)):
            raise NotWritten(NO_ROW)
        return scalars.compute(base, inputs)

    # --- operators ---

    def operator(self, node, inputs):
        """The result of an operator, which is written if it has to be."""
        kind = node.kind()
        if node._schema is None or not kind.startswith("aten::"):
            return self._other(kind, inputs)
        base = kind.partition("::")[2]
        known, out = scalars.asked(base, inputs)
        if known:
            return out
        schema = parse_schema(node._schema)
        gives = any("Tensor" in str(r.type) for r in schema.returns)
        if not any(map(_has_tensor, inputs)) and not gives:
            return scalars.compute(base, inputs)
        if base in scalars.CONTAINERS and (isinstance(inputs[0], (list, tuple, dict))):
            return scalars.TABLE[base](*inputs)
        if base in ("__is__", "__isnot__"):
            return scalars.TABLE[base](*inputs)
        if self._known(node, inputs):
            return self._computed(node, schema, inputs)
        if base in scalars.VALUES:
            raise NotWritten(walk.ASKS_VALUE)
        names = tuple(a.name for a in schema.arguments)
        function, writes = table.find(node.kind(), names)
        out = function(self.writer, **dict(zip(names, inputs)))
        if writes:
            self.writer.write(inputs[0], out)
            return inputs[0]
        shares = base in _SAME or "(a" in node._schema
        if not shares and any(out is given for given in inputs):
            # A tensor of its own in PyTorch.
            return Val(self.writer.use(out), out.shape, out.dtype)
        return out

    def _known(self, node, inputs) -> bool:
        """True if the result can be computed now, as one of its own."""
        tensors = list(_tensors(inputs))
        if any(t.const is None or t.given for t in tensors):
            return False
        return "!" not in node._schema and (not tensors or "(a" not in node._schema)

    def _computed(self, node, schema, inputs):
        if _draws(node.kind()):
            raise NotWritten(DRAWS)
        name = node._schema.partition("(")[0].partition("::")[2]
        base, _, overload = name.partition(".")
        args, kwargs = [], {}
        for argument, value in zip(schema.arguments, inputs):
            value = _held(value)
            if "ScalarType" in str(argument.real_type):
                value = dtype_of(value)
            if argument.kwarg_only:
                kwargs[argument.name] = value
            else:
                args.append(value)
        try:
            if base == "tensor":  # only scripts have it as an operator
                return self._constants(tensor(*args, **kwargs))
            operator = getattr(getattr(ops.aten, base), overload or "default")
            return self._constants(operator(*args, **kwargs))
        except (AttributeError, NotImplementedError, RuntimeError) as error:
            raise NotWritten(f"it cannot be computed: {error}") from error

    def _constants(self, value):
        if isinstance(value, Tensor):
            if not value.is_cpu:
                raise NotWritten(f"a tensor on {value.device}")
            return Val(None, value.shape, value.dtype, value)
        if isinstance(value, (list, tuple)):
            return type(value)(self._constants(v) for v in value)
        return value

    def held(self, given: Tensor, what: str) -> Val:
        """The value of a parameter or of another tensor that there is."""
        if not given.is_cpu:
            raise NotWritten(f"{what} on {given.device}")
        known = self._tensors.get(id(given))
        if known is None:
            known = Val(None, given.shape, given.dtype)
            known.origin = given
            known.given = what
            self._tensors[id(given)] = known
            self._keep.append(given)
        return known

    # --- what is no operator ---

    def number(self, value):
        """A tensor of a number that is known."""
        return self._constants(tensor(value))

    def choose(self, condition, then, otherwise):
        """The branch that is taken."""
        if isinstance(condition, Val):
            raise NotWritten(walk.ASKS_VALUE)
        return super().choose(condition, then, otherwise)

    def holds(self, condition) -> bool:
        """Tells whether a loop goes on."""
        if isinstance(condition, Val):
            raise NotWritten(walk.ASKS_VALUE)
        return bool(condition)


def _tensors(values):
    for value in values:
        if isinstance(value, Val):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from _tensors(value)
        elif isinstance(value, dict):
            yield from _tensors(value.values())


def _has_tensor(value) -> bool:
    return next(_tensors((value,)), None) is not None


def _held(value):
    if isinstance(value, Val):
        return value.const
    if isinstance(value, (list, tuple)):
        return type(value)(_held(v) for v in value)
    return value


def _draws(kind: str) -> bool:
    base = kind.partition("::")[2].partition("_like")[0]
    return base.startswith("rand") or base in (
        "normal",
        "bernoulli",
        "multinomial",
        "poisson",
        "uniform",
    )
