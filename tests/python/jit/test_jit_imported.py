"""Modules of archives as parts of modules that are compiled."""

import io

import pytest

import hotaru
from hotaru import nn

X = hotaru.linspace(-1, 1, 16).view(2, 2, 4)


def again(module):
    file = io.BytesIO()
    hotaru.jit.save(module, file)
    file.seek(0)
    return hotaru.jit.load(file)


def helper(x, number: float):
    return x * number


class Part(nn.Module):
    """One of each kind of attribute, loops, constants and functions."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv1d(2, 2, 1), nn.BatchNorm1d(2), nn.LSTM(4, 3)
        )
        self.count = 3
        self.nothing = None
        self.table = {"a": 1}
        self.numbers = [1.5]

    def forward(self, x):
        y = self.layers[1](self.layers[0](x))
        z = self.layers[2](y)[0]
        for _ in range(self.count):
            z = helper(z, 1.5) + self.table["a"]
        if self.nothing is None:
            z = nn.functional.gelu(z) + hotaru.tensor([1.0, 2.0, 3.0])
        return z + self.numbers[0]

    @hotaru.jit.export
    def doubled(self, x: hotaru.Tensor, by: int = 2):
        return x * by


class Whole(nn.Module):
    def __init__(self, part):
        super().__init__()
        self.part = part
        self.again = part
        self.head = nn.Linear(3, 2)

    def forward(self, x):
        return self.head(self.part(x)) + self.head(self.again(x))


def parts() -> dict:
    hotaru.manual_seed(0)
    module = Part().eval()
    scripted = hotaru.jit.script(module)
    return {
        "scripted": again(scripted),
        "traced": again(hotaru.jit.trace(module, X)),
        "frozen": again(hotaru.jit.freeze(scripted)),
        "twice": again(again(scripted)),
    }


@pytest.mark.parametrize("way", ["script", "trace"])
@pytest.mark.parametrize("kind", ["scripted", "traced", "frozen", "twice"])
def test_loaded_modules_are_parts(kind, way):
    whole = Whole(parts()[kind]).eval()
    if way == "script":
        compiled = hotaru.jit.script(whole)
    else:
        compiled = hotaru.jit.trace(whole, X)
    assert hotaru.allclose(compiled(X), whole(X))
    assert hotaru.allclose(again(compiled)(X * 2), whole(X * 2))
    names = [name for name, _ in whole.named_parameters()]
    assert [name for name, _ in compiled.named_parameters()] == names
    assert list(whole.state_dict())[:1] == list(compiled.state_dict())[:1]


def test_tensors_are_shared():
    whole = Whole(parts()["scripted"]).eval()
    compiled = hotaru.jit.script(whole)
    before = compiled(X)
    with hotaru.no_grad():
        for weight in whole.part.parameters():
            weight.mul_(2)
    assert not hotaru.allclose(compiled(X), before)
    assert hotaru.allclose(compiled(X), whole(X))


def test_parameters_of_a_compiled_part_are_the_whole_modules():
    whole = Whole(parts()["scripted"])
    names = dict(whole.named_parameters())
    assert "part.layers.0.weight" in names
    assert "part.layers.1.running_mean" in dict(whole.named_buffers())
    optimizer = hotaru.optim.SGD(whole.parameters(), lr=0.1)
    before = whole.part.layers[0].weight.clone()
    whole(X).sum().backward()
    optimizer.step()
    assert not hotaru.equal(whole.part.layers[0].weight, before)
    with pytest.raises(RuntimeError, match="of its program"):
        whole.part._parameters = {"w": hotaru.ones(1)}
