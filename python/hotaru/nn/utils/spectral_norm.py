"""Spectral normalisation by a hook (Miyato et al. 2018, arXiv 1802.05957).

New programs use `parametrizations.spectral_norm`, which computes the weight at
each access instead of before each call.
"""

from __future__ import annotations

import hotaru

from ... import Tensor, no_grad
from .. import functional as F
from ..modules import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, Module
from ..parameter import Parameter, is_lazy

__all__ = [
    "SpectralNorm",
    "SpectralNormLoadStateDictPreHook",
    "SpectralNormStateDictHook",
    "remove_spectral_norm",
    "spectral_norm",
]


def check_iterations(n_power_iterations: int) -> None:
    if n_power_iterations <= 0:
        raise ValueError(
            "Expected n_power_iterations to be positive, but got "
            f"n_power_iterations={n_power_iterations}"
        )


class SpectralNorm:
    """The hook: a weight over its largest singular value, estimated by a power
    iteration on the buffers `…_u` and `…_v`.
    """

    # 1: the state has `…_v` and no weight.
    _version = 1

    def __init__(
        self,
        name: str = "weight",
        n_power_iterations: int = 1,
        dim: int = 0,
        eps: float = 1e-12,
    ) -> None:
        check_iterations(n_power_iterations)
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Tensor) -> Tensor:
        """Outputs × all other axes."""
        if self.dim != 0:
            weight = weight.movedim(self.dim, 0)
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Module, do_power_iteration: bool):
        """The normed weight."""
        weight, u, v = (
            getattr(module, self.name + suffix) for suffix in ("_orig", "_u", "_v")
        )
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                # In place, so that modules which share the buffers see it; and
                # copied, as the next call comes maybe before the backward pass.
                for _ in range(self.n_power_iterations):
                    self._norm(hotaru.mv(matrix.t(), u), v)
                    self._norm(hotaru.mv(matrix, v), u)
                u = u.clone(memory_format=hotaru.contiguous_format)
                v = v.clone(memory_format=hotaru.contiguous_format)
        return weight / hotaru.dot(u, hotaru.mv(matrix, v))

    def _norm(self, vector: Tensor, out: Tensor | None = None) -> Tensor:
        return F.normalize(vector, dim=0, eps=self.eps, out=out)

    def remove(self, module: Module) -> None:
        """Makes the weight a parameter again; the hooks themselves stay."""
        with no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for suffix in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + suffix)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Module, inputs) -> None:
        weight = self.compute_weight(module, module.training)
        setattr(module, self.name, weight)

    def _solve_v_and_rescale(self, weight_mat, u, target_sigma) -> Tensor:
        """Solves for v with u = W v / |W v| and u W v = target_sigma."""
        wide = weight_mat.t()
        v = hotaru.linalg.multi_dot(
            [wide.mm(weight_mat).pinverse(), wide, u.unsqueeze(1)]
        ).squeeze(1)
        return v.mul_(target_sigma / hotaru.dot(u, hotaru.mv(weight_mat, v)))

    @staticmethod
    def apply(
        module: Module, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Registers the hooks of one weight.

        Raises:
            RuntimeError: it has them already.
            ValueError: it is None, or waits for its shape.
        """
        for hook in module._forward_pre_hooks.values():
            if isinstance(hook, SpectralNorm) and hook.name == name:
                raise RuntimeError(
                    "Cannot register two spectral_norm hooks on the same "
                    f"parameter {name}"
                )
        fn = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(
                f"`SpectralNorm` cannot be applied as parameter `{name}` is None"
            )
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized "
                "parameters. Make sure to run the dummy forward before "
                "applying spectral normalization"
            )
        with no_grad():
            shape = fn.reshape_weight_to_matrix(weight).shape
            u, v = (fn._norm(weight.new_empty(n).normal_(0, 1)) for n in shape)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        # A plain attribute until the first call, for whoever asks its shape.
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(fn)
        module._register_state_dict_hook(SpectralNormStateDictHook(fn))
        module._register_load_state_dict_pre_hook(SpectralNormLoadStateDictPreHook(fn))
        return fn


class SpectralNormStateDictHook:
    """Writes the version of the layout into the state's metadata."""

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(self, module, state_dict, prefix, local_metadata) -> None:
        versions = local_metadata.setdefault("spectral_norm", {})
        key = self.fn.name + ".version"
        if key in versions:
            raise RuntimeError(f"Unexpected key in metadata['spectral_norm']: {key}")
        versions[key] = self.fn._version


class SpectralNormLoadStateDictPreHook:
    """Computes `…_v` of a state from before version 1, which has the normed
    weight instead.
    """

    def __init__(self, fn: SpectralNorm) -> None:
        self.fn = fn

    def __call__(
        self, state_dict, prefix, local_metadata, strict, missing_keys, *_
    ) -> None:
        fn = self.fn
        versions = local_metadata.get("spectral_norm", {})
        version = versions.get(fn.name + ".version")
        if version is not None and version >= 1:
            return
        key = prefix + fn.name
        new = all(key + suffix in state_dict for suffix in ("_orig", "_u", "_v"))
        if version is None and new and key not in state_dict:
            return  # a present state whose metadata was lost
        missing = [
            key + suffix
            for suffix in ("_orig", "", "_u")
            if key + suffix not in state_dict
        ]
        if missing:
            if strict:
                missing_keys.extend(missing)
            return
        with no_grad():
            original, normed = state_dict[key + "_orig"], state_dict.pop(key)
            state_dict[key + "_v"] = fn._solve_v_and_rescale(
                fn.reshape_weight_to_matrix(original),
                state_dict[key + "_u"],
                (original / normed).mean(),
            )


def spectral_norm(
    module: Module,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Module:
    """Divides a weight by its largest singular value before each call.

    Args:
        module, name: the parameter, which becomes `…_orig`.
        n_power_iterations: for each call in training.
        eps: least norm to divide by.
        dim: the axis of outputs: 1 for transposed convolutions, else 0.
    """
    if dim is None:
        transposed = (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)
        dim = 1 if isinstance(module, transposed) else 0
    SpectralNorm.apply(module, name, n_power_iterations, dim, eps)
    return module


def remove_spectral_norm(module: Module, name: str = "weight") -> Module:
    """Undoes `spectral_norm`; ValueError where there is none."""
    hook = _taken(
        module._forward_pre_hooks,
        lambda h: isinstance(h, SpectralNorm) and h.name == name,
    )
    if hook is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook.remove(module)
    of_state = (SpectralNormStateDictHook, SpectralNormLoadStateDictPreHook)
    for hooks in (module._state_dict_hooks, module._load_state_dict_pre_hooks):
        _taken(hooks, lambda h: isinstance(h, of_state) and h.fn.name == name)
    return module


def _taken(hooks: dict, fits):
    """Removes and returns the first hook that fits."""
    for key, hook in hooks.items():
        if fits(hook):
            return hooks.pop(key)
    return None
