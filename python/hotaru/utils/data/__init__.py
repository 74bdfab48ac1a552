"""Datasets, samplers and batches."""

from __future__ import annotations

from ..._own_names import part
from ._utils.collate import default_collate, default_convert
from .dataloader import DataLoader, get_worker_info
from .dataset import (
    ChainDataset,
    ConcatDataset,
    Dataset,
    IterableDataset,
    StackDataset,
    Subset,
    TensorDataset,
    random_split,
)
from .distributed import DistributedSampler
from .sampler import (
    BatchSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    WeightedRandomSampler,
)

_PIPES = ("DataChunk", "IterDataPipe", "MapDataPipe")
_PIPE_DECORATORS = (
    "functional_datapipe",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
)
_MODULES = ("datapipes", "graph", "graph_settings")


def __getattr__(name: str):
    # Pipes are imported when first asked for: the rest does without them.
    import importlib

    if name in _PIPES:
        pipes = importlib.import_module(f"{__name__}.datapipes.datapipe")
        return globals().setdefault(name, getattr(pipes, name))
    if name in _PIPE_DECORATORS:
        found = importlib.import_module(f"{__name__}.datapipes._decorator")
        return globals().setdefault(name, getattr(found, name))
    return part(__name__, name, _MODULES)


__all__ = [
    "BatchSampler",
    "ChainDataset",
    "ConcatDataset",
    "DataChunk",
    "DataLoader",
    "Dataset",
    "DistributedSampler",
    "IterDataPipe",
    "IterableDataset",
    "MapDataPipe",
    "RandomSampler",
    "Sampler",
    "SequentialSampler",
    "StackDataset",
    "Subset",
    "SubsetRandomSampler",
    "TensorDataset",
    "WeightedRandomSampler",
    "default_collate",
    "default_convert",
    "functional_datapipe",
    "get_worker_info",
    "guaranteed_datapipes_determinism",
    "non_deterministic",
    "random_split",
]
