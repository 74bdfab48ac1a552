"""Schedules of passes become schedules with messages; both are checked."""

from __future__ import annotations

from collections.abc import Callable

from ._actions import Action, Computation, format_order

__all__ = [
    "add_reduce_grad",
    "add_send_recv",
    "add_unshard_reshard",
    "defer_recv_ops",
    "dump_chrometrace",
    "merge_bw",
    "simulate",
    "validate_schedule",
]

F, B = Computation.FORWARD, Computation.FULL_BACKWARD
I, W = Computation.BACKWARD_INPUT, Computation.BACKWARD_WEIGHT
SEND_F, RECV_F = Computation.SEND_F, Computation.RECV_F
SEND_B, RECV_B = Computation.SEND_B, Computation.RECV_B
Steps = list[Action | None]


def add_reduce_grad(actions: Steps, n_microbatches: int) -> Steps:
    """A step that reduces gradients, after a stage's last pass backward; idle
    steps are left out.
    """
    count: dict[int, int] = {}
    found: Steps = []
    for action in actions:
        if action is None:
            continue
        found.append(action)
        for part in action.parts():
            if part.computation_type in (W, B):
                stage = part.stage_index
                count[stage] = count.get(stage, 0) + 1
                if count[stage] == n_microbatches:
                    found.append(Action(stage, Computation.REDUCE_GRAD))
    return found


def add_unshard_reshard(actions: Steps, max_active_stages: int = 3) -> list[Action]:
    """Steps that make the parameters of the next stages whole before they are
    used, and give up those of others.
    """
    active: list[int] = []
    found: list[Action] = []
    for place, action in enumerate(actions):
        if action is None:
            continue
        wanted = _next_stages(max_active_stages, actions[place:])
        for stage in sorted(s for s in active if s not in wanted):
            active.remove(stage)
            found.append(Action(stage, Computation.RESHARD))
        for stage in wanted:
            if stage not in active:
                active.append(stage)
                found.append(Action(stage, Computation.UNSHARD))
        found.append(action)
    found += [Action(stage, Computation.RESHARD) for stage in sorted(active)]
    return found


def _next_stages(count: int, actions: Steps) -> list[int]:
    found: list[int] = []
    for action in actions:
        if action is None:
            continue
        for part in action.parts():
            if part.stage_index not in found:
                found.append(part.stage_index)
        if len(found) >= count:
            break
    return found


def merge_bw(compute_actions: Steps) -> list[Action]:
    """A pass to inputs and the one to weights that follows it as one."""
    given = [a for a in compute_actions if a is not None]
    compute_actions.clear()
    found: list[Action] = []
    while given:
        action = given.pop(0)
        follows = given[0] if given else None
        stage, kind, index, _ = action
        if kind is I and follows == Action(stage, W, index):
            given.pop(0)
            action = Action(stage, B, index)
        found.append(action)
    return found


def _follows(action: Action, done: set, num_stages: int) -> bool:
    """True if the stage before (or behind) has given what a pass takes."""
    stage, kind, index, _ = action
    if kind is F and stage != 0:
        return bool(done & {Action(stage, RECV_F, index), Action(stage - 1, F, index)})
    if kind in (I, B) and stage != num_stages - 1:
        before = {Action(stage + 1, k, index) for k in (I, B)}
        return bool(done & {Action(stage, RECV_B, index), *before})
    return True


def _messages(action: Action, rank_of, num_stages: int) -> tuple[Action, Action] | None:
    """The message that a pass gives rise to: who sends, who receives."""
    stage, kind, index, _ = action
    if kind is F and stage != num_stages - 1:
        other, send, receive = stage + 1, SEND_F, RECV_F
    elif kind in (I, B) and stage != 0:
        other, send, receive = stage - 1, SEND_B, RECV_B
    else:
        return None
    if rank_of(other) == rank_of(stage):
        return None
    return Action(stage, send, index), Action(other, receive, index)


def add_send_recv(
    compute_actions: dict[int, list], stage_to_rank: Callable, num_stages: int
) -> dict[int, list[Action]]:
    """Steps that send and receive, in an order in which none waits for ever:
    each message is received where its sender comes to it.

    AssertionError: the passes wait for one another.
    """
    found: dict[int, list[Action]] = {rank: [] for rank in compute_actions}
    done: dict[int, set] = {rank: set() for rank in compute_actions}

    def add(rank: int, action: Action) -> None:
        found[rank].append(action)
        done[rank].add(action)

    while compute_actions:
        progress = False
        for rank in sorted(compute_actions):
            action = compute_actions[rank][0]
            parts = () if action is None else action.parts()
            if not all(_follows(a, done[rank], num_stages) for a in parts):
                continue
            if action is not None:
                found[rank].append(action)
            for part in parts:
                done[rank].add(part)
                message = _messages(part, stage_to_rank, num_stages)
                if message is not None:
                    add(rank, message[0])
                    add(stage_to_rank(message[1].stage_index), message[1])
            compute_actions[rank].pop(0)
            if not compute_actions[rank]:
                del compute_actions[rank]
            progress = True
        if not progress:
            raise AssertionError(
                "Malformed compute schedule, can't schedule sends/recvs"
            )
    return found


def defer_recv_ops(
    actions: dict[int, list[Action]], stage_to_rank: Callable
) -> dict[int, list[Action]]:
    """Receives as late as they may be: before the pass that takes what comes
    and, on the lower of two ranks, before a message to the other.

    AssertionError: nothing takes what is received.
    """

    def peer(action: Action, ahead: Computation, behind: Computation) -> int:
        step = {ahead: 1, behind: -1}[action.computation_type]
        return stage_to_rank(action.stage_index + step)

    found: dict[int, list[Action]] = {}
    for rank, steps in actions.items():
        made: list[Action] = []
        waiting: dict[tuple, Action] = {}
        for action in steps:
            kind = action.computation_type
            if kind in (RECV_F, RECV_B):
                waiting[(action.stage_index, kind, action.microbatch_index)] = action
                continue
            if kind in (SEND_F, SEND_B):
                other = peer(action, SEND_F, SEND_B)
                if rank < other:
                    ready = [
                        key
                        for key, one in waiting.items()
                        if peer(one, RECV_B, RECV_F) == other
                    ]
                    made += [waiting.pop(key) for key in ready]
            for part in action.parts():
                wanted = {F: RECV_F, B: RECV_B, I: RECV_B}.get(part.computation_type)
                key = (part.stage_index, wanted, part.microbatch_index)
                if key in waiting:
                    made.append(waiting.pop(key))
            made.append(action)
        if waiting:
            raise AssertionError(
                f"Malformed input schedule on rank {rank}: leftover RECV ops with "
                f"no consumer found: {list(waiting.values())}. Every RECV must be "
                "consumed by a downstream compute op."
            )
        found[rank] = made
    return found


_BEFORE = {
    B: (F, "Full Backward", "Forward"),
    I: (F, "Backward Input", "Forward"),
    W: (I, "Backward Weight", "Backward Input"),
}


def validate_schedule(
    actions: dict[int, list], pp_group_size: int, num_stages: int, num_microbatches: int
) -> dict[int, int]:
    """The rank of each stage of a schedule, in which each stage has each
    microbatch once, passes in an order that can be.

    AssertionError: it is not like that.
    """
    if len(actions) != pp_group_size:
        raise AssertionError(
            f"Schedule has incorrect number of ranks - expected {pp_group_size}, "
            f"actual {len(actions)}"
        )
    seen: dict[int, dict] = {
        s: {k: set() for k in (F, B, I, W)} for s in range(num_stages)
    }
    placed: dict[int, int] = {}
    for rank in range(pp_group_size):
        if rank not in actions:
            raise AssertionError(f"Schedule is missing actions for rank {rank}")
    for rank, steps in actions.items():
        for step, action in enumerate(steps):
            if action is None:
                continue
            if not isinstance(action, Action):
                raise AssertionError(
                    f"Rank {rank}, step {step}: Got an invalid action: {action}, "
                    "expected instance of _Action"
                )
            for part in action.parts():
                _validate(part, rank, step, seen, placed, actions)
    for stage, found in seen.items():
        f, b, i, w = (len(found[kind]) for kind in (F, B, I, W))
        if f != num_microbatches:
            raise AssertionError(
                f"Got {f} {F} microbatches for stage {stage}, expected "
                f"{num_microbatches}"
            )
        wrong = f"Invalid backward microbatches for stage {stage}: "
        if i != w:
            raise AssertionError(
                f"{wrong}I and W must have equal counts, but got I={i}, W={w}"
            )
        if b + (i + w) // 2 != num_microbatches:
            raise AssertionError(
                f"{wrong}expected {num_microbatches} total backwards, but got "
                f"B={b}, I={i}, W={w}"
            )
    return placed


def _validate(part, rank: int, step: int, seen, placed, actions) -> None:
    stage, kind, index, _ = part
    if kind in _BEFORE:
        needed, name, other = _BEFORE[kind]
        if index not in seen[stage][needed]:
            raise AssertionError(
                f"Rank {rank}, step {step}: Running {name} for stage {stage}, "
                f"microbatch {index} without first running {other}\n\nFull pipeline "
                f"schedule:\n{format_order(actions, step)}"
            )
    if kind in seen[stage]:
        seen[stage][kind].add(index)
    if placed.setdefault(stage, rank) != rank:
        raise AssertionError(
            f"Rank {rank}, step {step}: Stage {stage} is assigned to both rank "
            f"{rank} and rank {placed[stage]}"
        )


def _ready(action: Action, done: dict[int, set], rank_of, num_stages: int) -> bool:
    stage, kind, index, _ = action
    own = done[rank_of(stage)]
    if kind in (F, I, B):
        return _follows(action, own, num_stages)
    if kind is W:
        return True
    if kind is SEND_F:
        return Action(stage, F, index) in own
    if kind is SEND_B:
        return bool(own & {Action(stage, I, index), Action(stage, B, index)})
    if kind is RECV_F:
        return Action(stage - 1, SEND_F, index) in done[rank_of(stage - 1)]
    if kind is RECV_B:
        return Action(stage + 1, SEND_B, index) in done[rank_of(stage + 1)]
    raise ValueError(f"Unsupported action type {action}")


def simulate(order, stage_to_rank: Callable, num_stages: int) -> dict[int, list]:
    """The steps as they would be done, one a rank at a time, with the times in
    which a rank waits.

    ValueError: they wait for one another.
    """
    left = {rank: [a for a in order[rank] if a is not None] for rank in sorted(order)}
    made: dict[int, list] = {rank: [] for rank in left}
    done: dict[int, set] = {rank: set() for rank in left}

    def take(rank: int) -> bool:
        action = left[rank][0]
        if not _ready(action, done, stage_to_rank, num_stages):
            return False
        done[rank].add(left[rank].pop(0))
        made[rank][-1] = action
        return True

    while left:
        progress = False
        for rank in sorted(left):
            if left[rank]:
                made[rank].append(None)
                progress |= take(rank)
        left = {rank: steps for rank, steps in left.items() if steps}
        # Whom a later rank has let go on does so at the same time.
        for rank in sorted(left):
            if made[rank][-1] is None:
                take(rank)
        left = {rank: steps for rank, steps in left.items() if steps}
        if not progress:
            print("WIP comms schedule:\n", format_order(made))
            for rank, steps in left.items():
                print(f"rank={rank} next action= {steps[0]}")
            raise ValueError("Schedule is not progressing")
    return made


def dump_chrometrace(schedule: dict[int, list], filename: str) -> None:
    """Writes a schedule for a browser's trace viewer."""
    import json

    events = [
        {
            "name": str(action),
            "cat": "computation"
            if action.computation_type in (F, B, W)
            else "communication",
            "ph": "X",
            "pid": rank,
            "tid": rank,
            "ts": step,
            "dur": 1,
        }
        for rank in sorted(schedule)
        for step, action in enumerate(schedule[rank])
        if action is not None
    ]
    with open(filename, "w") as file:
        json.dump({"traceEvents": events}, file)
