# ruff: noqa: E501  (a case is one line)
"""Cases of DataLoader's worker processes."""

from __future__ import annotations

import random
from importlib import import_module

CASES = {}

_TEXTS = [
    "list(D.DataLoader(ds, 4, num_workers=1))",
    "list(D.DataLoader(ds, 3, num_workers=2, drop_last=True))",
    "list(D.DataLoader(ds, 4, shuffle=True, num_workers=2)), lib.rand(1)",
    "[list(l) for l in [D.DataLoader(ds, 4, shuffle=True, num_workers=2)] for _ in range(2)], lib.rand(1)",
    "[list(l) for l in [D.DataLoader(ds, 4, shuffle=True, num_workers=2, generator=lib.Generator().manual_seed(4))] for _ in range(2)], lib.rand(1)",
    "[list(l) for l in [D.DataLoader(ds, 4, shuffle=True, num_workers=2, persistent_workers=True)] for _ in range(3)], lib.rand(1)",
    "list(D.DataLoader(ds, 4, sampler=D.RandomSampler(ds, True, 9), num_workers=2)), lib.rand(1)",
    "list(D.DataLoader(ds, None, sampler=D.WeightedRandomSampler([1.0] * 10, 3), num_workers=2)), lib.rand(1)",
    "list(D.DataLoader(ds, batch_sampler=[[1, 2], [3]], num_workers=2))",
    "list(D.DataLoader(ds, None, num_workers=2))",
    "list(D.DataLoader(info, 2, num_workers=2))",
    "list(D.DataLoader(info, 2, num_workers=2, generator=lib.Generator().manual_seed(4)))",
    "[list(l) for l in [D.DataLoader(info, 2, num_workers=2, persistent_workers=True)] for _ in range(2)]",
    "list(D.DataLoader(info, 2, num_workers=1, worker_init_fn=lambda i: lib.manual_seed(7)))",
    "list(D.DataLoader(it, 2, num_workers=1))",
    "list(D.DataLoader(it, 2, num_workers=2))",
    "list(D.DataLoader(it, None, num_workers=2))",
    "list(D.DataLoader(it, 2, num_workers=2, drop_last=True))",
    "[list(l) for l in [D.DataLoader(it, 2, num_workers=2, persistent_workers=True)] for _ in range(2)]",
    "sorted(b.tolist() for b in D.DataLoader(it, 2, num_workers=2, in_order=False))",
    "sorted(b[1].tolist() for b in D.DataLoader(ds, 3, num_workers=2, in_order=False))",
    "[(len(l), list(l)) for l in [D.DataLoader(short, 2, num_workers=1)]]",
    "D.DataLoader(ds, num_workers=1).prefetch_factor",
    "len(iter(D.DataLoader(ds, 3, num_workers=1)))",
    "D.DataLoader(ds, num_workers=1, prefetch_factor=-1)",
    "D.DataLoader(ds, num_workers=1, multiprocessing_context='x')",
    "D.DataLoader(ds, num_workers=1, multiprocessing_context=3)",
    "D.DataLoader(ds, num_workers=1, multiprocessing_context='fork').multiprocessing_context.get_start_method()",
    "list(D.DataLoader(ds, 5, num_workers=1, pin_memory=True))",
    "list(D.DataLoader(nested, 2, num_workers=2))",
    "list(D.DataLoader(ds, 5, num_workers=1, collate_fn=lambda b: [len(b), {'a': b[0][0]}, 'text', None, 2.5]))",
    "text(lambda: list(D.DataLoader(bad(ValueError('no')), 2, num_workers=2)))",
    "text(lambda: list(D.DataLoader(bad(KeyError('no')), 2, num_workers=1)))",
    "text(lambda: list(D.DataLoader(bad(OddError(1, 2)), 2, num_workers=1)))",
    "text(lambda: list(D.DataLoader(bad(StopIteration()), 2, num_workers=1)))",
    "text(lambda: list(D.DataLoader(ds, worker_init_fn=lambda i: 1 / 0, num_workers=2)))",
    "text(lambda: list(D.DataLoader(ds, collate_fn=lambda b: b.nothing, num_workers=1)))",
    "skipping(D.DataLoader(bad(ValueError('no')), 1, num_workers=2))",
]


class OddError(Exception):
    """Cannot be made from a text."""

    def __init__(self, a, b):
        super().__init__(a, b)


def _text(action):
    """Type and first line of what the action raises."""
    try:
        return action()
    except Exception as error:
        return type(error).__name__, str(error).splitlines()[0]


def _skipping(loader):
    """All batches, with the types of errors in their places."""
    batches, found = iter(loader), []
    while True:
        try:
            found.append(next(batches))
        except StopIteration:
            return found
        except ValueError as error:
            found.append(type(error).__name__)


def _datasets(lib, data) -> dict:
    def worker(name):
        return getattr(data.get_worker_info(), name)

    class Info(data.Dataset):
        """Dataset that tells what a worker knows and draws."""

        def __len__(self):
            return 8

        def __getitem__(self, i):
            import numpy as np

            draws = [random.random(), lib.rand(1).item(), np.random.rand()]
            seed = worker("seed") - worker("id")
            mine = worker("dataset") is self
            return i, worker("id"), worker("num_workers"), seed, mine, *draws

    class Parts(data.IterableDataset):
        """Dataset of another length in each worker."""

        def __iter__(self):
            first = 100 * worker("id")
            return iter(range(first, first + (3, 10)[worker("id")]))

    class Short(Parts):
        def __len__(self):
            return 1

        def __repr__(self):
            return "Short()"

    class Nested(data.Dataset):
        """A batch of containers, large and small tensors, strided ones."""

        def __len__(self):
            return 3

        def __getitem__(self, i):
            large = lib.arange(1500.0).reshape(30, 50) + i
            return {
                "pair": (large[:2, :3], [i, str(i)]),
                "sum": large.sum(),
                "half": large.half()[0],
                "empty": lib.ones(0, 3),
            }

    class Bad(data.Dataset):
        def __init__(self, error):
            self.error = error

        def __len__(self):
            return 6

        def __getitem__(self, i):
            if i == 3:
                raise self.error
            return i

    return {
        "info": Info(),
        "it": Parts(),
        "short": Short(),
        "nested": Nested(),
        "bad": Bad,
    }


def _case(text: str):
    def run(lib):
        import numpy  # noqa: F401  (workers seed it where it is imported)

        data = import_module(f"{lib.__name__}.utils.data")
        scope = {"lib": lib, "D": data, "OddError": OddError, "text": _text}
        scope |= _datasets(lib, data)
        scope["skipping"] = _skipping
        scope["ds"] = data.TensorDataset(lib.arange(10.0), lib.arange(10))
        return eval(text, scope)

    return run


CASES.update({text: _case(text) for text in _TEXTS})
