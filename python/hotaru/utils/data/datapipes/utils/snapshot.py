"""Bringing a pipe to where another one of its kind stood."""

from __future__ import annotations

from ...graph_settings import apply_random_seed
from .._hook_iterator import _SnapshotState
from ..datapipe import IterDataPipe


def _simple_graph_snapshot_restoration(
    datapipe: IterDataPipe, n_iterations: int, rng=None
) -> None:
    """Runs a pipe, and those that it reads, past its first items.

    The next iterator of the pipe gives what comes behind them. Of a pipe that
    was pickled, `_number_of_samples_yielded` is the number to pass.

    Args:
        n_iterations: how many items.
        rng: the generator that seeds random pipes, as it was at the start.

    Raises:
        RuntimeError: the pipe was brought somewhere and not iterated since, or
            has not as many items.
    """
    if datapipe._snapshot_state is _SnapshotState.Restored:
        raise RuntimeError(
            "Snapshot restoration cannot be applied. You can only restore "
            "simple snapshot to the graph if your graph has not been restored."
        )
    datapipe._fast_forward_iterator = None
    datapipe.reset()
    apply_random_seed(datapipe, rng)
    iterator = iter(datapipe)
    for _ in range(n_iterations):
        try:
            next(iterator)
        except StopIteration as error:
            raise RuntimeError(
                f"Fast-forward {datapipe} by {n_iterations} iterations exceeds "
                "the number of samples available."
            ) from error
    if iterator is not datapipe:  # else it stands there itself
        datapipe._fast_forward_iterator = iterator
    datapipe._snapshot_state = _SnapshotState.Restored
