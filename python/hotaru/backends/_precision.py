"""How operators may compute with float32: "ieee", "tf32", "bf16", or "none",
which is what those above say.

An operator of a library has a setting, each library one for all of its
operators ("all"), and there is one of all libraries ("generic"). Older flags
(`allow_tf32`, `set_float32_matmul_precision`) write the same settings; to read
one where the newer names say something else is an error, as in PyTorch.
"""

from __future__ import annotations

from .. import _C
from ._flags import Flag, is_precision

__all__ = [
    "BackendPrecision",
    "LegacyTf32",
    "OperatorPrecision",
    "find",
    "legacy",
    "put",
]

_OPERATORS = ("conv", "rnn", "matmul")
_SETTINGS: dict[tuple[str, str], str] = {
    ("generic", "all"): "none",
    **{
        (library, operator): "none"
        for library in ("cuda", "mkldnn")
        for operator in ("all", *_OPERATORS)
    },
}
# Convolutions and recurrent layers of cuDNN that nobody said anything of.
_UNTOUCHED = {("cuda", "conv"), ("cuda", "rnn")}
# Older flags, as they were set last.
legacy = {"cudnn": True, "matmul": "highest"}
# Families of the CPU's operators, by the extension's numbers.
_FAMILIES = {"matmul": 0, "conv": 1, "rnn": 2}
_MIXED = (
    "This combination indicates that you have used a mix of the legacy and new "
    "APIs to set it. We suggest only using the new API (fp32_precision). See "
    "also: https://pytorch.org/docs/main/notes/cuda.html"
)


def _knows(library: str, precision: str) -> bool:
    return library != "cuda" or precision != "bf16"


def find(library: str, operator: str) -> str:
    """The precision that holds for an operator, or "all"."""
    for key in ((library, operator), (library, "all"), ("generic", "all")):
        found = _SETTINGS[key]
        if found != "none":
            found = found if _knows(library, found) else "none"
            return found
    return "tf32" if (library, operator) in _UNTOUCHED else "none"


def own(library: str, operator: str) -> str:
    """The setting itself, "none" where it has none."""
    return _SETTINGS[library, operator]


def put(library: str, operator: str, precision: str) -> None:
    """Sets it, and tells those that compute.

    RuntimeError: there is no such precision, or the library has none.
    """
    is_precision(precision)
    if not _knows(library, precision):
        raise RuntimeError(
            f"backend '{library}' does not support precision '{precision}'"
        )
    _SETTINGS[library, operator] = precision
    _UNTOUCHED.discard((library, operator))
    tell()


def tell() -> None:
    """Tells the kernels what holds for them."""
    _C._set_allows_tf32("matmul", find("cuda", "matmul") == "tf32")
    _C._set_allows_tf32("conv", find("cuda", "conv") == "tf32")
    for operator, family in _FAMILIES.items():
        _C._set_allows_bf16(family, find("mkldnn", operator) == "bf16")
    _C._count_setting_change()


def held() -> tuple:
    """Precisions that hold, as graphs keep them."""
    return tuple(find(*key) for key in _SETTINGS if key[0] != "generic")


def saved() -> tuple:
    """All settings, for `restore`."""
    return dict(_SETTINGS), set(_UNTOUCHED), dict(legacy)


def restore(before: tuple) -> None:
    """Settings as they were."""
    settings, untouched, flags = before
    _SETTINGS.update(settings)
    _UNTOUCHED.clear()
    _UNTOUCHED.update(untouched)
    legacy.update(flags)
    tell()


class BackendPrecision(Flag):
    """The setting of a library for all of its operators."""

    def __init__(self, library: str, **named) -> None:
        super().__init__("none", is_precision, **named)
        self._library = library

    def __get__(self, library, owner=None):
        return self if library is None else find(self._library, "all")

    def kept(self, library) -> str:
        return own(self._library, "all")

    def put(self, library, value) -> None:
        put(self._library, "all", value)


class OperatorPrecision:
    """The setting of an operator, as `backends.cudnn.conv`."""

    def __init__(self, backend: str, op: str) -> None:
        vars(self).update(backend=backend, op=op)

    @property
    def fp32_precision(self) -> str:
        """The precision that holds: with "tf32" and "bf16" factors may be
        rounded, sums stay in float32; anything else is full precision.
        """
        return find(self.backend, self.op)

    def __setattr__(self, name: str, value) -> None:
        if name != "fp32_precision":
            raise AttributeError("Unknown attribute " + name)
        put(self.backend, self.op, value)


class LegacyTf32(Flag):
    """The older flag of cuDNN, for convolutions and recurrent layers."""

    def __get__(self, library, owner=None):
        if library is None:
            return self
        conv, rnn = (find("cuda", op) == "tf32" for op in ("conv", "rnn"))
        if conv is not rnn or conv is not legacy["cudnn"]:
            raise RuntimeError(
                "PyTorch is checking whether allow_tf32 is enabled for cuDNN "
                "without a specific operator name, but the current flag(s) "
                "indicate that cuDNN conv and cuDNN RNN have different TF32 "
                f"flags. {_MIXED}"
            )
        return legacy["cudnn"]

    def kept(self, library) -> bool:
        return legacy["cudnn"]

    def put(self, library, value) -> None:
        super().put(library, value)
        legacy["cudnn"] = bool(value)
        for operator in ("conv", "rnn"):
            put("cuda", operator, "tf32" if value else "none")


def matmul_allows_tf32() -> bool:
    """The older flag of products; RuntimeError where the newer one differs."""
    allowed = legacy["matmul"] != "highest"
    if allowed is not (find("cuda", "matmul") == "tf32"):
        raise RuntimeError(
            "PyTorch is checking whether allow_tf32_new is enabled for cuBlas "
            "matmul, Current status indicate that you have used mix of the "
            f"legacy and new APIs to set the TF32 status. {_MIXED}"
        )
    return allowed


def matmul_precision() -> str:
    """The word of `set_float32_matmul_precision`; RuntimeError where the newer
    settings differ.
    """
    word = legacy["matmul"]
    cpu = find("mkldnn", "matmul")
    differs = {
        "highest": cpu in ("tf32", "bf16") or find("cuda", "matmul") == "tf32",
        "high": cpu == "bf16",
        "medium": cpu == "tf32",
    }
    if differs[word]:
        raise RuntimeError(
            "PyTorch is checking the matmul precision without a specific "
            "backend name, Current status indicate that you have used mix of "
            f"the legacy and new APIs to set the matmul precision. {_MIXED}"
        )
    return word
