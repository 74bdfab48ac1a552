"""Descriptions of sizes for `export`: which vary, and within which bounds."""

from __future__ import annotations

import inspect
import math

from .. import Tensor
from ..utils import _pytree as pytree
from ._errors import UserError

__all__ = ["Dim", "dims"]


class _DimHint:
    """Dim.AUTO, Dim.DYNAMIC or Dim.STATIC; called, one with bounds."""

    def __init__(self, kind: str, min=None, max=None) -> None:
        self.kind, self.min, self.max = kind, min, max

    def __call__(self, min=None, max=None) -> _DimHint:
        if self.kind == "STATIC":
            raise TypeError("'static' dimensions have no bounds")
        return _DimHint(self.kind, min, max)

    def __repr__(self) -> str:
        return f"Dim.{self.kind}"


class Dim:
    """A size that varies, by a name: dimensions of the same one are equal.

    `2 * dim + 1` is a dimension that follows it.

    Args:
        name: an identifier.
        min, max: the least and the greatest size.
    """

    AUTO = _DimHint("AUTO")
    DYNAMIC = _DimHint("DYNAMIC")
    STATIC = _DimHint("STATIC")

    def __init__(self, name: str, *, min=None, max=None) -> None:
        if not str(name).isidentifier():
            raise AssertionError(
                "Dim names must be valid Python identifiers, got " + str(name)
            )
        self.__name__ = name
        self.min = 0 if min is None else min
        self.max = math.inf if max is None else max
        if self.max <= self.min:
            raise AssertionError(
                f"Cannot create Dim with inconsistent min={self.min}, max={self.max}"
            )

    def __repr__(self) -> str:
        return f"Dim('{self.__name__}', min={self.min}, max={self.max})"

    def __add__(self, other: int) -> _DerivedDim:
        return _DerivedDim(self, 1, _whole(other))

    def __sub__(self, other: int) -> _DerivedDim:
        return _DerivedDim(self, 1, -_whole(other))

    def __mul__(self, other: int) -> _DerivedDim:
        if _whole(other) <= 0:
            raise NotImplementedError(
                f"Attempted to multiply {self.__name__} with {other}, where a "
                "positive integer was expected."
            )
        return _DerivedDim(self, other, 0)

    __radd__ = __add__
    __rmul__ = __mul__


class _DerivedDim(Dim):
    """`factor * root + offset`."""

    def __init__(self, root: Dim, factor: int, offset: int) -> None:
        self.root, self.factor, self.offset = root, factor, offset
        name = root.__name__ if factor == 1 else f"{factor}*{root.__name__}"
        if offset:
            name += f" {'+' if offset > 0 else '-'} {abs(offset)}"
        self.__name__ = name
        self.min = factor * root.min + offset
        self.max = factor * root.max + offset

    def __add__(self, other: int) -> _DerivedDim:
        offset = self.offset + _whole(other)
        return _DerivedDim(self.root, self.factor, offset)

    def __sub__(self, other: int) -> _DerivedDim:
        return self + -_whole(other)

    def __mul__(self, other: int) -> _DerivedDim:
        factor = self.factor * _whole(other)
        return _DerivedDim(self.root, factor, self.offset * other)

    __radd__ = __add__
    __rmul__ = __mul__


def _whole(value) -> int:
    if type(value) is not int:
        raise NotImplementedError(f"Dims are derived by integers, not by {value!r}")
    return value


def dims(*names: str, min=None, max=None) -> tuple[Dim, ...]:
    """Several `Dim`s with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


_MORE = (
    "For more information about this error, see: https://pytorch.org/docs/main/"
    "generated/exportdb/index.html#dynamic-shapes-validation"
)
_WANTED = (
    "(expected either a list/tuple of dimensions, or a dict mapping indices to "
    "dimensions, where each dimension is an int, a Dim, Dim.AUTO, Dim.STATIC, "
    "or Dim.DYNAMIC)"
)


def by_name(module, args: tuple, kwargs: dict) -> dict:
    """The arguments by the names of forward's parameters."""
    try:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
    except ValueError:
        return {f"arg{i}": x for i, x in enumerate(args)} | kwargs
    found = {}
    for name, value in bound.arguments.items():
        kind = bound.signature.parameters[name].kind
        if kind is inspect.Parameter.VAR_KEYWORD:
            found.update(value)
        else:
            found[name] = value
    return {**found, **{k: v for k, v in kwargs.items() if k not in found}}


def of_leaves(named: dict, shapes) -> list[dict]:
    """For each leaf of the arguments what `dynamic_shapes` says of its
    dimensions, by their numbers.

    UserError where the structures differ.
    """
    if shapes is None:
        count = len(pytree.tree_leaves(list(named.values())))
        return [{} for _ in range(count)]
    if isinstance(shapes, dict):
        if set(shapes) != set(named):
            raise UserError(
                "When `dynamic_shapes` is specified as a dict, its top-level "
                f"keys must be the arg names {list(named)} of `inputs`, but "
                f"here they are {list(shapes)}. Alternatively, you could also "
                "ignore arg names entirely and specify `dynamic_shapes` as a "
                f"list/tuple matching `inputs`. {_MORE}"
            )
        shapes = [shapes[name] for name in named]
    elif not isinstance(shapes, (list, tuple)):
        raise UserError(
            f"dynamic_shapes must be a dict, list or tuple, not {type(shapes).__name__}"
        )
    if len(shapes) != len(named):
        raise UserError(_mismatch(len(named), len(shapes), ""))
    found: list[dict] = []
    for (name, value), shape in zip(named.items(), shapes):
        _walk(value, shape, f"['{name}']", found)
    return found


def _mismatch(inputs: int, shapes: int, path: str) -> str:
    return (
        "Detected mismatch between the structure of `inputs` and "
        f"`dynamic_shapes`: `inputs{path}` has {inputs} elements, but "
        f"`dynamic_shapes{path}` has {shapes} elements\n{_MORE}"
    )


def _walk(value, shape, path: str, found: list) -> None:
    if isinstance(value, Tensor):
        found.append(_dimensions(value, shape, path))
        return
    children = _children(value)
    if children is None:  # a constant
        found.append({})
        return
    if shape is None:
        shapes = dict.fromkeys(children)
    elif isinstance(value, dict) and isinstance(shape, dict):
        if set(shape) != set(children):
            raise UserError(
                "Detected mismatch between the structure of `inputs` and "
                f"`dynamic_shapes`: `inputs{path}` has keys {list(children)}, "
                f"but `dynamic_shapes{path}` has keys {list(shape)}\n{_MORE}"
            )
        shapes = shape
    elif isinstance(shape, (list, tuple)):
        if len(shape) != len(children):
            raise UserError(_mismatch(len(children), len(shape), path))
        shapes = dict(zip(children, shape))
    else:
        raise UserError(
            "Detected mismatch between the structure of `inputs` and "
            f"`dynamic_shapes`: `inputs{path}` is a {type(value)}, but "
            f"`dynamic_shapes{path}` is a {type(shape)}\n{_MORE}"
        )
    for key, child in children.items():
        _walk(child, shapes[key], f"{path}[{key!r}]", found)


def _children(value) -> dict | None:
    if isinstance(value, dict):
        return dict(value)
    _, spec = pytree.tree_flatten(value)
    if spec.is_leaf():
        return None
    if isinstance(value, (list, tuple)):
        return dict(enumerate(value))
    leaves = pytree.tree_leaves(value)
    return dict(enumerate(leaves))


def _dimensions(tensor, shape, path: str) -> dict:
    if shape is None:
        return {}
    if isinstance(shape, (list, tuple)):
        if len(shape) != tensor.dim():
            raise UserError(
                f"Expected dynamic shape spec {shape} specified at "
                f"`dynamic_shapes{path}` to have the same length as the actual "
                f"tensor shape {tensor.shape} (expected {tensor.dim()}, but "
                f"got {len(shape)} instead)"
            )
        shape = dict(enumerate(shape))
    if not isinstance(shape, dict):
        raise UserError(
            f"Unexpected input tensor shape {shape} specified at "
            f"`dynamic_shapes{path}` {_WANTED}\n{_MORE}"
        )
    found = {}
    for place, dim in shape.items():
        if type(place) is not int or not 0 <= place < tensor.dim():
            raise UserError(
                f"Unexpected dimension {place!r} of a tensor of {tensor.dim()} "
                f"dimensions specified at `dynamic_shapes{path}` {_WANTED}"
            )
        if dim is None or (isinstance(dim, _DimHint) and dim.kind == "STATIC"):
            continue
        if type(dim) is int:
            if dim != tensor.size(place):
                raise UserError(
                    f"Static shape constraint of {dim} does not match input "
                    f"size of {tensor.size(place)}, for inputs{path}.shape"
                    f"[{place}]"
                )
            continue
        if not isinstance(dim, (Dim, _DimHint)):
            raise UserError(
                f"Unexpected dimension mapped to index {place} in input tensor "
                f"shape {shape} specified at `dynamic_shapes{path}[{place}]` "
                "(expected None, an int, a Dim, Dim.AUTO, Dim.STATIC, or "
                f"Dim.DYNAMIC, but got {dim!r} instead)\n{_MORE}"
            )
        found[place] = dim
    return found
