"""The signature of an operator."""

from __future__ import annotations

from dataclasses import dataclass

from .argument import Argument
from .compatible import backward, forward


@dataclass(frozen=True)
class FunctionSchema:
    """The signature of one overload of an operator."""

    name: str
    overload_name: str
    arguments: list[Argument]
    returns: list[Argument]
    is_vararg: bool = False
    is_varret: bool = False

    @property
    def is_mutable(self) -> bool:
        """True if the operator writes to an argument."""
        return any(a.is_write for a in self.arguments)

    def _is_view_op(self) -> bool:
        """True if a result is a view of an argument that is only read."""
        return not self.is_mutable and any(
            a.alias_info is not None for a in self.arguments
        )

    def is_backward_compatible_with(self, old: FunctionSchema) -> bool:
        """True if calls written for the old schema work with this one."""
        return backward(self, old)

    def check_forward_compatible_with(self, old: FunctionSchema) -> tuple[bool, str]:
        """Tells whether calls written for this schema work with the old one,
        and why not.
        """
        return forward(self, old)

    def __str__(self) -> str:
        text = self.name
        if self.overload_name:
            text += f".{self.overload_name}"
        return f"{text}({self._inside()}) -> {self._results()}"

    __repr__ = __str__

    def _inside(self) -> str:
        parts, starred = [], False
        for argument in self.arguments:
            if argument.kwarg_only and not starred:
                parts.append("*")
                starred = True
            parts.append(str(argument))
        return ", ".join([*parts, "..."] if self.is_vararg else parts)

    def _results(self) -> str:
        if self.is_varret:
            return "..."
        inside = ", ".join(map(str, self.returns))
        bare = len(self.returns) == 1 and not inside.startswith("(")
        return inside if bare else f"({inside})"

    def __hash__(self) -> int:
        parts = (*self.arguments, None, *self.returns)
        return hash((self.name, self.overload_name, parts))
