"""Factorisations and Fourier transforms; a worker of compare.py, see there.

Matrices of 100, 300 and 1000 a side, 256 lines of as many points.
"""

from __future__ import annotations

import worker

torch = worker.torch

SIDES = (100, 300, 1000)
DTYPES = {"float": torch.float32, "double": torch.float64}
SQUARE = {
    "inv": "L.inv(a)",
    "solve": "L.solve(a, b)",
    "det": "L.det(a)",
    "lu_factor": "L.lu_factor(a)",
    "cholesky": "L.cholesky(p)",
    "solve_triangular": "L.solve_triangular(a, b, upper=True)",
    "qr": "L.qr(a)",
    "eigh": "L.eigh(p)",
    "eigvalsh": "L.eigvalsh(p)",
    "svd": "L.svd(a)",
    "svdvals": "L.svdvals(a)",
    "eig": "L.eig(a)",
    "lstsq": "L.lstsq(a, b)",
    "mm (complex)": "c @ c",
}
LINES = {
    "fft": "torch.fft.fft(c)",
    "ifft": "torch.fft.ifft(c)",
    "rfft": "torch.fft.rfft(a)",
    "irfft": "torch.fft.irfft(c, n=n)",
    "fft2": "torch.fft.fft2(s)",
    "rfft2": "torch.fft.rfft2(q)",
}


def operands(n: int, rows: int, dtype: torch.dtype) -> dict:
    """Names that the statements above may use."""
    torch.manual_seed(0)
    a = torch.randn(rows, n, dtype=dtype)
    names = {"torch": torch, "L": torch.linalg, "n": n, "a": a}
    names["c"] = torch.complex(a, a.flip(1))
    if rows == n:
        a += 2 * n**0.5 * torch.eye(n, dtype=dtype)
        names |= {"b": torch.randn(n, n, dtype=dtype), "p": a @ a.T / n}
    else:
        q = torch.randn(n, n, dtype=dtype)
        names |= {"q": q, "s": torch.complex(q, q.flip(1))}
    return names


def main() -> None:
    worker.TASKS.clear()
    for rows, statements in ((None, SQUARE), (256, LINES)):
        for name, code in statements.items():
            for dtype in DTYPES:
                for n in SIDES:
                    worker.TASKS[f"{name} {n} {dtype}"] = (
                        lambda n=n, rows=rows, dtype=dtype, code=code: (
                            code,
                            operands(n, rows or n, DTYPES[dtype]),
                        )
                    )
    worker.main()


if __name__ == "__main__":
    main()
