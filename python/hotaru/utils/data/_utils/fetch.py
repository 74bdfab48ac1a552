"""From what a sampler gives to a batch, in the parent or in a worker."""

from __future__ import annotations


def make_fetcher(iterable: bool, *args) -> MapFetcher | IterableFetcher:
    """A fetcher for an iterable or a map-style dataset."""
    return (IterableFetcher if iterable else MapFetcher)(*args)


class MapFetcher:
    """Looks samples up by index.

    Args:
        dataset: the dataset.
        batched: whether `fetch` takes a list of indices or one.
        collate: makes the batch.
        drop_last: not used here.
    """

    def __init__(self, dataset, batched: bool, collate, drop_last: bool):
        self.dataset = dataset
        self.batched = batched
        self.collate = collate

    def fetch(self, index):
        """The batch of a list of indices, or the sample of one."""
        dataset = self.dataset
        if not self.batched:
            return self.collate(dataset[index])
        many = getattr(dataset, "__getitems__", None)
        if many:
            return self.collate(many(index))
        return self.collate([dataset[i] for i in index])


class IterableFetcher:
    """Takes the next samples of an iteration.

    The arguments are MapFetcher's; `drop_last` drops an incomplete batch.
    """

    def __init__(self, dataset, batched: bool, collate, drop_last: bool):
        self.samples = iter(dataset)
        self.batched = batched
        self.collate = collate
        self.drop_last = drop_last
        self.ended = False

    def fetch(self, index):
        """A batch of as many samples as `index` is long, fewer at the end.

        Raises:
            StopIteration: there are none left.
        """
        if self.ended:
            raise StopIteration
        if not self.batched:
            return self.collate(next(self.samples))
        batch = []
        for _ in index:
            try:
                batch.append(next(self.samples))
            except StopIteration:
                self.ended = True
                break
        if not batch or (self.drop_last and len(batch) < len(index)):
            raise StopIteration
        return self.collate(batch)
