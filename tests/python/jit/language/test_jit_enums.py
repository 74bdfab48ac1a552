"""Enum classes at the border between Python and compiled code."""

# ruff: noqa: UP006, UP035

import copy
import enum
import io
import zipfile
from pathlib import Path
from typing import Dict, List, Optional

import pytest

import hotaru as torch

GOLDEN = Path(__file__).parents[3] / "golden/script"


class Color(enum.Enum):
    """An Enum class of this program."""

    RED = 1
    GREEN = 2


class Size(enum.Enum):
    """Another with the same values."""

    SMALL = 1
    LARGE = 2


class Level(enum.IntEnum):
    """Members are numbers."""

    LOW = 1
    HIGH = 7


class Pairs(enum.Enum):
    """Values that programs cannot have."""

    A = (1, 2)


@torch.jit.script
def value(color: Color) -> int:
    return color.value


@torch.jit.script
def chosen(colors: List[Color], default: Optional[Color] = None):
    found: Dict[str, Color] = {}
    for color in colors:
        found[color.name] = color
    if default is not None:
        return default, found
    return colors[0], found


@torch.jit.script
def doubled(n: int) -> int:
    return 2 * n


@torch.jit.script
def level_name(level: Level = Level.HIGH) -> str:
    return level.name


@torch.jit.script
def is_red(color: Color):
    return color is Color.RED, Color.GREEN in [color], [color] == [Color.RED]


class Net(torch.nn.Module):
    """A module whose branches depend on a member."""

    def __init__(self):
        super().__init__()
        self.color = Color.GREEN

    def forward(self, x, color: Color = Color.RED):
        if self.color == Color.GREEN:
            x = x + self.color.value
        if color == self.color:
            x = x * 10
        return x, self.color


def test_members_go_in_and_come_out():
    assert value(Color.GREEN) == 2
    assert value(color=Color.RED) == 1
    first, found = chosen([Color.GREEN, Color.RED])
    assert first is Color.GREEN
    assert found == {"GREEN": Color.GREEN, "RED": Color.RED}
    assert chosen([Color.GREEN], Color.RED)[0] is Color.RED
    assert is_red(Color.RED) == (True, False, True)
    assert is_red(Color.GREEN) == (False, True, False)


def test_other_values_are_refused():
    for wrong in (1, "RED", Size.SMALL, None):
        with pytest.raises(RuntimeError, match="Color' for argument 'color'"):
            value(wrong)
    with pytest.raises(RuntimeError, match="type 'int' for argument 'n'"):
        doubled(Color.RED)
    with pytest.raises(TypeError, match="only int, float and string"):
        doubled(Pairs.A)


def test_members_that_are_numbers():
    assert doubled(Level.HIGH) == 14
    assert level_name() == "HIGH"
    assert level_name(Level.LOW) == "LOW"
    assert level_name(7) == "HIGH"
    with pytest.raises(RuntimeError, match="Level' for argument 'level'"):
        level_name(3)
    assert torch.full((2,), Level.HIGH).tolist() == [7, 7]


def test_attributes():
    module = torch.jit.script(Net())
    x = torch.ones(2)
    assert module.color is Color.GREEN
    assert module(x)[0].tolist() == [3, 3]
    assert module(x, Color.GREEN)[0].tolist() == [30, 30]
    other = copy.deepcopy(module)
    module.color = Color.RED
    assert module(x)[0].tolist() == [10, 10]
    assert module(x)[1] is Color.RED
    assert other.color is Color.GREEN
    with pytest.raises(RuntimeError, match=r"for field .color."):
        module.color = Size.SMALL


def test_freezing_folds_members():
    frozen = torch.jit.freeze(torch.jit.script(Net().eval()))
    assert "if" in torch.jit.script(Net()).code.split("eq", 1)[1]
    assert frozen.code.count("if ") == 1  # the argument's
    for module in (frozen, _reloaded(frozen)):
        y, color = module(torch.ones(2), Color.GREEN)
        assert y.tolist() == [30, 30]
        assert color is Color.GREEN


def test_programs_that_were_loaded_twice_exchange_members():
    module = torch.jit.script(Net())
    one, two = _reloaded(module), _reloaded(module)
    one.color = Color.RED
    two.color = one.color
    assert two.color is Color.RED
    assert two(torch.ones(1))[0].tolist() == [10]


def test_members_of_programs_from_elsewhere():
    enums = torch.jit.load(str(GOLDEN / "cases.pt")).enums
    color = enums.color
    assert isinstance(color, enum.Enum)
    assert (type(color).__name__, color.name, color.value) == ("Color", "GREEN", 2)
    assert [c.name for c in enums.palette] == ["BLUE", "RED"]
    assert enums.color is color
    # Classes with that member will do, whatever their name.
    enums.color = Color.RED
    assert enums.color.name == "RED"
    assert type(enums.color) is type(color)


def _reloaded(module, edit=lambda name, data: data):
    source = zipfile.ZipFile(io.BytesIO(module.save_to_buffer()))
    edited = io.BytesIO()
    with zipfile.ZipFile(edited, "w") as target:
        for name in source.namelist():
            target.writestr(name, edit(name, source.read(name)))
    edited.seek(0)
    return torch.jit.load(edited)


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        (b"  GREEN = 2\n", b"  GREEN = 3\n", "has no member of that value"),
        (b"  GREEN = 2\n", b"  GREEN = 1\n", "twice"),
        (b"  GREEN = 2\n", b"  GREEN = 'a'\n", "must be of one type"),
        (b"  GREEN = 2\n", b"  GREEN = [2]\n", "must be of one type"),
        (b"  GREEN = 2\n", b"  GREEN : int\n", "expected a member"),
        (b"  RED = 1\n  GREEN = 2\n", b"  pass\n", "No enum values"),
        (b"Color(Enum)", b"Other(Enum)", "Unknown type name"),
        (b"Color(Enum)", b"Color(NamedTuple)", "in a NamedTuple"),
    ],
)
def test_damaged_classes(before, after, message):
    seen = []

    def edit(name, data):
        if name.endswith(".py"):
            seen.append(before in data)
        return data.replace(before, after) if name.endswith(".py") else data

    with pytest.raises(RuntimeError, match=message):
        _reloaded(torch.jit.script(Net()), edit)
    assert any(seen)
