"""Which tensors a transform differentiates by, and what it may hand out.

A transform differentiates by tensors of its own: aliases of its arguments that
keep the graph of an enclosing transform, or new leaves. What depends on those
leaves alone, and on leaves that its function made, has no history for the
caller.
"""

from __future__ import annotations

import contextlib
import itertools

from .. import _C, Tensor, enable_grad, is_grad_enabled, zeros_like
from .._trees import flat as _tree
from ..autograd._entry import grad

_ROUND = 2**32
_numbers = itertools.count(1)


class Level:
    """One application of a transform, and the leaves that are its own.

    Levels have numbers, later ones larger ones, in the 32 bits that a leaf has
    for them: they count round and round.
    """

    def __init__(self) -> None:
        self._number = next(_numbers) % _ROUND or next(_numbers) % _ROUND

    @contextlib.contextmanager
    def inside(self):
        """Makes what begins to ask for gradients here the level's own.

        It is a later level's where one runs: a product may be asked for within
        another transform.
        """
        outer = _C._set_leaf_level(self._number)
        if outer and (outer - self._number) % _ROUND < _ROUND // 2:
            _C._set_leaf_level(outer)
        try:
            yield
        finally:
            _C._set_leaf_level(outer)

    def begin(self, value) -> Tensor:
        """The tensor to differentiate by in place of an argument.

        ValueError for what is no tensor, RuntimeError for integers.
        """
        if not isinstance(value, Tensor):
            raise ValueError(
                f"Thing passed to transform API must be Tensor, got {type(value)}"
            )
        if value.requires_grad:
            with enable_grad():
                return value.view_as(value)
        leaf = value.detach()
        if not (leaf.is_floating_point() or leaf.is_complex()):
            raise RuntimeError(
                "only Tensors of floating point dtype can require gradients"
            )
        return leaf.requires_grad_()

    def shared(self, tensors) -> bool:
        """True if somebody else wants derivatives through these tensors."""
        asked = [t for t in tensors if isinstance(t, Tensor)]
        return _C._reaches_below(asked, self._number)

    def end(self, nest):
        """Returns what the caller gets: without the history that only this
        level has.

        Without any under `no_grad`.

        RuntimeError for a leaf that is no tensor.
        """

        def freed(value):
            if not isinstance(value, Tensor):
                raise RuntimeError(
                    f"Expected tensors, got unsupported type {type(value)}"
                )
            if not value.requires_grad:
                return value
            wanted = is_grad_enabled() and self.shared((value,))
            return value if wanted else value.detach()

        return _tree.mapped(freed, nest)


def gradients(
    outputs, inputs, grad_outputs=None, create_graph=True, retain_graph=None
) -> list[Tensor]:
    """Gradients of those outputs that have a history; zeros where unused."""
    given = grad_outputs or (None,) * len(outputs)
    pairs = [(o, g) for o, g in zip(outputs, given) if o.requires_grad]
    if not pairs:
        return [zeros_like(i) for i in inputs]
    found = grad(
        [o for o, _ in pairs],
        inputs,
        [g for _, g in pairs],
        create_graph=create_graph,
        retain_graph=retain_graph,
        allow_unused=True,
    )
    return [zeros_like(i) if g is None else g for g, i in zip(found, inputs)]
