"""Batch and instance normalisation: statistics per channel, kept running."""

from __future__ import annotations

import copy
import warnings

import hotaru

from ... import Tensor, empty, int64, ones, tensor, zeros
from ..._late import lent
from ...autograd._transforms import check_statistics, note_made
from .. import functional as F
from .. import init
from ..parameter import Parameter
from ._arguments import show, weight_and_bias
from .module import Module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .lazy import LazyBatchNorm1d as LazyBatchNorm1d
    from .lazy import LazyBatchNorm2d as LazyBatchNorm2d
    from .lazy import LazyBatchNorm3d as LazyBatchNorm3d


class _NormBase(Module):
    """Parameters (C), running statistics (C) and the count of batches."""

    # 2: the state has num_batches_tracked.
    _version = 2
    _ranks: tuple = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        options = {"device": device, "dtype": dtype}
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        weight = Parameter(empty(num_features, **options)) if affine else None
        self.register_parameter("weight", weight)
        has_bias = affine and bias
        self.register_parameter(
            "bias", Parameter(empty(num_features, **options)) if has_bias else None
        )
        mean = var = count = None
        if track_running_stats:
            mean = zeros(num_features, **options)
            var = ones(num_features, **options)
            count = tensor(0, dtype=int64, device=device)
            note_made(count)
        self.register_buffer("running_mean", mean)
        self.register_buffer("running_var", var)
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Mean 0, variance 1, no batches."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Fresh statistics, weight 1, bias 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        ranks = self._ranks
        if input.dim() not in ranks:
            expected = " or ".join([f"{rank}D" for rank in ranks])
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        options = show(self, "eps", "momentum", "affine")
        return (
            f"{self.num_features}, {options}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, *others
    ) -> None:
        version = local_metadata.get("version")
        key = prefix + "num_batches_tracked"
        early = version is None or version < 2
        if early and self.track_running_stats and key not in state_dict:
            have = self.num_batches_tracked
            state_dict[key] = tensor(0, dtype=int64) if have is None else have
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *others)


class _BatchNorm(_NormBase):
    """Normalises each channel of (N, C, *) over the batch and *.

    In training with the batch's statistics (and running += momentum * (batch -
    running), or their average where `momentum` is None), else with the running.
    """

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        training = self.training
        momentum = 0.0 if self.momentum is None else self.momentum
        if training and self.track_running_stats:
            count = self.num_batches_tracked
            if count is not None:
                if not hotaru.jit.is_scripting():
                    check_statistics(count, self.running_mean, self.running_var)
                count.add_(1)
                if self.momentum is None:
                    momentum = 1.0 / float(count)
        mean, var = self.running_mean, self.running_var
        keeps = not training or self.track_running_stats
        weight, bias = weight_and_bias(self)
        return F.batch_norm(
            input,
            mean if keeps else None,
            var if keeps else None,
            weight,
            bias,
            training or (mean is None and var is None),
            momentum,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Batch normalisation of (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W)."""

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Batch normalisation of (N, C, D, H, W)."""

    _ranks = (5,)


class _AnyBatchNorm(_BatchNorm):
    """Normalisation of (N, C, *), in the batch that a process has."""

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")


class SyncBatchNorm(_AnyBatchNorm):
    """Batch normalisation of (N, C, *) over all processes of a group.

    Without a group (see `distributed`), or in one of one process, the process's
    batch is all.

    Args:
        process_group: which; None for all.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group=None,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            track_running_stats,
            device,
            dtype,
            bias=bias,
        )
        self.process_group = process_group

    def forward(self, input: Tensor) -> Tensor:
        if self.training:
            distributed = lent("distributed")
            group = self.process_group
            if distributed.is_initialized() and distributed.get_world_size(group) > 1:
                return self._over_processes(input, group)
        return super().forward(input)

    def __prepare_scriptable__(self):
        """TorchScript knows of one process: its own batch is all."""
        out = copy.copy(self)
        out.__class__ = _AnyBatchNorm
        return out

    def _over_processes(self, input: Tensor, group) -> Tensor:
        self._check_input_dim(input)
        momentum = 0.0 if self.momentum is None else self.momentum
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                momentum = 1.0 / float(self.num_batches_tracked)
        weight, bias = weight_and_bias(self)
        return lent("batch_norm_of_all")(
            input,
            self.running_mean,
            self.running_var,
            weight,
            bias,
            momentum,
            self.eps,
            group,
        )

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group=None):
        """The module with every batch normalisation in it made this one.

        Parameters and buffers are the same, not copies.
        """
        out = module
        if isinstance(module, _BatchNorm):
            out = _synchronised(module, process_group)
        for name, child in module.named_children():
            out.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return out


def _synchronised(module: _BatchNorm, process_group) -> SyncBatchNorm:
    out = SyncBatchNorm(
        module.num_features,
        module.eps,
        module.momentum,
        module.affine,
        module.track_running_stats,
        process_group,
        bias=module.bias is not None,
    )
    if module.affine:
        out.weight = module.weight
        out.bias = module.bias
    for name in ("running_mean", "running_var", "num_batches_tracked"):
        setattr(out, name, getattr(module, name))
    out.training = module.training
    if hasattr(module, "qconfig"):
        out.qconfig = module.qconfig
    return out


class _InstanceNorm(_NormBase):
    """Normalises each channel of each sample of (N, C, *) over *."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device=None,
        dtype=None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            track_running_stats,
            device,
            dtype,
            bias=bias,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        unbatched = input.dim() == self._get_no_batch_dim()
        channels = input.size(0 if unbatched else 1)
        if channels != self.num_features:
            self._report_channels(input, channels)
        if unbatched:
            return self._normalise(input.unsqueeze(0)).squeeze(0)
        return self._normalise(input)

    def _get_no_batch_dim(self) -> int:
        """The rank of an input that is one sample."""
        return self._ranks[0]

    def _normalise(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )

    def _report_channels(self, input: Tensor, channels: int) -> None:
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={input.dim() - self._ranks[0]} "
                f"to match num_features ({self.num_features}), but got: "
                f"{channels}."
            )
        warnings.warn(
            f"input's size at dim={input.dim() - self._ranks[0]} does not "
            "match num_features. You can silence this warning by not passing "
            "in num_features, which is not used because affine=False",
            stacklevel=2,
        )


class InstanceNorm1d(_InstanceNorm):
    """Instance normalisation of (N, C, L) or (C, L)."""

    _ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Instance normalisation of (N, C, H, W) or (C, H, W)."""

    _ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Instance normalisation of (N, C, D, H, W) or (C, D, H, W)."""

    _ranks = (4, 5)
