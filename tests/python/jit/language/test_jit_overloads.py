"""Declarations of overloads, as libraries write them."""

from __future__ import annotations

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
