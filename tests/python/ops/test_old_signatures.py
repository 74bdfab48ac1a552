"""Calls in the order of arguments that PyTorch has given up for products."""

from __future__ import annotations

import warnings

import pytest

import hotaru as torch

M, V, B = (3, 3), (3,), (2, 3, 3)
#: The operator, the shapes of self and of the two others, their names.
OPERATORS = [
    ("addmm", M, (M, M), "Tensor mat1, Tensor mat2"),
    ("addmv", V, (M, V), "Tensor mat, Tensor vec"),
    ("addr", M, (V, V), "Tensor vec1, Tensor vec2"),
    ("addbmm", M, (B, B), "Tensor batch1, Tensor batch2"),
    ("baddbmm", B, (B, B), "Tensor batch1, Tensor batch2"),
]


@pytest.fixture(autouse=True)
def always():
    before = torch.is_warn_always_enabled()
    torch.set_warn_always(True)
    yield
    torch.set_warn_always(before)


def told(call):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        result = call()
    assert len(found) == 1
    return result, str(found[0].message)


@pytest.mark.parametrize("alpha", [None, 3.0])
@pytest.mark.parametrize(("name", "shape", "others", "names"), OPERATORS)
def test_numbers_before_tensors(name, shape, others, names, alpha):
    torch.manual_seed(0)
    x = torch.randn(shape)
    y, z = (torch.randn(s) for s in others)
    want = getattr(torch, name)(x, y, z, beta=2, alpha=alpha or 1)
    numbers = () if alpha is None else (alpha,)
    second = "" if alpha is None else "Number alpha, "
    today = ", *, Number beta = 1, Number alpha = 1"

    got, text = told(lambda: getattr(torch, name)(2, x, *numbers, y, z))
    torch.testing.assert_close(got, want)
    assert text == (
        f"This overload of {name} is deprecated:\n\t{name}(Number beta, "
        f"Tensor input, {second}{names}, *, Tensor out = None)\nConsider "
        f"using one of the following signatures instead:\n\t{name}("
        f"Tensor input, {names}{today}, Tensor out = None)"
    )
    for method, self in ((name, x), (name + "_", x.clone())):
        bound = getattr(self, method)
        got, text = told(lambda f=bound: f(2, *numbers, y, z))
        torch.testing.assert_close(got, want)
        assert text == (
            f"This overload of {method} is deprecated:\n\t{method}("
            f"Number beta, {second}{names})\nConsider using one of the "
            f"following signatures instead:\n\t{method}({names}{today})"
        )
    torch.testing.assert_close(self, want)


def test_what_has_no_such_form_is_refused():
    x = torch.ones(2, 2)
    with pytest.raises(TypeError):
        torch.addmm(x, 2, x, x)
    with pytest.raises(TypeError):
        torch.addmm(2, x, 3, 4, x, x)
    with pytest.raises(TypeError):
        x.addmm(2, x, x, beta=3)
