"""Dimensions in another order, joined and split, by a pattern: `rearrange`.

The patterns are those of einops (https://einops.rocks).
"""

from __future__ import annotations

import math
import re

from .. import Tensor, stack

__all__ = ["rearrange"]

# Names, numbers, brackets, the ellipsis; anything else is refused.
_TOKEN = re.compile(r"\s*(\.\.\.|[()]|\w+|\S)")
_ELLIPSIS = "..."
# A side of a pattern: groups of names, each of which is one dimension, and the
# text ... where it stands outside of brackets.
_Side = list[list[str] | str]


def rearrange(tensor, pattern: str, **axes_lengths: int) -> Tensor:
    """The elements of a tensor as `pattern` says: "a (b c) ... -> c a b ...".

    Names in brackets are one dimension of the tensor, the last one the
    innermost; 1 and () are a dimension of one element, ... all dimensions
    without a name.

    Args:
        tensor: or a list of tensors, which are stacked along a new first one.
        axes_lengths: of names; needed for all but one in a bracket on the left.

    Raises:
        ValueError: no such pattern, or it does not fit the tensor.
    """
    if not isinstance(tensor, Tensor):
        tensor = stack(list(tensor))
    left, right = _sides(pattern)
    _check(left, right, axes_lengths)
    count = tensor.dim() - len(left) + (_ELLIPSIS in left)
    if count < 0 or (count and _ELLIPSIS not in left):
        raise ValueError(
            f"Number of dimensions in pattern ({len(left)}) and in tensor "
            f"({tensor.dim()}) must be equal"
        )
    left, right = (_expanded(side, count) for side in (left, right))
    sizes = _sizes(left, tensor.shape, axes_lengths)
    order = {name: i for i, name in enumerate(n for g in left for n in g)}
    split = tensor.reshape([sizes[name] for name in order])
    turned = split.permute([order[n] for g in right for n in g])
    return turned.reshape([math.prod(sizes[n] for n in g) for g in right])


def _sides(pattern: str) -> tuple[_Side, _Side]:
    sides = pattern.split("->")
    if len(sides) != 2:
        raise ValueError("Pattern must contain a single '->' separator")
    return _parsed(sides[0]), _parsed(sides[1])


def _imbalanced(text: str) -> ValueError:
    return ValueError(f"Imbalanced parentheses in expression: {text!r}")


def _parsed(text: str) -> _Side:
    groups: _Side = []
    open_group: list[str] | None = None
    for token in _TOKEN.findall(text):
        if token == "(" and open_group is None:
            open_group = []
        elif token == ")" and open_group is not None:
            groups.append(open_group)
            open_group = None
        elif token in "()":
            raise _imbalanced(text)
        elif open_group is None:
            groups.append(token if token == _ELLIPSIS else _named(token))
        else:
            open_group += _named(token)
    if open_group is not None:
        raise _imbalanced(text)
    names = _names(groups)
    for name in names:
        if names.count(name) > 1:
            raise ValueError(
                f"Indexing expression contains duplicate dimension {name!r}"
            )
    return groups


def _names(side: _Side) -> list[str]:
    """All of them, ... as one."""
    return [
        name
        for group in side
        for name in ([group] if isinstance(group, str) else group)
    ]


def _named(token: str) -> list[str]:
    """The name as what stands for it in a group: 1 is no name at all."""
    if token == _ELLIPSIS:
        return [token]
    if token.isdecimal():
        if token != "1":
            raise ValueError("rearrange only supports unnamed axes of size 1")
        return []
    if not token.isidentifier() or token[0] == "_" or token[-1] == "_":
        raise ValueError(f"Invalid axis identifier: {token}")
    return [token]


def _check(left: _Side, right: _Side, lengths: dict) -> None:
    ours, theirs = set(_names(left)), set(_names(right))
    if _ELLIPSIS in theirs - ours:
        raise ValueError("Ellipsis found in right side, but not left side of a pattern")
    if _ELLIPSIS in ours and _ELLIPSIS not in left:
        raise ValueError("Ellipsis inside parenthesis in the left side is not allowed")
    if ours ^ theirs:
        raise ValueError(
            "Identifiers only on one side of rearrange expression (should be "
            f"on both): {ours ^ theirs}"
        )
    if unknown := lengths.keys() - ours:
        raise ValueError(
            f"Identifiers not found in rearrange expression: {set(unknown)}"
        )


def _expanded(side: _Side, count: int) -> _Side:
    """A side with names for the dimensions that ... stands for."""
    names = [f"{_ELLIPSIS}{i}" for i in range(count)]
    found: _Side = []
    for group in side:
        if group == _ELLIPSIS:
            found += [[name] for name in names]
        elif _ELLIPSIS in group:
            at = group.index(_ELLIPSIS)
            found.append(group[:at] + names + group[at + 1 :])
        else:
            found.append(group)
    return found


def _sizes(left: _Side, shape, lengths: dict[str, int]) -> dict[str, int]:
    """The size of every name."""
    sizes = dict(lengths)
    for group, size in zip(left, shape):
        missing = [name for name in group if name not in sizes]
        if len(missing) > 1:
            raise ValueError(
                f"cannot infer the sizes of {len(missing)} dimensions at once: "
                f"{', '.join(missing)}"
            )
        known = math.prod(sizes[n] for n in group if n in sizes)
        if missing and known and size % known == 0:
            sizes[missing[0]] = size // known
        elif missing or known != size:
            raise ValueError(
                f"inferred dimension does not evenly fit into larger "
                f"dimension: {size} vs ({' '.join(group)})"
            )
    return sizes
