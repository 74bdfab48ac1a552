"""A sampler for training in several processes, each on its own samples."""

from __future__ import annotations

from ... import Generator, randperm
from ..._late import lent
from .sampler import Sampler


class DistributedSampler(Sampler):
    """Every `num_replicas`-th index, from `rank` on.

    All replicas get equally many: the first indices come a second time, or,
    with `drop_last`, the last ones are left out.

    Args:
        dataset: what to sample.
        num_replicas: number of processes (the default group's).
        rank: of this process, from 0 (its rank there).
        shuffle: in an order that `seed` and the epoch decide.
        seed: the same in all processes.
        drop_last: leave out what does not divide evenly.

    Raises:
        ValueError: a rank outside of the range; a number is missing, and there
            is no process group.
    """

    def __init__(
        self,
        dataset,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            distributed = lent("distributed")
            if num_replicas is None:
                num_replicas = distributed.get_world_size()
            if rank is None:
                rank = distributed.get_rank()
        if rank >= num_replicas or rank < 0:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval "
                f"[0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        self.shuffle = shuffle
        self.seed = seed
        whole, rest = divmod(len(dataset), num_replicas)
        self.num_samples = whole + (rest > 0 and not drop_last)
        self.total_size = self.num_samples * num_replicas

    def __iter__(self):
        count = len(self.dataset)
        if self.shuffle:
            generator = Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = randperm(count, generator=generator).tolist()
        else:
            order = list(range(count))
        if order:
            order *= -(-self.total_size // count)
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Another epoch has another order."""
        self.epoch = epoch
