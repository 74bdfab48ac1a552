"""A trace that carries the example's elements along, and guesses by them."""

from __future__ import annotations

import dis
import linecache
import math
import sys

from ... import _C, Tensor
from ..._library.custom_ops import maybe_opdef
from ..._library.utils import is_builtin
from ..._ops import aten
from ..._subclasses.fake_errors import UnsupportedOperatorException
from ..._subclasses.fake_tensor import FakeTensor
from ...utils import _pytree as pytree
from ...utils._python_dispatch import _disable_current_modes
from .._errors import DataDependentError
from .._expressions import Expression
from .._frames import frames, user_frame
from .._numbers import SymbolicFloat, SymbolicInt
from .._operators import sym_size
from .._trace import Trace
from .._values import Traced, Value, facts_of
from .report import FailureType, Findings

__all__ = ["DraftTrace"]

_ASSERTION = "Runtime assertion failed for expression {} on node '{}'"
# The dimensions of results that follow from elements, where it is one.
_FIRST = {"nonzero", "masked_select", "argwhere", "unique_consecutive", "bincount"}
_UNKNOWN_SIZE = "may return an output Tensor with data-dependent shape"
_NO_FAKE = "There was no fake impl registered"


class DraftTrace(Trace):
    """Operators run with the example's tensors, too. Where the program asks for
    an element, or a shape follows from elements, it is the example's; the graph
    checks that it is, and `findings` says so.
    """

    def __init__(self, sizes, findings: Findings) -> None:
        super().__init__(sizes)
        self.findings = findings
        findings.begin()
        self._real = None
        self._unknown = 0

    # --- the example's tensors ---

    def tensor_input(self, name: str, tensor: Tensor, sources: list) -> Traced:
        """As a trace's, with a copy of the argument."""
        made = super().tensor_input(name, tensor, sources)
        made._value.real = _copy(tensor)
        return made

    def _state(self, node, tensor: Tensor) -> Value:
        value = super()._state(node, tensor)
        value.real = _copy(tensor)
        return value

    def _lifted(self, tensor: Tensor) -> Traced:
        made = super()._lifted(tensor)
        made._value.real = _copy(tensor)
        return made

    def _real_of(self, leaf):
        """The example's tensor or number; raises _UnknownError."""
        if isinstance(leaf, Tensor):
            found = self.value_of(leaf).real
            if found is None:
                raise _UnknownError
            return found
        if type(leaf) in (SymbolicInt, SymbolicFloat):
            return leaf.hint
        return leaf

    def _run_real(self, function, args, kwargs):
        """Returns what an operator gives for the example; None if not known."""
        leaves, spec = pytree.tree_flatten((args, kwargs))
        try:
            given = list(map(self._real_of, leaves))
        except _UnknownError:
            return None
        args, kwargs = pytree.tree_unflatten(given, spec)
        try:
            with _disable_current_modes():
                return function(*args, **kwargs)
        except (RuntimeError, IndexError, ValueError):
            if self._in_branch():
                return None  # the example does not take this branch
            raise

    def _in_branch(self) -> bool:
        builder = self.builder
        while builder is not None and builder.is_part:
            builder = builder.parent
        return builder is not self.root

    def _computed(self, function, args, kwargs) -> list:
        # The operator in place changes the example's tensor after the fakes
        # were looked at, which have its size from before.
        before = None
        try:
            results = super()._computed(function, args, kwargs)
        except DataDependentError:
            before = self._guessed
        except UnsupportedOperatorException:
            before = self._missing
        except RuntimeError as error:
            if _NO_FAKE in str(error):
                before = self._missing
            elif _UNKNOWN_SIZE in str(error):
                before = self._guessed
            else:
                raise
        if before is None and not is_builtin(function) and _lacks_fake(function):
            before = self._missing
        self._real = real = self._run_real(function, args, kwargs)
        if before is not None:
            if real is None:
                raise DataDependentError(_NOT_KNOWN.format(function, self.where()))
            before(function)
            made = pytree.tree_map(self._fake_like, real)
            return [made] * len(self.sizes.worlds)
        return self._compared(function, results, real)

    def _guessed(self, function) -> None:
        """A shape is the example's: what is asserted follows in `_recorded`."""
        self._dynamic = function

    def _missing(self, function) -> None:
        self.findings.add(FailureType.MISSING_FAKE_KERNEL, {"op": _called(function)})

    def _fake_like(self, real):
        if not isinstance(real, Tensor):
            return real
        with _disable_current_modes():
            empty = _C.ops.empty_strided(
                tuple(real.shape), tuple(real.stride()), dtype=real.dtype, device="meta"
            )
        return FakeTensor(self.fake, empty, real.device)

    def _compared(self, function, results: list, real) -> list:
        """The results, or those of the real kernel where they differ."""
        if real is None:
            return results
        fakes, given = pytree.tree_leaves(results[0]), pytree.tree_leaves(real)
        reason = None
        if len(fakes) != len(given):
            reason = f"mismatch between {len(fakes)} and {len(given)} results"
        for fake, result in zip(fakes, given):
            reason = reason or _difference(fake, result)
        if reason is None:
            return results
        self.findings.add(
            FailureType.MISMATCHED_FAKE_KERNEL,
            {"op": _called(function), "reason": reason},
        )
        return [pytree.tree_map(self._fake_like, real)] * len(results)

    _dynamic = None

    def _recorded(self, function, args, kwargs, results: list):
        real, dynamic = self._real, self._dynamic
        self._real = self._dynamic = None
        found = super()._recorded(function, args, kwargs, results)
        if real is not None:
            for made, one in zip(pytree.tree_leaves(found), pytree.tree_leaves(real)):
                if isinstance(made, Traced) and made._value.real is None:
                    made._value.real = one
        if dynamic is not None:
            self._check_shape(dynamic, args, found)
        return found

    def chosen(self, pred, results: list, first, second) -> None:
        """Results of a `cond`: those of the branch that the example takes."""
        known = self.value_of(pred).real
        if known is None:
            return
        with _disable_current_modes():
            taken = first if bool(known) else second
        for made, value in zip(results, taken.values):
            made._value.real = value.real

    # --- guesses ---

    def _scalar(self, tensor):
        value = self.value_of(tensor)
        if getattr(value.fakes[0], "constant", None) is not None:
            return super()._scalar(tensor)
        if value.real is None:
            return super()._scalar(tensor)
        with _disable_current_modes():
            number = value.real.item()
        expression = self._expression(number)
        self._assert_element(tensor, value, number, expression)
        self._note(expression)
        return number

    def _expression(self, number) -> str:
        kind = "zuf" if isinstance(number, float) else "u"
        shown = int(number) if isinstance(number, bool) else number
        found = f"Eq({kind}{self._unknown}, {shown})"
        self._unknown += 1
        return found

    def _assert_element(self, tensor, value: Value, number, expression: str) -> None:
        """The graph asserts that a tensor of one element has this one."""
        operator, operand = aten.eq.Scalar, number
        if number != number:
            operator, operand = aten.isnan.default, None
        elif isinstance(number, bool):
            operand = int(number)
        elif isinstance(number, float) and math.isinf(number):
            operand = float(number)
        given = (self.builder.node_of(value),)
        if operand is not None:
            given += (operand,)
        fake = self._fake_like(value.real != value.real)
        node = self._call(operator, given, fake)
        self._assert(node, expression)

    def _call(self, target, args: tuple, fake):
        base = target.overloadpacket.__name__
        node = self.builder.graph.create_node("call_function", target, args, name=base)
        node.meta.update(val=fake, facts=facts_of(fake))
        self.note(node)
        return node

    def _assert(self, node, expression: str) -> None:
        text = _ASSERTION.format(expression, node.name)
        made = self.builder.graph.create_node(
            "call_function", aten._assert_async.msg, (node, text), name="_assert_async"
        )
        made.meta["val"] = None
        self.note(made)

    def _check_shape(self, function, args: tuple, found) -> None:
        """The graph asserts the sizes that follow from elements."""
        said = False
        for made in pytree.tree_leaves(found):
            if not isinstance(made, Traced):
                continue
            value = made._value
            for dim in _places(function, args, len(value.facts.shape)):
                size = int(value.facts.shape[dim])
                expression = self._expression(size)
                self._assert_size(value, dim, size, expression)
                if not said:
                    self._note(expression)
                    said = True
            if function.overloadpacket.__name__ in _FIRST:
                return

    def _assert_size(self, value: Value, dim: int, size: int, expression) -> None:
        graph = self.builder.graph
        node = graph.create_node(
            "call_function",
            sym_size,
            (self.builder.node_of(value), dim),
            name="sym_size_int",
        )
        node.meta.update(val=size, expression=Expression.of(size))
        self.note(node)
        with _disable_current_modes():
            number = _C.ops.empty((), dtype=_C.float32, device="cpu")
            truth = _C.ops.empty((), dtype=_C.bool, device="cpu")
        one = self._call(aten.scalar_tensor.default, (node,), self._fake_like(number))
        same = self._call(aten.eq.Scalar, (one, size), self._fake_like(truth))
        self._assert(same, expression)

    def _note(self, expression: str) -> None:
        self.findings.add(
            FailureType.DATA_DEPENDENT_ERROR,
            {
                "expr": expression,
                "result": "True",
                "expr_node_id": None,
                "user_stack": self.findings.stack(frames()),
                "stack": self.findings.stack(_whole_stack()),
                "symbol_to_sources": {},
                "frame_locals": frame_locals(self.sizes),
            },
        )

    def note_guard(self, expression: str, names) -> None:
        """A condition on sizes was learned."""
        sources = {
            name: group.members[0].source
            for name, group in self.sizes.by_name.items()
            if name in names
        }
        self.findings.add(
            FailureType.GUARD_ADDED,
            {
                "expr": expression,
                "prefix": "eval",
                "expr_node_id": None,
                "user_stack": self.findings.stack(frames()),
                "stack": self.findings.stack(_whole_stack()),
                "symbol_to_sources": sources,
                "frame_locals": frame_locals(self.sizes),
            },
        )


class _UnknownError(Exception):
    """The example's tensor is not known."""


_NOT_KNOWN = (
    "draft_export: what {} gives for the example is not known here, as it takes "
    "what a loop of torch.while_loop, map or scan gave; at {}"
)


def _copy(tensor: Tensor) -> Tensor:
    with _disable_current_modes():
        return tensor.detach().clone()


def _called(function) -> str:
    return str(function).removeprefix("torch.ops.")


def _lacks_fake(function) -> bool:
    """True of an operator of a program that has no kernel for shapes."""
    found = maybe_opdef(function.name().partition(".")[0])
    return found is not None and found._fake is None and bool(function._schema.returns)


def _difference(fake, real) -> str | None:
    if not isinstance(real, Tensor):
        return None
    if not isinstance(fake, Tensor):
        return f"mismatch between fake value {fake} and real value {real}"
    if real.dtype != fake.dtype:
        return f"Dtypes {real.dtype} and {fake.dtype} are not equal!"
    if real.dim() != fake.dim():
        return f"mismatch between fake shape {fake.shape} and real shape {real.shape}"
    for one, other in zip(fake.shape, real.shape):
        if one != other:
            return f"mismatch between fake value {one} and real value {other} "
    if real.device != fake.device:
        return f"Devices {real.device} and {fake.device} are not equal!"
    if real.storage_offset() != fake.storage_offset():
        return "Real tensor propagation found mismatched storage offset"
    return None


def _places(function, args: tuple, dims: int):
    """The dimensions of a result that follow from elements."""
    name = function.overloadpacket.__name__
    if name in _FIRST:
        return range(min(1, dims))
    if name.startswith("index"):
        indices = args[1]
        given = [i for i, x in enumerate(indices) if isinstance(x, Tensor)]
        adjacent = given == list(range(given[0], given[-1] + 1))
        return [given[0] if adjacent else 0]
    return range(dims)


def _whole_stack() -> list[tuple[str, int, str]]:
    """All frames from the program's first, inmost last, but this file's."""
    found = []
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "_export_runs":
        if frame.f_code.co_filename != __file__:
            code = frame.f_code
            found.append((code.co_filename, frame.f_lineno, code.co_name))
        frame = frame.f_back
    return found[::-1]


def frame_locals(sizes) -> dict:
    """The line that runs, its variables that are tensors or sizes, and where
    those sizes are from.
    """
    frame = user_frame()
    if frame is None:
        return {}
    names, last = _names_of_line(frame)
    text = "".join(
        linecache.getline(frame.f_code.co_filename, line)
        for line in range(frame.f_lineno, last + 1)
    ).strip()
    symbols: dict[str, str] = {}
    shown = {}
    for name in names:
        leaves = pytree.tree_leaves(frame.f_locals[name])
        shown[name] = [_shown(x, sizes, symbols) for x in leaves]
    return {"loc": text, "locals": shown, "symbols": symbols}


def _names_of_line(frame) -> tuple[list[str], int]:
    """Names of variables in the instructions of a line, and its last line."""
    inside, names, last = False, [], frame.f_lineno
    for one in dis.get_instructions(frame.f_code):
        start = getattr(one, "line_number", one.starts_line)
        if start is not None and start is not True and start is not False:
            inside = start == frame.f_lineno
        if not inside:
            continue
        # Python 3.13 and later have instructions of two variables.
        named = one.argval if isinstance(one.argval, tuple) else (one.argval,)
        names += [x for x in named if isinstance(x, str) and x in frame.f_locals]
        end = getattr(getattr(one, "positions", None), "end_lineno", None)
        if end is not None and one.positions.lineno == frame.f_lineno:
            last = max(last, end) if _is_statement(frame, end) else last
    return list(dict.fromkeys(names)), last


def _is_statement(frame, end: int) -> bool:
    """False of an `if` or `for` whose body follows."""
    return end - frame.f_lineno < 4


def _shown(x, sizes, symbols: dict) -> str | None:
    if isinstance(x, Traced):
        facts = x._value.facts
        for size in (*facts.shape, *facts.strides):
            _sources(size, sizes, symbols)
        shape = ", ".join(map(str, facts.shape))
        strides = ", ".join(map(str, facts.strides))
        strides += "," if len(facts.strides) == 1 else ""
        return (
            f"Tensor(shape: torch.Size([{shape}]), stride: ({strides}), "
            f"storage_offset: {facts.offset})"
        )
    if isinstance(x, Tensor):
        return (
            f"Tensor(shape: {x.size()}, stride: {x.stride()}, "
            f"storage_offset: {x.storage_offset()})"
        )
    if type(x) is SymbolicInt:
        _sources(x.expression, sizes, symbols)
        return str(x)
    return None


def _sources(size, sizes, symbols: dict) -> None:
    if isinstance(size, Expression):
        for name in size.symbols():
            symbols[name] = sizes.by_name[name].members[0].source
