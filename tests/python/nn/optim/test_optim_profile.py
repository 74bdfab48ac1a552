"""Ranges of optimizers in a profile, by PyTorch's names."""

from __future__ import annotations

import os

import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("HOTARU_OVER_TORCH") == "1", reason="the profiler is PyTorch's there"
)


def _counts(profile) -> dict:
    return {
        event.key: event.count
        for event in profile.key_averages()
        if event.key.startswith("Optimizer.")
    }


def test_steps_and_zero_grad_are_ranges(hotaru):
    from hotaru import profiler

    param = hotaru.nn.Parameter(hotaru.ones(2))
    optimizer = hotaru.optim.AdamW([param])
    calls = []
    optimizer.register_step_post_hook(lambda *args: calls.append(1))
    with profiler.profile() as profile:
        for _ in range(3):
            optimizer.step()
        optimizer.zero_grad()
    optimizer.step()
    assert _counts(profile) == {
        "Optimizer.step#AdamW.step": 3,
        "Optimizer.zero_grad#AdamW.zero_grad": 1,
    }
    assert len(calls) == 4


def test_nothing_is_named_without_a_profile(hotaru):
    from hotaru.optim import _hooks

    optimizer = hotaru.optim.SGD([hotaru.ones(2)])
    assert _hooks.profiled("step", optimizer) is None
