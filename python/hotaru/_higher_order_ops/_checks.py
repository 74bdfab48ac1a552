"""Limits on functions that run as operators, and how they are said."""

from __future__ import annotations

import functools

from .. import _C, Tensor, float32, stack
from ..utils import _pytree as pytree

__all__ = [
    "check_same",
    "check_scan",
    "check_specs",
    "is_unknown",
    "own_memory",
    "refuse",
    "refuse_change",
    "row_count",
    "shares",
    "stack_leaves",
    "stack_trees",
    "watched",
]


def refuse(operator: str, text: str):
    """Raises what PyTorch raises of a function that it can't capture."""
    from .._dynamo.exc import UncapturedHigherOrderOpError

    raise UncapturedHigherOrderOpError(f"{text}\n  Higher Order Operator: {operator}")


def check_scan(combine_fn, dim, reverse, error: type) -> None:
    """Checks arguments of loops over rows; `error`, or RuntimeError."""
    if not callable(combine_fn):
        raise error(f"Combine_fn must be a callable, but got {combine_fn}")
    if not isinstance(dim, int):
        raise error(f"Dim must be an int, but got {type(dim)}")
    if not isinstance(reverse, bool):
        raise RuntimeError(f"Reverse must be a bool, but got {type(reverse)}")


def check_specs(first, second) -> None:
    if first != second:
        raise RuntimeError(
            "Unmatched output spec from torch.cond branches: true branch "
            f"tree_spec {first} vs false branch tree_spec {second}."
        )


def check_same(operator: str, left: list, right: list, names: tuple[str, str]) -> None:
    """UncapturedHigherOrderOpError where two lists of what a loop carries
    differ in more than values and strides.

    Args:
        operator: as it is called in the text.
        left: tensors and integers.
        right: as many of the same kinds.
        names: of the lists.
    """
    if len(left) != len(right):
        refuse(
            operator,
            f"Expected {names[0]} and {names[1]} to have same number of "
            f"outputs but got lhs:{_shown_all(left)} and "
            f"rhs:{_shown_all(right)}",
        )
    found = []
    for place, (a, b) in enumerate(zip(left, right)):
        for text in _differences(a, b):
            found.append(
                f"pair[{place}] differ in {text}, where lhs is {_shown(a)} and "
                f"rhs is {_shown(b)}"
            )
    if found:
        lines = "\n".join(found)
        refuse(
            operator,
            f"Expected {names[0]} and {names[1]} to have same metadata but "
            f"found:\n{lines}",
        )


def _differences(a, b) -> list[str]:
    """In what two things that a loop carries differ."""
    if not (isinstance(a, Tensor) and isinstance(b, Tensor)):
        if isinstance(a, int) and isinstance(b, int):
            return []
        return [f"type: {_shown(a)} vs {_shown(b)}"]
    found = []
    if a.shape != b.shape or a.dtype != b.dtype:
        pairs = [
            ("shape", a.shape, b.shape),
            ("dtype", a.dtype, b.dtype),
            ("stride", a.stride(), b.stride()),
        ]
        texts = [f"{what}: {x} vs {y}" for what, x, y in pairs if x != y]
        found.append(", ".join(map(repr, texts)))
    if a.device != b.device:
        found.append("device")
    return found


def _shown(x) -> str:
    """A tensor without its values, as errors have it."""
    if not isinstance(x, Tensor):
        return repr(x)
    facts = [f"size={tuple(x.shape)}"]
    if x.device.type != "cpu":
        facts.insert(0, f"device='{x.device}'")
    if x.dtype is not float32:
        facts.append(f"dtype={x.dtype}")
    return f"FakeTensor(..., {', '.join(facts)})"


def _shown_all(values: list) -> str:
    return f"[{', '.join(map(_shown, values))}]"


def refuse_change(operator: str):
    """Raises that a function has changed what it was given."""
    refuse(
        operator,
        "Encountered input mutation during higher order op tracing\n"
        "  Explanation: Higher order ops do not support input mutation.",
    )


def watched(operator: str, function, tensors: list):
    """The function; UncapturedHigherOrderOpError once a call has changed one
    of the tensors in place. Graphs know nothing of versions: while one is
    captured nobody watches, and the change is a part of it.
    """
    if _C.is_current_stream_capturing():
        return function
    kept = [t for t in tensors if not t.is_inference()]
    before = [t._version for t in kept]

    @functools.wraps(function)
    def run(*args):
        found = function(*args)
        if any(t._version != n for t, n in zip(kept, before)):
            refuse_change(operator)
        return found

    return run


def own_memory(results, inputs: list) -> list:
    """The results; copies of those that share memory with inputs: what an
    operator gives is its own.
    """
    tensors = [x for x in inputs if isinstance(x, Tensor)]
    return [
        x.clone() if isinstance(x, Tensor) and shares(x, tensors) else x
        for x in results
    ]


def shares(x: Tensor, others: list) -> bool:
    """True if a tensor shares memory with any of the others."""
    return any(x is y or _C._shares_storage(x, y) for y in others)


def row_count(xs: list) -> int:
    """How many rows tensors have; RuntimeError where they have not the same.

    Neither may there be none: what a function gives would not be known.
    """
    shapes = [x.shape for x in xs]
    count = shapes[0][0]
    if count == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if any(shape[0] != count for shape in shapes):
        raise RuntimeError(
            f"Leading dimensions of mapped xs must be consistent. Got shapes {shapes}."
        )
    return count


def is_unknown(pred) -> bool:
    """True if a truth value is a tensor without values, a fake one."""
    if _C._answering_class(pred) is Tensor or not isinstance(pred, Tensor):
        return False
    from .._subclasses import FakeTensor

    return isinstance(pred, FakeTensor) and pred.constant is None


def stack_leaves(rows: list) -> list:
    """A tensor of each column of the rows' tensors; None where a column has
    nothing else.
    """
    if len({len(row) for row in rows}) > 1:
        raise RuntimeError(
            "Calls for different rows have given different numbers of results."
        )
    return [_stacked(column) for column in zip(*rows)]


def _stacked(column: tuple):
    if all(isinstance(x, Tensor) for x in column):
        return stack(column)
    if all(x is None for x in column):
        return None
    raise RuntimeError(f"Cannot stack {column}.")


def stack_trees(trees: list):
    """Joins the rows' containers of tensors into one, of all rows together."""
    flat = [pytree.tree_flatten(tree) for tree in trees]
    return pytree.tree_unflatten(
        stack_leaves([leaves for leaves, _ in flat]), flat[0][1]
    )
