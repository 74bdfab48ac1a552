"""Modules over several devices."""

import importlib

from ..._own_names import no_attribute
from .data_parallel import DataParallel, data_parallel
from .scatter_gather import gather, scatter

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "scatter",
]


def __getattr__(name: str):
    # Parallelism of processes, which few programs have several of.
    if name in ("DistributedDataParallel", "distributed"):
        module = importlib.import_module(f"{__name__}.distributed")
        return module if name == "distributed" else getattr(module, name)
    raise no_attribute(__name__, name)
