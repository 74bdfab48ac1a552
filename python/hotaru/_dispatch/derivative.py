"""Derivatives as operators."""

from __future__ import annotations

import threading
from types import SimpleNamespace

from .. import _C, autograd, empty_strided, where, zeros_like
from .._C import Tensor
from .._extension.grad_mode import enable_grad
from ..utils import _pytree
from .stack import nobody_asked

# Draws numbers anew each time, so a second run is not the one to derive.
RANDOM = frozenset(
    name + suffix
    for name in (
        "alpha_dropout",
        "dropout",
        "feature_alpha_dropout",
        "feature_dropout",
        "native_dropout",
        "rrelu",
        "rrelu_with_noise",
    )
    for suffix in ("", "_")
)

# Operators whose writing in place does not depend on what was there.
OVERWRITING = frozenset(
    [
        "bernoulli",
        "cauchy",
        "copy",
        "exponential",
        "geometric",
        "log_normal",
        "normal",
        "random",
        "uniform",
        "zero",
    ]
)


class Overwriting:
    """Stands for what is there once `name`, an operator in place, has run, as
    far as derivatives go: that of what was there is zero.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.__name__ = f"{name}_"

    def __call__(self, old, new=0.0, *_, **__):
        if self.name != "copy":
            new = 0.0
        elif new.dtype != old.dtype:
            new = new.to(old.dtype)
        return where(zeros_like(old, dtype=_C.bool), old, new)

    def __eq__(self, other) -> bool:
        return type(other) is Overwriting and other.name == self.name

    def __hash__(self) -> int:
        return hash((Overwriting, self.name))


class _Depths(threading.local):
    """How often derivatives run within themselves in this thread."""

    def __init__(self) -> None:
        self.of: dict[Derivative, int] = {}


_depths = _Depths()
# More than wrappers are within each other.
_MOST_NESTED = 16


class Derivative:
    """The vector-Jacobian product of an operator, as an operator.

    Called with the gradients of its results (None: zeros), the positions of
    the tensors wanted among its tensors, its arguments and its keywords, it
    gives the gradients of those, None where there is none. It runs the
    operator again. Its own derivative is one, too.
    """

    namespace = "hotaru"
    _overloadname = None

    def __init__(self, function) -> None:
        self.function = function
        self.__name__ = f"{function.__name__}.vjp"
        self.__module__ = "torch.ops.hotaru"
        self.overloadpacket = self

    def name(self) -> str:
        """As in "hotaru::mul.Tensor.vjp"."""
        return f"hotaru::{self.__name__}"

    def __str__(self) -> str:
        return f"hotaru.{self.__name__}"

    def __repr__(self) -> str:
        return f"<Derivative of {self.function!r}>"

    def __eq__(self, other) -> bool:
        return type(other) is Derivative and other.function == self.function

    def __hash__(self) -> int:
        return hash((Derivative, self.function))

    @property
    def vjp(self) -> Derivative:
        """The derivative of the derivative."""
        return Derivative(self)

    def __reduce__(self):
        return Derivative, (self.function,)

    def __call__(self, grads, wanted, args, kwargs):
        depth = _depths.of.get(self, 0)
        if depth >= _MOST_NESTED:
            raise RecursionError(
                f"{self}: the __torch_dispatch__ that answers it hands tensors "
                "of its own class on; it is to unwrap what lies in lists, too "
                "(torch.utils._pytree.tree_map)"
            )
        _depths.of[self] = depth + 1
        try:
            return self._derive(grads, wanted, args, kwargs)
        finally:
            _depths.of[self] = depth

    def _derive(self, grads, wanted, args, kwargs) -> list:
        create_graph = _C.is_grad_enabled() and any(
            isinstance(x, Tensor) and x.requires_grad
            for x in _pytree.tree_leaves((grads, args, kwargs))
        )
        args, kwargs, inputs = _as_inputs(args, kwargs, wanted, create_graph)
        with enable_grad():
            results = _pytree.tree_leaves(self.function(*args, **kwargs))
        pairs = [
            (result, grad)
            for result, grad in zip(results, grads)
            if grad is not None and result.requires_grad
        ]
        if not pairs:
            return [None] * len(wanted)
        outputs, given = zip(*pairs)
        return list(
            autograd.grad(
                outputs, inputs, given, create_graph=create_graph, allow_unused=True
            )
        )


class Derivatives:
    """Derivatives of overloads: `torch.ops.hotaru.mul.Tensor.vjp`."""

    def __init__(self, packet) -> None:
        self._packet = packet

    def __getattr__(self, overload: str):
        return SimpleNamespace(vjp=Derivative(getattr(self._packet, overload)))


def _as_inputs(args, kwargs, wanted, keep: bool):
    """The arguments with the tensors to derive by, and those."""
    inputs: list[Tensor] = []
    place = -1

    def convert(x):
        nonlocal place
        if not isinstance(x, Tensor):
            return x
        place += 1
        if place not in wanted:
            return x if keep else x.detach()
        found = x if keep and x.requires_grad else x.detach().requires_grad_()
        inputs.append(found)
        return found

    args, kwargs = _pytree.tree_map(convert, (args, kwargs))
    return args, kwargs, inputs


def inputs_that_matter(call, places: list[int]) -> list[int]:
    """Which of the tensors at `places` a derivative depends on; nobody is
    asked for the operators that find out.
    """
    with nobody_asked():
        return _that_matter(call, places)


def _that_matter(call, places: list[int]) -> list[int]:
    """Which of the tensors at `places` a derivative depends on: that of a sum
    does not on what is summed. Found by deriving shapes alone, on the meta
    device; all of them where that fails.
    """
    shapes = [
        empty_strided(t.size(), t.stride(), dtype=t.dtype, device="meta")
        for t in call.tensors
    ]
    for place in places:
        shapes[place].requires_grad_()
    try:
        with enable_grad():
            twin = call.with_tensors(shapes)
            results = twin.function(*twin.args, **twin.kwargs)
            outputs = [r for r in results if isinstance(r, Tensor) and r.requires_grad]
            if not outputs:
                return []
            found = autograd.grad(
                outputs,
                [shapes[place] for place in places],
                [zeros_like(r) for r in outputs],
                allow_unused=True,
            )
    except (RuntimeError, NotImplementedError):
        return places
    return [p for p, grad in zip(places, found) if grad is not None]
