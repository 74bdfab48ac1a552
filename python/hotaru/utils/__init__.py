"""Helpers that are not tensors: hooks, data loading, exchange of memory."""

from __future__ import annotations

from .._own_names import part

_LAZY = {
    "_pytree",
    "benchmark",
    "checkpoint",
    "collect_env",
    "data",
    "deterministic",
    "dlpack",
    "flop_counter",
    "hooks",
    "model_zoo",
    "module_tracker",
    "serialization",
    "show_pickle",
    "throughput_benchmark",
    "weak",
}


def __getattr__(name: str):
    if name == "swap_tensors":
        from .._tensor.swap import swap_tensors

        return swap_tensors
    if name == "ThroughputBenchmark":
        from .throughput_benchmark import ThroughputBenchmark

        return ThroughputBenchmark
    if name == "set_module":
        from .._utils import set_module

        return set_module
    return part(__name__, name, _LAZY)
