"""Products of groups of rows or columns with a matrix of their own each."""

from __future__ import annotations

from ... import Tensor, bfloat16, cat, float16, float32, int32, matmul, stack

_DTYPES = (float32, bfloat16, float16)


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype=None,
) -> Tensor:
    """The product of each group, as layers with experts have them.

    Groups lie one behind the other in a matrix, [rows, columns], of which
    `offs` says where each ends, or are a batch:

    - (M, K) by (G, K, N): groups of rows, gives (M, N).
    - (G, M, K) by (K, N): groups of columns, gives (M, N).
    - (M, K) by (K, N): groups of what is added up, gives (G, M, N).
    - (G, M, K) by (G, K, N), without `offs`: gives (G, M, N).

    What lies behind the last group is left out of sums, and zero in results.

    Raises:
        RuntimeError: other dtypes than float32 and 16-bit floats, shapes or
            offsets that do not fit, a bias, another dtype of the result.
    """
    _check(mat_a, mat_b, offs, bias, out_dtype)
    if offs is None:
        return matmul(mat_a, mat_b)
    ends = offs.tolist()
    spans = list(zip([0, *ends[:-1]], ends))
    if mat_a.dim() == 2 and mat_b.dim() == 2:
        parts = [mat_a[:, i:j] @ mat_b[i:j] for i, j in spans]
        return stack(parts)
    if mat_a.dim() == 2:
        parts = [mat_a[i:j] @ b for (i, j), b in zip(spans, mat_b)]
        missing = mat_a.size(0) - ends[-1]
        parts.append(mat_a.new_zeros(missing, mat_b.size(-1)))
        return cat(parts)
    parts = [a @ mat_b[:, i:j] for a, (i, j) in zip(mat_a, spans)]
    missing = mat_b.size(1) - ends[-1]
    parts.append(mat_a.new_zeros(mat_a.size(1), missing))
    return cat(parts, 1)


def _check(mat_a, mat_b, offs, bias, out_dtype) -> None:
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if matrix.dtype not in _DTYPES:
            raise RuntimeError(
                f"Expected {name} to be Float32, BFloat16 or Float16 matrix, "
                f"got {matrix.dtype}"
            )
        if matrix.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if mat_a.dtype != mat_b.dtype:
        raise RuntimeError(
            f"Expected mat_a and mat_b to have the same dtype, got "
            f"{mat_a.dtype} and {mat_b.dtype}"
        )
    if mat_a.size(-1) != mat_b.size(-2):
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if (offs is None) != (mat_a.dim() == mat_b.dim() == 3):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if "
            "both matrices are 3d"
        )
    if offs is not None and offs.dtype != int32:
        raise RuntimeError("Offsets have to be int32")
    groups = {m.size(0) for m in (mat_a, mat_b) if m.dim() == 3}
    groups |= set() if offs is None else {offs.numel()}
    if len(groups) > 1:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")
