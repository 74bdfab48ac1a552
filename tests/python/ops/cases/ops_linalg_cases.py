"""Cases of torch.linalg. Singular and eigenvectors are unique only up to signs
and phases: their cases look at what is unique of them.
"""

from __future__ import annotations

from ops_eval import cases

# A well-conditioned matrix and a symmetric one, real and complex.
_A = "(d(3, 3) * 2).exp()"
_C = "((d(3, 3) * 2).exp() + 1j * d(3, 3, start=4))"
_S = "((d(3, 3) * 2).exp() @ (d(3, 3) * 2).exp().mT)"
_P = "(d(3, 3) @ d(3, 3).mT + T.eye(3, dtype=T.float64))"
_B = "(d(2, 3, 3) * 2).exp()"

_FACTORS = [
    f"list(T.linalg.lu({_A}))",
    "list(T.linalg.lu((d(4, 2) * 2).exp()))",
    "list(T.linalg.lu((d(2, 4) * 2).exp()))",
    f"list(T.linalg.lu_factor({_C}))",
    f"list(T.linalg.lu_factor_ex({_B}))",
    "list(T.linalg.lu_factor_ex(T.zeros(2, 2)))",
    "list(T.linalg.lu_factor(T.zeros(2, 0, 3)))",
    f"list(T.lu_unpack(*T.linalg.lu_factor({_A})))",
    f"list(T.lu_unpack(*T.linalg.lu_factor({_A}), unpack_data=False))",
    f"list(T.lu({_A}, True, True))",
    f"T.linalg.lu_solve(*T.linalg.lu_factor({_A}), d(3, 2))",
    f"T.linalg.lu_solve(*T.linalg.lu_factor({_C}), d(3, 2) + 1j, adjoint=True)",
    f"T.linalg.lu_solve(*T.linalg.lu_factor({_A}), d(2, 3), left=False)",
    f"T.lu_solve(d(2, 3, 2), *T.linalg.lu_factor({_A}))",
    f"list(T.linalg.cholesky_ex({_P}))",
    "list(T.linalg.cholesky_ex(-T.eye(2)))[1]",
    f"T.cholesky_solve(d(3, 2), T.linalg.cholesky({_P}))",
    f"T.cholesky_solve(d(3, 2), T.linalg.cholesky({_P}, upper=True), True)",
    f"T.cholesky_inverse(T.linalg.cholesky({_P}))",
    f"list(T.linalg.ldl_factor({_S}))",
    "list(T.linalg.ldl_factor(t([[0.0, 2.0, 1.0], [2.0, 0.0, 3.0], [1.0, 3.0, 0.5]])))",
    "list(T.linalg.ldl_factor(t([[0.0, 2.0 + 1j], [2.0 - 1j, 0.0]]), hermitian=True))",
    "list(T.linalg.ldl_factor_ex(T.zeros(2, 2)))",
    f"T.linalg.ldl_solve(*T.linalg.ldl_factor({_S}), d(3, 2))",
    "T.linalg.ldl_solve(*T.linalg.ldl_factor(t([[0.0, 2.0 + 1j], [2.0 - 1j, "
    "0.0]]), hermitian=True), t([[1.0 + 0j], [2j]]), hermitian=True)",
    "list(T.geqrf((d(4, 3) * 2).exp()))",
    "T.linalg.householder_product(*T.geqrf((d(4, 3) * 2).exp()))",
    "T.orgqr(T.geqrf((d(3, 3) * 2).exp())[0], T.geqrf(d(3, 3))[1][:2])",
    "T.ormqr(*T.geqrf((d(4, 3) * 2).exp()), d(4, 2))",
    "T.ormqr(*T.geqrf((d(4, 3) * 2).exp()), d(2, 4), left=False, transpose=True)",
]

_SPECTRAL = [
    f"T.linalg.svdvals({_A})",
    "T.linalg.svdvals(x(2, 3, 5))",
    "T.linalg.svdvals(x(0, 3))",
    f"(lambda U, S, Vh: [U.abs(), S, Vh.abs()])(*T.linalg.svd({_C}))",
    "(lambda U, S, Vh: [U[:, :2].abs(), S, Vh.abs()])"
    "(*T.linalg.svd((d(4, 2) * 2).exp()))",
    "[u.shape for u in T.linalg.svd(x(2, 4))]",
    "list(T.linalg.svd(T.zeros(2, 0)))",
    "[u.shape for u in T.svd(x(2, 4), compute_uv=False)]",
    f"T.linalg.eigvalsh({_S})",
    f"T.linalg.eigvalsh({_A}, UPLO='U')",
    f"(lambda L, V: [L, V.abs()])(*T.linalg.eigh({_C}))",
    f"T.linalg.eigvals({_S}).real.sort()[0]",
    "T.linalg.eigvals(t([[0.0, 1.0], [-1.0, 0.0]])).imag.abs()",
    "[v.dtype for v in T.linalg.eig(x(2, 2))]",
    f"T.linalg.matrix_rank({_A})",
    "T.linalg.matrix_rank(T.ones(2, 3, 3))",
    "T.linalg.matrix_rank(T.eye(3) * t([1.0, 1e-3, 1e-9]), atol=1e-2)",
    "T.linalg.matrix_rank(T.eye(3) * t([1.0, 1e-3, 1e-9]), rtol=t(1e-4))",
    "T.linalg.matrix_rank(T.zeros(0, 3))",
    f"T.linalg.pinv({_A})",
    "T.linalg.pinv(T.ones(2, 3))",
    f"T.linalg.pinv({_S}, hermitian=True)",
    "T.linalg.pinv(T.eye(2) * t([1.0, 1e-3]), rtol=1e-2)",
    "T.pinverse(T.zeros(2, 0))",
    f"T.linalg.cond({_A})",
    f"T.linalg.cond({_A}, 'nuc')",
    "T.linalg.cond(T.zeros(2, 2), 1)",
    f"list(T.linalg.lstsq({_A}, d(3, 2)))",
    "list(T.linalg.lstsq((d(4, 2) * 2).exp(), d(4, 1), driver='gelsd'))",
    "list(T.linalg.lstsq((d(4, 2) * 2).exp(), d(4, 1), driver='gels'))",
    "list(T.linalg.lstsq((d(2, 3) * 2).exp(), d(2), driver='gelss'))",
]

_NORMS = [
    *(f"T.linalg.matrix_norm({_A}, {o})" for o in ("2", "-2", "1", "-inf")),
    *(f"T.linalg.matrix_norm({_A}, '{o}')" for o in ("fro", "nuc")),
    "T.linalg.matrix_norm(d(2, 3, 4), 1, dim=(2, 0), keepdim=True)",
    "T.linalg.matrix_norm(d(2, 3, 4), 2, dim=(0, 1), keepdim=True)",
    "T.linalg.matrix_norm(x(2, 3), 'nuc', dtype=T.float64)",
    "T.linalg.norm(d(2, 3))",
    "T.linalg.norm(d(2, 3), 1)",
    "T.linalg.norm(d(3), 3)",
    "T.linalg.norm(d(2, 3), 'nuc')",
    "T.norm(d(2, 3), 'nuc')",
    "T.norm(d(2, 3, 3), 'nuc', dim=(1, 2), keepdim=True)",
]

_PRODUCTS = [
    "T.linalg.multi_dot([d(2, 3), d(3, 4), d(4, 2)])",
    "T.linalg.multi_dot([d(3), d(3, 4), d(4)])",
    "T.chain_matmul(d(2, 3), d(3, 4), d(4, 2))",
    "T.linalg.vecdot(d(2, 3) * 1j, d(2, 3) + 1j)",
    "T.linalg.vander(l(3), N=4)",
    "T.linalg.vander(d(2, 2))",
    "T.linalg.diagonal(d(2, 3, 3), offset=1)",
    "T.linalg.matrix_exp(d(3, 3))",
    "T.matrix_exp(d(2, 2, 2) * 5j)",
    "T.matrix_exp(T.zeros(2, 0, 0))",
    f"T.linalg.tensorinv({_A}, 1)",
    "T.linalg.tensorsolve((d(2, 3, 6) * 2).exp() + T.eye(6, "
    "dtype=T.float64).reshape(2, 3, 6), d(2, 3))",
    f"T.linalg.solve_triangular({_A}, d(3, 2), upper=True)",
    f"T.linalg.solve_triangular({_C}, d(2, 3) + 0j, upper=False, left=False, "
    "unitriangular=True)",
    f"list(T.triangular_solve(d(3, 2), {_A}, transpose=True))",
    f"list(T.linalg.solve_ex({_A}, d(3)))",
    f"list(T.linalg.inv_ex({_B}))",
    f"T.logdet({_B})",
    "T.logdet(-T.eye(3))",
    "T.logdet(T.eye(2) * 1j)",
]

_GRADS = [
    f"grad(lambda a: T.linalg.lu(a)[1:], {_A})",
    "grad(lambda a: T.linalg.lu(a)[1:], (d(4, 2) * 2).exp())",
    "grad(lambda a: T.linalg.lu(a)[1:], (d(2, 4) * 2).exp())",
    "grad(lambda a: T.linalg.qr(a)[1], (d(2, 4) * 2).exp())",
    f"grad(T.linalg.svdvals, {_A})",
    f"grad(lambda a: T.linalg.svd(a)[0].abs(), {_A})",
    "grad(lambda a: T.linalg.svd(a, full_matrices=False)[2].abs(), "
    "(d(2, 4) * 2).exp())",
    f"grad(lambda a: T.linalg.eigh(a)[1].abs(), {_S})",
    f"grad(T.linalg.eigvalsh, {_S})",
    f"grad(T.linalg.pinv, {_A})",
    "grad(T.linalg.pinv, T.ones(2, 3, dtype=T.float64))",
    f"grad(T.matrix_exp, {_A} * 0.1)",
    f"grad(lambda a, b: T.linalg.solve_triangular(a, b, upper=True), {_A}, d(3, 2))",
    f"grad(lambda a, b: T.linalg.lstsq(a, b)[0], {_A}, d(3, 2))",
    f"grad(lambda b, a: T.cholesky_solve(b, a.tril()), d(3, 2), {_A})",
    f"grad(lambda a: T.linalg.matrix_norm(a, 2), {_A})",
    f"grad2(T.linalg.svdvals, {_A})",
    f"grad2(T.matrix_exp, {_A} * 0.1)",
    f"grad2(lambda a: T.linalg.eigh(a)[0], {_S})",
]

_ERRORS = [
    "T.linalg.inv(T.zeros(2, 2, 2))",
    "T.linalg.solve(T.zeros(2, 2), x(2))",
    "T.linalg.cholesky(-T.eye(2))",
    "T.linalg.cholesky_ex(-T.eye(2), check_errors=True)",
    "T.linalg.inv_ex(T.zeros(2, 2), check_errors=True)",
    "T.linalg.lu_factor(T.zeros(2, 2))",
    "T.linalg.svd(T.full((2, 2), nan))",
    "T.linalg.eig(T.full((2, 2), nan))",
    "T.linalg.svd(x(3))",
    "T.linalg.svdvals(l(2, 2))",
    "T.linalg.eigh(x(2, 3))",
    "T.linalg.eigh(x(2, 2), UPLO='x')",
    "T.linalg.eig(x(2, 2).half())",
    "T.linalg.solve_triangular(x(2, 2), x(3, 1), upper=True)",
    "T.linalg.matrix_norm(x(2, 2), 3)",
    "T.linalg.matrix_norm(x(2, 2), 'x')",
    "T.linalg.matrix_norm(x(2, 2), 1, dim=(0, 0))",
    "T.linalg.norm(x(2, 2, 2), 1)",
    "T.linalg.norm(x(2), 'nuc')",
    "T.linalg.multi_dot([x(2, 2)])",
    "T.linalg.multi_dot([x(2, 2), x(3, 2)])",
    "T.linalg.multi_dot([x(2, 2), x(2, 2, 2), x(2, 2)])",
    "T.linalg.vander(x(2), N=1)",
    "T.linalg.tensorinv(x(2, 3), 1)",
    "T.linalg.tensorinv(x(2, 2), 0)",
    "T.linalg.lstsq(x(2), x(2))",
    "T.linalg.lstsq(x(2, 2), x(3, 2))",
    "T.linalg.lstsq(x(2, 2), x(2, 2), driver='x')",
    "T.linalg.lu_solve(x(2, 2), l(2), x(2, 2))",
    "T.linalg.householder_product(x(2, 3), x(2))",
    "T.linalg.vecdot(l(2), l(2))",
    "T.cholesky_solve(x(3, 1), x(2, 2))",
    "T.linalg.cond(x(2, 3), 1)",
    "grad(lambda a: T.linalg.qr(a, 'r')[1], d(2, 2))",
    "grad(lambda a: T.linalg.qr(a, 'complete')[1], d(3, 2))",
]

CASES = cases(_FACTORS, _SPECTRAL, _NORMS, _PRODUCTS, _GRADS, _ERRORS)
