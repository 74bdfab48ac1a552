"""Cases of windows: lengths, both ends, dtypes, what is refused."""

from __future__ import annotations

from ops_eval import cases

_NAMES = (
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
)
_OLDER = ("bartlett", "blackman", "hamming", "hann", "kaiser")

_SHAPES = [
    f"[T.signal.windows.{name}(n, sym=s, dtype=T.float64) "
    "for n in (0, 1, 2, 7, 8) for s in (True, False)]"
    for name in _NAMES
]
_DTYPES = [f"T.signal.windows.{name}(5)" for name in _NAMES]
_GRADS = [
    f"T.signal.windows.{name}(4, requires_grad=True).requires_grad" for name in _NAMES
]
_OPTIONS = [
    "T.signal.windows.exponential(6, tau=2.5)",
    "T.signal.windows.exponential(6, center=1.5, sym=False)",
    "T.signal.windows.gaussian(6, std=0.3)",
    "T.signal.windows.kaiser(6, beta=0.0)",
    "T.signal.windows.kaiser(9, beta=40.0, dtype=T.float64)",
    "T.signal.windows.general_cosine(6, a=[0.46, 0.23, 0.31])",
    "T.signal.windows.general_cosine(6, a=(1,), sym=False)",
    "T.signal.windows.general_hamming(6, alpha=0.4)",
]
_REFUSED = [
    f"T.signal.windows.{name}({args})"
    for name in _NAMES
    for args in ("-1", "4, dtype=T.int64", "4, dtype=T.float16")
] + [
    "T.signal.windows.exponential(5, tau=0)",
    "T.signal.windows.exponential(5, center=1.0)",
    "T.signal.windows.gaussian(5, std=-1.0)",
    "T.signal.windows.kaiser(5, beta=-1.0)",
    "T.signal.windows.general_cosine(5, a=1)",
    "T.signal.windows.general_cosine(5, a=[])",
    "T.signal.windows.general_cosine(1, a=[])",
]
_OLD = [
    f"[T.{name}_window(n, p, dtype=T.float64) "
    "for n in (0, 1, 2, 7, 8) for p in (True, False)]"
    for name in _OLDER
]
_OLD += [f"T.{name}_window(6)" for name in _OLDER]
_OLD += [f"str(T.{name}_window(6, dtype=T.float16).dtype)" for name in _OLDER]
_OLD += [f"T.{name}_window(-1)" for name in _OLDER]
_OLD += [f"T.{name}_window(True)" for name in _OLDER]
_OLD += [
    "T.hann_window(3, requires_grad=True).is_leaf",
    "T.hamming_window(6, True, 0.5)",
    "T.hamming_window(6, False, 0.5, 0.4)",
    "T.kaiser_window(6, False, 5.0)",
    "T.kaiser_window(6, True, 0.0)",
]

CASES = cases(_SHAPES, _DTYPES, _GRADS, _OPTIONS, _REFUSED, _OLD)
