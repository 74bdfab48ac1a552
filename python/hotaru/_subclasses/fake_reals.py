"""Real tensors beside fake ones, to compare what operators give.

With `torch._functorch.config.fake_tensor_propagate_real_tensors` a fake tensor
keeps a copy of the real one it stands for (`real_tensor`); operators run on
those, too.
"""

from __future__ import annotations

from .._C import Tensor
from .._extension.grad_mode import no_grad
from .._prims_common import compare_tensor_meta
from ..utils import _pytree
from ..utils._python_dispatch import _disable_current_modes
from .fake_errors import MetadataMismatchError


def copy_of(tensor: Tensor) -> Tensor:
    """Makes the copy that is kept of a real tensor."""
    with _disable_current_modes():
        return tensor.detach().clone()


class Replay:
    """One call of an operator on real tensors.

    Made before the fake tensors change; `compare` runs it.
    """

    def __init__(self, func, args: tuple, kwargs: dict) -> None:
        self.func = func
        leaves = _pytree.tree_leaves((args, kwargs))
        fakes = [x for x in leaves if isinstance(x, Tensor)]
        self.known = all(_real(x) is not None for x in fakes)
        if self.known:
            self.given = _pytree.tree_map(
                lambda x: _real(x) if isinstance(x, Tensor) else x, (args, kwargs)
            )

    def compare(self, fakes) -> None:
        """MetadataMismatchError where the real result looks otherwise."""
        if not self.known:
            return
        args, kwargs = self.given
        with _disable_current_modes(), no_grad():
            try:
                real = self.func(*args, **kwargs)
            except (RuntimeError, NotImplementedError):
                return  # a device that is not here, or values out of range
        pairs = zip(_pytree.tree_leaves(fakes), _pytree.tree_leaves(real))
        for place, (fake, result) in enumerate(pairs):
            if not isinstance(fake, Tensor) or not isinstance(result, Tensor):
                continue
            try:
                compare_tensor_meta(fake, result, check_strides=True)
            except (AssertionError, RuntimeError) as error:
                raise MetadataMismatchError(
                    "Real tensor propagation found a metadata mismatch "
                    f"between fake tensor {fake} and real tensor of size "
                    f"{tuple(result.shape)}, at output[{place}] of "
                    f"{self.func}: {error}"
                ) from error
            fake.real_tensor = result


def _real(fake: Tensor):
    return fake.__dict__.get("real_tensor")
