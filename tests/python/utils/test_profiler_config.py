"""`torch._C._profiler._ExperimentalConfig`: told where nothing comes of it."""

from __future__ import annotations

import warnings

import pytest
from hotaru.profiler import profile

import hotaru as torch


def test_call_stacks_are_kept_where_wanted():
    config = torch._C._profiler._ExperimentalConfig(verbose=True)
    assert config.verbose
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with profile(with_stack=True, experimental_config=config) as found:
            torch.ones(2) + 1
    assert any(event.stack for event in found.events())


def test_other_options_are_a_warning():
    config = torch._C._profiler._ExperimentalConfig(
        capture_overload_names=True, profiler_metrics=["x"]
    )
    with pytest.warns(UserWarning) as seen:  # noqa: PT030
        profile(experimental_config=config)
    texts = [str(each.message) for each in seen]
    assert [text.partition("=")[0] for text in texts] == [
        "profiler_metrics",
        "capture_overload_names",
    ]
