"""Levels of loggers by PyTorch's names for its parts."""

from __future__ import annotations

import logging

import pytest
from hotaru._logging import set_logs


@pytest.fixture(autouse=True)
def _as_before():
    yield
    set_logs()
    for name in ("torch", "hotaru"):
        logging.getLogger(name).setLevel(logging.NOTSET)


def _level(name: str) -> int:
    return logging.getLogger(name).level


def test_levels_of_parts_last_until_the_next_call():
    set_logs(dynamo=logging.DEBUG, recompiles=True)
    for package in ("torch", "hotaru"):
        assert _level(f"{package}._dynamo") == logging.DEBUG
        assert _level(f"{package}.fx.experimental.recording") == logging.DEBUG
        assert _level(package) == logging.WARNING
    set_logs(all=logging.ERROR)
    assert _level("torch._dynamo") == logging.NOTSET
    assert _level("hotaru") == logging.ERROR


def test_modules_are_named_too():
    set_logs(modules={"json.decoder": logging.INFO})
    assert _level("json.decoder") == logging.INFO
    with pytest.raises(ModuleNotFoundError):
        set_logs(modules={"no.such": logging.INFO})
    assert _level("json.decoder") == logging.INFO
    set_logs()
    assert _level("json.decoder") == logging.NOTSET


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ({"foo": 1}, TypeError, "unexpected keyword argument 'foo'"),
        ({"dynamo": True}, ValueError, "level for log dynamo: True, valid"),
        ({"all": 3}, ValueError, "level for log all: 3"),
        ({"recompiles": 3}, ValueError, "artifact recompiles, received 3"),
    ],
)
def test_other_names_and_values_are_errors(given, kind, text):
    with pytest.raises(kind, match=text):
        set_logs(**given)
