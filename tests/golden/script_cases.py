"""Programs that hotaru and PyTorch both compile, with a string for a result.

make_script.py compiles them with PyTorch and stores what they give; the tests
compile the same text with hotaru, and load what PyTorch compiled.
"""

# TorchScript knows the old spellings.
# ruff: noqa: PIE790, UP006, UP032, UP035

import enum
from typing import Dict, List, Optional, Tuple

try:
    import hotaru as torch
except ImportError:
    import torch

nn = torch.nn


class Color(enum.Enum):
    """Values are numbers."""

    RED = 1
    GREEN = 2
    BLUE = -3


class Mode(enum.Enum):
    """Values are strings."""

    FAST = "fast"
    EXACT = "exact 'mode'"


class Ratio(enum.Enum):
    """Values are floats."""

    HALF = 0.5
    HUGE = 1e300


def opposite(color: Color) -> Color:
    """A function from members to members."""
    if color == Color.RED:
        return Color.GREEN
    return Color.RED


class Enums(nn.Module):
    """Members as attributes, constants, arguments, elements and results."""

    def __init__(self):
        super().__init__()
        self.color = Color.GREEN
        self.palette = [Color.BLUE, Color.RED]
        self.modes = {"a": Mode.EXACT}
        self.pair = (Mode.FAST, 3)

    @torch.jit.export
    def names_and_values(self) -> str:
        """`.name` and `.value` of constants, attributes and elements."""
        color = self.palette[0]
        mode = self.modes["a"]
        return "{} {} {} {} {} {} {} {}".format(
            Color.RED.name,
            Color.RED.value,
            self.color.name,
            self.color.value + 10,
            color.name,
            color.value,
            mode.value,
            Ratio.HUGE.value,
        )

    @torch.jit.export
    def comparisons(self) -> str:
        """Within one class and across classes."""
        same = self.color == Color.GREEN
        other = self.color != Color.GREEN
        across = self.pair[0] == self.color
        return "{} {} {}".format(same, other, across)

    @torch.jit.export
    def calls(self) -> str:
        """Arguments, defaults and results."""
        return "{} {} {}".format(
            opposite(self.color).name,
            opposite(opposite(self.color)).name,
            self.shown().name,
        )

    def shown(self, color: Color = Color.BLUE) -> Color:
        """The argument, by default a member."""
        return color

    @torch.jit.export
    def loops(self) -> str:
        """Over the members of a class, in the order of definition."""
        total = 0
        names: List[str] = []
        for color in Color:
            total += color.value
            names.append(color.name)
        values = [ratio.value for ratio in Ratio]
        return "{} {} {} {}".format(total, names, values, len(list(Mode)))

    @torch.jit.export
    def containers(self) -> str:
        """Lists, tuples, dicts and optionals of members."""
        found: Dict[str, Color] = {}
        for color in [Color.RED, self.color]:
            found[color.name] = color
        chosen: Optional[Color] = None
        text = "nothing" if chosen is None else chosen.name
        chosen = found["GREEN"]
        if chosen is not None:
            text += chosen.name
        pair: Tuple[Color, Mode] = (Color.BLUE, Mode.FAST)
        return "{} {} {}".format(text, pair[0].value, pair[1].value)

    @torch.jit.export
    def texts(self) -> str:
        """Returns what str, print and format show of a member."""
        return "{} {} {}".format(str(self.color), Mode.FAST, self.palette)

    @torch.jit.export
    def assigned(self) -> str:
        """An attribute that changes, and what is left of it."""
        before = self.color
        self.color = Color.BLUE
        after = self.color.name
        self.color = before
        return "{} {}".format(after, self.color.name)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Nothing."""
        return x


class Texts(nn.Module):
    """f-strings and formats."""

    @torch.jit.export
    def fields(self) -> str:
        """Expressions, braces and neighbours."""
        n = 3
        name = "x"
        return f"{n} {{n}} {n + 1}{name}{n}{{{name}}}{{n}}"

    @torch.jit.export
    def templates(self) -> str:
        """Templates of which the program knows nothing while it compiles."""
        parts: List[str] = []
        for template in ["{} {}", "{{}}", "{0}", "{:3d}{}", "}{{}"]:
            parts.append(template.format(1, "b"))
        return "|".join(parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Nothing."""
        return x


@torch.jit.interface
class Scale(nn.Module):
    """Modules that scale a tensor, and know by how much."""

    def forward(self, x: torch.Tensor, by: int) -> torch.Tensor:
        """The tensor, scaled."""
        pass

    def factor(self, by: int) -> float:
        """The factor."""
        pass


class Times(nn.Module):
    """By a number."""

    def forward(self, x: torch.Tensor, by: int = 2) -> torch.Tensor:
        """The product."""
        return x * by

    @torch.jit.export
    def factor(self, by: int) -> float:
        """The number."""
        return float(by)


class Learned(nn.Module):
    """By a parameter."""

    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1) * 0.5)

    def forward(self, x: torch.Tensor, by: int) -> torch.Tensor:
        """The product of all three."""
        return x * self.weight * by

    @torch.jit.export
    def factor(self, by: int) -> float:
        """The parameter times the number."""
        return float(self.weight.item()) * by


@torch.jit.interface
class Counts:
    """Objects that count."""

    def count(self, by: int) -> int:
        """The new count."""
        pass


@torch.jit.script
class Up:
    """Counts up."""

    def __init__(self, n: int):
        self.n = n

    def count(self, by: int) -> int:
        """More."""
        self.n += by
        return self.n


@torch.jit.script
class Down:
    """Counts down, and holds something of another type."""

    def __init__(self, name: str):
        self.name = name
        self.n = 0

    def count(self, by: int) -> int:
        """Less."""
        self.n -= by
        return self.n


def counted(counter: Counts, times: int) -> int:
    """The last count."""
    n = 0
    for i in range(times):
        n = counter.count(by=i)
    return n


class Interfaces(nn.Module):
    """Values of which only some methods are known."""

    scale: Scale

    def __init__(self):
        super().__init__()
        self.scale = Times()
        self.layers = nn.ModuleList([Times(), Learned()])
        self.named = nn.ModuleDict({"one": Learned(), "two": Times()})

    @torch.jit.export
    def of_modules(self) -> str:
        """Arguments by position and by name."""
        x = torch.ones(2)
        y = self.scale(x, 3) + self.scale.forward(x, by=4)
        return "{} {}".format(y.sum().item(), self.scale.factor(by=2))

    @torch.jit.export
    def chosen(self) -> str:
        """One of several modules, by an index that is no constant."""
        parts: List[float] = []
        for i in range(2):
            layer: Scale = self.layers[i]
            parts.append(layer.factor(3 + i))
        for name in ["two", "one"]:
            other: Scale = self.named[name]
            parts.append(other.factor(5))
        return "{}".format(parts)

    @torch.jit.export
    def of_objects(self) -> str:
        """Arguments, branches and lists."""
        parts: List[int] = []
        for i in range(2):
            if i == 0:
                counter: Counts = Up(10)
            else:
                counter = Down("x")
            parts.append(counted(counter, 4))
        several: List[Counts] = [Up(1), Down("y"), Up(5)]
        for one in several:
            parts.append(one.count(2))
        return "{}".format(parts)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Whatever the module at hand does."""
        return self.scale(x, 2)


class Product(nn.Module):
    """Two arguments, one with a default."""

    def __init__(self):
        super().__init__()
        self.offset = 100.0

    def forward(self, x: torch.Tensor, by: int) -> torch.Tensor:
        """The product."""
        return x * by


def one_more(self, input: Tuple[torch.Tensor, int]) -> Tuple[torch.Tensor, int]:
    """Changes an argument."""
    return input[0], input[1] + 1


def look(self, input: Tuple[torch.Tensor, int]) -> None:
    """Changes nothing."""
    assert input[1] > 0, "by is too small"


def add_offset(self, input: Tuple[torch.Tensor, int], output: torch.Tensor):
    """Uses an attribute, the arguments and the result."""
    return output + self.offset + input[1]


def as_number(self, input: Tuple[torch.Tensor, int], output: torch.Tensor) -> float:
    """Changes the type of the result."""
    return float(output.sum().item())


def look_at_number(self, input: Tuple[torch.Tensor, int], output: float):
    """Takes what the last hook gave."""
    assert output > 0.0


def negative(self, input: Tuple[torch.Tensor]) -> torch.Tensor:
    """Gives the only argument without a tuple."""
    return -input[0]


class Hooks(nn.Module):
    """Modules with hooks, called with them and without."""

    def __init__(self):
        super().__init__()
        self.hooked = Product()
        self.hooked.register_forward_pre_hook(one_more)
        self.hooked.register_forward_pre_hook(look)
        self.hooked.register_forward_pre_hook(one_more)
        self.hooked.register_forward_hook(add_offset)
        self.number = Product()
        self.number.register_forward_hook(as_number)
        self.number.register_forward_hook(look_at_number)
        self.layers = nn.Sequential(nn.ReLU(), nn.Hardtanh(-5.0, 5.0))
        self.layers.register_forward_pre_hook(negative)
        self.layers[1].register_forward_pre_hook(negative)

    @torch.jit.export
    def calls(self) -> str:
        """A call runs the hooks, forward alone does not."""
        x = torch.ones(2)
        called = self.hooked(x, 3)
        alone = self.hooked.forward(x, 3)
        return "{} {}".format(called.sum().item(), alone.sum().item())

    @torch.jit.export
    def other_result(self) -> str:
        """The hooks' result is of another type than forward's."""
        return "{}".format(self.number(torch.ones(2), 4))

    @torch.jit.export
    def containers(self) -> str:
        """Returns sums of a container and of a module in it."""
        y = self.layers(torch.arange(4.0) - 2.0)
        return "{} {}".format(y.sum().item(), self.layers[1](y).sum().item())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The hooked module alone."""
        return self.hooked(x, 1)


CASES = {"enums": Enums, "texts": Texts, "interfaces": Interfaces, "hooks": Hooks}


def results(module) -> Dict[str, str]:
    """Results of the exported methods of a compiled case, by name."""
    names = [
        name
        for name, method in vars(CASES[module.original_name.lower()]).items()
        if hasattr(module, name)
        and getattr(method, "__annotations__", {}) == {"return": str}
    ]
    return {name: getattr(module, name)() for name in names}
