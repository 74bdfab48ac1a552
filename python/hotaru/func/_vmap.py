"""`vmap`: a function of one element applied along a dimension.

hotaru has no batching rules: the function runs once for each slice, and what it
returns is stacked. Values, shapes, gradients and errors of the arguments are
PyTorch's; the speed is that of a loop over slices. Where the function is an
operator with a rule of its own (`library.register_vmap`), the rule runs. So
does a Function's own `vmap` where the mapped function is its `apply`, or gives
back what that makes of mapped arguments and numbers. Of a Function that a
larger function calls the slices are computed.
"""

from __future__ import annotations

import functools

from .. import Tensor, equal
from .._functorch import wholes
from .._functorch.function_rules import OneCall, function_call, watching
from .._functorch.slices import Inputs, check_result, name_of, run_slices, stack_results
from .._trees import flat as _tree


def _join(function, results: list, out_dims, inputs: Inputs):
    """Stacks each leaf of what the calls returned."""
    flat = [_tree.flatten(result, wholes.is_whole) for result in results]
    structure = flat[0][1]
    dims = _out_dims(function, results[0], structure, out_dims)
    name = name_of(function)
    joined = []
    for i, dim in enumerate(dims):
        column = [leaves[i] for leaves, _ in flat]
        if dim is None:
            joined.append(_unmapped(name, column))
            continue
        if all(map(wholes.is_whole, column)):
            lazily = inputs.lazily(column)
            joined.append(wholes.stacked(column, dim, inputs.size, lazily))
            continue
        for leaf in column:
            check_result(name, leaf)
        joined.append(stack_results(column, dim, inputs.size))
    return _tree.unflatten(joined, structure)


def _by_rule(function, rule, inputs, out_dims, randomness: str, kwargs: dict):
    """An operator defined in Python calls its own batching rule."""
    from .._library.vmap import run_rule

    leaves, structure = run_rule(rule, inputs, randomness, kwargs)
    result = _tree.unflatten(leaves, structure)
    dims = _out_dims(function, result, structure, out_dims)
    moved = [
        leaf.movedim(0, dim) if isinstance(leaf, Tensor) else leaf
        for leaf, dim in zip(leaves, dims)
    ]
    return _tree.unflatten(moved, structure)


def _unmapped(name: str, column: list):
    """A result without the mapped dimension: all calls have to agree on it."""
    first = column[0]
    for other in column:
        if isinstance(first, Tensor) and not (
            other is first or (other.shape == first.shape and equal(other, first))
        ):
            raise ValueError(
                f"vmap({name}, ...): `{name}` can not return a BatchedTensor "
                "when out_dim is None"
            )
    return first


def _out_dims(function, result, structure, out_dims) -> list:
    if isinstance(result, Tensor) or wholes.is_whole(result):
        if isinstance(out_dims, tuple) and len(out_dims) == 1:
            out_dims = out_dims[0]
        dims = None if _tree._is_node(out_dims) else [out_dims]
    else:
        dims = _tree.spread(out_dims, structure)
    if dims is None:
        raise ValueError(
            f"vmap({name_of(function)}, ..., out_dims={out_dims})(<inputs>): "
            "out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {_tree.flatten(out_dims)[1]} but outputs "
            f"has structure {structure}."
        )
    return dims


def _check_out_dims(function, out_dims) -> None:
    for dim in _tree.flatten(out_dims)[0]:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({name_of(function)}, ..., out_dims={out_dims}): "
                "`out_dims` must be an int, None or a python collection of "
                "ints representing where in the outputs the vmapped dimension "
                "should appear."
            )


def vmap(
    func,
    in_dims=0,
    out_dims=0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
):
    """Maps a function of single elements over a dimension of its arguments.

    The function is called once for each slice, in order, and the results are
    stacked: values are PyTorch's, speed is that of a loop. Whatever works on a
    slice works here, `.item()` and control flow on values too, which PyTorch
    refuses; writing in place into what is not mapped, an argument or what the
    function captured, is refused where there is more than one slice, and so is
    a layer in training that would update its statistics. For a size of zero the
    function runs once, over zeros.

    Args:
        func: takes and returns tensors, also in tuples, lists, dictionaries.
        in_dims: the dimension of each argument to map over, None for one that
            each call gets whole; an int or a nest like the arguments' tuple.
        out_dims: where the mapped dimension stands in each result; None for
            one that is the same in each call.
        randomness: "error" refuses draws from the default generator,
            "different" lets each call draw on, "same" gives all the same. The
            numbers of "different" are those of successive calls.
        chunk_size: accepted and checked; a loop holds one slice at a time.

    Returns:
        A function of the same positional arguments, with the mapped dimension;
        keyword arguments go to each call as they are.

    Raises:
        ValueError: dimensions that fit neither arguments nor results.
        RuntimeError: an unknown `randomness`, or a draw under "error".
    """
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or "
            f"'same'. Got {randomness}"
        )
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(
            f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})"
        )

    @functools.wraps(func, updated=())
    def mapped(*args, **kwargs):
        _check_out_dims(func, out_dims)
        inputs = Inputs(func, in_dims, args)
        rule = getattr(func, "_vmap_rule", None)
        if rule is not None:
            return _by_rule(func, rule, inputs, out_dims, randomness, kwargs)
        try:
            given = function_call(func, inputs, kwargs)
            if given is None:
                watched = watching(func, inputs)
                results = run_slices(watched, inputs, randomness, kwargs)
                return _join(func, results, out_dims, inputs)
        except OneCall as found:
            given = found.args
        rule, given = given
        return _by_rule(func, rule, given, out_dims, randomness, {})

    return mapped
