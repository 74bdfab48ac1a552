"""Types of variables behind conditions that assigned them."""

from typing import List, Optional, Union  # noqa: UP035

import pytest

import hotaru as torch


def padded(fill: Optional[Union[int, float, List[float]]] = None) -> int:  # noqa: UP006
    if fill is None:
        fill = 0
    if isinstance(fill, (int, float)):
        return 1
    return len(fill)


def narrowed(size: Optional[Union[int, List[int]]] = None) -> List[int]:  # noqa: UP006
    if size is None:
        size = 3
    if isinstance(size, int):
        size = [size, size]
    return size


def widened(flag: bool, x: Optional[int]) -> Optional[int]:
    if flag:  # noqa: SIM108
        x = None
    else:
        x = 2
    if x is None:
        x = 5
    return x + 1


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (padded, [(), (None,), (2,), (2.5,), ([1.0, 2.0],)]),
        (narrowed, [(), (4,), ([1, 2, 3],)]),
        (widened, [(True, 1), (False, None)]),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_refinements_last_behind_assignments(function, calls):
    scripted = torch.jit.script(function)
    for args in calls:
        assert scripted(*args) == function(*args)


def test_operators_take_their_first_tensor_as_input():
    def calls(x, y):
        return (
            torch.relu(input=x),
            torch.mean(input=x, dim=0),
            torch.where(condition=x > 0, input=x, other=y),
            torch.clamp(input=x, max=0.5),
        )

    x, y = torch.randn(3), torch.zeros(3)
    for found, want in zip(torch.jit.script(calls)(x, y), calls(x, y)):
        assert torch.equal(found, want)
    with pytest.raises(RuntimeError, match="specified twice"):
        torch.jit.CompilationUnit("def f(x):\n    return torch.relu(x, input=x)\n")
