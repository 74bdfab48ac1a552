"""Averages over all processes at first, over each machine's later.

The parameters are then averaged over all now and then (`model_averaging`), as
in Lin et al., "Don't Use Large Mini-Batches, Use Local SGD" (2020).
"""

from __future__ import annotations

from ...groups import default_group, new_subgroups
from .default_hooks import allreduce_hook

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """State that the hook keeps between iterations.

    Args:
        process_group: all processes; None: the default group.
        subgroup: those of a machine; None: `new_subgroups()`'s.
        start_localSGD_iter: how many iterations average over all.
        post_local_gradient_allreduce: whether later ones average over the
            subgroup, or leave gradients as they are.
    """

    def __init__(
        self,
        process_group,
        subgroup,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group = process_group
        self.subgroup = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket) -> None:
        """Counts an iteration with its last bucket."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(  # noqa: N802  (PyTorch's name)
    state: PostLocalSGDState, bucket
):
    """The average over all processes, then over the machine's."""
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return allreduce_hook(state.process_group or default_group(), bucket)
    state.maybe_increase_iter(bucket)
    if not state.post_local_gradient_allreduce:
        from ....futures import Future

        done: Future = Future()
        done.set_result(bucket.buffer())
        return done
    if state.subgroup is None:
        state.subgroup = new_subgroups()[0]
    return allreduce_hook(state.subgroup, bucket)
