"""Stages: a part of a model, and what goes to it and comes from it."""

from __future__ import annotations

import operator
from collections.abc import Callable

from ... import device, enable_grad, no_grad, random
from ... import distributed as dist
from ...nn import Module
from ._stage_base import Input, Output
from ._stage_base import PipelineStageBase as _PipelineStageBase
from ._utils import (
    Meshes,
    PipeInfo,
    PipeliningMetadataError,
    TensorMeta,
    metas_of,
    tensors_of,
)

__all__ = ["PipelineStage", "build_stage"]


class PipelineStage(_PipelineStageBase):
    """Stage of a model that is divided already: its results are the next stage's
    arguments.

    Args:
        submodule: the module of the stage.
        stage_index, num_stages: its place.
        device: where it is.
        input_args, output_args: tensors (of the meta device, too) that look like
            those of a microbatch. With both nothing is run to find out.
        output_grads, input_grads: the same of gradients, which look like what
            they are of.
        group: the processes of the pipeline; None is the default group.
        dw_builder: called after a pass to inputs; what it gives is called for the
            pass to weights.
        get_mesh: gives the mesh of a DTensor of another stage, by the names of its
            dimensions.
    """

    def __init__(
        self,
        submodule: Module,
        stage_index: int,
        num_stages: int,
        device,
        input_args=None,
        output_args=None,
        output_grads=None,
        input_grads=None,
        group=None,
        dw_builder: Callable | None = None,
        get_mesh: Callable | None = None,
    ) -> None:
        super().__init__(submodule, stage_index, num_stages, device, group, dw_builder)
        self._meshes = Meshes(get_mesh)
        inputs = tensors_of(input_args, "input")
        outputs = tensors_of(output_args, "output")
        for grads in (input_grads, output_grads):
            self._meshes.learn(tensors_of(grads, "gradient", allow_none=True))
        self._meshes.learn(inputs)
        self._meshes.learn(outputs)
        self._told = metas_of(inputs), metas_of(outputs)

    def _prepare(self, args: tuple, kwargs: dict, received=None):
        """The looks of tensors go from stage to stage, the first time."""
        if self.is_first:
            given = tensors_of(args, "input") or ()
            self._meshes.learn(given)
            metas = metas_of(given)
        else:
            before = self.stage_index - 1
            if received is None:
                found: list = [None]
                dist.recv_object_list(found, self._rank_of(before), self.group)
                received = found[0]
            metas = received
            given = None
            self._inputs = tuple(Input(before, i, m) for i, m in enumerate(metas))
        outputs = self._output_metas(given, metas, kwargs)
        behind = () if self.is_last else (self.stage_index + 1,)
        self._outputs = tuple(Output(behind, meta) for meta in outputs)
        if self.is_first:
            self._inputs = ()
        if self.is_last:
            return None
        if self._is_here(self.stage_index + 1):
            return outputs
        dist.send_object_list(
            [outputs], self._rank_of(self.stage_index + 1), self.group
        )
        return None

    def _output_metas(self, given, metas: tuple, kwargs: dict) -> tuple:
        told_inputs, told_outputs = self._told
        if told_inputs is not None:
            self._compare("input", told_inputs, metas)
        if told_inputs is None or told_outputs is None:
            found = self._tried(given, metas, kwargs)
            if told_outputs is not None:
                self._compare("output", told_outputs, found)
            return found
        # Gradients come back if anything before, or here, has them.
        learns = any(p.requires_grad for p in self.submod.parameters())
        learns = learns or any(meta.requires_grad for meta in metas)
        return tuple(_with_grad(meta, learns) for meta in told_outputs)

    def _compare(self, kind: str, told: tuple, metas: tuple) -> None:
        import warnings

        texts = []
        if len(told) != len(metas):
            texts.append(f"expected {len(told)} tensors, got {len(metas)}")
        for i, (one, other) in enumerate(zip(told, metas)):
            diffs = one.get_diff(other)
            if diffs:
                texts.append(f"[{i}]: Metadata mismatch. {'; '.join(diffs)}")
        for text in texts:
            warnings.warn(
                f"Stage {self.stage_index} {kind}{text}. Using dynamically inferred "
                "metadata instead.",
                UserWarning,
                stacklevel=2,
            )

    def _tried(self, given, metas: tuple, kwargs: dict) -> tuple:
        """The looks of results, of a forward pass that leaves nothing behind."""
        buffers = {b: b.detach().clone() for b in self.submod.buffers()}
        places = [device(self.device)] if device(self.device).type == "cuda" else []
        with random.fork_rng(devices=places), enable_grad():
            if given is None:
                made = [
                    self._meshes.whole(meta.buffer(self.device).zero_(), meta)
                    for meta in metas
                ]
                inputs = [
                    x.requires_grad_(meta.requires_grad) for x, meta in zip(made, metas)
                ]
            else:
                inputs = [x.detach().requires_grad_(x.requires_grad) for x in given]
            outputs = tensors_of(
                self.forward_maybe_with_nosync(*inputs, **kwargs), "output"
            )
        with no_grad():
            for buffer, before in buffers.items():
                buffer.copy_(before)
        self._meshes.learn(outputs)
        return metas_of(outputs) or ()


def _with_grad(meta: TensorMeta, learns: bool) -> TensorMeta:
    from dataclasses import replace

    wants = learns and (meta.dtype.is_floating_point or meta.dtype.is_complex)
    return replace(meta, requires_grad=wants)


class _PipelineStage(_PipelineStageBase):
    """Stage of a `Pipe`, whose graph tells what goes where.

    Args:
        stage_module: the module of the stage.
        stage_index: its place.
        pipe_info: `pipe.info()`.
        device: where it is; the module is moved there.
        group: the processes of the pipeline; None is the default group.
    """

    def __init__(
        self,
        stage_module: Module,
        stage_index: int,
        pipe_info: PipeInfo,
        device,
        group=None,
    ) -> None:
        super().__init__(stage_module, stage_index, pipe_info.num_stages, device, group)
        self.pipe_info = pipe_info
        calls = [n for n in pipe_info.graph.nodes if n.op == "call_module"]
        if len(calls) != self.num_stages:
            raise PipeliningMetadataError(
                f"Number of submodules in pipe graph {len(calls)} does not match "
                f"number of stages {self.num_stages}"
            )
        self.node = calls[stage_index]
        self.name = self.node.name
        self.submod_to_stage_index = {n.name: i for i, n in enumerate(calls)}
        if not any(p.is_meta for p in stage_module.parameters()):
            stage_module.to(device)
        self._names = [
            n.target for n in stage_module.graph.nodes if n.op == "placeholder"
        ]

    def get_stage_index_of_submod(self, submod_name: str) -> int:
        """The place of a stage, by its name in the outer graph."""
        if submod_name not in self.submod_to_stage_index:
            raise PipeliningMetadataError(f"Stage id of {submod_name} not found")
        return self.submod_to_stage_index[submod_name]

    def _origin(self, node) -> tuple[int, int] | None:
        """The stage and place of a value of the outer graph."""
        place = 0
        if node.op == "placeholder":
            return None
        if node.target is operator.getitem:
            node, place = node.args
        return self.get_stage_index_of_submod(node.name), place

    def _prepare(self, args: tuple, kwargs: dict, received=None):
        """Takes what the graph tells; nothing is sent."""
        inputs = []
        self._from_stages = []
        for place, node in enumerate(self.node.args):
            origin = self._origin(node)
            if origin is not None:
                inputs.append(Input(*origin, self._meta(node)))
                self._from_stages.append(place)
        self._inputs = tuple(inputs)
        results = self._results()
        self._outputs = tuple(Output(tuple(stages), meta) for stages, meta in results)

    def _meta(self, node) -> TensorMeta:
        value = node.meta["val"]
        kind = value.dtype
        return TensorMeta(
            tuple(value.shape),
            tuple(value.stride()),
            kind,
            kind.is_floating_point or kind.is_complex,
        )

    def _results(self) -> list[tuple[list, TensorMeta]]:
        """For each result who takes it, and its looks."""
        users = list(self.node.users)
        parts = [u for u in users if u.target is operator.getitem]
        values = sorted(parts, key=lambda n: n.args[1]) if parts else [self.node]
        found = []
        for value in values:
            takers = sorted(
                self.get_stage_index_of_submod(user.name)
                for user in value.users
                if user.op == "call_module"
            )
            if value.meta.get("val") is None or not hasattr(value.meta["val"], "dtype"):
                found.append(([], None))
                continue
            found.append((takers, self._meta(value)))
        return found

    def _arguments(self, chunk: int, args: tuple, kwargs: dict) -> tuple:
        if self.is_first:
            return args, kwargs, []
        received = self._received(chunk)
        by_place = dict(zip(self._from_stages, received))
        rest = list(args)
        given = []
        for place, name in enumerate(self._names):
            if place in by_place:
                given.append(by_place[place])
            elif name in kwargs:
                given.append(kwargs[name])
            elif rest:
                given.append(rest.pop(0))
            else:
                raise PipeliningMetadataError(
                    f"Stage {self.stage_index} takes the model's input '{name}': "
                    "give it to step() on this rank, too"
                )
        return tuple(given), {}, received


def build_stage(
    stage_module: Module, stage_index: int, pipe_info: PipeInfo, device, group=None
) -> _PipelineStage:
    """A stage of a `Pipe` that schedules take.

    Args:
        stage_module: `pipe.get_stage_module(stage_index)`.
        stage_index: its place.
        pipe_info: `pipe.info()`.
        device: where it is.
        group: the processes of the pipeline; None is the default group.
    """
    return _PipelineStage(stage_module, stage_index, pipe_info, device, group)
