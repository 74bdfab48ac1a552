"""How far a program's training is, counted by all who count its steps."""

from __future__ import annotations

import warnings


class KinetoStepTracker:
    """Steps by who counts them; the program's are those of the furthest."""

    _steps: dict[str, int] = {}  # noqa: RUF012  (one for the program)
    _furthest = 0

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Somebody begins to count, where the program is."""
        cls._steps[requester] = cls._furthest

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Somebody ends; whether there was a count."""
        return cls._steps.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """A step by somebody's count; gives the program's."""
        if requester not in cls._steps:
            cls.init_step_count(requester)
        cls._steps[requester] += 1
        furthest = max(cls._steps.values())
        if furthest - cls._furthest > 1:
            warnings.warn(
                "Profiler step count has increased more than 1 - current_step "
                f"= {cls._furthest} step dict = {cls._steps}",
                stacklevel=2,
            )
        cls._furthest = max(furthest, cls._furthest)
        return cls._furthest

    @classmethod
    def current_step(cls) -> int:
        """The program's steps so far."""
        return cls._furthest
