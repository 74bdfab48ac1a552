"""Settings for all pipes of a graph: parts, seeds, whether to shuffle."""

from __future__ import annotations

import inspect
import warnings

from ... import empty, int64
from .datapipes.iter.sharding import SHARDING_PRIORITIES
from .graph import traverse_dps

__all__ = [
    "apply_random_seed",
    "apply_sharding",
    "apply_shuffle_seed",
    "apply_shuffle_settings",
    "get_all_graph_pipes",
]


def get_all_graph_pipes(graph: dict) -> list:
    """The pipes of a graph, each once, a pipe before those it takes from."""
    found: dict = {}
    _list(graph, found)
    return list(found.values())


def _list(graph: dict, found: dict) -> None:
    for key, (pipe, below) in graph.items():
        if key not in found:
            found[key] = pipe
            _list(below, found)


def _with(datapipe, *methods: str) -> list:
    """The pipes of the graph that have all of the methods."""
    return [
        pipe
        for pipe in get_all_graph_pipes(traverse_dps(datapipe))
        if _has(pipe, *methods)
    ]


def _has(pipe, *methods: str) -> bool:
    return all(inspect.ismethod(getattr(pipe, m, None)) for m in methods)


def apply_sharding(
    datapipe,
    num_of_instances: int,
    instance_id: int,
    sharding_group=SHARDING_PRIORITIES.DEFAULT,
):
    """Tells all pipes with `apply_sharding` which part to give.

    Raises RuntimeError where one of them takes from another.
    """
    part = (num_of_instances, instance_id)
    _shard(traverse_dps(datapipe), part, sharding_group, None)
    return datapipe


def _shard(graph: dict, part: tuple, group, above) -> None:
    for pipe, below in graph.values():
        here = above
        if _has(pipe, "apply_sharding"):
            if above is not None:
                raise RuntimeError(
                    "Sharding twice on a single pipeline is likely unintended "
                    "and will cause data loss. Sharding already applied to "
                    f"{above} while trying to apply to {pipe}"
                )
            # Older pipes know of no groups.
            takes = inspect.signature(pipe.apply_sharding).parameters
            known = {"sharding_group": group} if len(takes) >= 3 else {}
            pipe.apply_sharding(*part, **known)
            here = pipe
        _shard(below, part, group, here)


def apply_shuffle_settings(datapipe, shuffle: bool | None = None):
    """Tells all pipes with `set_shuffle` and `set_seed` whether to shuffle.

    Where there is none that could, one is put behind the given pipe, with a
    warning. Returns the last pipe.
    """
    if shuffle is None:
        return datapipe
    shufflers = _with(datapipe, "set_shuffle", "set_seed")
    if not shufflers and shuffle:
        warnings.warn(
            "`shuffle=True` was set, but the datapipe does not contain a "
            "`Shuffler`. Adding one at the end. Be aware that the default "
            "buffer size might not be sufficient for your task.",
            stacklevel=2,
        )
        datapipe = datapipe.shuffle()
        shufflers = [datapipe]
    for shuffler in shufflers:
        shuffler.set_shuffle(shuffle)
    return datapipe


def apply_random_seed(datapipe, rng):
    """Gives all pipes with `set_seed` seeds from a generator, None being the
    package's own.
    """
    for pipe in _with(datapipe, "set_seed"):
        pipe.set_seed(int(empty((), dtype=int64).random_(generator=rng)))
    return datapipe


def apply_shuffle_seed(datapipe, rng):
    """Deprecated: `apply_random_seed`."""
    warnings.warn(
        "`apply_shuffle_seed` is deprecated since 1.12 and will be removed in "
        "the future releases. Please use `apply_random_seed` instead.",
        FutureWarning,
        stacklevel=2,
    )
    return apply_random_seed(datapipe, rng)
