"""Which dimensions of which inputs may be of any size."""

from __future__ import annotations

from collections.abc import Mapping

_UNNAMED = {"AUTO", "DYNAMIC"}


def _dim_name(dim, where: str) -> str | None:
    """A dimension's name, "" for one without, None for one of fixed size."""
    if dim is None or isinstance(dim, int):
        return None
    if isinstance(dim, str):
        return dim
    name = getattr(dim, "__name__", None)
    if name is None and str(dim).startswith("Dim."):
        name = str(dim).removeprefix("Dim.")  # AUTO, DYNAMIC, STATIC
    if not isinstance(name, str):
        raise TypeError(f"{where}: a dimension is {dim!r}; give a name, a Dim, or None")
    if name == "STATIC":
        return None
    return "" if name in _UNNAMED else name


def _leaf_dims(spec, leaf, where: str) -> dict[int, str]:
    """The dynamic dimensions of one tensor, by number."""
    if spec is None:
        return {}
    if isinstance(spec, Mapping):
        pairs = spec.items()
    elif isinstance(spec, (tuple, list)):
        pairs = enumerate(spec)
    else:
        raise TypeError(f"{where}: dynamic shapes of a tensor are {spec!r}")
    out = {}
    for dim, what in pairs:
        name = _dim_name(what, where)
        if name is not None:
            if not -leaf.dim() <= dim < leaf.dim():
                raise IndexError(
                    f"{where}: dimension {dim} of a tensor of {leaf.dim()}"
                )
            out[dim % leaf.dim()] = name
    return out


def _check_count(specs, values, of: str) -> None:
    if len(specs) != len(values):
        raise ValueError(
            f"dynamic_shapes: {len(specs)} entries for the {len(values)} of {of}"
        )


def _walk(value, spec, path: str, is_leaf, out: list) -> None:
    if is_leaf(value):
        out.append(_leaf_dims(spec, value, path))
    elif isinstance(value, Mapping):
        unknown = set(spec or ()) - set(value)
        if unknown:
            raise ValueError(
                f"dynamic_shapes names {sorted(unknown, key=str)} in {path}, "
                f"which has {list(value)}"
            )
        for key, item in value.items():
            inner = None if spec is None else spec.get(key)
            _walk(item, inner, f"{path}[{key!r}]", is_leaf, out)
    elif isinstance(value, (tuple, list)):
        if spec is not None:
            _check_count(spec, value, path)
        for i, item in enumerate(value):
            inner = None if spec is None else spec[i]
            _walk(item, inner, f"{path}[{i}]", is_leaf, out)


def _of_many(spec) -> bool:
    """True if it is for several values: it has no names and no numbers."""
    parts = (type(None), Mapping, tuple, list)
    return isinstance(spec, (tuple, list)) and all(
        isinstance(part, parts) for part in spec
    )


def _spread(dynamic_shapes, named: dict, star: tuple):
    """With an entry for each of `*args` and `**kwargs`, as `named` has them."""
    args, kwargs = star
    numbered = (f"{args}_{i}" for i in range(len(named)))
    extra = [name for name in numbered if args and name in named]
    if isinstance(dynamic_shapes, Mapping):
        spread = dict(dynamic_shapes)
        if args in spread and args not in named:
            spread.update(_each(args, extra, spread.pop(args)))
        if kwargs in spread and kwargs not in named:
            spread.update(spread.pop(kwargs) or {})
        return spread
    specs, first = list(dynamic_shapes), list(named).index
    if extra and first(extra[0]) < len(specs):
        at = first(extra[0])
        if _of_many(specs[at]):
            specs[at : at + 1] = _each(args, extra, specs[at]).values()
    return specs


def _each(name: str, extra: list[str], specs) -> dict:
    if specs is None:
        return dict.fromkeys(extra)
    _check_count(specs, extra, name)
    return dict(zip(extra, specs))


def from_shapes(
    dynamic_shapes, named: dict, is_leaf, star: tuple = (None, None)
) -> list[dict[int, str]]:
    """Reads `dynamic_shapes`, as `torch.export.export` takes them.

    `named` holds the arguments by parameter, in the order of the graph's
    inputs; `star` the names of `*args` and `**kwargs`, whose entries may stand
    together, as there.
    """
    dynamic_shapes = _spread(dynamic_shapes, named, star)
    if isinstance(dynamic_shapes, Mapping):
        unknown = set(dynamic_shapes) - set(named)
        if unknown:
            raise ValueError(
                f"dynamic_shapes names {sorted(unknown)}; the arguments are "
                f"{list(named)}"
            )
        specs = [dynamic_shapes.get(name) for name in named]
    else:
        specs = list(dynamic_shapes)
        if len(specs) != len(named):
            raise ValueError(
                f"dynamic_shapes has {len(specs)} entries for {len(named)} arguments"
            )
    out: list[dict[int, str]] = []
    for (name, value), spec in zip(named.items(), specs):
        _walk(value, spec, name, is_leaf, out)
    return out


def from_axes(dynamic_axes, names: list[str]) -> list[dict[int, str]]:
    """Reads `dynamic_axes`; those of outputs follow from the inputs'."""
    out = []
    for name in names:
        axes = dynamic_axes.get(name, {})
        if not isinstance(axes, Mapping):
            axes = {axis: f"{name}_dynamic_axes_{i + 1}" for i, axis in enumerate(axes)}
        out.append({int(axis): str(label) for axis, label in axes.items()})
    return out
