"""Cases of out= in other dtypes: which of them take an operator's result.

One line of arguments a block, then the operators that are called with them.
"""

from __future__ import annotations

from operator import attrgetter

DTYPES = (
    "float64",
    "float16",
    "int64",
    "int32",
    "int8",
    "bool",
    "complex64",
    "float32",
    "uint8",
)
_CALLS = {
    "(x,)": """
        abs absolute acos acosh alias_copy all amax amin angle any arccos
        arccosh arcsin arcsinh arctan arctanh argmax argmin asin asinh atan
        atanh ceil cholesky cholesky_inverse conj_physical cos cosh deg2rad
        detach_copy diag diagonal_copy diff digamma erf erfc erfinv exp exp2
        expm1 fft.fft fft.fft2 fft.fftn fft.ifft fft.ifft2 fft.ifftn fft.ihfft
        fft.ihfft2 fft.ihfftn fft.rfft fft.rfft2 fft.rfftn fix floor frac
        hardshrink hash_tensor histc i0 inverse isneginf isposinf lgamma
        linalg.cholesky linalg.cond linalg.det linalg.eigvals linalg.eigvalsh
        linalg.inv linalg.matrix_norm linalg.matrix_rank linalg.norm linalg.pinv
        linalg.svdvals linalg.vector_norm log log10 log1p log2 logical_not logit
        max mean min msort nan_to_num neg negative nn.functional.gelu
        nn.functional.hardshrink nn.functional.logsigmoid
        nn.functional.normalize nn.functional.softplus nn.functional.softshrink
        nonzero norm nuclear_norm rad2deg reciprocal round rsqrt sgn sigmoid
        sign signbit sin sinc sinh slice_copy special.airy_ai special.bessel_j0
        special.bessel_j1 special.bessel_y0 special.bessel_y1 special.digamma
        special.entr special.erf special.erfc special.erfcx special.erfinv
        special.exp2 special.expit special.expm1 special.gammaln special.i0
        special.i0e special.i1 special.i1e special.log1p special.log_ndtr
        special.logit special.modified_bessel_i0 special.modified_bessel_i1
        special.modified_bessel_k0 special.modified_bessel_k1 special.ndtr
        special.ndtri special.psi special.round
        special.scaled_modified_bessel_k0 special.scaled_modified_bessel_k1
        special.sinc special.spherical_bessel_j0 sqrt square squeeze_copy std
        t_copy tan tanh tril triu trunc var view_as_complex_copy
    """,
    "(x, y)": """
        add arctan2 atan2 cholesky_solve clamp clamp_max clamp_min clip complex
        copysign div divide eq float_power floor_divide fmax fmin fmod ge
        greater greater_equal gt heaviside hypot igamma igammac inner isin kron
        ldexp le less less_equal linalg.matmul linalg.solve linalg.vecdot
        logaddexp logaddexp2 logical_and logical_or logical_xor lt matmul
        maximum minimum mm mul multiply ne nextafter nn.functional.linear
        not_equal polar pow remainder searchsorted slice_scatter
        special.chebyshev_polynomial_t special.chebyshev_polynomial_u
        special.chebyshev_polynomial_v special.chebyshev_polynomial_w
        special.gammainc special.gammaincc special.hermite_polynomial_h
        special.hermite_polynomial_he special.laguerre_polynomial_l
        special.legendre_polynomial_p special.shifted_chebyshev_polynomial_t
        special.shifted_chebyshev_polynomial_u
        special.shifted_chebyshev_polynomial_v
        special.shifted_chebyshev_polynomial_w special.xlog1py special.xlogy
        special.zeta sub subtract tensordot true_divide xlogy
    """,
    "(x, 0)": """
        cumprod cumsum frobenius_norm linalg.matrix_power log_softmax
        logcumsumexp logsumexp matrix_power nanquantile prod quantile softmax
        special.logsumexp sum unsqueeze_copy
    """,
    "(x, v)": """
        bucketize linalg.householder_product linalg.tensorsolve mv orgqr
    """,
    "(v, v)": """
        dot ger outer vdot
    """,
    "(x, 1, iv)": """
        index_select
    """,
    "(x, 1, i)": """
        gather
    """,
    "(n,)": """
        abs absolute alias_copy amax amin bitwise_not ceil conj_physical
        detach_copy diag diagonal_copy diff fix floor max min msort nan_to_num
        nansum neg negative round sgn sign slice_copy square squeeze_copy t_copy
        tril triu trunc
    """,
    "(n, n)": """
        add bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift
        bitwise_xor clamp clamp_max clamp_min clip floor_divide fmax fmin fmod
        gcd heaviside inner kron lcm linalg.matmul matmul maximum minimum mm mul
        multiply nn.functional.linear pow remainder slice_scatter sub subtract
        tensordot
    """,
    "(x, 2)": """
        multinomial mvlgamma special.multigammaln
    """,
    "(x, 0, iv, x)": """
        index_add index_copy
    """,
    "(x, 0, i, x)": """
        scatter scatter_add
    """,
    "(x, x, x)": """
        addmm lerp
    """,
    "(v, x, v)": """
        addmv
    """,
    "(b,)": """
        alias_copy amax amin bitwise_not conj_physical detach_copy diag
        diagonal_copy diff max min msort nan_to_num sgn sign slice_copy
        squeeze_copy t_copy tril triu
    """,
    "(b, b)": """
        add bitwise_and bitwise_or bitwise_xor clamp clamp_max clamp_min clip
        fmax fmin heaviside kron masked_select maximum minimum mul multiply
        slice_scatter
    """,
    "(b, x, y)": """
        where
    """,
    "(x, 1, 0)": """
        select_copy threshold transpose_copy
    """,
    "([x, y],)": """
        cat column_stack concat concatenate dstack hstack linalg.multi_dot
        row_stack stack vstack
    """,
    "(x[None], y[None])": """
        bmm
    """,
    "(x[None], x[None], x[None])": """
        baddbmm
    """,
    "(2,)": """
        arange eye fft.fftfreq fft.rfftfreq ones zeros
    """,
    "(x, [0, 1])": """
        permute_copy
    """,
    "(x, 1, 0, 1.0)": """
        renorm
    """,
    "(n, 1)": """
        cumprod cumsum linalg.matrix_power matrix_power prod sum unsqueeze_copy
    """,
    "(n, 0, iv)": """
        index_select
    """,
}


def _operands(lib) -> dict:
    t = lib.tensor
    return {
        "x": t([[0.5, 0.25], [0.1, 0.7]]),
        "y": t([[0.3, 0.2], [0.6, 0.4]]),
        "v": t([0.2, 0.4]),
        "half": t(0.5),
        "i": t([[0, 1], [1, 0]]),
        "iv": t([0, 1]),
        "n": t([[4, 2], [3, 5]]),
        "b": t([[True, False], [False, True]]),
    }


def _case(name: str, arguments: str):
    def taken(lib):
        function = attrgetter(name)(lib)
        found = []
        for dtype in DTYPES:
            out = lib.empty(0, dtype=getattr(lib, dtype))
            try:
                function(*eval(arguments, _operands(lib)), out=out)
            except Exception:  # which one is for others to ask
                continue
            found.append(dtype)
        return found

    return taken


CASES = {
    f"{name}{arguments}": _case(name, arguments)
    for arguments, names in _CALLS.items()
    for name in names.split()
}
