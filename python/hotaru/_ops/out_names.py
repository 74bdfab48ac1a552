"""PyTorch's names of forms with `out=` where those do not follow the rule:
"out" of the overload for tensors, "X_out" of X.
"""

from __future__ import annotations

_SAME = """bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
bitwise_xor bucketize eq fill fmod ge greater greater_equal gt index le lerp
less less_equal lt masked_fill ne not_equal remainder repeat_interleave rsub
searchsorted slice_copy split_copy unsafe_split"""

# By an operator's overload, the name of the one that writes.
_NAMES = {
    **{f"{name}.Tensor": "Tensor_out" for name in _SAME.split()},
    "all.default": "all_out",
    "all.dim": "out",
    "any.default": "all_out",
    "any.dim": "out",
    "arange.start_step": "start_out",
    "bernoulli.p": "float_out",
    "div.Tensor_mode": "out_mode",
    "divide.Tensor_mode": "out_mode",
    "empty.memory_format": "out",
    "frobenius_norm.dim": "out",
    "linalg_matrix_rank.tol_tensor": "out_tol_tensor",
    "linalg_pinv.rcond_tensor": "out_rcond_tensor",
    "max.default": "unary_out",
    "max.other": "out",
    "mean.default": "dtype_out",
    "mean.dim": "out",
    "min.default": "unary_out",
    "min.other": "out",
    "norm.ScalarOpt_dim": "out",
    "norm.ScalarOpt_dim_dtype": "out",
    "prod.dim_int": "int_out",
    "std.dim": "out",
    "sum.dim_IntList": "IntList_out",
    "var.dim": "out",
    "xlogy.Scalar_Other": "OutScalar_Other",
    "xlogy.Scalar_Self": "OutScalar_Self",
    "xlogy.Tensor": "OutTensor",
}

# Names, and arguments, of those that write several results, or to another
# argument than `out`; a list in one argument has [] behind its name.
_SEVERAL = {
    "_embedding_bag": "out out0 out1 out2 out3",
    "_embedding_bag_forward_only": "out out0 out1 out2 out3",
    "_native_batch_norm_legit": "out out save_mean save_invstd",
    "_native_batch_norm_legit.no_stats": "no_stats_out out save_mean save_invstd",
    "_softmax_backward_data": "out grad_input",
    "_unique2": "out out0 out1 out2",
    "adaptive_max_pool2d": "out out indices",
    "adaptive_max_pool3d": "out out indices",
    "aminmax": "out min max",
    "cummax": "out values indices",
    "cummin": "out values indices",
    "fractional_max_pool2d": "output output indices",
    "fractional_max_pool3d": "output output indices",
    "frexp.Tensor": "Tensor_out mantissa exponent",
    "geqrf": "a a tau",
    "histogram.bin_ct": "bin_ct_out hist bin_edges",
    "histogram.bins_tensor": "bins_tensor_out hist bin_edges",
    "kthvalue": "values values indices",
    "linalg_cholesky_ex": "L L info",
    "linalg_eig": "out eigenvalues eigenvectors",
    "linalg_eigh": "eigvals eigvals eigvecs",
    "linalg_inv_ex": "inverse inverse info",
    "linalg_ldl_factor": "out LD pivots",
    "linalg_ldl_factor_ex": "out LD pivots info",
    "linalg_lstsq": "out solution residuals rank singular_values",
    "linalg_lu": "out P L U",
    "linalg_lu_factor": "out LU pivots",
    "linalg_lu_factor_ex": "out LU pivots info",
    "linalg_qr": "out Q R",
    "linalg_slogdet": "out sign logabsdet",
    "linalg_solve_ex": "out result info",
    "linalg_svd": "U U S Vh",
    "lu_unpack": "out P L U",
    "max.dim": "dim_max max max_values",
    "max_pool2d_with_indices": "out out indices",
    "max_pool3d_with_indices": "out out indices",
    "median.dim": "dim_values values indices",
    "min.dim": "dim_min min min_indices",
    "mode": "values values indices",
    "nanmedian.dim": "dim_values values indices",
    "native_batch_norm": "out out save_mean save_invstd",
    "nll_loss2d_forward": "output output total_weight",
    "nll_loss_forward": "output output total_weight",
    "qr": "Q Q R",
    "slogdet": "out sign logabsdet",
    "sort": "values values indices",
    "sort.stable": "values_stable values indices",
    "split_with_sizes_copy": "out out[]",
    "svd": "U U S V",
    "topk": "values values indices",
    "triangular_solve": "X X M",
    "unbind_copy.int": "int_out out[]",
    "unique_consecutive": "out out0 out1 out2",
    "unique_dim": "out out0 out1 out2",
}


def of(packet: str, base: str) -> tuple[str, tuple[str, ...]] | None:
    """The name of the form of an overload that writes, and its arguments for
    results; None where the rule holds.
    """
    full = f"{packet}.{base}"
    if full in _NAMES:
        return _NAMES[full], ("out",)
    found = _SEVERAL.get(packet if base == "default" else full)
    if found is None:
        return None
    name, *arguments = found.split()
    return name, tuple(arguments)
