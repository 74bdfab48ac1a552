"""The ways to prune: what computes a mask, and hangs on a module as a hook."""

from __future__ import annotations

from abc import ABC, abstractmethod

import hotaru

from ... import Tensor
from ..modules import Module
from ._pruning_checks import (
    _compute_norm,
    _compute_nparams_toprune,
    _validate_pruning_amount,
    _validate_pruning_amount_init,
    _validate_pruning_dim,
    _validate_structured_pruning,
)


class BasePruningMethod(ABC):
    """A way to prune, and the hook that does it for one tensor.

    Subclasses define `compute_mask` and `PRUNING_TYPE`, which says what they
    are shown when they prune further: "unstructured" entries that are left,
    "structured" channels (along `dim`) that are left, or "global" everything.
    """

    _tensor_name: str

    def __call__(self, module: Module, inputs) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """The mask for `t` (its importance), on top of `default_mask`."""

    def apply_mask(self, module: Module) -> Tensor:
        """The original times its mask."""
        if self._tensor_name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask = getattr(module, self._tensor_name + "_mask")
        original = getattr(module, self._tensor_name + "_orig")
        return mask.to(dtype=original.dtype) * original

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args,
        importance_scores: Tensor | None = None,
        **kwargs,
    ):
        """Prunes `module.name`, further if it is pruned, by a method made of
        the other arguments. An error leaves the module as it was.

        Returns:
            The hook: a `PruningContainer` from the second time on.
        """
        method = _joined(cls(*args, **kwargs), module, name)
        first = not isinstance(method, PruningContainer)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        elif importance_scores.shape != original.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}, got {importance_scores.shape} vs "
                f"{original.shape}"
            )
        if first:
            module.register_parameter(name + "_orig", original)
            del module._parameters[name]
            present = hotaru.ones_like(original)
        else:
            present = getattr(module, name + "_mask").detach()
            present = present.clone(memory_format=hotaru.contiguous_format)
        try:
            mask = method.compute_mask(importance_scores, default_mask=present)
            module.register_buffer(name + "_mask", mask)
            setattr(module, name, method.apply_mask(module))
            module.register_forward_pre_hook(method)
        except Exception:
            if first:
                original = module._parameters.pop(name + "_orig")
                module.register_parameter(name, original)
            raise
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """`t` pruned; no module is involved."""
        if importance_scores is None:
            importance_scores = t
        elif importance_scores.shape != t.shape:
            raise AssertionError(
                "importance_scores should have the same shape as tensor t, got "
                f"{importance_scores.shape} vs {t.shape}"
            )
        if default_mask is None:
            default_mask = hotaru.ones_like(t)
        return t * self.compute_mask(importance_scores, default_mask=default_mask)

    def remove(self, module: Module) -> None:
        """Makes the pruned tensor the parameter; the hook itself stays."""
        name = self._tensor_name
        if name is None:
            raise AssertionError(
                f"Module {module} has to be pruned before pruning can be removed"
            )
        pruned = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = pruned.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def keys_of(module: Module, name: str) -> list:
    """Keys of the hooks that prune this tensor."""
    return [
        key
        for key, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]


def _joined(method, module: Module, name: str):
    """The method, behind those whose hook it takes the place of."""
    method._tensor_name = name
    keys = keys_of(module, name)
    if len(keys) > 1:
        raise AssertionError(
            "Avoid adding multiple pruning hooks to the same tensor "
            f"{name} of module {module}. Use a PruningContainer."
        )
    if not keys:
        return method
    known = module._forward_pre_hooks.pop(keys[0])
    if not isinstance(known, PruningContainer):
        known = PruningContainer(known)
    known.add_pruning_method(method)
    return known


class PruningContainer(BasePruningMethod):
    """Methods that pruned a tensor one after the other."""

    def __init__(self, *args: BasePruningMethod) -> None:
        self._pruning_methods: tuple = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod | None) -> None:
        """Appends one; TypeError, ValueError if it prunes something else."""
        if method is not None:
            if not isinstance(method, BasePruningMethod):
                raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
            if self._tensor_name != method._tensor_name:
                raise ValueError(
                    "Can only add pruning methods acting on the parameter "
                    f"named '{self._tensor_name}' to PruningContainer {self}. "
                    f"Found '{method._tensor_name}'"
                )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, idx):
        return self._pruning_methods[idx]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Computes what the last method makes of the part that is left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype)
        left = _left(method, t, default_mask)
        found = method.compute_mask(t[left], default_mask=default_mask[left])
        mask[left] = found.to(dtype=mask.dtype)
        return mask


def _left(method: BasePruningMethod, t: Tensor, mask: Tensor):
    """Index of what the method is shown of a tensor with this mask."""
    kind = method.PRUNING_TYPE
    if kind == "unstructured":
        return mask == 1
    everything = [slice(None)] * t.dim()
    if kind == "global":
        return tuple(everything)
    if kind != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {kind}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            'Pruning methods of PRUNING_TYPE "structured" need to have the '
            "attribute `dim` defined."
        )
    dim = method.dim if method.dim >= 0 else method.dim + t.dim()
    if dim < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {t.dim()}")
    others = [axis for axis in range(t.dim()) if axis != dim]
    everything[dim] = mask.sum(dim=others) != 0
    return tuple(everything)


class Identity(BasePruningMethod):
    """Prunes nothing: a mask of ones."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        return default_mask

    @classmethod
    def apply(cls, module: Module, name: str):
        return super().apply(module, name)


class _Entries(BasePruningMethod):
    """Prunes an amount of entries: a number of them, or a fraction of all."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: float) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        """Positions in the flattened tensor."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        count = _compute_nparams_toprune(self.amount, t.nelement())
        _validate_pruning_amount(count, t.nelement())
        mask = default_mask.clone(memory_format=hotaru.contiguous_format)
        if count != 0:
            mask.view(-1)[self._chosen(t, count)] = 0
        return mask


class RandomUnstructured(_Entries):
    """Prunes entries at random."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return hotaru.rand_like(t).view(-1).topk(count).indices

    @classmethod
    def apply(cls, module: Module, name: str, amount: float):
        return super().apply(module, name, amount=amount)


class L1Unstructured(_Entries):
    """Prunes the entries of the least magnitude."""

    def _chosen(self, t: Tensor, count: int) -> Tensor:
        return t.abs().view(-1).topk(count, largest=False).indices

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        amount: float,
        importance_scores: Tensor | None = None,
    ):
        return super().apply(
            module, name, amount=amount, importance_scores=importance_scores
        )


class _Channels(BasePruningMethod):
    """Prunes an amount of channels: a number of them, or a fraction of all."""

    PRUNING_TYPE = "structured"

    def _kept(self, t: Tensor, pruned: int) -> Tensor:
        """Index of the channels that stay."""
        raise NotImplementedError

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        _validate_structured_pruning(t)
        _validate_pruning_dim(t, self.dim)
        channels = t.shape[self.dim]
        count = _compute_nparams_toprune(self.amount, channels)
        _validate_pruning_amount(count, channels)
        kept = self._kept(t, count)
        if count == 0:
            return default_mask
        mask = hotaru.zeros_like(t)
        where = [slice(None)] * t.dim()
        where[self.dim] = kept
        mask[tuple(where)] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class RandomStructured(_Channels):
    """Prunes channels along axis `dim` at random."""

    def __init__(self, amount: float, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.dim = dim

    def _kept(self, t: Tensor, pruned: int) -> Tensor | None:
        if pruned == 0:
            return None
        draws = hotaru.rand(t.shape[self.dim])
        return draws > draws.kthvalue(pruned).values

    @classmethod
    def apply(cls, module: Module, name: str, amount: float, dim: int = -1):
        return super().apply(module, name, amount=amount, dim=dim)


class LnStructured(_Channels):
    """Prunes the channels along axis `dim` of the least n-norm."""

    def __init__(self, amount: float, n, dim: int = -1) -> None:
        _validate_pruning_amount_init(amount)
        self.amount = amount
        self.n = n
        self.dim = dim

    def _kept(self, t: Tensor, pruned: int) -> Tensor:
        norms = _compute_norm(t, self.n, self.dim)
        return norms.topk(t.shape[self.dim] - pruned, largest=True).indices

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        amount: float,
        n,
        dim: int,
        importance_scores: Tensor | None = None,
    ):
        return super().apply(
            module,
            name,
            amount=amount,
            n=n,
            dim=dim,
            importance_scores=importance_scores,
        )


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Tensor) -> None:
        self.mask = mask

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask "
                f"shape {self.mask.shape}"
            )
        return default_mask * self.mask.to(dtype=default_mask.dtype)

    @classmethod
    def apply(cls, module: Module, name: str, mask: Tensor):
        return super().apply(module, name, mask=mask)


# Their names are those of the module that offers them.
for _type in (
    BasePruningMethod,
    PruningContainer,
    Identity,
    RandomUnstructured,
    L1Unstructured,
    RandomStructured,
    LnStructured,
    CustomFromMask,
):
    _type.__module__ = "hotaru.nn.utils.prune"
