"""Helpers that tests of kernels from source text share."""

from __future__ import annotations

import os
import shutil

import hotaru

SAXPY = """
__global__ void saxpy(const float* x, float* y, double a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += float(a) * x[i];
}
"""
ADD = """
extern "C" __global__ void add(const float* a, float* out, double by, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] + float(by);
}
"""


def why_no_compiler() -> str:
    """Why no kernel can be compiled here; empty if one can."""
    [nvrtc] = hotaru._C._cuda_libraries("NVRTC")
    if nvrtc["why_not"]:
        return (
            f"no NVRTC ({nvrtc['why_not']}); HOTARU_CUDA_LIBRARIES=soft has a stand-in"
        )
    if hotaru._C._cuda_in_software() and not shutil.which(os.environ.get("CXX", "c++")):
        return "no C++ compiler, which the stand-in for NVRTC needs"
    return ""
