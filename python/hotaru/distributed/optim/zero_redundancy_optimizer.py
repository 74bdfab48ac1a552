"""Each process keeps the state of a part of the parameters.

The first stage of Rajbhandari et al., "ZeRO: Memory Optimizations Toward
Training Trillion Parameter Models" (2020): a process steps its own parameters
and tells the others what they are now.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable

from ...optim import Optimizer
from ..algorithms.join import Join, Joinable, JoinHook, _JoinConfig
from ..groups import default_group
from ..objects import gather_object
from ..reducer import broadcast_coalesced

__all__ = ["ZeroRedundancyOptimizer"]


class _Hook(JoinHook):
    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self.optimizer = optimizer

    def main_hook(self) -> None:
        """A step, whose gradients are those of the last one."""
        self.optimizer.step()


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimizer class over parameters that every process has.

    Args:
        params: parameters or groups of them, alike in every process.
        optimizer_class: what each process makes of its part.
        process_group: None for all.
        parameters_as_bucket_view, overlap_with_ddp: the second is refused; the
            first is taken, as parameters of a process travel in one message in
            any case.
        defaults: the optimizer's arguments.

    A `state_dict` is whole after `consolidate_state_dict`, on the rank that
    asked for it.
    """

    functional_optim_map: dict = {}  # noqa: RUF012

    def __init__(
        self,
        params: Iterable,
        optimizer_class,
        process_group=None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError(
                "ZeroRedundancyOptimizer: overlap_with_ddp is not there; step "
                "after the backward pass"
            )
        self.process_group = process_group or default_group()
        self.world_size = self.process_group.size()
        self.rank = self.process_group.rank()
        self._join_config = _JoinConfig.construct_disabled_join_config()
        self._optim_constructor = optimizer_class
        self._optim_defaults = defaults
        self._gathered: list[dict] | None = None
        self._ready = False
        super().__init__(params, defaults)
        self._ready = True
        self._build()

    def _build(self) -> None:
        """The local optimizer, of this process's parameters of each group."""
        self._parts = self._shared_out()
        mine = {id(p) for p in self._parts[self.rank]}
        groups = []
        for group in self.param_groups:
            local = {k: v for k, v in group.items() if k != "params"}
            local["params"] = [p for p in group["params"] if id(p) in mine]
            groups.append(local)
        self.optim = self._optim_constructor(groups, **self._optim_defaults)
        for whole, local in zip(
            self.param_groups, self.optim.param_groups, strict=True
        ):
            for key, value in local.items():
                if key != "params":
                    whole.setdefault(key, value)

    def _shared_out(self) -> list[list]:
        """Parameters by process: the largest first, to who has least."""
        parts: list[list] = [[] for _ in range(self.world_size)]
        loads = [0] * self.world_size
        for group in self.param_groups:
            for p in sorted(group["params"], key=lambda p: p.numel(), reverse=True):
                rank = loads.index(min(loads))
                parts[rank].append(p)
                loads[rank] += p.numel()
        return parts

    def add_param_group(self, param_group: dict) -> None:
        """A further group, shared out anew; the state so far stays."""
        super().add_param_group(param_group)
        if not self._ready:
            return
        state = dict(self.optim.state)
        self._build()
        mine = {id(p) for p in self._parts[self.rank]}
        self.optim.state.update({p: s for p, s in state.items() if id(p) in mine})

    def _groups_to_local(self) -> None:
        for whole, local in zip(
            self.param_groups, self.optim.param_groups, strict=True
        ):
            for key, value in whole.items():
                if key != "params":
                    local[key] = value

    def step(self, closure=None, **kwargs):
        """Steps this process's part; afterwards all have all parameters."""
        Join.notify_join_context(self)
        self._groups_to_local()
        loss = None
        if closure is not None:
            loss = self.optim.step(closure=closure, **kwargs)
        else:
            loss = self.optim.step(**kwargs)
        for rank, part in enumerate(self._parts):
            if part:
                broadcast_coalesced(part, self.process_group, rank)
        return loss

    def join_hook(self, **kwargs) -> JoinHook:
        """Steps like the others."""
        return _Hook(self)

    @property
    def join_device(self):
        """The CPU."""
        return self.param_groups[0]["params"][0].device

    @property
    def join_process_group(self):
        """Whose processes share the state."""
        return self.process_group

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Has a process keep everybody's state, for `state_dict`."""
        self._groups_to_local()
        every = [None] * self.world_size if self.rank == to else None
        gather_object(
            self.optim.state_dict(), every, group=self.process_group, group_dst=to
        )
        self._gathered = every

    def _numbers(self) -> dict[int, int]:
        """Numbers of all parameters, in the groups' order."""
        flat = [p for group in self.param_groups for p in group["params"]]
        return {id(p): i for i, p in enumerate(flat)}

    def _local_parameters(self, rank: int) -> list:
        """A process's parameters in the order of its optimizer's numbers."""
        own = {id(p) for p in self._parts[rank]}
        return [
            p for group in self.param_groups for p in group["params"] if id(p) in own
        ]

    def state_dict(self) -> dict:
        """As of an optimizer of one process.

        Raises:
            RuntimeError: `consolidate_state_dict` was not called for this one.
        """
        if self._gathered is None:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. "
                f"Please call `consolidate_state_dict(to={self.rank})` on all "
                "ranks beforehand if you meant to save the global state."
            )
        numbers = self._numbers()
        out = super().state_dict()
        out["state"] = {}
        for rank, theirs in enumerate(self._gathered):
            for i, p in enumerate(self._local_parameters(rank)):
                if i in theirs["state"]:
                    out["state"][numbers[id(p)]] = theirs["state"][i]
        return out

    def load_state_dict(self, state_dict: dict) -> None:
        """Keeps of a whole state what belongs to this process."""
        numbers = self._numbers()
        local = copy.copy(self.optim.state_dict())
        local["state"] = {
            i: state_dict["state"][numbers[id(p)]]
            for i, p in enumerate(self._local_parameters(self.rank))
            if numbers[id(p)] in state_dict["state"]
        }
        for mine, theirs in zip(
            local["param_groups"], state_dict["param_groups"], strict=True
        ):
            mine.update({k: v for k, v in theirs.items() if k != "params"})
        self.optim.load_state_dict(local)
        for whole, part in zip(self.param_groups, self.optim.param_groups, strict=True):
            whole.update({k: v for k, v in part.items() if k != "params"})
