# ruff: noqa: E501  (a case is one line)
"""Cases of `torch.testing.make_tensor`: its draws, layouts and errors."""

from __future__ import annotations

from core_scope import DTYPES, case

_MAKE = """
make(2, 3, dtype=torch.float32, device="cpu")
make((2, 3), dtype=torch.float64, device="cpu")
make([2, 3], dtype=torch.float64, device=torch.device("cpu"))
make(torch.Size([2, 2]), dtype=torch.float64, device="cpu")
make((), dtype=torch.float32, device="cpu")
make(dtype=torch.float32, device="cpu")
make(0, dtype=torch.float32, device="cpu")
make(2, 3)
make(2, dtype=torch.float32)
make(3, dtype=torch.float32, device="cpu", low=2, high=3)
make(3, dtype=torch.float32, device="cpu", low=100)
make(3, dtype=torch.float32, device="cpu", high=-100)
make(3, dtype=torch.float32, device="cpu", low=5, high=2)
make(3, dtype=torch.float32, device="cpu", low=5, high=5)
make(3, dtype=torch.int64, device="cpu", low=5, high=5)
make(8, dtype=torch.int32, device="cpu", low=0.5, high=3.5)
make(3, dtype=torch.float32, device="cpu", low=nan)
make(3, dtype=torch.float32, device="cpu", high=nan)
make(3, dtype=torch.float16, device="cpu", low=-inf, high=inf)
make(3, dtype=torch.float64, device="cpu", low=-inf, high=inf)
make(3, dtype=torch.complex64, device="cpu", low=-inf, high=0)
make(3, dtype=torch.uint8, device="cpu", low=-5, high=400)
make(3, dtype=torch.uint8, device="cpu", low=300, high=400)
make(3, dtype=torch.uint8, device="cpu", low=-9, high=-1)
make(3, dtype=torch.int64, device="cpu", low=-inf, high=inf)
make(3, dtype=torch.int64, device="cpu", low=2**62)
make(3, dtype=torch.bool, device="cpu", low=0, high=1)
make(3, dtype=torch.bool, device="cpu", low=1, high=9)
make(3, dtype=torch.bool, device="cpu", low=2, high=3)
make(3, dtype=torch.float32, device="cpu", low=1e39, high=1e40)
t = make(2, dtype=torch.float32, device="cpu", requires_grad=True); (t, t.requires_grad, t.is_leaf)
t = make(2, 2, dtype=torch.float32, device="cpu", requires_grad=True, noncontiguous=True); (laid(t), t.requires_grad, t.is_leaf)
make(2, dtype=torch.int32, device="cpu", requires_grad=True)
laid(make(2, 3, dtype=torch.int32, device="cpu", noncontiguous=True))
laid(make(1, dtype=torch.float32, device="cpu", noncontiguous=True))
laid(make(4, 0, dtype=torch.float32, device="cpu", noncontiguous=True))
laid(make((), dtype=torch.float32, device="cpu", noncontiguous=True))
laid(make(1, 2, 2, 2, dtype=torch.float32, device="cpu", memory_format=torch.channels_last))
make(1, 2, 2, 2, dtype=torch.float32, device="cpu", memory_format=torch.channels_last, noncontiguous=True)
make(12, dtype=torch.int32, device="cpu", low=0, high=2, exclude_zero=True)
make(4, dtype=torch.bool, device="cpu", exclude_zero=True)
make(3, dtype=torch.float64, device="cpu", low=0, high=0, exclude_zero=True)
make(2, dtype=torch.complex64, device="cpu", low=0, high=0, exclude_zero=True)
make(2, dtype=3, device="cpu")
make(8, dtype=torch.uint16, device="cpu")
make(8, dtype=torch.uint32, device="cpu", low=-5, high=4)
make(8, dtype=torch.uint64, device="cpu")
make(3, dtype=torch.uint64, device="cpu", requires_grad=True)
torch.view_as_real(make(4, dtype=torch.complex32, device="cpu", requires_grad=True).detach())
make(8, dtype=torch.float8_e4m3fn, device="cpu").float()
make(8, dtype=torch.float8_e5m2, device="cpu", low=-inf, high=inf).float()
make(8, dtype=torch.float8_e5m2fnuz, device="cpu", requires_grad=True).requires_grad
"""


def _prefixed(line: str):
    return case("make = torch.testing.make_tensor; " + line)


CASES = {line: _prefixed(line) for line in _MAKE.split("\n") if line}
for _dtype in DTYPES:
    _line = f'make(6, dtype=torch.{_dtype}, device="cpu")'
    CASES[_line] = _prefixed(_line)
