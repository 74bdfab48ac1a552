"""Which modules run, forward and backward."""

from __future__ import annotations

import pytest
from hotaru.utils.module_tracker import ModuleTracker

import hotaru as torch


class Watched(torch.nn.Module):
    """Notes who runs, in both directions."""

    def __init__(self, seen, tracker) -> None:
        super().__init__()
        self.seen, self.tracker = seen, tracker

    def forward(self, x):
        self.note()
        x = x * 2
        x.register_hook(lambda grad: self.note())
        return [x + 1]

    def note(self):
        now = self.tracker()
        self.seen.append((sorted(now.parents), now.is_bw))


class Outer(torch.nn.Module):
    def __init__(self, inner) -> None:
        super().__init__()
        self.inner = torch.nn.ModuleList([inner])

    def forward(self, x):
        return self.inner[0](x)[0]


@pytest.mark.parametrize("needs_gradient", [True, False])
def test_names_forward_and_backward_and_twice(needs_gradient):
    seen = []
    module = Outer(Watched(seen, lambda: tracker))
    weight = torch.ones(2, requires_grad=True)
    with ModuleTracker() as tracker:
        for _ in range(2):
            x = weight * 1 if needs_gradient else weight
            module(x).sum().backward()
            assert tracker.parents == {"Global"}
            assert not tracker.is_bw
    one = [
        (["Global", "Outer", "Outer.inner.0"], False),
        # Outer's result is the inner one's: its gradient enters both.
        (["Global", "Outer", "Outer.inner.0"], True),
    ]
    assert seen == one * 2


def test_nothing_is_seen_behind_the_with():
    module = torch.nn.Linear(2, 2)
    with ModuleTracker() as tracker:
        result = module(torch.ones(1, 2, requires_grad=True))
    result.sum().backward()
    module(torch.ones(1, 2))
    assert tracker.parents == {"Global"}
