"""jit.save: files, streams, extra files, what is refused."""

# The annotations are those that old programs have.
# ruff: noqa: UP006, UP035

import io
import zipfile
from pathlib import Path
from typing import Dict, List, Optional

import pytest

import hotaru as torch

F = torch.nn.functional

GOLDEN = Path(__file__).parents[2] / "golden/script"


@pytest.fixture
def module():
    return torch.jit.load(str(GOLDEN / "networks.pt")).mlp_script


def test_path_stream_and_buffer(module, tmp_path):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer)
    assert module.save_to_buffer() == buffer.getvalue()
    buffer.seek(0)
    for path in (tmp_path / "one.pt", str(tmp_path / "two.pt")):
        module.save(path)
        again = torch.jit.load(str(path))
        assert torch.equal(again(module.input), module(module.input))
    again = torch.jit.load(buffer)
    assert torch.equal(again(module.input), module(module.input))
    assert zipfile.ZipFile(tmp_path / "one.pt").namelist()[0].startswith("one/")


def test_extra_files(module):
    buffer = io.BytesIO()
    torch.jit.save(module, buffer, _extra_files={"a.json": "{}", "b": b"\x00\xff"})
    buffer.seek(0)
    extra = {"a.json": "", "b": ""}
    torch.jit.load(buffer, _extra_files=extra)
    assert extra == {"a.json": b"{}", "b": b"\x00\xff"}


def test_parameters_keep_requires_grad_and_values(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.mul_(2)
    again = torch.jit.load(io.BytesIO(module.save_to_buffer()))
    before, after = module.state_dict(), again.state_dict()
    assert list(before) == list(after)
    assert before
    for name, tensor in before.items():
        assert torch.equal(tensor, after[name])
    assert all(p.requires_grad for p in again.parameters())


def test_writing_on_a_full_disk(module):
    class Full:
        def write(self, data):
            raise OSError("no space left")

    with pytest.raises(OSError, match="no space left"):
        torch.jit.save(module, Full())


def test_refuses_what_is_no_script_module(tmp_path):
    with pytest.raises(TypeError, match="expected a ScriptModule"):
        torch.jit.save(torch.nn.Linear(2, 2), tmp_path / "x.pt")
    assert not list(tmp_path.iterdir())


class Net(torch.nn.Module):
    """Layers, containers, attributes of many types, forks and errors."""

    limit: torch.jit.Final[int]

    def __init__(self):
        super().__init__()
        self.limit = 3
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 4) for _ in range(2)])
        self.head = torch.nn.Sequential(
            torch.nn.LayerNorm(4), torch.nn.Dropout(0.5), torch.nn.Linear(4, 2)
        )
        self.register_buffer("shift", torch.arange(4.0))
        self.counts: Dict[str, List[int]] = {"a": [1, 2]}
        self.name = 'quoted "name"\n'

    def part(self, x, i: int):
        assert i < self.limit, f"{i} is too big"
        return x * i

    def forward(self, x, forks: int = 2, mask: Optional[torch.Tensor] = None):
        futures = torch.jit.annotate(List[torch.jit.Future[torch.Tensor]], [])
        for i in range(forks):
            futures.append(torch.jit.fork(self.part, x, i))
        for layer in self.layers:
            x = F.relu(layer(x)) + self.shift
        for future in futures:
            x = x + torch.jit.wait(future)
        if mask is not None:
            x = x.masked_fill(mask, 0.5)
        x[0, 1] = 2
        with torch.no_grad():
            scale = 2.0 if x.dtype == torch.float32 else 1.0
        return self.head(x) * scale, x.long()[:, -1], self.counts["a"]

    @torch.jit.export
    def sign(self, n: int) -> str:
        if n > 0:
            kind = "positive"
        elif n == 0:
            raise ValueError("zero has no sign")
        else:
            kind = "negative"
        while n > 10 or n < -10:
            n = n // 2
            if n == 12:
                break
        return f"{kind} {n} {self.name}"


@torch.jit.script
def scaled(x, by: float = 0.5, *, squares: bool = False) -> List[float]:
    y: List[float] = (x * by).double().tolist()
    return [v * v for v in y if v > 0] if squares else y


def reloaded(program):
    return torch.jit.load(io.BytesIO(program.save_to_buffer()))


def test_a_module_from_source():
    torch.manual_seed(0)
    module = torch.jit.script(Net().eval())
    again = reloaded(module)
    x = torch.randn(3, 4)
    with torch.no_grad():
        for mask in (None, x > 0):
            for a, b in zip(module(x, 3, mask), again(x, 3, mask)):
                assert a == b if isinstance(a, list) else torch.equal(a, b)
    assert [again.sign(n) for n in (5, 25, 100, -3)] == [
        module.sign(n) for n in (5, 25, 100, -3)
    ]
    assert (again.limit, again.counts) == (3, {"a": [1, 2]})
    with pytest.raises(ValueError, match="zero has no sign"):
        again.sign(0)
    with pytest.raises(RuntimeError, match="AssertionError: 3 is too big"):
        again(x, 4)
    assert list(again.state_dict()) == list(module.state_dict())


def test_bytes_depend_on_the_module_alone():
    module = torch.jit.script(Net().eval())
    before = module.save_to_buffer()
    module(torch.ones(3, 4))
    module.sign(-30)
    assert module.save_to_buffer() == before
    assert reloaded(module).save_to_buffer() == before


def test_a_function_becomes_a_module():
    again = reloaded(scaled)
    x = torch.tensor([1.0, -2.0, 3.0])
    assert again(x) == scaled(x) == [0.5, -1.0, 1.5]
    assert again(x, 2.0, squares=True) == [4.0, 36.0]


def test_calls_of_python_cannot_be_saved():
    class Ignoring(torch.nn.Module):
        @torch.jit.ignore
        def outside(self, x) -> torch.Tensor:
            return x

        def forward(self, x):
            return self.outside(x)

    with pytest.raises(RuntimeError, match="call of a Python function"):
        torch.jit.script(Ignoring()).save_to_buffer()


def test_unused_functions_are_saved_as_errors():
    class Unused(torch.nn.Module):
        @torch.jit.unused
        def outside(self, x) -> torch.Tensor:
            return x

        def forward(self, x, use: bool = False):
            return self.outside(x) if use else x + 1

    again = reloaded(torch.jit.script(Unused()))
    assert again(torch.ones(1)).item() == 2
    with pytest.raises(RuntimeError, match="outside"):
        again(torch.ones(1), True)


def test_names_that_source_cannot_spell():
    class Odd(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.parts = torch.nn.ModuleDict(
                {"in": torch.nn.Linear(2, 2), "0": torch.nn.ReLU()}
            )

        def forward(self, x):
            for part in self.parts.values():
                x = part(x)
            return x

    module = torch.jit.script(Odd())
    again = reloaded(module)
    assert list(again.state_dict()) == ["parts.in.weight", "parts.in.bias"]
    x = torch.randn(3, 2)
    assert torch.equal(again(x), module(x))


@pytest.mark.parametrize(
    "layer", ["Identity()", "Bilinear(2, 2, 2)", "LocalResponseNorm(2)"]
)
def test_layers_beside_those_with_weight_and_bias_are_saved(layer):
    """Methods of one file share its functions, not what they need of `self`."""
    module = eval(f"torch.nn.{layer}")
    buffer = io.BytesIO()
    torch.jit.save(torch.jit.script(module), buffer)
    buffer.seek(0)
    loaded = torch.jit.load(buffer)
    args = [torch.ones(1, 2)] * (2 if "Bilinear" in layer else 1)
    if "Local" in layer:
        args = [torch.ones(1, 3, 2)]
    assert loaded(*args).equal(module(*args))


class Stateful(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 3

    def forward(self, x):
        return x + self.count

    @torch.jit.export
    def __getstate__(self):
        return (self.count, self.training)

    @torch.jit.export
    def __setstate__(self, state):
        self.count = state[0] + 10
        self.training = state[1]


def test_the_state_that_is_set_has_the_type_of_the_one_that_is_got():
    mod = torch.jit.script(Stateful().eval())
    setter = mod._c.method("__setstate__")
    assert "(int, bool) state)" in str(setter.schema)
    setter((4, True))
    assert mod.count == 14
    assert mod.training


def test_a_state_that_nobody_gives_is_told():
    class Half(torch.nn.Module):
        def forward(self, x):
            return x

        @torch.jit.export
        def __setstate__(self, state):
            self.training = state[0]

    with pytest.raises(
        RuntimeError, match="`__setstate__` defined but not `__getstate__`"
    ):
        torch.jit.script(Half())


@pytest.mark.parametrize("kind", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("how", ["script", "freeze"])
def test_recurrent_layers_ask_for_nothing_that_others_lack(kind, how, tmp_path):
    """PyTorch's compiled code has no autocast of a device to ask for."""
    layer = torch.jit.script(getattr(torch.nn, kind)(3, 4).eval())
    if how == "freeze":
        layer = torch.jit.freeze(layer)
    layer.save(str(tmp_path / "layer.pt"))
    with zipfile.ZipFile(tmp_path / "layer.pt") as archive:
        code = [n for n in archive.namelist() if n.endswith(".py")]
        assert code
        assert all(b"autocast" not in archive.read(n) for n in code)


@pytest.mark.parametrize("loaded", [False, True])
def test_states_are_loaded_by_names_and_shapes(loaded):
    script = torch.jit.script(torch.nn.Linear(2, 2))
    if loaded:
        script = torch.jit.load(io.BytesIO(script.save_to_buffer()))
    half = {"weight": torch.full((2, 2), 7.0), "x": torch.ones(1)}
    found = script.load_state_dict(half, strict=False)
    assert (found.missing_keys, found.unexpected_keys) == (["bias"], ["x"])
    assert script.weight.tolist() == [[7, 7], [7, 7]]
    with pytest.raises(RuntimeError, match=r'Missing key.*"bias".*\n.*"x"'):
        script.load_state_dict(half)
    # Values that would be spread over a parameter are none of it.
    wrong = {"weight": torch.ones(2), "bias": torch.full((2,), 3.0)}
    for strict in (True, False):
        with pytest.raises(RuntimeError, match="size mismatch for weight"):
            script.load_state_dict(wrong, strict=strict)
    assert script.weight.tolist() == [[7, 7], [7, 7]]
    assert script.bias.tolist() == [3, 3]


class Enlarged(torch.nn.Module):
    def forward(self, x, n: int = 3):
        y = torch.nn.functional.interpolate(x, scale_factor=2)
        return torch.nn.functional.interpolate(y, scale_factor=n)


def test_whole_numbers_among_floats_are_spelled_as_floats():
    """PyTorch's reader takes no integer for an element of List[float]."""
    saved = io.BytesIO()
    torch.jit.save(torch.jit.script(Enlarged()), saved)
    with zipfile.ZipFile(saved) as archive:
        texts = [
            archive.read(n).decode() for n in archive.namelist() if n.endswith(".py")
        ]
    assert any("annotate(List[float], [2.])" in text for text in texts)
    assert any("annotate(List[float], [float(n)])" in text for text in texts)
    saved.seek(0)
    assert torch.jit.load(saved)(torch.ones(1, 1, 1, 1)).shape == (1, 1, 6, 6)
