"""Forward hooks of compiled modules."""

# TorchScript knows the old spellings.
# ruff: noqa: UP006, UP035

import copy
import io
import re
import zipfile
from pathlib import Path
from typing import List, Tuple

import pytest

import hotaru as torch
from hotaru import Tensor

nn = torch.nn
GOLDEN = Path(__file__).parents[2] / "golden/script"


class Counted(nn.Module):
    """Hooks can write what forward reads."""

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.scale = nn.Parameter(torch.tensor(3.0))

    def forward(self, x: Tensor, k: int = 2) -> Tensor:
        return x * self.scale * k


def count(self, input: Tuple[Tensor, int]) -> None:
    self.calls += 1


def double(self, input: Tuple[Tensor, int]) -> Tuple[Tensor, int]:
    return input[0] * 2, input[1]


def plus_calls(self, input: Tuple[Tensor, int], output: Tensor):
    return output + self.calls


def both(self, input: Tuple[Tensor, int], output: Tensor):
    return output, input[1]


def hooked(before=(), after=(), module=None):
    module = Counted() if module is None else module
    for hook in before:
        module.register_forward_pre_hook(hook)
    for hook in after:
        module.register_forward_hook(hook)
    return module


def _reloaded(module):
    return torch.jit.load(io.BytesIO(module.save_to_buffer()))


X = torch.ones(2)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ([double], []),
        ([double, double], []),
        ([count, double], [plus_calls]),
        ([], [both]),
        ([count, count], [plus_calls, plus_calls, both]),
    ],
)
def test_calls_from_python(before, after):
    @torch.no_grad()
    def results(module):
        out = [module(X, 3), module(X, 4), module.forward(X, 5), module.calls]
        return repr(out)

    expected = results(hooked(before, after))
    compiled = torch.jit.script(hooked(before, after))
    copies = [_reloaded(compiled), copy.deepcopy(compiled)]
    frozen = torch.jit.freeze(compiled.eval(), preserved_attrs=["calls"])
    for module in (compiled, *copies, frozen, _reloaded(frozen)):
        assert results(module) == expected


class Outer(nn.Module):
    """Calls of a submodule, with a default and by name."""

    def __init__(self):
        super().__init__()
        self.inner = hooked([count, double], [plus_calls])

    def forward(self, x: Tensor):
        return (
            self.inner(x),
            self.inner(k=3, x=x),
            self.inner.forward(x),
            self.inner.calls,
        )


def test_calls_from_programs():
    compiled = torch.jit.script(Outer())
    *tensors, calls = compiled(X)
    # Defaults are arguments, too, which hooks in Python don't see.
    assert [t.tolist() for t in tensors] == [[13, 13], [20, 20], [6, 6]]
    assert calls == 2
    frozen = torch.jit.freeze(torch.jit.script(Outer().eval()))
    for module in (_reloaded(torch.jit.script(Outer())), frozen):
        assert [t.tolist() for t in module(X)[:3]] == [[13, 13], [20, 20], [6, 6]]


def test_gradients_pass_hooks():
    compiled = torch.jit.script(hooked([double]))
    compiled(X, 5).sum().backward()
    assert compiled.scale.grad.item() == 20


def test_modules_with_and_without_hooks():
    """The hooks belong to the class that modules share."""
    layers = nn.Sequential(
        hooked([double]), Counted(), hooked([double]), hooked([], [plus_calls])
    )
    compiled = torch.jit.script(layers)
    kinds = [child._c.type_name for child in compiled]
    assert kinds[0] == kinds[2]
    assert len(set(kinds)) == 3


def test_python_hooks_on_compiled_modules_come_later():
    compiled = torch.jit.script(hooked([], [plus_calls]))
    seen: List[float] = []
    handle = compiled.register_forward_hook(
        lambda module, args, output: seen.append(output[0].item())
    )
    compiled(X, 1)
    handle.remove()
    compiled(X, 1)
    assert seen == [3]


def test_archives_of_pytorch():
    for suffix in ("", "_old"):
        module = torch.jit.load(str(GOLDEN / f"cases{suffix}.pt")).hooks
        x = torch.ones(2)
        # 1 * (3 + 2) + 100 + 5
        assert module.hooked(x, 3).tolist() == [110, 110]
        assert module.hooked.forward(x, 3).tolist() == [3, 3]
        assert module.number(x, 4) == 8.0
        assert module(x).tolist() == [106, 106]


def no_result(self, input: Tuple[Tensor, int]):
    return None


def no_tuple(self, input: Tensor) -> None:
    return None


def wrong_input(self, input: Tuple[Tensor, float]) -> None:
    return None


def wrong_result(self, input: Tuple[Tensor, int]) -> int:
    return 1


def too_few_results(self, input: Tuple[Tensor, int]) -> Tuple[Tensor]:
    return (input[0],)


def wrong_results(self, input: Tuple[Tensor, int]) -> Tuple[int, int]:
    return (1, 2)


def as_hook(self, input: Tuple[Tensor, int], output: Tensor) -> None:
    return None


def wrong_output(self, input: Tuple[Tensor, int], output: int):
    return None


def missing_output(self, input: Tuple[Tensor, int]):
    return None


def forward(self, input: Tuple[Tensor, int], output: Tensor):
    return None


def another_double():
    def double(self, input: Tuple[Tensor, int]) -> None:
        return None

    return double


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ([no_result], [], "is missing a return annotation"),
        ([no_tuple], [], "typed as a Tuple but found type: 'Tensor' instead"),
        ([wrong_input], [], "wrong inner types for the input tuple argument"),
        ([wrong_result], [], "returned the wrong type of: 'int'"),
        ([too_few_results], [], "the wrong number of contained types"),
        ([wrong_results], [], "contains the wrong inner types"),
        ([as_hook], [], "exactly 2 inputs but it had 3 inputs"),
        ([], [wrong_output], "Received type: 'int'. Expected type: 'Tensor'"),
        ([], [missing_output], "exactly 3 inputs but it had 2 inputs"),
        ([], [both, plus_calls], "Expected type: 'Tuple[Tensor, int]'"),
        ([], [forward], "already exists"),
        ([double, another_double()], [], "unique names"),
    ],
)
def test_errors_of_signatures(before, after, message):
    with pytest.raises(RuntimeError, match=re.escape(message)):
        torch.jit.script(hooked(before, after))


def test_single_tuple():
    """A hook before forward gives its tuple in another tuple."""

    class Single(nn.Module):
        def forward(self, x: Tuple[Tensor, Tensor]):
            return x[0] + x[1]

    def plain(self, input: Tuple[Tuple[Tensor, Tensor]]) -> Tuple[Tensor, Tensor]:
        return input[0]

    def nested(
        self, input: Tuple[Tuple[Tensor, Tensor]]
    ) -> Tuple[Tuple[Tensor, Tensor]]:
        return ((input[0][0] * 3, input[0][1]),)

    assert torch.jit.script(hooked([nested], module=Single()))((X, X)).tolist() == [
        4,
        4,
    ]
    with pytest.raises(RuntimeError, match="nested tuple containing"):
        torch.jit.script(hooked([plain], module=Single()))


def test_hooks_that_have_no_form():
    with_keywords = Counted()
    with_keywords.register_forward_pre_hook(double, with_kwargs=True)
    always = Counted()
    always.register_forward_hook(both, always_call=True)
    for module in (with_keywords, always):
        with pytest.raises(RuntimeError, match="know no such hooks"):
            torch.jit.script(module)
    anonymous = hooked(after=[lambda module, args, output: None])
    with pytest.raises(RuntimeError, match="function or class definition"):
        torch.jit.script(anonymous)


def test_a_list_that_names_no_hook():
    data = torch.jit.script(hooked([double])).save_to_buffer()
    broken = io.BytesIO()
    source = zipfile.ZipFile(io.BytesIO(data))
    with zipfile.ZipFile(broken, "w") as target:
        for name in source.namelist():
            text = source.read(name)
            target.writestr(name, text.replace(b'["double', b'["dubble'))
    broken.seek(0)
    with pytest.raises(RuntimeError, match="there is no hook 'dubble'"):
        torch.jit.load(broken)
