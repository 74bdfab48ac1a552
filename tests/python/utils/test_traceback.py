"""Stacks of calls that are taken cheaply."""

import pickle
import sys

import pytest
from hotaru.utils._traceback import (
    CapturedTraceback,
    format_frame,
    format_traceback_short,
    shorten_filename,
)


def inner():
    kept = object()
    return CapturedTraceback.extract(), sys.getrefcount(kept)


def test_calls_are_written_out_later():
    taken, _ = inner()
    lines = taken.format()
    assert "in inner" in lines[-1]
    assert "CapturedTraceback.extract()" in lines[-1]
    assert "test_calls_are_written_out_later" in lines[-2]
    assert CapturedTraceback.format_all([taken, taken]) == [lines, lines]
    assert CapturedTraceback.extract(skip=1).summary()[-1].name != (
        "test_calls_are_written_out_later"
    )
    taken.cleanup()
    assert taken.format() == []


def test_pickles_have_no_calls():
    taken, _ = inner()
    assert pickle.loads(pickle.dumps(taken)).format() == []


def test_stacks_of_cpp_are_refused():
    with pytest.raises(NotImplementedError, match="no stacks of C"):
        CapturedTraceback.extract(cpp=True)


def test_short_texts():
    try:
        inner.missing  # noqa: B018
    except AttributeError as error:
        text = format_traceback_short(error.__traceback__)
    assert text.endswith("in test_short_texts")
    assert "test_traceback.py:" in text
    assert shorten_filename("/a/b/c.py", base="/a/d") == "b/c.py"
    frame = inner()[0].summary()[-1]
    assert format_frame(frame, line=True).startswith("return Captured")
