"""Instructions that the processor has, by PyTorch's names for them."""

from __future__ import annotations

import functools
import os
import platform
import types
from pathlib import Path

__all__ = ["get_capabilities"]

# Names in Linux's list of flags, where they are others.
_X86 = {
    "sse": "sse",
    "sse2": "sse2",
    "sse3": "pni",
    "ssse3": "ssse3",
    "sse4_1": "sse4_1",
    "sse4_2": "sse4_2",
    "sse4a": "sse4a",
    "avx": "avx",
    "avx2": "avx2",
    "avx_vnni": "avx_vnni",
    "avx512_f": "avx512f",
    "avx512_cd": "avx512cd",
    "avx512_dq": "avx512dq",
    "avx512_bw": "avx512bw",
    "avx512_vl": "avx512vl",
    "avx512_ifma": "avx512ifma",
    "avx512_vbmi": "avx512vbmi",
    "avx512_vbmi2": "avx512_vbmi2",
    "avx512_bitalg": "avx512_bitalg",
    "avx512_vpopcntdq": "avx512_vpopcntdq",
    "avx512_vnni": "avx512_vnni",
    "avx512_bf16": "avx512_bf16",
    "avx512_fp16": "avx512_fp16",
    "avx512_vp2intersect": "avx512_vp2intersect",
    "avx512_4vnniw": "avx512_4vnniw",
    "avx512_4fmaps": "avx512_4fmaps",
    "avx10_1": "avx10_1",
    "avx10_2": "avx10_2",
    "avx_vnni_int8": "avx_vnni_int8",
    "avx_vnni_int16": "avx_vnni_int16",
    "avx_ne_convert": "avx_ne_convert",
    "amx_bf16": "amx_bf16",
    "amx_tile": "amx_tile",
    "amx_int8": "amx_int8",
    "amx_fp16": "amx_fp16",
    "fma3": "fma",
    "fma4": "fma4",
    "f16c": "f16c",
    "bmi": "bmi1",
    "bmi2": "bmi2",
    "popcnt": "popcnt",
    "lzcnt": "abm",
    "aes": "aes",
    "sha": "sha_ni",
    "clflush": "clflush",
    "clflushopt": "clflushopt",
    "clwb": "clwb",
}
_ARM = {
    "neon": "asimd",
    "fp16_arith": "asimdhp",
    "bf16": "bf16",
    "i8mm": "i8mm",
    "dot": "asimddp",
    "sve": "sve",
    "sve2": "sve2",
    "sve_bf16": "svebf16",
    "sme": "sme",
    "sme2": "sme2",
    "atomics": "atomics",
    "fhm": "asimdfhm",
    "rdm": "asimdrdm",
    "crc32": "crc32",
    "aes": "aes",
    "sha1": "sha1",
    "sha2": "sha2",
    "pmull": "pmull",
}


def _of_system() -> dict[str, str]:
    """The first processor's entries in the system's list; none if there is
    none.
    """
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return {}
    pairs = (x.partition(":") for x in text.partition("\n\n")[0].splitlines())
    return {name.strip(): value.strip() for name, _, value in pairs}


@functools.cache
def get_capabilities():
    """Names and whether the processor has them; "architecture" is a text.

    Where the system tells of no flags there is the architecture alone.
    """
    found: dict = {"architecture": platform.machine()}
    told = _of_system()
    flags = set((told.get("flags") or told.get("Features") or "").split())
    if flags:
        names = _X86 if "flags" in told else _ARM
        found.update({name: flag in flags for name, flag in names.items()})
    if "model name" in told:
        found["cpu_name"] = told["model name"]
    found["num_logical_cores"] = os.cpu_count() or 1
    return types.MappingProxyType(found)
