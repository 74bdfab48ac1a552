"""Archives for phones as they are written: their instructions give Python's numbers.

The instructions are run by mobile_machine.py, an interpreter of their description.
"""

from __future__ import annotations

import io
import json
import sys
import zipfile
from pathlib import Path

import pytest
from hotaru.jit import mobile
from mobile_machine import Machine

import hotaru as torch
from hotaru import Tensor, nn

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "operators"))
import operator_programs  # noqa: E402

PROGRAMS = json.loads((HERE.parents[1] / "golden" / "jit_operators.json").read_text())
# Programs of 2,253 that are written and run: fewer would be operators that were lost.
LEAST = 2050


def written(module) -> bytes:
    return torch.jit.script(module)._save_to_buffer_for_lite_interpreter()


def early(x: int, items: list[int]) -> int:
    for item in items:
        if item == x:
            return item * 10
        if item > 100:
            for i in range(3):
                if i == x:
                    return i
    return -1


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.factor = 3

    def forward(self, x: Tensor) -> Tensor:
        if x.dim() == 0:
            return x
        return x * self.factor


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0
        self.scaled = Scaled()

    def forward(self, items: list[int], text: str, x: Tensor):
        out: list[int] = []
        for i in items:
            if i == 3:
                continue
            if i > 6:
                break
            out.append(i * 2)
        j = 0
        while j < 10:
            j += 1
            if j % 2 == 0:
                continue
            if j == 7:
                break
            out.append(100 + j)
        for a in range(3):
            for b in range(3):
                if b == a:
                    continue
                if a + b > 3:
                    break
                out.append(a * 10 + b)
        out.append(early(3, items))
        out.append(early(77, items) + early(1, [200, 1]))
        total = 0
        table: dict[str, int] = {"a": 1}
        table["b"] = 2
        table.update({"c": 3})
        for _, value in table.items():
            total += value
        if "a" in table and 3 in items:
            total += 1000
        del table["a"]
        words = text.split(",")
        line = "-".join(words) + f"{len(words)}:{total}"
        self.count = self.count + 1
        extra: int | None = None
        if len(items) > 2:
            extra = items[1]
        if extra is not None:
            total += extra
        numbers: list[float] = x.tolist()
        first, name, same = (1, "q", x)
        tensors: dict[int, Tensor] = {1: x}
        y = self.scaled(tensors[1]) if x.dim() == 1 else x
        doubled = [q * 2 for q in items if q > 1]
        spread = max(items) - min(items)
        if total > 5000:
            return out, line, numbers, y, doubled, self.count
        elif spread > 100:
            return doubled, line, numbers, y, doubled, spread
        y = y + same
        return out, line + name, numbers, y, doubled, items.copy().pop() + first


@pytest.mark.parametrize("items", [[1, 2, 3, 4, 7, 9], [1, 2, 300], [5]])
def test_the_language_gives_the_values_of_python(items):
    module, x = Language(), torch.arange(3.0)
    machine = Machine(written(module))
    found = machine.call(".forward", machine.module, list(items), "x,y", x)
    wanted = module(list(items), "x,y", x)
    assert found[:3] == wanted[:3]
    assert found[4:] == wanted[4:]
    assert torch.equal(found[3], wanted[3])


def same(found, wanted) -> bool:
    if isinstance(wanted, torch.Tensor):
        if not isinstance(found, torch.Tensor):
            return False
        return found.dtype == wanted.dtype and operator_programs.same(
            torch, found, wanted
        )
    if isinstance(wanted, (list, tuple)):
        return len(found) == len(wanted) and all(map(same, found, wanted))
    return found == wanted or (found != found and wanted != wanted)


def outcome(source: str, specs) -> str | None:
    """None for a program that has no archive or draws numbers; "" for the same."""
    try:
        file = io.BytesIO()
        torch.jit.save(torch.jit.CompilationUnit(source).f, file)
        file.seek(0)
        module = torch.jit.load(file)
        wanted = []
        for seed in (0, 1):
            torch.manual_seed(seed)
            made = [operator_programs.tensor_of(torch, s) for s in specs]
            wanted.append(module(*made))
        if not same(*wanted):
            return None
        data = module._save_to_buffer_for_lite_interpreter()
    except Exception:
        return None
    machine = Machine(data)
    inputs = [operator_programs.tensor_of(torch, s) for s in specs]
    try:
        found = machine.call(".forward", machine.module, *inputs)
    except Exception as error:
        return f"{source}{type(error).__name__}: {error}"
    return "" if same(found, wanted[0]) else source


@pytest.mark.filterwarnings("ignore")
def test_operators_give_the_numbers_of_python():
    found = [outcome(source, specs) for _, source, specs, _, _ in PROGRAMS]
    assert not list(filter(None, found)), "\n".join(filter(None, found))
    assert sum(text == "" for text in found) >= LEAST


def test_a_trace_keeps_its_constants():
    held = torch.arange(6.0).reshape(2, 3).t()
    traced = torch.jit.trace(lambda x: (x + held, held[1:] * 2), torch.ones(3, 2))
    file = io.BytesIO()
    torch.jit.save(traced, file)
    file.seek(0)
    machine = Machine(torch.jit.load(file)._save_to_buffer_for_lite_interpreter())
    found = machine.call(".forward", machine.module, torch.ones(3, 2))
    assert torch.equal(found[0], held + 1)
    assert torch.equal(found[1], held[1:] * 2)


@torch.jit.interface
class Act(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        pass


class Chosen(nn.Module):
    act: Act

    def __init__(self):
        super().__init__()
        self.act = Scaled()

    def forward(self, x: Tensor) -> Tensor:
        return self.act.forward(x)


def test_methods_of_an_interface_are_called_by_name():
    machine = Machine(written(Chosen()))
    (forward,) = [
        c for n, c in machine.functions.items() if n.endswith("Chosen.forward")
    ]
    ((at, count),) = [
        (x, n) for name, x, n in forward["instructions"] if name == "INTERFACE_CALL"
    ]
    assert (forward["constants"][at], count) == ("forward", 2)
    assert any(name.endswith("Scaled.forward") for name in machine.functions)


def test_arguments_equal_to_their_defaults_are_left_out():
    class Sums(nn.Module):
        def forward(self, x: Tensor):
            return (
                torch.add(x, x),
                torch.add(x, x, alpha=2),
                x.sum(1),
                torch.cat([x], 1),
            )

    (code,) = Machine(written(Sums())).functions.values()
    assert code["operators"] == (
        ("aten::add", "Tensor", 2),
        ("aten::add", "Tensor", 3),
        ("aten::sum", "dim_IntList", 2),
        ("aten::cat", "", 2),
    )


def test_a_file_is_loaded_again(tmp_path):
    path = tmp_path / "m.ptl"
    torch.jit.script(Scaled())._save_for_lite_interpreter(str(path), {"note": "hello"})
    x = torch.arange(3.0)
    assert torch.equal(mobile._load_for_lite_interpreter(path)(x), x * 3)
    assert mobile._get_model_bytecode_version(path) == 8
    with zipfile.ZipFile(path) as archive:
        assert archive.read("archive/extra/note") == b"hello"


def test_a_class_that_is_no_module_is_refused():
    @torch.jit.script
    class Pair:
        def __init__(self, a: int):
            self.a = a

    class Uses(nn.Module):
        def forward(self, x: Tensor):
            return x + Pair(3).a

    with pytest.raises(RuntimeError, match="not supported in lite interpreter"):
        written(Uses())


@pytest.mark.parametrize("name", ["_use_flatbuffer", "_save_mobile_debug_info"])
def test_other_forms_are_refused(name):
    with pytest.raises(NotImplementedError, match=name):
        torch.jit.script(Scaled())._save_for_lite_interpreter("m.ptl", **{name: True})


def rows(module) -> tuple[list, list]:
    """The instructions and the operators of `forward`."""
    (_, code, _), *_ = mobile._bytecode(written(module))[1]
    parts = dict(code)
    return parts["instructions"], parts["operators"]


class Items(nn.Module):
    def forward(self, x: Tensor):
        numbers = [1, 2]
        numbers[0] = 5
        return numbers, x.long(), complex(len(numbers), 2.5)


def test_results_there_that_graphs_here_do_not_have_are_dropped():
    instructions, operators = rows(Items())
    assert ("aten::to", "prim_dtype", 4) in operators
    assert ("aten::Complex", "int_float", 2) in operators
    place = operators.index(("aten::_set_item", "t", 3))
    at = instructions.index(("OP", place, 0))
    assert instructions[at + 1][0] == "DROP"


class LastPair(nn.Module):
    def forward(self, counts: dict[str, int]):
        return counts.popitem()


class OfPairs(nn.Module):
    def forward(self, pairs: list[tuple[str, int]]):
        return dict(pairs)


class Mixed(nn.Module):
    def forward(self, x: Tensor):
        return torch.tensor([1.5, 2])


class Greatest(nn.Module):
    def forward(self, texts: list[str]):
        return max(texts)


class Found(nn.Module):
    def forward(self, given: list[bool]):
        return True in given


@pytest.mark.parametrize("kind", [LastPair, OfPairs, Mixed, Greatest, Found])
def test_programs_that_mean_something_else_there_are_refused(kind):
    with pytest.raises(NotImplementedError, match="has no instruction in PyTorch's"):
        written(kind())


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 1

    @torch.jit.export
    def __getstate__(self):
        return (self.count, self.training)

    @torch.jit.export
    def __setstate__(self, state: tuple[int, bool]):
        self.count, self.training = state

    def forward(self) -> int:
        return self.count


class KeptByName(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 1
        self.other = 2

    @torch.jit.export
    def __getstate__(self):
        return {"other": self.other, "count": self.count}

    @torch.jit.export
    def __setstate__(self, state: dict[str, int]):
        self.count, self.other = state["count"], state["other"]
        self.training = False

    def forward(self) -> int:
        return self.count


@pytest.mark.parametrize("kind", [Kept, KeptByName])
def test_classes_that_save_their_own_state_are_refused(kind):
    with pytest.raises(NotImplementedError, match="has '__getstate__'"):
        written(kind())


class Halved(nn.Module):
    def forward(self, z: complex, n: int):
        return z / n


class Power(nn.Module):
    def forward(self, z: complex, n: int):
        return z**n


@pytest.mark.parametrize("kind", [Halved, Power])
def test_forms_of_complex_numbers_that_are_not_there_are_refused(kind):
    with pytest.raises(NotImplementedError, match="complex_int' has no instruction"):
        written(kind())
