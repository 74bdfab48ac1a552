"""Transforms in the direction of the function: `jvp`, `jacfwd`, `linearize`.

A Jacobian-vector product is the derivative of the vector-Jacobian product,
which is linear in its vector, by that vector: two backward passes, with any
function that can be differentiated twice. A `jvp` of a program's own Function
takes the place of its `backward` in the first one, so it has to be linear in
its tangents and written in differentiable operators.
"""

from __future__ import annotations

import functools

from .. import Tensor, enable_grad, inference_mode, is_grad_enabled, stack, zeros_like
from .._functorch import constants
from .._functorch.slices import Draws
from .._trees import flat as _tree
from ..autograd._entry import grad
from ..autograd._pushing import pushing
from ..autograd._tangent_rules import check_size
from ._arguments import check_listed, check_outputs, check_real, positions
from ._reverse import Applied
from ._vmap import vmap

_API = "jvp(f, primals, tangents)"
_INDEPENDENT = (
    "jvp(f, primals, tangents, strict=True): The output of f is independent of "
    "the inputs. This is not allowed with strict=True."
)

constants.install()


class Pushforward:
    """From tangents of a function's arguments to those of its outputs."""

    def __init__(self, func, primals: tuple, argnums, has_aux: bool) -> None:
        run = Applied(func, primals, {}, argnums, has_aux, _API, forward=True)
        self._level, self.aux = run.level, run.aux
        self.own, _ = _tree.flatten(run.own)
        self.leaves, self.structure = _tree.flatten(run.output)
        check_outputs(self.leaves, _API)
        self._shared = run.level.shared(self.leaves)
        self._live = [leaf for leaf in self.leaves if leaf.requires_grad]
        self._products: tuple = ()
        with inference_mode(False), enable_grad(), run.level.inside():
            self._vectors = [
                zeros_like(leaf, requires_grad=True) for leaf in self._live
            ]
            if self._live:
                with pushing():
                    self._products = grad(
                        self._live,
                        self.own,
                        self._vectors,
                        create_graph=True,
                        allow_unused=True,
                    )

    def __call__(self, tangents: list, strict: bool = False) -> list[Tensor]:
        """One tangent an output leaf; zeros for one that depends on nothing.

        RuntimeError for that under `strict`.
        """
        pairs = [
            (product, tangent)
            for product, tangent in zip(self._products, tangents)
            if product is not None and product.requires_grad
        ]
        values: tuple = (None,) * len(self._vectors)
        if pairs:
            again = is_grad_enabled() and (
                self._shared or any(t.requires_grad for _, t in pairs)
            )
            with inference_mode(False), self._level.inside():
                values = grad(
                    [product for product, _ in pairs],
                    self._vectors,
                    [tangent for _, tangent in pairs],
                    create_graph=again,
                    retain_graph=True,
                    allow_unused=True,
                )
        found = iter(values)
        result = []
        for leaf in self.leaves:
            tangent = next(found) if leaf.requires_grad else None
            if tangent is None and strict:
                raise RuntimeError(_INDEPENDENT)
            result.append(
                zeros_like(leaf, requires_grad=False)
                if tangent is None
                else self._level.end(tangent)
            )
        return result

    def output(self):
        """Returns what the function returned, as the caller may have it."""
        return self._level.end(_tree.unflatten(self.leaves, self.structure))

    def beside(self):
        """Returns what the function returned beside it."""
        return self._level.end(self.aux)


def _check_tangents(primals: list, tangents: list) -> None:
    for primal, tangent in zip(primals, tangents):
        check_size(primal, tangent)


def jvp(func, primals, tangents, *, strict: bool = False, has_aux: bool = False):
    """The function's output, and a Jacobian-vector product.

    Args:
        func: takes `primals` and returns tensors, also nested; (output, aux)
            with `has_aux`. Its backward formulas must be differentiable.
        primals: a tuple of tensors or of nests of them.
        tangents: the same structure and shapes.
        strict: an error in place of zeros for an output that does not depend
            on the primals.

    Returns:
        (output, product) or (output, product, aux).

    Raises:
        RuntimeError: primals that are no tuple, other structures or shapes of
            tangents, outputs that are no tensors, or what `strict` forbids.
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_API}: Expected primals to be a tuple. E.g. "
            "it should be valid to call f(*primals)."
        )
    leaves, structure = _tree.flatten(primals)
    vectors, other = _tree.flatten(tangents)
    if structure != other:
        raise RuntimeError(
            f"{_API}: Expected primals and tangents to have the same python "
            "structure. For example, if primals is a tuple of 3 tensors, "
            f"tangents also must be. Got primals with structure {structure} "
            f"and tangents with structure {other}"
        )
    check_listed(leaves, _API, "primals")
    check_listed(vectors, _API, "tangents")
    _check_tangents(leaves, vectors)
    push = Pushforward(func, primals, None, has_aux)
    product = _tree.unflatten(push(vectors, strict), push.structure)
    if has_aux:
        return push.output(), product, push.beside()
    return push.output(), product


def _basis(leaves: list, place: int, element: int) -> list[Tensor]:
    vectors = [leaf.new_zeros(leaf.shape) for leaf in leaves]
    vectors[place].view(-1)[element] = 1
    return vectors


def jacfwd(func, argnums=0, has_aux: bool = False, *, randomness="error"):
    """A function that gives the Jacobian of a function, column by column.

    One forward pass and a pair of backward passes for each element of the
    arguments.

    Args:
        func: takes real tensors and returns real ones, also nested.
        argnums: as in `grad`; None for all arguments.
        has_aux: as in `grad`.
        randomness: as in `vmap`. With "different" the function runs once for
            each column, else once.

    Returns:
        As `jacrev`.

    Raises:
        RuntimeError: complex arguments or outputs, random draws under "error",
            and what `jvp` refuses.
    """

    @functools.wraps(func, updated=())
    def wrapper(*args):
        check_real("jacfwd", args, "inputs")
        places = range(len(args))
        if argnums is not None:
            places = positions(argnums, len(args))
        chosen = tuple(args[place] for place in places)
        leaves, structure = _tree.flatten(chosen)
        if randomness == "different":
            fresh = functools.partial(_columns_anew, func, args, argnums)
        else:
            # An unknown rule is vmap's to refuse.
            vmap(func, randomness=randomness)
            fresh = functools.partial(_columns_once, func, args, argnums)
        push, columns = fresh(has_aux, leaves, randomness)
        jacobians = [
            _jacobian(leaf, leaves, [column[i] for column in columns])
            for i, leaf in enumerate(push.leaves)
        ]
        nests = [_tree.unflatten(part, structure) for part in jacobians]
        if isinstance(argnums, int):
            nests = [nest[0] for nest in nests]
        jacobian = _tree.unflatten(nests, push.structure)
        return (jacobian, push.beside()) if has_aux else jacobian

    return wrapper


def _columns_once(func, args, argnums, has_aux, leaves, randomness):
    draws = Draws(randomness)
    push = Pushforward(func, args, argnums, has_aux)
    draws.after()
    check_real("jacfwd", push.leaves, "outputs")
    return push, [
        push(_basis(leaves, place, element))
        for place, leaf in enumerate(leaves)
        for element in range(leaf.numel())
    ]


def _columns_anew(func, args, argnums, has_aux, leaves, randomness):
    columns, first = [], None
    for place, leaf in enumerate(leaves):
        for element in range(leaf.numel()):
            push = Pushforward(func, args, argnums, has_aux)
            check_real("jacfwd", push.leaves, "outputs")
            first = first or push
            columns.append(push(_basis(leaves, place, element)))
    return first or Pushforward(func, args, argnums, has_aux), columns


def _jacobian(output: Tensor, leaves: list, columns: list) -> list[Tensor]:
    """One tensor for each argument, of the output's and its shape."""
    parts, start = [], 0
    for leaf in leaves:
        mine = columns[start : start + leaf.numel()]
        start += leaf.numel()
        shape = output.shape + leaf.shape
        parts.append(
            stack(mine, -1).reshape(shape) if mine else output.new_zeros(shape)
        )
    return parts


def linearize(func, *primals):
    """The function's output, and a function for its Jacobian-vector products.

    The function runs once; each product costs one backward pass over what that
    run recorded.

    Returns:
        (output, jvp_fn); `jvp_fn(*tangents)` gives the product in the
        structure of the output.

    Raises:
        RuntimeError: from `jvp_fn`, for tangents whose structure, shape, dtype
            or device is not the primals'.
    """
    push = Pushforward(func, primals, None, False)
    leaves, structure = _tree.flatten(primals)

    def jvp_fn(*tangents):
        vectors, other = _tree.flatten(tangents)
        if other != structure:
            raise RuntimeError(
                f"Expected the tangents {other} to have the same argspec as "
                f"the primals {structure}"
            )
        for place, (vector, leaf) in enumerate(zip(vectors, leaves)):
            for what in ("shape", "device", "dtype"):
                mine, theirs = getattr(vector, what), getattr(leaf, what)
                if mine != theirs:
                    raise RuntimeError(
                        f"tangent:{place} with {what} {mine} in flattened "
                        f"pytree doesn't match the {what} {theirs} of the "
                        "corresponding primal."
                    )
        return _tree.unflatten(push(vectors), push.structure)

    return push.output(), jvp_fn
