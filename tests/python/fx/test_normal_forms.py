"""fx.operator_schemas.normalize_function of functions written in Python."""

from __future__ import annotations

import functools
import inspect

from hotaru.fx.operator_schemas import normalize_function

import hotaru


def _scaled(x, factor=2, *, shift=0):
    return x * factor + shift


def test_functions_of_a_program():
    @functools.wraps(_scaled)
    def wrapped(*args, **kwargs):
        return _scaled(*args, **kwargs)

    for function in (_scaled, wrapped):
        found = normalize_function(function, (1,), {"shift": 3})
        assert found.args == (1,)
        assert found.kwargs == {"factor": 2, "shift": 3}
        found = normalize_function(function, (1, 5), normalize_to_only_use_kwargs=True)
        assert found.kwargs == {"x": 1, "factor": 5, "shift": 0}
        assert normalize_function(function, ()) is None


def test_windows_name_their_options():
    windows = hotaru.signal.windows
    for name in windows.__all__:
        names = list(inspect.signature(getattr(windows, name)).parameters)
        assert names[-5:] == ["sym", "dtype", "layout", "device", "requires_grad"]
    found = normalize_function(windows.kaiser, (4,), {"beta": 2.0})
    assert windows.kaiser(*found.args, **found.kwargs).equal(
        windows.kaiser(4, beta=2.0)
    )
