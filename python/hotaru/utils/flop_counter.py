"""Counts floating point operations while a program runs."""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

from .. import nn
from .._ops import OpOverloadPacket, aten
from . import _flop_parts
from ._flop_formulas import (
    addmm_flop,
    baddbmm_flop,
    bmm_flop,
    conv_backward_flop,
    conv_flop,
    conv_flop_count,
    mm_flop,
    sdpa_backward_flop,
    sdpa_backward_flop_count,
    sdpa_flop,
    sdpa_flop_count,
)
from ._python_dispatch import TorchDispatchMode
from .module_tracker import ModuleTracker

__all__ = [
    "FlopCounterMode",
    "addmm_flop",
    "baddbmm_flop",
    "bmm_flop",
    "conv_backward_flop",
    "conv_flop",
    "conv_flop_count",
    "flop_registry",
    "mm_flop",
    "register_flop_formula",
    "sdpa_backward_flop",
    "sdpa_backward_flop_count",
    "sdpa_flop",
    "sdpa_flop_count",
    "shape_wrapper",
]

_UNITS = ["", "K", "M", "B", "T"]


def shape_wrapper(formula: Callable) -> Callable:
    """A formula of tensors, of one of shapes."""

    @wraps(formula)
    def of_tensors(*args, out_val=None, **kwargs):
        args, kwargs, out = _flop_parts.shapes_of((args, kwargs, out_val))
        return formula(*args, out_shape=out, **kwargs)

    return of_tensors


def _prepared(formula: Callable, get_raw: bool = False) -> Callable:
    raw = get_raw or getattr(formula, "_get_raw", False)
    return formula if raw else shape_wrapper(formula)


# The formula of an operator, of its arguments and `out_val`.
flop_registry: dict[Any, Callable] = {
    packet: shape_wrapper(formula)
    for packet, formula in (
        (aten.mm, mm_flop),
        (aten.addmm, addmm_flop),
        (aten.bmm, bmm_flop),
        (aten.baddbmm, baddbmm_flop),
        (aten.convolution, conv_flop),
        (aten._convolution, conv_flop),
        (aten.convolution_backward, conv_backward_flop),
    )
}


def register_flop_formula(targets, get_raw: bool = False) -> Callable:
    """A decorator: the function is the formula of operators.

    It gets the operator's arguments with shapes in place of tensors, and the
    result's as `out_shape`; with `get_raw` the tensors, and `out_val`.

    Args:
        targets: a packet (`torch.ops.mylib.foo`), or several.

    Raises:
        ValueError: a target is no packet.
        RuntimeError: it has a formula.
    """

    def register(formula: Callable) -> Callable:
        wanted = targets if isinstance(targets, (list, tuple)) else [targets]
        for target in wanted:
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to "
                    "be OpOverloadPacket (i.e. torch.ops.mylib.foo), or "
                    f"JitFunction, got {target} which is of type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = _prepared(formula, get_raw)
        return formula

    return register


class FlopCounterMode:
    """A context in which floating point operations are counted, by modules.

    Operators that PyTorch makes of others (linear, attention) count as the
    products of matrices they are made of, derivatives as those of PyTorch's
    formulas. What has no formula counts as nothing. Entered again it starts
    from zero.

    Args:
        mods: not needed; a warning where it is given.
        depth: how deep the table looks into modules.
        display: whether the table is printed at the end.
        custom_mapping: formulas of more packets, or other ones; see
            `register_flop_formula`.
    """

    def __init__(
        self,
        mods: nn.Module | list[nn.Module] | None = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn(
                "mods argument is not needed anymore, you can stop passing it",
                stacklevel=2,
            )
        self.flop_counts: dict[str, dict[Any, int]] = _counts()
        self._unknown: dict[str, dict[Any, int]] = _counts()
        self.depth = depth
        self.display = display
        self.flop_registry = {
            **flop_registry,
            **{k: _prepared(v) for k, v in (custom_mapping or {}).items()},
        }
        self.mod_tracker = ModuleTracker()
        self.mode: TorchDispatchMode | None = None

    def get_total_flops(self) -> int:
        """All of them."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """By the name of a module, or "Global"; then by the packet."""
        return {name: dict(found) for name, found in self.flop_counts.items()}

    def get_unsupported_ops(self) -> dict[str, dict[Any, int]]:
        """Operators without a formula, which count as nothing: how often they
        were called, by the name of a module or "Global"; then by the packet.
        """
        return {name: dict(found) for name, found in self._unknown.items()}

    def get_table(self, depth: int | None = None) -> str:
        """A table of modules, as deep as `depth`, and operators in them."""
        depth = self.depth if depth is None else depth
        names = sorted(name for name in self.flop_counts if name != "Global")
        total = self.get_total_flops()
        rows, covered = [], False
        for name in names:
            level = name.count(".")
            if depth is not None and level >= depth:
                continue
            covered |= sum(self.flop_counts[name].values()) >= total
            rows += self._rows(name, level, total)
        if "Global" in self.flop_counts and not covered:
            rows = [(" " + first, *rest) for first, *rest in rows]
            rows = self._rows("Global", 0, total) + rows
        return _table(rows or [("Global", "0", "0%")])

    def _rows(self, name: str, level: int, total: int) -> list[tuple]:
        found = self.flop_counts[name]
        unit = max(0, min(len(_UNITS) - 1, (len(str(total)) - 2) // 3))

        def row(title: str, count: int) -> tuple:
            share = f"{count / total:.2%}" if total else "0%"
            scaled = f"{count / 1000**unit:.3f}{_UNITS[unit]}"
            return " " * level + title, scaled, share

        return [
            row(name, sum(found.values())),
            *(row(f" - {packet}", count) for packet, count in found.items()),
        ]

    def __enter__(self):
        self.flop_counts.clear()
        self._unknown.clear()
        self.mod_tracker.__enter__()
        self.mode = _Counting(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exception) -> None:
        self.mode.__exit__(*exception)
        self.mode = None
        self.mod_tracker.__exit__(*exception)
        if self.display:
            print(self.get_table())

    def _count(self, part: _flop_parts.Part) -> None:
        formula = self.flop_registry.get(part.packet)
        if formula is None:
            return
        count = formula(*part.args, out_val=part.out, **part.kwargs)
        for name in set(self.mod_tracker.parents):
            self.flop_counts[name][part.packet] += count

    def _note(self, packet) -> None:
        """Counts a call of an operator without a formula."""
        for name in set(self.mod_tracker.parents):
            self._unknown[name][packet] += 1


class _Counting(TorchDispatchMode):
    _sees_whole = True

    def __init__(self, counter: FlopCounterMode) -> None:
        super().__init__()
        self.counter = counter

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if _flop_parts.is_question(func):
            return NotImplemented
        out = func(*args, **kwargs)
        known = self.counter.flop_registry
        parts = _flop_parts.of(func, args, kwargs, out, known)
        for part in parts:
            self.counter._count(part)
        if not parts and hasattr(func, "overloadpacket"):
            self.counter._note(func.overloadpacket)
        return out


def _counts() -> defaultdict:
    return defaultdict(lambda: defaultdict(int))


def _table(rows: list[tuple]) -> str:
    """Columns two spaces apart, the first from the left."""
    rows = [("Module", "FLOP", "% Total"), *rows]
    widths = [max(len(row[i]) for row in rows) for i in range(3)]
    lines = [
        f"{a:<{widths[0]}}  {b:>{widths[1]}}  {c:>{widths[2]}}" for a, b, c in rows
    ]
    lines.insert(1, "  ".join("-" * width for width in widths))
    return "\n".join(lines)
