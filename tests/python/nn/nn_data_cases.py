# ruff: noqa: E501  (a case is one line)
"""Cases of utils.data: datasets, samplers, collation, the loader."""

from __future__ import annotations

from collections import OrderedDict, UserList, namedtuple

CASES = {}
Pair = namedtuple("Pair", "a b")

_TEXTS = [
    "ds[3], ds[2:4], len(ds)",
    "D.TensorDataset(lib.ones(2), lib.ones(3))",
    "(ds + ds)[15], len(ds + ds)",
    "D.ConcatDataset([])",
    "D.ConcatDataset([ds])[-1]",
    "D.ConcatDataset([ds])[-11]",
    "D.ConcatDataset([it])",
    "D.Subset(ds, [3, 1])[1], D.Subset(ds, [3, 1])[[0, 1]], len(D.Subset(ds, [3, 1]))",
    "D.StackDataset(ds, ds)[0], D.StackDataset(a=ds)[1]",
    "list(D.ChainDataset([it, it])), list(it + it)",
    "D.Dataset()[0]",
    "len(D.Dataset())",
    "[s.indices for s in D.random_split(ds, [7, 3])]",
    "[s.indices for s in D.random_split(ds, [0.5, 0.25, 0.25])]",
    "[s.indices for s in D.random_split(ds, [0.99, 0.01])]",
    "[s.indices for s in D.random_split(ds, [5, 5], lib.Generator().manual_seed(3))]",
    "D.random_split(ds, [1, 2])",
    "D.random_split(ds, [0.5, 0.6])",
    "D.random_split(ds, [1.5, -0.5])",
    "[list(D.RandomSampler(ds)) for _ in range(2)]",
    "list(D.RandomSampler(ds, generator=lib.Generator().manual_seed(5)))",
    "list(D.RandomSampler(ds, replacement=True, num_samples=40))",
    "list(D.RandomSampler(ds, num_samples=24))",
    "[list(s) for s in [D.RandomSampler(ds, generator=lib.Generator().manual_seed(5))] for _ in range(3)]",
    "[list(s) for s in [D.RandomSampler(ds, True, 32, lib.Generator().manual_seed(5))] for _ in range(3)]",
    "D.RandomSampler(ds, num_samples=0)",
    "D.RandomSampler(ds, replacement=3)",
    "list(D.SequentialSampler(ds)), len(D.SequentialSampler(ds))",
    "list(D.SubsetRandomSampler([3, 4, 5, 9]))",
    "list(D.WeightedRandomSampler([0.3, 0.7], 9))",
    "list(D.WeightedRandomSampler([0.3, 0.7, 0.1], 3, replacement=False))",
    "D.WeightedRandomSampler([0.1, 0.9], -5)",
    "D.WeightedRandomSampler([0.1, 0.9], 5, 3)",
    "D.WeightedRandomSampler([[0.1, 0.9]], 5)",
    "list(D.BatchSampler(D.SequentialSampler(ds), 3, False))",
    "list(D.BatchSampler(range(10), 3, True)), len(D.BatchSampler(range(10), 3, True))",
    "D.BatchSampler(range(10), 0, True)",
    "D.BatchSampler(range(10), 1, 3)",
    "list(D.DataLoader(ds, 4))",
    "list(D.DataLoader(ds, 4, shuffle=True, drop_last=True)), lib.rand(1)",
    "list(D.DataLoader(ds, 4)), lib.rand(1)",
    "len(D.DataLoader(ds, 4)), len(D.DataLoader(ds, 4, drop_last=True))",
    "list(D.DataLoader(ds, batch_size=None))",
    "list(D.DataLoader(ds, batch_sampler=[[1, 2], [3]]))",
    "list(D.DataLoader(ds, 2, sampler=[5, 6, 7]))",
    "list(D.DataLoader([1, 2, 3], 2))",
    "list(D.DataLoader(ds, 4, collate_fn=len))",
    "list(D.DataLoader(D.Subset(ds, [1, 3, 5]), 2))",
    "list(D.DataLoader(it, 2)), list(D.DataLoader(it, 2, drop_last=True))",
    "list(D.DataLoader(it, None))",
    "len(D.DataLoader(it))",
    "D.DataLoader(ds, 0)",
    "D.DataLoader(ds, shuffle=True, sampler=[1])",
    "D.DataLoader(ds, 2, batch_sampler=[[1]])",
    "D.DataLoader(ds, num_workers=-1)",
    "D.DataLoader(ds, timeout=-1)",
    "D.DataLoader(ds, prefetch_factor=2)",
    "D.DataLoader(ds, persistent_workers=True)",
    "D.DataLoader(ds, batch_size=None, drop_last=True)",
    "D.DataLoader(it, shuffle=True)",
    "D.DataLoader(it, sampler=[1])",
    "D.DataLoader(it, batch_sampler=[1])",
    "setattr(D.DataLoader(ds), 'batch_size', 3)",
    "setattr(D.DataLoader(ds), 'collate_fn', len)",
    "D.DataLoader(ds, num_workers=0).collate_fn is D.default_collate",
    "D.get_worker_info()",
    "c([1, 2]), c([1.0, 2.0]), c(['a', 'b']), c([b'a']), c([True, False])",
    "c([{'a': 1, 'b': lib.ones(1)}, {'a': 2, 'b': lib.ones(1)}])",
    "c([OrderedDict(a=1), OrderedDict(a=2)])",
    "type(c([OrderedDict(a=1), OrderedDict(a=2)])).__name__",
    "c([Pair(1, 2), Pair(3, 4)]), type(c([Pair(1, 2)])).__name__",
    "c([(1, 2.0), (3, 4.0)]), c([[1, 'a'], [2, 'b']])",
    "c([[1, 2], [3]])",
    "c([None])",
    "c([set()])",
    "c([lib.ones(2), lib.ones(3)])",
    "c([np.ones(2), np.ones(2)]), c([np.float32(2)]), c([np.int64(3), np.int64(4)])",
    "c([np.array(['a'])])",
    "c([(1, 'a'), (2, 'b')]), type(c([(1, 'a')])[1]).__name__",
    "type(c([UserList([1]), UserList([2])])).__name__",
    "c([np.float64(2), np.float64(3)]), c([np.bool_(True)])",
    "type(D.default_convert(UserList([np.ones(1)]))).__name__",
    "collate.collate([1, 2], collate_fn_map={int: lambda b, collate_fn_map: sum(b)})",
    "collate.collate([(1, [2]), (3, [4])], collate_fn_map={int: lambda b, *, collate_fn_map: max(b)})",
    "collate.collate([1, 2], collate_fn_map={float: lambda b, collate_fn_map: sum(b)})",
    "collate.collate([True], collate_fn_map={int: lambda b, collate_fn_map: sum(b)})",
    "[list(D.DistributedSampler(ds, 3, r)) for r in range(3)]",
    "[list(D.DistributedSampler(ds, 3, r, drop_last=True)) for r in range(3)]",
    "[list(D.DistributedSampler(ds, 4, r, False, 5)) for r in range(4)]",
    "[list(D.DistributedSampler([7], 4, r)) for r in range(4)]",
    "len(D.DistributedSampler(ds, 3, 0)), len(D.DistributedSampler(ds, 3, 0, drop_last=True))",
    "[(s.set_epoch(2), list(s)) for s in [D.DistributedSampler(ds, 2, 1, seed=3)]]",
    "D.DistributedSampler(ds, 2, 2)",
    "[list(D.DataLoader(ds, 3, shuffle=True, generator=lib.Generator().manual_seed(2))) for _ in range(2)]",
    "[list(l) for l in [D.DataLoader(ds, 5, shuffle=True)] for _ in range(3)], lib.rand(1)",
    "list(D.DataLoader(ds, 5, sampler=D.WeightedRandomSampler([1.0] * 10, 10))), lib.rand(1)",
    "list(D.DataLoader(ds, None, sampler=D.WeightedRandomSampler([1.0] * 10, 3))), lib.rand(1)",
    "list(D.DataLoader(ds, 5, sampler=D.SubsetRandomSampler(range(4)))), lib.rand(1)",
    "len(iter(D.DataLoader(ds, 3)))",
    "list(D.DataLoader(ds, 5, pin_memory=True))",
    "list(D.DataLoader(ds, 5, pin_memory=True, pin_memory_device='cuda'))",
    "list(D.DataLoader(ds, timeout=1))",
    "D.DataLoader(ds, multiprocessing_context='fork')",
    "[(len(l), list(l)) for l in [D.DataLoader(short, 2)]]",
    "D.default_convert([np.ones(2), 3, 'a', {'b': np.ones(1)}, Pair(1, np.ones(1))])",
]


def _case(text: str):
    def run(lib):
        from importlib import import_module

        import numpy as np

        data = import_module(f"{lib.__name__}.utils.data")

        class Count(data.IterableDataset):
            def __iter__(self):
                return iter(range(5))

        class Short(Count):
            def __len__(self):
                return 2

            def __repr__(self):
                return "Short()"

        collate = import_module(f"{lib.__name__}.utils.data._utils.collate")
        scope = {"collate": collate, "UserList": UserList, "short": Short()}
        scope |= {"lib": lib, "D": data, "c": data.default_collate, "np": np}
        scope.update(Pair=Pair, OrderedDict=OrderedDict, it=Count())
        scope["ds"] = data.TensorDataset(lib.arange(10.0), lib.arange(10))
        return eval(text, scope)

    return run


CASES.update({text: _case(text) for text in _TEXTS})
