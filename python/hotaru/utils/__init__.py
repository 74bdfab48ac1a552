"""Helpers that are not tensors: hooks, data loading, exchange of memory."""

from __future__ import annotations

from os import path as _path

from .._own_names import part

#: For `cmake -DCMAKE_PREFIX_PATH=...`: find_package(hotaru) and (Torch) of a
#: package that was installed with headers.
cmake_prefix_path = _path.join(
    _path.dirname(_path.dirname(_path.abspath(__file__))), "share", "cmake"
)

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
