"""Transforms by the backward pass: gradients, products and Jacobians."""

from __future__ import annotations

import functools

from .. import Tensor, enable_grad, inference_mode, is_grad_enabled, stack
from .._trees import flat as _tree
from ..autograd._transforms import Within
from ._arguments import check_outputs, check_real, positions, split_aux
from ._levels import Level, gradients


class Applied:
    """A function applied to tensors that it can be differentiated by.

    `own` holds these, one nest for each place of `argnums` (all arguments for
    None), `output` what the function returned and `aux` what came beside it.
    With `forward` the transform is one in the function's direction.
    """

    def __init__(
        self, func, args, kwargs, argnums, has_aux, api, forward=False
    ) -> None:
        self.level = Level()
        places = range(len(args))
        if argnums is not None:
            places = positions(argnums, len(args))
        with inference_mode(False), enable_grad(), self.level.inside():
            full = list(args)
            for place in places:
                full[place] = _tree.mapped(self.level.begin, args[place])
            self.own = tuple(full[place] for place in places)
            tensors = _tree.flatten((full, kwargs))[0]
            own = [x for x in tensors if isinstance(x, Tensor)]
            with Within(own, forward=forward):
                result = func(*full, **kwargs)
        self.output, self.aux = split_aux(result, has_aux, api)
        self.argnums = argnums

    def single(self, values: tuple):
        """One value a place; the value itself for an `argnums` of one int."""
        return values[0] if isinstance(self.argnums, int) else values


def grad_and_value(func, argnums=0, has_aux: bool = False):
    """A function that gives the gradient of a scalar function and its value.

    Derivatives nest to any order, and tensors that the function captured stay
    differentiable for the caller. `no_grad` around the call has no effect on
    the derivative, only on what may be derived from the result; one inside of
    the function counts.

    Args:
        func: returns a floating-point tensor without dimensions; (output, aux)
            with `has_aux`.
        argnums: the place of the argument to differentiate by, or a tuple of
            places. Arguments there may be nests of tensors.
        has_aux: whether something is returned beside the output.

    Returns:
        A function giving (gradient, value), or (gradient, (value, aux)).

    Raises:
        RuntimeError: an output that is no scalar tensor, places out of range,
            integers to differentiate by.
        ValueError: an argument to differentiate by that is no tensor.
    """
    api = "grad_and_value(f)(*args)"

    @functools.wraps(func, updated=())
    def wrapper(*args, **kwargs):
        run = Applied(func, args, kwargs, argnums, has_aux, api)
        output = run.output
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"{api}: Expected f(*args) to return a Tensor, got {type(output)}"
            )
        if output.dim() != 0:
            raise RuntimeError(
                f"{api}: Expected f(*args) to return a scalar Tensor, got "
                f"tensor with {output.dim()} dims. "
                "Maybe you wanted to use the vjp or jacrev APIs instead?"
            )
        leaves, structure = _tree.flatten(run.single(run.own))
        again = is_grad_enabled() and run.level.shared((output,))
        with inference_mode(False), enable_grad(), run.level.inside():
            found = gradients((output,), leaves, None, again, True)
        result = run.level.end(_tree.unflatten(found, structure))
        value = run.level.end(output)
        if has_aux:
            return result, (value, run.level.end(run.aux))
        return result, value

    return wrapper


def grad(func, argnums=0, has_aux: bool = False):
    """A function that gives the gradient of a scalar function.

    As `grad_and_value`, without the value: (gradient, aux) with `has_aux`.
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func, updated=())
    def wrapper(*args, **kwargs):
        result, value = both(*args, **kwargs)
        return (result, value[1]) if has_aux else result

    return wrapper


class Pullback:
    """From cotangents of a function's outputs to those of its arguments."""

    def __init__(self, run: Applied) -> None:
        self._run = run
        self.leaves, self._structure = _tree.flatten(run.output)
        check_outputs(self.leaves, "vjp(f, *primals)")
        for leaf in self.leaves:
            if not (leaf.is_floating_point() or leaf.is_complex()):
                raise RuntimeError(
                    "vjp(f, ...): All outputs of f must be floating-point or "
                    f"complex Tensors, got Tensor with dtype {leaf.dtype}"
                )
        self.own, self.own_structure = _tree.flatten(run.single(run.own))
        self._shared = run.level.shared(self.leaves)

    def __call__(
        self, cotangents, retain_graph: bool = True, create_graph: bool | None = None
    ):
        """The products, in the structure of the arguments.

        RuntimeError for cotangents in another structure than the outputs.
        """
        given, structure = _tree.flatten(cotangents)
        if structure != self._structure:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as "
                "pytree structure of outputs to the function. "
                f"cotangents: {_tree.short(structure)}, primal output: "
                f"{_tree.short(self._structure)}"
            )
        if create_graph is None:
            create_graph = is_grad_enabled()
        wanted = self._shared or any(
            isinstance(g, Tensor) and g.requires_grad for g in given
        )
        found = self.products(given, create_graph and wanted, retain_graph)
        return _tree.unflatten(found, self.own_structure)

    def products(self, given, create_graph, retain_graph=True) -> list[Tensor]:
        """The products by leaves, without history that is the level's own."""
        with inference_mode(False), self._run.level.inside():
            found = gradients(self.leaves, self.own, given, create_graph, retain_graph)
        return [self._run.level.end(leaf) for leaf in found]


def vjp(func, *primals, has_aux: bool = False):
    """The function's output, and a function for vector-Jacobian products.

    Args:
        func: takes `primals` (tensors or nests of them) and returns
            floating-point tensors, also nested; (output, aux) with `has_aux`.

    Returns:
        (output, vjp_fn) or (output, vjp_fn, aux). `vjp_fn(cotangents)` takes
        cotangents in the structure of the output and gives a tuple with one
        product for each primal; it may be called again and again.

    Raises:
        RuntimeError: outputs that are no floating-point tensors, or cotangents
            in another structure.
    """
    return _vjp(func, primals, None, has_aux)


def _vjp(func, primals: tuple, argnums, has_aux: bool) -> tuple:
    api = "vjp(f, *primals)"
    run = Applied(func, primals, {}, argnums, has_aux, api)
    pullback = Pullback(run)
    output = run.level.end(run.output)
    if has_aux:
        return output, pullback, run.level.end(run.aux)
    return output, pullback


def rows(pullback: Pullback, output: Tensor, place: int) -> list[Tensor]:
    """The Jacobian of the output leaf at `place`, one tensor an argument."""
    found = []
    for i in range(output.numel()):
        given = [leaf.new_zeros(leaf.shape) for leaf in pullback.leaves]
        given[place].view(-1)[i] = 1
        wanted = pullback._shared and is_grad_enabled()
        found.append(pullback.products(given, wanted))
    return [
        stack(column).reshape(output.shape + leaf.shape)
        if column
        else leaf.new_zeros(output.shape + leaf.shape)
        for leaf, column in zip(
            pullback.own, list(zip(*found)) or [()] * len(pullback.own)
        )
    ]


def jacrev(
    func,
    argnums=0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
):
    """A function that gives the Jacobian of a function, row by row.

    One forward and, for each element of the output, one backward pass.

    Args:
        func: takes real tensors and returns real ones, also nested.
        argnums: as in `grad`.
        has_aux: as in `grad`.
        chunk_size: accepted and checked; rows are computed one by one.
        _preallocate_and_copy: how PyTorch puts chunks together; no difference.

    Returns:
        A function giving the Jacobian in the structure of the output, in each
        leaf the structure of the arguments, each of the output's shape and
        the argument's behind it; (jacobian, aux) with `has_aux`.

    Raises:
        ValueError: a `chunk_size` below one.
        RuntimeError: complex arguments or outputs, and what `vjp` refuses.
    """
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @functools.wraps(func, updated=())
    def wrapper(*args):
        check_real("jacrev", args, "inputs")
        output, pullback, *aux = _vjp(func, args, argnums, has_aux)
        leaves, structure = _tree.flatten(output)
        check_real("jacrev", leaves, "outputs")
        jacobians = [
            _tree.unflatten(rows(pullback, leaf, i), pullback.own_structure)
            for i, leaf in enumerate(leaves)
        ]
        jacobian = _tree.unflatten(jacobians, structure)
        return (jacobian, aux[0]) if has_aux else jacobian

    return wrapper


def hessian(func, argnums=0):
    """A function that gives the second derivatives of a function.

    Backward passes over backward passes: `jacrev` twice, whose values are
    those of forward over reverse. Arguments and errors are `jacrev`'s.
    """
    return jacrev(jacrev(func, argnums), argnums)
