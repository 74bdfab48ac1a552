"""Orders of passes: for each rank what it does, in what order.

None is a time in which a rank waits for others; only the tables show it.
"""

from __future__ import annotations

from collections.abc import Callable

from ._actions import Action, Computation, stages_of_ranks
from ._lowering import add_reduce_grad

__all__ = [
    "dual_pipe_v",
    "gpipe",
    "interleaved",
    "looped_bfs",
    "one_forward_one_backward",
    "with_bubbles",
    "zbv",
]

F, B = Computation.FORWARD, Computation.FULL_BACKWARD
I, W = Computation.BACKWARD_INPUT, Computation.BACKWARD_WEIGHT
Steps = list[Action | None]


class _Count:
    """The next microbatch of each pass of each stage."""

    def __init__(self) -> None:
        self._next: dict[tuple, int] = {}

    def of(self, stage: int, kind: Computation) -> int:
        """Its number; the next time it is the following one."""
        number = self._next.get((stage, kind), 0)
        self._next[(stage, kind)] = number + 1
        return number

    def action(self, stage: int, kind: Computation) -> Action:
        """The pass with the next microbatch."""
        return Action(stage, kind, self.of(stage, kind))


def gpipe(ranks: int, microbatches: int) -> dict[int, Steps]:
    """All forward, then all backward."""
    found = {}
    for rank in range(ranks):
        steps: Steps = [None] * rank
        steps += [Action(rank, F, i) for i in range(microbatches)]
        steps += [None] * (3 * (ranks - 1 - rank))
        steps += [Action(rank, B, i) for i in range(microbatches)]
        found[rank] = add_reduce_grad(steps, microbatches)
    return found


def one_forward_one_backward(ranks: int, microbatches: int) -> dict[int, Steps]:
    """As many forward as there are stages behind, then in turn, then the rest."""
    found = {}
    for rank in range(ranks):
        ahead = ranks - 1 - rank
        count = _Count()
        steps: Steps = [count.action(rank, F) for _ in range(ahead)]
        for _ in range(microbatches - ahead):
            steps += [count.action(rank, F), count.action(rank, B)]
        steps += [count.action(rank, B) for _ in range(min(ahead, microbatches))]
        found[rank] = add_reduce_grad(steps, microbatches)
    return found


def looped_bfs(rank: int, ranks: int, local: int, microbatches: int) -> Steps:
    """All microbatches of a stage before the next stage's."""
    stages = range(rank, ranks * local, ranks)
    steps: Steps = [None] * rank
    steps += [Action(s, F, i) for s in stages for i in range(microbatches)]
    steps += [None] * (2 * (ranks - 1 - rank))
    steps += [
        Action(s, B, i) for s in reversed(stages) for i in reversed(range(microbatches))
    ]
    return steps


def interleaved(
    rank: int,
    ranks: int,
    local: int,
    microbatches: int,
    per_round: int,
    zero_bubble: bool = False,
) -> Steps:
    """Rounds of microbatches through all stages of a rank, in turn forward and
    backward; with `zero_bubble` passes to weights fill the times of waiting.
    """
    ahead = (ranks - 1) - rank
    total = local * microbatches
    warm = min((local - 1) * per_round + (1 if zero_bubble else 2) * ahead, total)

    def forward_stage(step: int) -> int:
        return (step // per_round) % local * ranks + rank

    def backward_stage(step: int) -> int:
        return (local - 1 - ((step - warm) // per_round) % local) * ranks + rank

    count = _Count()
    back = I if zero_bubble else B
    steps: Steps = [None] * rank
    steps += [count.action(forward_stage(step), F) for step in range(warm)]
    wait = ahead if zero_bubble else local * ranks + 2 * ahead - (warm + rank)
    if warm:
        steps += [None] * wait
    weights: list[int] = []

    def weight() -> None:
        steps.append(count.action(weights.pop(0), W))

    for step in range(warm, total + warm):
        if step < total:
            steps.append(count.action(forward_stage(step), F))
        elif not zero_bubble:
            steps.append(None)
        steps.append(count.action(backward_stage(step), back))
        weights.append(backward_stage(step))
        if zero_bubble and step - warm >= rank:
            weight()
    while zero_bubble and weights:
        weight()
    return steps


def with_bubbles(order: dict[int, Steps], num_stages: int) -> dict[int, Steps]:
    """The order with times of waiting for stages before, where there are any."""
    seen: set = set()
    place = dict.fromkeys(order, 0)
    found: dict[int, Steps] = {rank: [] for rank in order}

    def waits(action: Action) -> bool:
        stage, kind, index, _ = action
        if kind is F:
            return stage != 0 and (stage - 1, F, index) not in seen
        if kind is B and stage == num_stages - 1:
            return (stage, F, index) not in seen
        return kind is B and (stage + 1, B, index) not in seen

    while any(place[rank] < len(steps) for rank, steps in order.items()):
        now = set()
        for rank, steps in order.items():
            if place[rank] == len(steps):
                continue
            action = steps[place[rank]]
            if action is not None and waits(action):
                found[rank].append(None)
                continue
            found[rank].append(action)
            place[rank] += 1
            if action is not None:
                now.add(action[:3])
        seen |= now
    return found


def zbv(rank: int, ranks: int, microbatches: int) -> Steps:
    """Two stages a rank, to the last rank and back again; passes to weights
    follow those to inputs, and are kept for the end.
    """
    # Fewer than the pipeline holds are left out at the end.
    wanted = max(2 * ranks - 1, microbatches)
    first, second = rank, 2 * ranks - 1 - rank
    count = _Count()
    steps: Steps = [None] * rank
    made = {first: 0, second: 0}

    def forward(stage: int) -> None:
        steps.append(count.action(stage, F))
        made[stage] += 1

    def back(stage: int, weight: bool = True) -> None:
        steps.append(count.action(stage, I))
        if weight:
            steps.append(count.action(stage, W))

    for _ in range(2 * (ranks - rank) - 1):
        forward(first)
    for _ in range(rank):
        forward(second)
        forward(first)
    for _ in range(ranks - rank):
        forward(second)
        back(second)
    while made[second] < made[first] or made[first] < wanted:
        if made[first] < wanted:
            forward(first)
        back(first)
        forward(second)
        back(second)
    for _ in range(rank):
        back(first, False)
        back(second, False)
    for _ in range(ranks - rank):
        back(first)
    steps += [count.action(second, W) for _ in range(rank)]
    steps += [count.action(first, W) for _ in range(rank)]
    return [
        a if a is not None and a.microbatch_index < microbatches else None
        for a in steps
    ]


def dual_pipe_v(rank: int, ranks: int, microbatches: int) -> Steps:
    """As DualPipe: passes forward of one stage with those backward of the other."""
    first, second = stages_of_ranks(ranks, ranks * 2, "v")[rank]
    count = _Count()
    steps: Steps = []
    weights: list[tuple[int, int]] = []

    def forward(stage: int) -> None:
        steps.append(count.action(stage, F))

    def back(stage: int, kind: Computation = B) -> None:
        # Full passes and those to inputs are counted together.
        index = count.of(stage, I)
        steps.append(Action(stage, kind, index))
        if kind is I:
            weights.append((stage, index))

    def weight() -> None:
        if weights:
            stage, index = weights.pop(0)
            steps.append(Action(stage, W, index))

    def overlap(ahead: int, behind: int) -> None:
        parts = count.action(ahead, F), Action(behind, B, count.of(behind, I))
        steps.append(Action(-1, Computation.OVERLAP_F_B, None, parts))

    def repeat(times: int, *calls: Callable) -> None:
        for _ in range(times):
            for call in calls:
                call()

    before = ranks - rank - 1
    repeat(before * 2, lambda: forward(first))
    repeat(rank + 1, lambda: forward(first), lambda: forward(second))
    repeat(before, lambda: back(second, I), weight, lambda: forward(second))
    for i in range(microbatches - ranks * 2 + rank + 1):
        if i == 0 and rank == ranks - 1:
            forward(first)
            back(second)
        else:
            overlap(first, second)
        overlap(second, first)
    repeat(before, lambda: back(second), lambda: overlap(second, first))
    kind = B
    for i in range(rank + 1):
        half = i == (rank + 1) // 2
        if half and rank % 2 == 1:
            kind = I
        back(second, kind)
        if half and rank % 2 == 0:
            kind = I
        back(first, kind)
    repeat(before, weight, lambda: back(first, kind))
    repeat(rank + 1, weight)
    return steps
