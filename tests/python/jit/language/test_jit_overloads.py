"""Declarations of overloads, as libraries write them."""

from __future__ import annotations

import pytest
from hotaru.jit.annotations import Dict, List, Optional, Tuple, Union

import hotaru as torch


@torch.jit._overload
def scaled(x: torch.Tensor) -> torch.Tensor:
    pass


@torch.jit._overload
def scaled(x: torch.Tensor, by: float) -> torch.Tensor:  # noqa: F811
    pass


def scaled(x: torch.Tensor, by: float = 2.0) -> torch.Tensor:  # noqa: F811
    return x * by


class Model(torch.nn.Module):
    @torch.jit._overload_method
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        pass

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # noqa: F811
        return scaled(x) + scaled(x, 0.5)


def test_the_definition_is_called_and_compiled():
    x = torch.ones(2)
    assert scaled(x).tolist() == [2, 2]
    assert Model()(x).tolist() == [2.5, 2.5]
    assert torch.jit.script(Model())(x).tolist() == [2.5, 2.5]


def test_conditions_stay_in_traces():
    @torch.jit._script_if_tracing
    def positive(x: torch.Tensor) -> torch.Tensor:
        if bool(x.sum() > 0):
            return x
        return -x

    traced = torch.jit.trace(lambda x: positive(x), torch.ones(2))
    assert traced(-torch.ones(2)).tolist() == [1, 1]


def test_names_of_types():
    assert Optional[int] == Union[int, None]
    assert (Dict.__name__, List.__name__, Tuple.__name__) == ("Dict", "List", "Tuple")


def test_stft_is_the_one_that_eager_code_takes():
    def named(x: torch.Tensor, w: torch.Tensor):
        return torch.stft(x, 16, 4, window=w, return_complex=True)

    def placed(x: torch.Tensor, w: torch.Tensor):
        return torch.stft(x, 16, 4, 16, w, False, return_complex=True)

    def mirrored(x: torch.Tensor, w: torch.Tensor):
        return torch.stft(
            x,
            16,
            window=w,
            pad_mode="constant",
            normalized=True,
            onesided=False,
            return_complex=True,
        )

    x, w = torch.sin(torch.arange(64) * 0.3), torch.hann_window(16)
    for f, frames in ((named, 17), (placed, 13), (mirrored, 17)):
        got = torch.jit.script(f)(x, w)
        assert got.shape[1] == frames
        assert torch.allclose(got, f(x, w))


@torch.jit._overload
def parts(x: torch.Tensor, w: None = None) -> torch.Tensor:
    pass


@torch.jit._overload
def parts(  # noqa: F811
    x: torch.Tensor, w: torch.Tensor
) -> Tuple[torch.Tensor, torch.Tensor]:
    pass


def parts(x, w=None):  # noqa: F811
    # The types are those of the declarations.
    if w is None:
        return x
    return x, w


@torch.jit._overload
def kind(x):
    # type: (int) -> int
    pass


@torch.jit._overload
def kind(x):  # noqa: F811
    # type: (str) -> str
    pass


def kind(x):  # noqa: F811
    return x + x


class Chooser(torch.nn.Module):
    @torch.jit._overload_method
    def chosen(self, x: int) -> int:
        pass

    @torch.jit._overload_method
    def chosen(self, x: torch.Tensor) -> torch.Tensor:  # noqa: F811
        pass

    def chosen(self, x):  # noqa: F811
        return x + 1

    def forward(self, x: torch.Tensor, n: int):
        return self.chosen(x), self.chosen(n)


def test_a_call_takes_the_declared_signature_that_fits():
    def one(x: torch.Tensor) -> torch.Tensor:
        return parts(x)

    def named(x: torch.Tensor):
        return parts(x, w=x + 1)

    def kinds(n: int, s: str):
        return kind(n), kind(s)

    x = torch.ones(1)
    assert torch.jit.script(one)(x).tolist() == [1]
    assert [y.item() for y in torch.jit.script(named)(x)] == [1, 2]
    assert torch.jit.script(kinds)(2, "a") == (4, "aa")
    got = torch.jit.script(Chooser())(x, 3)
    assert (got[0].item(), got[1]) == (2, 4)


def test_no_signature_fits():
    def wrong(s: str):
        return parts(s)

    with pytest.raises(RuntimeError, match="Arguments for call are not valid"):
        torch.jit.script(wrong)
    with pytest.raises(RuntimeError, match="cannot be directly compiled"):
        torch.jit.script(parts)
