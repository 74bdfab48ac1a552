"""Results of torch.load for objects that are not weights."""

from __future__ import annotations

import collections
import io
import os
import pickle

import pytest

import hotaru as torch
from hotaru import serialization

Point = collections.namedtuple("Point", ["x", "y"])


class Counted:
    """Made by its call, then given a state."""

    def __init__(self, number):
        self.number = number

    def __reduce_ex__(self, protocol):
        return Counted, (self.number,), {"mark": "a"}


class Runs:
    """Class that does what a file could do."""

    def __reduce__(self):
        return print, ("Hello World!",)


def written(obj, **options) -> io.BytesIO:
    file = io.BytesIO()
    torch.save(obj, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("zipped", [True, False])
def test_nothing_is_called_unless_allowed(zipped, capsys):
    file = written(Runs(), _use_new_zipfile_serialization=zipped)
    with pytest.raises(pickle.UnpicklingError) as raised:
        torch.load(file)
    assert capsys.readouterr().out == ""
    assert str(raised.value).startswith(
        "Weights only load failed. This file can still be loaded, to do so you "
        "have two options, \033[1mdo those steps only if you trust the source "
        "of the checkpoint\033[0m. \n\t(1) In PyTorch 2.6"
    )
    assert str(raised.value).endswith(
        "\n\tWeightsUnpickler error: Unsupported global: GLOBAL print was not "
        "an allowed global by default. Please use "
        "`torch.serialization.add_safe_globals([print])` or the "
        "`torch.serialization.safe_globals([print])` context manager to "
        "allowlist this global if you trust this class/function.\n\nCheck the "
        "documentation of torch.load to learn more about types accepted by "
        "default with weights_only "
        "https://pytorch.org/docs/stable/generated/torch.load.html."
    )
    file.seek(0)
    assert torch.load(file, weights_only=False) is None
    assert capsys.readouterr().out == "Hello World!\n"


def test_allowed_for_a_while_and_for_good():
    file = written([Point(1, 2), Counted(3)])
    name = f"{__name__}.Point"
    assert set(serialization.get_unsafe_globals_in_checkpoint(file)) == {
        name,
        f"{__name__}.Counted",
    }
    file.seek(0)
    with serialization.safe_globals([(Point, name), Counted]):
        assert serialization.get_unsafe_globals_in_checkpoint(file) == []
        file.seek(0)
        point, counted = torch.load(file)
        assert point == Point(1, 2)
        assert (counted.number, counted.mark) == (3, "a")
    assert serialization.get_safe_globals() == []
    serialization.add_safe_globals([Point])
    try:
        assert serialization.get_safe_globals() == [Point]
        assert torch.load(written(Point(5, 6))) == Point(5, 6)
    finally:
        serialization.clear_safe_globals()
    with pytest.raises(pickle.UnpicklingError, match="not an allowed global"):
        torch.load(written(Point(5, 6)))


def test_modules_of_the_system_are_never_allowed():
    file = written(os.system)
    text = "unsupported GLOBAL posix.system whose module posix is blocked"
    for allowed in ([], [os.system]):
        file.seek(0)
        with (
            serialization.safe_globals(allowed),
            pytest.raises(pickle.UnpicklingError, match=text),
        ):
            torch.load(file)


def test_names_of_the_package_are_pytorchs():
    file = written(torch.nn.ReLU())
    with serialization.safe_globals([torch.nn.ReLU, set, collections.OrderedDict]):
        assert type(torch.load(file)) is torch.nn.ReLU


@pytest.mark.parametrize(
    "value",
    [
        {1, 2, 3},
        b"bytes",
        bytearray(b"array"),
        1 + 2j,
        -5,
        2**40,
        2**300,
        "é",
        1.5,
        None,
        True,
        (),
        (1,),
        (1, 2, 3, 4),
        [],
        {},
        {"a": [1]},
        collections.Counter("aab"),
        torch.Size([1, 2]),
        torch.float64,
        torch.device("cpu"),
        torch.strided,
    ],
)
def test_plain_values(value):
    found = torch.load(written(value))
    assert found == value
    assert type(found) is type(value)


def test_other_protocols_are_refused_where_they_say_more():
    file = written({"a": [1, 2]}, pickle_protocol=5)
    with (
        pytest.warns(UserWarning, match="Detected pickle protocol 5 in the"),
        pytest.raises(pickle.UnpicklingError) as raised,
    ):
        torch.load(file)
    assert "Please file an issue with the following so" in str(raised.value)
    file.seek(0)
    assert torch.load(file, weights_only=False) == {"a": [1, 2]}


def _load(text: bytes):
    """Loads a pickle of that text, without trust."""
    file = io.BytesIO()
    with serialization._open_zipfile_writer(file) as writer:
        writer.write_record("data.pkl", text, len(text))
    file.seek(0)
    return torch.load(file)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b"\x80\x02(K\x01K\x02e.", None),
        (b"\x80\x02)K\x01a.", "Can only append to lists, but got <class 'tup"),
        (b"\x80\x02)(K\x01e.", "Can only extend lists, but got <class 'tuple"),
        (b"\x80\x02]K\x01K\x02s.", "Can only SETITEM for dict, collections"),
        (b"\x80\x02](K\x01K\x02u.", "Can only SETITEMS for dict, collection"),
        (b"\x80\x02K\x01)R.", "Trying to call reduce for unrecognized funct"),
        (b"\x80\x02K\x01)\x81.", "Can only create new object for nn.Paramet"),
        (b"\x80\x02K\x01}b.", "Can only build Tensor, Parameter, OrderedDic"),
        (b"\x80\x02K\x01\x85Q.", "Only persistent_load of storage is allowed"),
        (b"\x80\x02X\x01\x00\x00\x00aQ.", "must be tuple or int, but got"),
        (b"\x80\x02I1\n.", "Unsupported operand 73"),
    ],
)
def test_instructions_are_checked(text, says):
    kinds = (pickle.UnpicklingError, IndexError)
    with pytest.raises(kinds) as raised:
        _load(text)
    assert says is None or says in str(raised.value)


def test_the_environment_decides(monkeypatch):
    file = written(Point(1, 2))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="forcing weights_only=False"):
        assert torch.load(file) == Point(1, 2)
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=True)
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="but both were set"):
        torch.load(file)
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    file.seek(0)
    with pytest.raises(pickle.UnpicklingError):
        torch.load(file, weights_only=False)
