"""Steps of a schedule: what a rank does with a microbatch of a stage."""

from __future__ import annotations

import enum
import itertools
import re
import typing

__all__ = ["Action", "Computation", "format_order", "placed_stages", "stages_of_ranks"]


class Computation(str, enum.Enum):
    """Kinds of steps, by the letters of their texts."""

    FORWARD = "F"
    BACKWARD_INPUT = "I"
    BACKWARD_WEIGHT = "W"
    UNSHARD = "UNSHARD"
    RESHARD = "RESHARD"
    SEND_F = "SEND_F"
    RECV_F = "RECV_F"
    SEND_B = "SEND_B"
    RECV_B = "RECV_B"
    FULL_BACKWARD = "B"
    OVERLAP_F_B = "OVERLAP_F_B"
    REDUCE_GRAD = "REDUCE_GRAD"

    @staticmethod
    def from_str(action: str) -> Computation:
        """The kind of a text; RuntimeError for another."""
        try:
            return Computation(action)
        except ValueError as error:
            raise RuntimeError(f"Invalid computation type {action}") from error


_KINDS = "F|I|B|W|UNSHARD|RESHARD|REDUCE_GRAD|SEND_F|RECV_F|SEND_B|RECV_B"
_TEXT = re.compile(rf"(\d+)({_KINDS})(\d*)")
_COMPUTES = {
    Computation.FORWARD,
    Computation.FULL_BACKWARD,
    Computation.BACKWARD_INPUT,
    Computation.BACKWARD_WEIGHT,
    Computation.OVERLAP_F_B,
}


class Action(typing.NamedTuple):
    """A step; "2F0" is the forward pass of stage 2 with microbatch 0.

    Steps that are done as one have them as `sub_actions`.
    """

    stage_index: int
    computation_type: Computation
    microbatch_index: int | None = None
    sub_actions: tuple[Action, ...] | None = None

    def __repr__(self) -> str:
        kind = self.computation_type.value
        if self.sub_actions is not None:
            return f"({';'.join(map(repr, self.sub_actions))}){kind}"
        index = "" if self.microbatch_index is None else self.microbatch_index
        return f"{self.stage_index}{kind}{index}"

    __str__ = __repr__

    @property
    def is_compute_op(self) -> bool:
        """True of passes, which a schedule is made of before messages."""
        return self.computation_type in _COMPUTES

    def parts(self) -> tuple[Action, ...]:
        """The steps that it stands for."""
        return (self,) if self.sub_actions is None else self.sub_actions

    @staticmethod
    def from_str(action_string: str) -> Action | None:
        """The step of a text, None of an empty one.

        RuntimeError for anything else.
        """
        text = action_string.strip()
        if not text:
            return None
        if text.startswith("(") and ")" in text:
            inner, _, kind = text[1:].partition(")")
            found = [Action.from_str(part) for part in inner.split(";")]
            parts = tuple(part for part in found if part is not None)
            return Action(-1, Computation.from_str(kind), None, parts or None)
        match = _TEXT.match(text)
        if match is None:
            raise RuntimeError(
                f"Invalid action string: {text}, should be formatted as "
                "[stage][action type][(microbatch)] e.g. 2F0"
            )
        stage, kind, index = match.groups()
        return Action(
            int(stage), Computation.from_str(kind), int(index) if index else None
        )


def format_order(order: dict[int, list], error_step_number: int | None = None) -> str:
    """A table: a line for each step, a column for each rank."""
    ranks = sorted(order)
    columns = [["" if a is None else str(a) for a in order[rank]] for rank in ranks]
    count = max(len(order[rank]) for rank in ranks)
    labels = [f"Step {str(i).zfill(len(str(count - 1)))}" for i in range(count)]
    rows = list(itertools.zip_longest(*columns, fillvalue=""))
    wide = labels + ["Rank 0"] * len(ranks)  # where there are more ranks than steps
    widths = [
        max(map(len, (wide[i], *[r[i] for r in rows]))) for i in range(len(ranks))
    ]
    text = " " * (len(labels[0]) + 2)
    text += " ".join(f"{f'Rank {i}':<{widths[i]}}" for i in range(len(ranks))) + "\n"
    for step, (label, row) in enumerate(zip(labels, rows)):
        shown = " ".join(f"{one:<{widths[i]}}" for i, one in enumerate(row))
        mark = " <-- ERROR HERE" if step == error_step_number else ""
        text += f"{label}: {shown}{mark}\n"
    return text


def placed_stages(pp_size: int, num_stages: int, style: str = "loop") -> dict[int, int]:
    """The rank of each stage: in turn ("loop"), or to the last rank and back
    again ("v").

    ValueError: another style, or stages that do not divide into V's.
    """
    if style == "loop":
        return {stage: stage % pp_size for stage in range(num_stages)}
    if style != "v":
        raise ValueError(f"Style {style} is not supported.")
    if num_stages % pp_size:
        raise ValueError(
            f"num_stages {num_stages} must be evenly divisible by pp_size {pp_size} "
            "for V schedules"
        )
    placed = {}
    for stage in range(num_stages):
        turn, place = divmod(stage, pp_size)
        placed[stage] = pp_size - 1 - place if turn % 2 else place
    return placed


def stages_of_ranks(
    pp_size: int, num_stages: int, style: str = "loop"
) -> dict[int, list[int]]:
    """The stages of each rank, in order."""
    found: dict[int, list[int]] = {}
    for stage, rank in placed_stages(pp_size, num_stages, style).items():
        found.setdefault(rank, []).append(stage)
    return found
