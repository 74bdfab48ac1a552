"""A function called once for each slice of its arguments: `vmap` inside.

hotaru has no batching rules. What the calls return is stacked by whoever called
`run_slices`.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from typing import NamedTuple

from .. import (
    _C,
    Tensor,
    get_rng_state,
    no_grad,
    set_rng_state,
    stack,
    strided,
    view_as_complex,
    view_as_real,
)
from .._trees import flat as _tree
from ..autograd._transforms import Within
from . import wholes

_RANDOM = (
    "vmap: called random operation while in randomness error mode. Please "
    "either use the 'same' or 'different' randomness flags on vmap or perform "
    "the randomness operation out of vmap"
)
_NEVER_RANDOM = (
    "vmap: We do not yet support calling random operations inside of vmap. "
    "Please perform random operations outside of vmap as a workaround"
)


class _Inside(threading.local):
    """How many maps this thread is within: there offsets are the first slice's,
    in elements of the tensor that is cut.
    """

    depth = 0


_inside = _Inside()


def name_of(function) -> str:
    """Names a function as errors call it."""
    if hasattr(function, "__name__"):
        return function.__name__
    if isinstance(function, functools.partial):
        return f"functools.partial({name_of(function.func)}, ...)"
    return repr(function)


def one_size(dims, leaves) -> int:
    """The size that all mapped arguments have in their mapped dimension.

    ValueError: there is none, or they differ.
    """
    sizes = [
        wholes.shape_of(leaf)[dim] for dim, leaf in zip(dims, leaves) if dim is not None
    ]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped "
            f"dimension, got sizes {sizes} for the mapped dimension"
        )
    return sizes[0]


def check_result(name: str, result) -> None:
    """ValueError for a result that is no tensor and should be mapped."""
    if not isinstance(result, Tensor):
        raise ValueError(
            f"vmap({name}, ...): `{name}` must only return Tensors, got type "
            f"{type(result)}. Did you mean to set out_dims= to None for output?"
        )


def _has_memory(leaf) -> bool:
    return (
        isinstance(leaf, Tensor)
        and _C._answering_class(leaf) is Tensor
        and leaf.layout is strided
    )


class Inputs:
    """Arguments of a mapped call: which are cut, where, and how often.

    Raises:
        ValueError: `in_dims` that do not fit the arguments, sizes that differ,
            or nothing to map over. With `negative` False no dimension may be
            counted from the end, as in the older `vmap`.
    """

    def __init__(self, function, in_dims, args: tuple, negative: bool = True):
        call = f"vmap({name_of(function)}, in_dims={in_dims}, ...)(<inputs>): "
        if not isinstance(in_dims, (int, tuple)):
            raise ValueError(
                f"{call}expected `in_dims` to be int or a (potentially nested) "
                f"tuple matching the structure of inputs, got: {type(in_dims)}."
            )
        if not args:
            raise ValueError(
                f"vmap({name_of(function)})(<inputs>): got no inputs. "
                "Maybe you forgot to add inputs, or you are trying to vmap "
                "over a function with no inputs. The latter is unsupported."
            )
        self._leaves, self._structure = _tree.flatten(args, wholes.is_whole)
        dims = _tree.spread(in_dims, self._structure)
        if dims is None:
            raise ValueError(
                f"{call}in_dims is not compatible with the structure of "
                f"`inputs`. in_dims has structure {_tree.flatten(in_dims)[1]} "
                f"but inputs has structure {self._structure}."
            )
        for i, (leaf, dim) in enumerate(zip(self._leaves, dims)):
            if isinstance(dim, int) and wholes.is_whole(leaf):
                self._leaves[i] = leaf = wholes.sized(leaf, dim)
            _check_dim(call, leaf, dim, negative)
        self._dims = dims
        # Slices of lazy stacks, by their identity.
        self._lazy: dict[int, object] = {}
        self.size = one_size(self._dims, self._leaves)

    def slice(self, index: int) -> tuple:
        """The arguments of one call. Slices are views: writes are seen."""

        def cut(leaf, dim: int):
            if isinstance(leaf, Tensor):
                return leaf.select(dim, index)
            part = wholes.one_of(leaf, dim, index)
            if dim % len(leaf.batch_size) == getattr(leaf, "stack_dim", None):
                self._lazy[id(part)] = part, type(leaf)
            return part

        return self._with(cut)

    def lazily(self, column: list):
        """The class of the lazy stack whose slices the calls gave back, if any."""
        found = [self._lazy.get(id(part)) for part in column]
        return found[0][1] if all(found) else None

    def stand_in(self) -> tuple:
        """Zeros of a slice's shape, for a dimension of size zero."""

        def zeros(leaf, dim: int):
            if not isinstance(leaf, Tensor):
                return wholes.stand_in(leaf, dim)
            shape = list(leaf.shape)
            del shape[dim]
            return leaf.new_zeros(shape)

        return self._with(zeros)

    def _with(self, cut) -> tuple:
        leaves = [
            cut(leaf, dim)
            if dim is not None
            else (wholes.shared(leaf) if wholes.is_whole(leaf) else leaf)
            for leaf, dim in zip(self._leaves, self._dims)
        ]
        return _tree.unflatten(leaves, self._structure)

    def whole(self) -> tuple[tuple, tuple]:
        """The arguments, and the dimension of each leaf, none negative."""
        dims = [
            dim if dim is None or dim >= 0 else dim + len(wholes.shape_of(leaf))
            for leaf, dim in zip(self._leaves, self._dims)
        ]
        return (
            _tree.unflatten(self._leaves, self._structure),
            _tree.unflatten(dims, self._structure),
        )

    @functools.cached_property
    def _steps(self) -> tuple[list[Tensor], list[int]]:
        """Mapped tensors with memory, and how far apart their slices lie."""
        cut = [
            (leaf, leaf.stride(dim))
            for leaf, dim in zip(self._leaves, self._dims)
            if dim is not None and _has_memory(leaf)
        ]
        return [leaf for leaf, _ in cut], [step for _, step in cut]

    @contextlib.contextmanager
    def at(self, index: int):
        """Tells offsets of `as_strided`, which are the first slice's, where the
        memory of this slice lies.
        """
        tensors, steps = self._steps
        _C._begin_slice(tensors, [index * step for step in steps])
        before = _inside.depth
        _inside.depth = before + 1
        try:
            yield
        finally:
            _inside.depth = before
            _C._end_slice()

    def mapped(self) -> list[Tensor]:
        """The tensors that are cut."""
        return [
            tensor
            for leaf, dim in zip(self._leaves, self._dims)
            if dim is not None
            for tensor in wholes.tensors(leaf)
        ]


class Given(NamedTuple):
    """Arguments of a call, the dimension of each that is mapped, and its size:
    as `Inputs`, for a function that the mapped one calls.
    """

    args: tuple
    dims: tuple
    size: int

    def whole(self) -> tuple[tuple, tuple]:
        """The arguments, and the dimension of each."""
        return self.args, self.dims


def _check_dim(call: str, leaf, dim, negative: bool) -> None:
    if dim is None:
        return
    if not isinstance(dim, int):
        raise ValueError(
            f"{call}Got in_dim={dim} for an input but in_dim must be either an "
            "integer dimension or None."
        )
    if not isinstance(leaf, Tensor) and not wholes.is_whole(leaf):
        raise ValueError(
            f"{call}Got in_dim={dim} for an input but the input is of type "
            f"{type(leaf)}. We cannot vmap over non-Tensor arguments, please "
            "use None as the respective in_dim"
        )
    count = len(wholes.shape_of(leaf))
    least = -count if negative else 0
    if not least <= dim < count:
        raise ValueError(
            f"{call}Got in_dim={dim} for some input, but that input is a "
            f"Tensor of dimensionality {count} so expected in_dim to "
            f"satisfy {least if least or not negative else '-0'} <= in_dim < "
            f"{count}."
        )


class Draws:
    """Random numbers of the calls: refused ("error", and "never", which has
    no other choice to name), new in each ("different"), or alike in all.

    A draw is seen by the CPU generator's state having changed, so also a seed
    set by the function counts, and a generator of its own does not.
    """

    def __init__(self, randomness: str) -> None:
        self._rule = randomness
        self._start = None if randomness == "different" else get_rng_state()

    def before(self) -> None:
        if self._rule == "same":
            set_rng_state(self._start)

    def after(self) -> None:
        if self._rule not in ("error", "never"):
            return
        # By their bytes: no mode has to know the states.
        if memoryview(self._start) != memoryview(get_rng_state()):
            set_rng_state(self._start)
            never = self._rule == "never"
            raise RuntimeError(_NEVER_RANDOM if never else _RANDOM)


class Writes:
    """Refuses writes into what is not mapped: they would happen once for each
    slice, over each other.

    That memory lived before the call is known when the second slice writes into
    it, too; what the first one wrote is taken back then. Later slices are not
    listened to.
    """

    def __init__(self, call: Within) -> None:
        self._call = call
        # Memory that the first slice wrote, kept alive, and what it held.
        self._first: dict[int, tuple] = {}
        self._checks = False

    def slice(self, index: int):
        """The scope of a call of the function."""
        if index > 1:
            self._first.clear()
            return contextlib.nullcontext()
        self._checks = index == 1
        return self._listening()

    @contextlib.contextmanager
    def _listening(self):
        before = _C._set_write_listener(self._before_write)
        try:
            yield
        finally:
            _C._set_write_listener(before)

    def _before_write(self, tensor: Tensor) -> None:
        if self._call.owns(tensor):
            return
        key = _C._storage_address(tensor)
        if not self._checks:
            if key not in self._first:
                alias = tensor.detach()
                self._first[key] = alias, alias.clone()
        elif key in self._first:
            first, self._first = self._first, {}
            with no_grad():
                for alias, held in first.values():
                    alias.copy_(held)
            raise RuntimeError(_UNMAPPED)


_UNMAPPED = (
    "vmap: inplace arithmetic(self, *extra_args) is not possible because there "
    "exists a Tensor `other` in extra_args that has more elements than `self`. "
    "This happened due to `other` being vmapped over but `self` not being "
    "vmapped over in a vmap. Please try to use out-of-place operators instead "
    "of inplace arithmetic. If said operator is being called inside the "
    "PyTorch framework, please file a bug report instead."
)


def run_slices(
    function, inputs: Inputs, randomness: str, kwargs: dict, counts: bool = True
) -> list:
    """Returns what the function returned for each slice; one result for size
    zero.

    `counts` is False for a loop that is no transform to those who ask, as that
    over batches of gradients.
    """
    draws = Draws(randomness)
    call = Within(inputs.mapped(), maps=True)
    writes = Writes(call)
    results = []
    for index in range(max(inputs.size, 1)):
        args = inputs.slice(index) if inputs.size else inputs.stand_in()
        draws.before()
        scope = call if counts else contextlib.nullcontext()
        with scope, writes.slice(index), inputs.at(index):
            results.append(function(*args, **kwargs))
        draws.after()
    return results


def stack_results(results: list, dim: int, size: int) -> Tensor:
    """One tensor of the slices' results, new dimension at `dim`.

    Of results that are views of one tensor, without gradients, it is a view.
    """
    if not size:
        return stack(results, dim).narrow(dim, 0, 0)
    view = _common_view(results, dim)
    return stack(results, dim) if view is None else view


def _common_view(results: list, dim: int) -> Tensor | None:
    """The results as one view of their base, if they lie evenly in it."""
    first = results[0]
    base = first._base
    if base is None or first.requires_grad or first.is_neg() or first.is_conj():
        return None
    same = base.dtype == first.dtype
    if not same and (
        _inside.depth or first.dtype not in (_parts_of(base), _pairs_of(base))
    ):
        return None
    if not -first.dim() - 1 <= dim <= first.dim():
        return None
    start = first.storage_offset()
    step = results[-1].storage_offset() - start
    step //= max(len(results) - 1, 1)
    for i, part in enumerate(results):
        if (
            part._base is not base
            or part.requires_grad
            or part.shape != first.shape
            or part.stride() != first.stride()
            or part.storage_offset() != start + i * step
        ):
            return None
    if step < 0:
        return None
    place = dim % (first.dim() + 1)
    shape, stride = list(first.shape), list(first.stride())
    shape.insert(place, len(results))
    stride.insert(place, step)
    if same:
        whole = (tuple(shape), tuple(stride), start)
        if whole == (base.shape, base.stride(), base.storage_offset()):
            return base
        return base.as_strided(shape, stride, start)
    if base.is_complex():
        return view_as_real(base).as_strided(shape, stride, start)
    pairs = base.as_strided([*shape, 2], [*(2 * s for s in stride), 1], 2 * start)
    return view_as_complex(pairs)


def _parts_of(tensor: Tensor):
    """The dtype of the parts of a complex tensor; None of others."""
    return tensor.dtype.to_real() if tensor.is_complex() else None


def _pairs_of(tensor: Tensor):
    """The dtype that pairs of numbers of a real tensor are; None of others."""
    floats = tensor.is_floating_point() and tensor.dtype.itemsize > 1
    return tensor.dtype.to_complex() if floats else None
