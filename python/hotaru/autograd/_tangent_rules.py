"""Rules for the tangents that a Function's `jvp` returns."""

from __future__ import annotations

from typing import NamedTuple

from .. import Tensor

_NO_VIEW = (
    "A custom Function's forward is returning a view (or an input as-is) but "
    "the jvp is not returning a view."
)
_NOT_WRITTEN = (
    "An inplace custom Function is not modifying the forward mode gradients "
    "inplace. If the forward is modifying an input inplace, then the jvp "
    "function must modify the corresponding gradient inplace."
)


class Given(NamedTuple):
    """An argument, its tangent before `jvp` ran, and how often written to."""

    argument: Tensor
    tangent: Tensor
    version: int


def given_to(args: tuple, tangents: list) -> list[Given]:
    """The arguments that have tangents."""
    return [
        Given(a, t, t._version)
        for a, t in zip(args, tangents)
        if isinstance(a, Tensor) and t is not None
    ]


def check_count(found: tuple, outputs: list) -> None:
    """RuntimeError unless there is one for each output."""
    if len(found) != len(outputs):
        raise RuntimeError(
            "Function's jvp returned an invalid number of forward gradients "
            f"(expected {len(outputs)} but got {len(found)})"
        )


def check_size(output: Tensor, tangent: Tensor) -> None:
    if tangent.shape != output.shape:
        raise RuntimeError(
            "Trying to set a forward gradient that has a different size than "
            "that of the original Tensor, this is not supported. "
            f"Tensor is of size {list(output.shape)} while the given forward "
            f"gradient is of size {list(tangent.shape)}."
        )


def check_tangent(
    place: int,
    output: Tensor,
    tangent: Tensor | None,
    given: list[Given],
    written: bool,
    differentiable: bool,
) -> None:
    """Checks whether the tangent may be that of the output.

    Args:
        place: of the output.
        given: the arguments that have tangents.
        written: whether `forward` wrote to the output, an argument.
        differentiable: whether the output may have a tangent.

    Raises:
        RuntimeError: the output has none, the tangent has another size, or was
            not made from an argument's as the output was made from that.
    """
    if tangent is not None and not isinstance(tangent, Tensor):
        raise RuntimeError(
            "expected Variable or None (got "
            f"{type(tangent).__name__}) for grad output {place}."
        )
    if written:
        source = _find(given, lambda g: g.argument is output)
        if source is not None:
            _check_written(tangent, source)
        return
    if tangent is None:
        return
    if not differentiable:
        raise RuntimeError(
            f"Function's jvp returned a gradient at position {place}, but  the "
            "corresponding forward output is not a differentiable Tensor."
            "You should return None at that position instead."
        )
    check_size(output, tangent)
    base = output._base
    if base is not None:
        source = _find(given, lambda g: base in _identities(g.argument))
        if source is not None:
            _check_view(tangent, source)


class _Identities(tuple):
    """Tensors, of which one is in by being the same object."""

    def __contains__(self, tensor) -> bool:
        return any(tensor is own for own in self)


def _identities(tensor: Tensor) -> _Identities:
    """A tensor and what it is a view of."""
    base = tensor._base
    return _Identities((tensor,) if base is None else (tensor, base))


def _find(given: list[Given], condition) -> Given | None:
    return next(filter(condition, given), None)


def _check_written(tangent: Tensor | None, source: Given) -> None:
    same = tangent is source.tangent
    if not same or tangent._version == source.version:
        raise RuntimeError(_NOT_WRITTEN)


def _check_view(tangent: Tensor, source: Given) -> None:
    of_view = source.argument._base is not None
    as_it_is = tangent is source.tangent and not of_view
    if tangent._base is None or as_it_is:
        raise RuntimeError(_NO_VIEW)
    if tangent._base not in _identities(source.tangent):
        whose = "of the same base as" if of_view else "of"
        raise RuntimeError(
            "A custom Function is returning a view but the jvp is not "
            f"returning a view {whose} the given grad input."
        )
