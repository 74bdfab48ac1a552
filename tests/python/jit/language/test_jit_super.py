"""super() in compiled modules: methods of base classes.

PyTorch compiles no call of super, so the reference is Python.
"""

# Both forms of super are what is tested.
# ruff: noqa: UP008

import io
import re

import pytest

import hotaru as torch

nn = torch.nn


class Base(nn.Module):
    """Methods to be overridden, and a property."""

    def __init__(self):
        super().__init__()
        self.k = 2

    @property
    def scale(self) -> int:
        return self.k

    def forward(self, x):
        return x * self.helper(3)

    def helper(self, n: int = 3) -> int:
        return n + self.k


class Middle(Base):
    """One more level; calls helper of whatever class it is."""

    @property
    def scale(self) -> int:
        return super().scale * 10

    def forward(self, x):
        return super().forward(x) + self.scale


class Top(Middle):
    """The same names again."""

    def helper(self, n: int = 3) -> int:
        return super().helper(n=n) * 100

    def forward(self, x):
        both = super(Top, self).forward(x) + super(Middle, self).forward(x)
        return both + super().helper()


class Mixed(Middle, nn.Linear):
    """Two bases; the method comes from the second."""

    def __init__(self):
        nn.Linear.__init__(self, 2, 2)
        self.k = 1

    def forward(self, x):
        return super(Base, self).forward(x) + super().scale


class Layer(nn.Linear):
    """The base is one of the library's."""

    def forward(self, x):
        return torch.relu(super().forward(x))


class Chain(nn.Sequential):
    """The base loops over its modules."""

    def forward(self, input):
        return super().forward(input) + 1


class LoopAndBranch(Base):
    """Calls inside of blocks and comprehensions."""

    def forward(self, x):
        for n in range(3):
            if n > 0:
                x = super().forward(x)
        return x, [super(LoopAndBranch, self).helper(n) for n in range(2)]


MODULES = [
    Middle(),
    Top(),
    Mixed(),
    Layer(2, 2),
    Chain(nn.Linear(2, 2), nn.ReLU()),
    LoopAndBranch(),
]


@pytest.mark.parametrize("module", MODULES, ids=lambda m: type(m).__name__)
def test_gives_what_python_gives(module):
    x = torch.arange(4.0).reshape(2, 2) - 1
    expected = module(x)
    compiled = torch.jit.script(module)
    again = torch.jit.load(io.BytesIO(compiled.save_to_buffer()))
    frozen = torch.jit.freeze(torch.jit.script(module.eval()))
    for result in (compiled(x), again(x), frozen(x)):
        if isinstance(expected, tuple):
            assert result[1] == expected[1]
            assert torch.equal(result[0], expected[0])
        else:
            assert torch.equal(result, expected)


def test_parallel_branches_share_one_method():
    compiled = torch.jit.script(Top())
    assert {"helper", "helper_of_Base", "forward_of_Base"} <= set(dir(compiled))


class Missing(Base):
    """No base has the method."""

    def forward(self, x):
        return super().nothing(x)


class Unrelated(Base):
    """The class named is no base."""

    def forward(self, x):
        return super(Layer, self).forward(x)


class OfAnother(Base):
    """The second argument is not self."""

    def forward(self, x):
        return super(OfAnother, x).forward(x)


def outside(x):
    return super().forward(x)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        (Missing(), "'super' object has no attribute 'nothing'"),
        (Unrelated(), "must be an instance or subtype of type"),
        (OfAnother(), "takes nothing, or a class and 'self'"),
        (outside, "stands in methods"),
    ],
)
def test_errors(program, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        torch.jit.script(program)
