"""Schedules' common parts: batches, losses, results, and a step's beginning."""

from __future__ import annotations

from collections.abc import Callable

from ... import distributed as dist
from ... import is_grad_enabled
from ._stage_base import PipelineStageBase
from .microbatch import (
    TensorChunkSpec,
    _split_tensor,
    merge_chunks,
    split_args_kwargs_into_chunks,
)

__all__ = ["PipelineSchedule", "begin", "wait"]

_TARGET = TensorChunkSpec(0)
_NO_GRAD = (
    "step() requires gradients to be enabled for backward computation; it should not "
    "be used under torch.no_grad() context. Please call eval() instead."
)


def begin(ops: list) -> list:
    """Begins messages: those between two ranks in the order of both."""
    by_peer: dict[int, list] = {}
    for op in ops:
        by_peer.setdefault(op.peer, []).append(op)
    works: list = []
    for peer in sorted(by_peer):
        works += dist.batch_isend_irecv(by_peer[peer])
    return works


def wait(works: list) -> None:
    for work in works:
        work.wait()


class PipelineSchedule:
    """Base of schedules: batches, losses, results."""

    def __init__(
        self,
        n_microbatches: int,
        loss_fn: Callable | None = None,
        args_chunk_spec=None,
        kwargs_chunk_spec=None,
        output_merge_spec=None,
        scale_grads: bool = True,
    ) -> None:
        self._n_microbatches, self._loss_fn = n_microbatches, loss_fn
        self.scale_grads = scale_grads
        self._args_chunk_spec = args_chunk_spec
        self._kwargs_chunk_spec = kwargs_chunk_spec
        self._output_merge_spec = output_merge_spec
        self._has_backward = loss_fn is not None
        self._internal_losses: list = []
        self._prepared = False
        self._stages: list[PipelineStageBase] = []

    # --- losses ---

    def _compute_loss(self, output, target, loss_kwargs=None):
        return self._loss_fn(output, target, **(loss_kwargs or {}))

    def _maybe_compute_loss(
        self, stage, output, target_mbs, mb_index, loss_kwargs=None
    ) -> None:
        if stage.is_last and self._loss_fn is not None:
            target = target_mbs[mb_index]
            loss = self._compute_loss(output, target, loss_kwargs)
            self._internal_losses.append(loss)

    def _maybe_get_loss(self, stage, mb_index: int):
        known = 0 <= mb_index < len(self._internal_losses)
        if stage.is_last and self._loss_fn is not None and known:
            return self._internal_losses[mb_index]
        if self._internal_losses and not known:
            raise RuntimeError(
                f"Loss for microbatch {mb_index} is not available. Available losses "
                f"for microbatches: {self._internal_losses}"
            )
        return None

    def _update_losses(self, stages, losses: list | None) -> None:
        stages = stages if isinstance(stages, list) else [stages]
        if losses is not None and any(stage.is_last for stage in stages):
            if len(self._internal_losses) != self._n_microbatches:
                raise RuntimeError(
                    f"Expecting {self._n_microbatches} losses but got "
                    f"{len(self._internal_losses)}"
                )
            losses[:] = self._internal_losses
        self._internal_losses.clear()

    # --- batches ---

    def _check_inputs(
        self, arg_mbs=None, kwarg_mbs=None, target_mbs=None, losses=None
    ) -> tuple[list, list]:
        def check(parts, name: str) -> None:
            if not isinstance(parts, list):
                raise TypeError(f"{name} must be a list but got a {type(parts)}")
            if len(parts) != self._n_microbatches:
                raise ValueError(
                    f"Expecting {self._n_microbatches} {name} but got {len(parts)}"
                )

        for parts, name in (
            (arg_mbs, "arg_mbs"),
            (kwarg_mbs, "kwarg_mbs"),
            (target_mbs, "target_mbs"),
        ):
            if parts is not None:
                check(parts, name)
        if losses is not None and not isinstance(losses, list):
            raise TypeError(f"losses must be a list but got a {type(losses)}")
        count = self._n_microbatches
        return (
            [()] * count if arg_mbs is None else arg_mbs,
            [{}] * count if kwarg_mbs is None else kwarg_mbs,
        )

    def _split_inputs(self, args: tuple, kwargs: dict | None = None) -> tuple:
        if not args and not kwargs:
            return [()] * self._n_microbatches, [{}] * self._n_microbatches
        return split_args_kwargs_into_chunks(
            args,
            kwargs,
            self._n_microbatches,
            self._args_chunk_spec,
            self._kwargs_chunk_spec,
        )

    def _merge_outputs(self, output_chunks: list):
        return merge_chunks(output_chunks, self._output_merge_spec)

    def _initialize(self, args: tuple, kwargs: dict) -> None:
        """Stages find out what goes between them, in the first step."""
        if self._prepared:
            return
        received = None
        for stage in sorted(self._stages, key=lambda stage: stage.stage_index):
            stage.chunks = self._n_microbatches
            before = stage.stage_index - 1
            if stage.is_first or not stage._is_here(before):
                received = None
            received = stage._prepare(args, kwargs, received)
        self._prepared = True

    # --- steps ---

    def _step_microbatches(
        self,
        arg_mbs: list | None = None,
        kwarg_mbs: list | None = None,
        target_mbs: list | None = None,
        losses: list | None = None,
        return_outputs: bool = True,
        loss_kwargs: dict | None = None,
    ) -> None:
        raise NotImplementedError

    def _needs_autograd(self) -> bool:
        return self._has_backward

    def step(
        self,
        *args,
        target=None,
        losses: list | None = None,
        return_outputs: bool = True,
        loss_kwargs: dict | None = None,
        **kwargs,
    ):
        """A step with a batch: all its passes, and messages.

        Args:
            args: the model's, on the rank of the first stage.
            target: the loss function's, on the rank of the last one.
            losses: a list that gets the microbatches' losses.
            return_outputs: whether the rank of the last stage returns the result.
            loss_kwargs: further arguments of the loss function.
            kwargs: the stages' by name.
        """
        if self._needs_autograd() and not is_grad_enabled():
            raise RuntimeError(_NO_GRAD)
        for stage in self._stages:
            stage.has_backward = self._has_backward
            stage.clear_runtime_states()
        self._internal_losses.clear()
        arg_mbs, kwarg_mbs = self._split_inputs(args, kwargs)
        targets = None
        if target is not None:
            targets = list(_split_tensor(target, _TARGET, self._n_microbatches))
        self._step_microbatches(
            arg_mbs, kwarg_mbs, targets, losses, return_outputs, loss_kwargs=loss_kwargs
        )
        for stage in self._stages:
            if stage.is_last and return_outputs:
                return self._merge_outputs(stage.output_chunks)
        return None

    def eval(self, *args, target=None, losses: list | None = None, **kwargs):
        """The forward passes of a step alone."""
        before = self._has_backward
        try:
            self._has_backward = False
            return self.step(*args, target=target, losses=losses, **kwargs)
        finally:
            self._has_backward = before

    # --- single steps of a schedule ---

    def _forward(self, stage, index: int, arg_mbs, kwarg_mbs, target_mbs, kept, extra):
        output = stage.forward_one_chunk(
            index, arg_mbs[index], kwarg_mbs[index], save_forward_output=kept
        )
        self._maybe_compute_loss(stage, output, target_mbs, index, extra)
        return output

    def _scale(self) -> int:
        return self._n_microbatches if self.scale_grads else 1
