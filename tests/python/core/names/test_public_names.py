"""The modules that functions say they are from, and pickles of functions."""

from __future__ import annotations

import pickle
import subprocess
import sys

import hotaru.nn.functional as F
import pytest

import hotaru

# PyTorch's `__module__` of the functions, without "torch".
PLACES = [
    ("", ["is_complex", "sym_int", "_sym_cos", "is_conj"]),
    (".functional", ["einsum", "tensordot", "meshgrid", "stft", "atleast_2d", "norm"]),
    ("._lowrank", ["pca_lowrank", "svd_lowrank"]),
    (".nn.functional", ["relu", "max_pool2d", "cross_entropy", "dropout"]),
    (".nn.init", ["normal_", "uniform_", "constant_", "kaiming_uniform_"]),
]


def _functions(torch):
    for place, names in PLACES:
        home = torch
        for part in place.split(".")[1:]:
            home = getattr(home, part)
        for name in names:
            yield place, getattr(home, name)


def test_modules_are_public():
    for place, function in _functions(hotaru):
        assert function.__module__ == "hotaru" + place, function


def test_all_that_the_protocol_sees_is_pickled():
    places = hotaru.overrides.get_overridable_functions()
    for place, functions in places.items():
        if place is not hotaru.Tensor:
            for function in functions:
                assert pickle.loads(pickle.dumps(function)) is function


def test_pickles_name_public_classes():
    """Files of pickles outlive where private files of the package lie."""
    places = {
        hotaru.Size: "hotaru",
        hotaru.storage.TypedStorage: "hotaru.storage",
        hotaru.nn.attention.SDPBackend: "hotaru.nn.attention",
    }
    for cls, place in places.items():
        assert cls.__module__ == place
        assert pickle.loads(pickle.dumps(cls)) is cls
    tensor = pickle.dumps(hotaru.ones(2), 0)
    assert b"chotaru._utils\n_rebuild_tensor_v2\n" in tensor


_ALIASED = """
import pickle
import sys
import torch
import torch.nn.functional as F
sys.path.insert(0, {here!r})
from test_public_names import _functions
for place, function in _functions(torch):
    assert function.__module__ == "torch" + place, function
    text = pickle.dumps(function)
    assert b"torch" in text
    assert b"hotaru" not in text
    assert pickle.loads(text) is function
import torch.fft
assert torch.fft.fft.__module__ == "torch._C._fft"
model = torch.nn.TransformerEncoderLayer(4, 2, 4)
model.other = F.softplus, F.selu
torch.save(model, {file!r})
"""


def test_behind_the_alias(tmp_path):
    """`python -m hotaru` gives PyTorch's names; files are for both."""
    file = str(tmp_path / "model.pt")
    code = _ALIASED.format(here=__file__.rpartition("/")[0], file=file)
    done = subprocess.run(
        [sys.executable, "-m", "hotaru", "-c", code], capture_output=True, text=True
    )
    assert done.stderr == ""
    model = hotaru.load(file, weights_only=False)
    assert model.activation is F.relu
    assert model.other == (F.softplus, F.selu)


def test_code_that_uses_them_is_graphed():
    """Where a function is offered does not say whose code it is."""
    x = hotaru.randn(8)
    graphed = hotaru.graphs.compile(lambda x: F.relu(x) * F.softsign(x))
    for _ in range(3):
        assert graphed(x).equal(F.relu(x) * F.softsign(x))


# Recorded from PyTorch 2.13.
@pytest.mark.parametrize(
    ("name", "args", "wanted"),
    [
        ("sym_int", (-2.7,), -2),
        ("sym_int", (True,), 1),
        ("sym_float", (3,), 3.0),
        ("sym_max", (3, 2.0), 3.0),
        ("sym_max", (True, 2), 2),
        ("sym_min", (2, 3.0), 2.0),
        ("sym_not", (3,), False),
        ("sym_ite", (True, 1, 2), 1),
        ("sym_sum", ([1, 2.5],), 3.5),
        ("sym_sum", (3,), 3),
        ("_sym_sqrt", (4,), 2.0),
        ("_sym_log2", (8,), 3.0),
    ],
)
def test_functions_on_sizes(name, args, wanted):
    result = getattr(hotaru, name)(*args)
    assert result == wanted
    assert type(result) is type(wanted)


def test_functions_on_sizes_refuse():
    with pytest.raises(AssertionError, match="type mismatch"):
        hotaru.sym_ite(False, 1, 2.0)
    with pytest.raises(AssertionError, match="expected SymBool or bool"):
        hotaru.sym_ite(1, 1, 2)
    with pytest.raises(AssertionError, match=r"got <class 'hotaru\.Tensor'>"):
        hotaru.sym_max(hotaru.tensor(2), 3)


class Answering:
    """Answers every function with what it was asked."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, args, kwargs


def test_init_and_grad_are_answered():
    it = Answering()
    assert hotaru.nn.init.normal_(it, 1.0)[1] == (it, 1.0)
    func, args, kwargs = hotaru.autograd.grad(it, it, allow_unused=True)
    assert func is hotaru.autograd.grad
    assert args == ((it,), (it,))
    assert kwargs["allow_unused"]
    assert kwargs["grad_outputs"] is None
