"""torch.classes without a library that registers any."""

from __future__ import annotations

import pytest

import hotaru


def test_a_class_that_nobody_registered_is_an_error():
    with pytest.raises(RuntimeError, match=r"'space.Name', but it does not"):
        hotaru.classes.space.Name(1)
    assert hotaru.classes.space is hotaru.classes.space


def test_questions_of_tools_are_answered():
    assert not hasattr(hotaru.classes, "__path__")
    assert not hasattr(hotaru.classes.space, "__wrapped__")
    assert hotaru.classes.loaded_libraries is hotaru.ops.loaded_libraries


def test_libraries_that_do_not_load_are_named(tmp_path):
    with pytest.raises(OSError, match=r"none\.so"):
        hotaru.classes.load_library(tmp_path / "none.so")
