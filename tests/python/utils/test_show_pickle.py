"""hotaru.utils.show_pickle: what a pickle holds, without running it."""

from __future__ import annotations

import io
import os
import pickle

import pytest


class Trap:
    """Runs something when it is loaded."""

    def __reduce__(self):
        return os.abort, ()


@pytest.fixture
def show():
    from hotaru.utils import show_pickle

    return show_pickle


def shown(show, value, protocol=2) -> str:
    out = io.StringIO()
    file = io.BytesIO(pickle.dumps(value, protocol))
    show.DumpUnpickler.dump(file, out)
    return out.getvalue()


@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_nothing_runs(show, protocol):
    text = shown(show, {"a": [1, Trap()]}, protocol)
    assert text == "{'a': [1, posix.abort()]}\n"


def test_objects_with_a_state(show):
    from collections import OrderedDict

    value = OrderedDict(a=1)
    assert shown(show, value) == "collections.OrderedDict()(state={'a': 1})\n"
    long = shown(show, OrderedDict(a="x" * 50, b="y" * 50)).splitlines()
    assert long[0] == "collections.OrderedDict()(state="
    assert len(long) == 3
    text = shown(show, [pickle.UnpicklingError("x" * 60), "y" * 60])
    assert len(text.splitlines()) > 1


def test_files(show, hotaru, tmp_path):
    path = tmp_path / "model.pt"
    hotaru.save({"weight": hotaru.ones(2)}, path)
    out = io.StringIO()
    assert show.main(["", f"{path}@*/data.pkl"], out) is None
    assert "torch._utils._rebuild_tensor_v2" in out.getvalue()
    assert "pers.obj" in out.getvalue()
    again = io.StringIO()
    show.main(["", f"{path}@model/data.pkl"], again)
    assert again.getvalue() == out.getvalue()
    with pytest.raises(Exception, match="member matching"):
        show.main(["", f"{path}@*/none"], out)
    plain = tmp_path / "plain.pkl"
    plain.write_bytes(pickle.dumps([1, 2]))
    out = io.StringIO()
    show.main(["", str(plain)], out)
    assert out.getvalue() == "[1, 2]\n"


def test_arguments(show, capsys):
    assert show.main([""]) == 2
    assert "usage: show_pickle" in capsys.readouterr().err
    with pytest.raises(Exception, match="length 2"):
        show.main([""], io.StringIO())


def test_texts_that_are_none(show):
    data = b"\x80\x02X\x01\x00\x00\x00\xff."
    with pytest.raises(UnicodeDecodeError):
        show.DumpUnpickler(io.BytesIO(data)).load()
    made = show.DumpUnpickler(io.BytesIO(data), catch_invalid_utf8=True).load()
    assert made.name == "UnicodeDecodeError"
