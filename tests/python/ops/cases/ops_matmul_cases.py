"""Cases of matrix products and dense linear algebra."""

from __future__ import annotations

from ops_eval import cases

_PRODUCTS = [
    "x(2, 3) @ x(3, 4)",
    "x(3, 2).t() @ x(4, 3).t()",
    "T.mm(T.ones(2, 0), T.ones(0, 4))",
    "T.mm(T.ones(0, 3), x(3, 4))",
    "T.mm(l(2, 3), l(3, 2))",
    "T.mm(l(2, 3).to(T.uint8) + 250, l(3, 2).to(T.uint8) + 99)",
    "T.mm(x(2, 3).half(), x(3, 4).half())",
    "T.mm(x(2, 3).bfloat16(), x(3, 4).bfloat16())",
    "T.mm(x(2, 3) * 1j, x(3, 4) + 1j)",
    "T.mm(x(33, 70), x(70, 17)).sum(1)",
    "T.bmm(x(2, 3, 4), x(2, 4, 5))",
    "T.bmm(x(2, 4, 3).transpose(1, 2), x(2, 5, 4).transpose(1, 2))",
    "T.bmm(T.ones(2, 3, 0), T.ones(2, 0, 2))",
    "T.mv(x(2, 3), x(3))",
    "T.dot(x(4), x(4, start=2))",
    "T.dot(x(0), x(0))",
    "T.vdot(x(3) * 1j, x(3) + 1j)",
    "T.outer(x(3), x(2))",
    "T.addmm(x(4), x(2, 3), x(3, 4))",
    "T.addmm(x(2, 1), x(2, 3), x(3, 4), beta=0.5, alpha=2)",
    "T.addmm(T.full((4,), nan), x(2, 3), x(3, 4), beta=0)",
    "T.addmm(x(4), T.ones(2, 0), T.ones(0, 4))",
    "T.addmm(l(4), l(2, 3), l(3, 4), beta=2, alpha=-3)",
    "T.addmv(x(2), x(2, 3), x(3), beta=2)",
    "T.baddbmm(x(2, 1, 5), x(2, 3, 4), x(2, 4, 5), alpha=0.5)",
    "T.ones(2, 4).addmm_(x(2, 3), x(3, 4), beta=2)",
    "T.ones(4, 2).t().addmm_(x(2, 3), x(3, 4))",
    "T.ones(2, 3, 5).baddbmm_(x(2, 3, 4), x(2, 4, 5))",
    "T.matmul(x(3), x(3))",
    "T.matmul(x(3), x(3, 4))",
    "T.matmul(x(2, 3), x(3))",
    "T.matmul(x(2, 2, 3), x(3))",
    "T.matmul(x(2, 2, 3), x(3, 4))",
    "T.matmul(x(3), x(2, 3, 4))",
    "T.matmul(x(2, 3), x(2, 3, 4))",
    "T.matmul(x(2, 1, 2, 3), x(1, 2, 3, 2))",
    "T.matmul(x(2, 1, 2, 3), x(2, 3, 2)).shape",
    "T.matmul(T.ones(3, 2, 0), T.ones(0))",
    "F.linear(x(3), x(4, 3), x(4))",
    "F.linear(x(2, 3), x(4, 3), x(4))",
    "F.linear(x(2, 2, 3), x(4, 3))",
    "F.linear(x(2, 2, 3), x(4, 3), x(4))",
    "F.linear(T.ones(0, 3), x(4, 3), x(4))",
    "F.linear(x(3, 2).t(), x(3, 4).t(), x(4))",
    "F.bilinear(x(2, 3), x(2, 4), x(5, 3, 4), x(5))",
    "T.trace(x(2, 3))",
    "T.addbmm(x(2, 4), x(2, 2, 3), x(2, 3, 4), beta=2, alpha=0.5)",
    "T.addr(x(2, 3), x(2), x(3), beta=2, alpha=0.5)",
    "T.kron(x(2, 2), x(3))",
    "T.kron(x(2), x(2, 1, 2))",
    "T.inner(x(2, 3), x(4, 3))",
    "T.tensordot(x(2, 3, 4), x(4, 3, 2), dims=([2, 1], [0, 1]))",
    "T.tensordot(x(2, 3), x(3, 2), dims=1)",
]

_EINSUM = [
    "T.einsum('ij,jk->ik', x(2, 3), x(3, 4))",
    "T.einsum('ij,jk', x(2, 3), x(3, 4))",
    "T.einsum('bij,bjk->bik', x(2, 2, 3), x(2, 3, 2))",
    "T.einsum('i,j->ij', x(2), x(3))",
    "T.einsum('ii->i', x(3, 3))",
    "T.einsum('ii', x(3, 3))",
    "T.einsum('ij->ji', x(2, 3))",
    "T.einsum('ij->', x(2, 3))",
    "T.einsum('...ij,...jk->...ik', x(2, 2, 3), x(3, 2))",
    "T.einsum('...i,i->...', x(2, 2, 3), x(3))",
    "T.einsum('bn,anm,bm->ba', x(2, 3), x(3, 3, 4), x(2, 4))",
    "T.einsum('ij , jk -> ik', x(2, 3), x(3, 4))",
    "T.einsum('Ab,bA', x(2, 3), x(3, 2))",
    "T.einsum('ij,ij->ij', x(2, 3), x(1, 3))",
    "T.einsum('iij->j', x(2, 2, 3))",
]

_GRADIENTS = [
    "grad(T.mm, d(2, 3), d(3, 2))",
    "grad(T.bmm, d(2, 2, 3), d(2, 3, 2))",
    "grad(T.mv, d(2, 3), d(3))",
    "grad(T.dot, d(3), d(3, start=4))",
    "grad(lambda a, b, c: T.addmm(a, b, c, beta=2, alpha=3), d(2), d(2, 3), "
    "d(3, 2))",
    "grad(lambda a, b, c: T.addmv(a, b, c, beta=2), d(2), d(2, 3), d(3))",
    "grad(T.baddbmm, d(2, 1, 2), d(2, 2, 3), d(2, 3, 2))",
    "grad(lambda a, b: T.matmul(a, b) * 1, d(2, 2, 3), d(3))",
    "grad(lambda a, b: T.matmul(a, b) * 1, d(2, 3), d(2, 3, 2))",
    "grad(F.linear, d(2, 3), d(2, 3), d(2))",
    "grad(lambda a, b, c: F.linear(a, b, c) * 1, d(3), d(2, 3), d(2))",
    "grad(lambda a, b, c: F.linear(a, b, c) * 1, d(2, 2, 3), d(2, 3), d(2))",
    "grad(lambda a, b: T.einsum('bij,bjk->bk', a, b) * 1, d(2, 2, 3), d(2, 3, "
    "2))",
    "grad(lambda a, b, c: (a * 1).addmm_(b, c, beta=2), d(2, 2), d(2, 3), "
    "d(3, 2))",
    "grad(lambda a, b: (a * 1).addmm_(a, b), d(2, 2), d(2, 2))",
    "grad(lambda a, b: T.kron(a, b) * 1, d(2, 2), d(2))",
    "grad2(T.mm, d(2, 3), d(3, 2))",
    "grad2(lambda a, b, c: F.linear(a, b, c).square(), d(2, 3), d(2, 3), d(2))",
    "grad2(lambda a, b: T.einsum('ij,ij->i', a, b), d(2, 3), d(2, 3))",
    "grad2(lambda a, b, c: F.bilinear(a, b, c), d(2, 3), d(2, 2), d(2, 3, 2))",
]

# Numbers whose matrices have full rank.
_LINALG = [
    "T.linalg.inv((d(3, 3) * 2).exp())",
    "T.inverse((d(2, 3, 3) * 2).exp())",
    "T.det((d(3, 3) * 2).exp())",
    "T.det(T.ones(2, 2))",
    "T.det(T.ones(0, 0))",
    "list(T.linalg.slogdet((d(2, 3, 3) * 2).exp()))",
    "T.linalg.solve((d(3, 3) * 2).exp(), d(3, 2))",
    "T.linalg.solve((d(3, 3) * 2).exp(), d(3))",
    "T.linalg.solve((d(3, 3) * 2).exp(), (d(2, 3) * 2).exp(), left=False)",
    "T.linalg.cholesky((d(3, 3) * 2).exp() @ (d(3, 3) * 2).exp().mT + "
    "T.eye(3))",
    "T.linalg.cholesky((d(3, 3) * 2).exp() @ (d(3, 3) * 2).exp().mT + "
    "T.eye(3), upper=True)",
    "list(T.linalg.qr((d(4, 3) * 2).exp()))",
    "list(T.linalg.qr((d(2, 3) * 2).exp(), mode='complete'))",
    "T.matrix_power((d(2, 2) * 2).exp(), 5)",
    "T.matrix_power((d(2, 2) * 2).exp(), -2)",
    "T.matrix_power((d(2, 2) * 2).exp(), 0)",
    "grad(T.linalg.inv, (d(3, 3) * 2).exp())",
    "grad(T.linalg.det, (d(3, 3) * 2).exp())",
    "grad(T.linalg.solve, (d(3, 3) * 2).exp(), d(3, 2))",
    "grad(lambda a: T.linalg.cholesky(a @ a.mT + T.eye(3)), (d(3, 3) * "
    "2).exp())",
    "grad(lambda a: T.linalg.qr(a)[1], (d(4, 3) * 2).exp())",
    "grad2(T.linalg.inv, (d(2, 2) * 2).exp())",
    "grad2(T.linalg.det, (d(3, 3) * 2).exp())",
    "T.linalg.inv(x(2, 3))",
    "T.linalg.inv(x(2))",
    "T.linalg.inv(l(2, 2))",
    "T.linalg.solve(x(2, 2), x(3))",
    "T.linalg.qr(x(2, 2), mode='x')",
]

_ERRORS = [
    "F.linear(x(1), x(1), x(1))",
    "F.linear(x(1), x(1), x(3, 2))",
    "F.linear(x(2), x(3, 2), x(2))",
    "F.linear(x(2), x(3, 2), x(3, 2))",
    "F.linear(x(2, 2, 3), x(2, 3), x(2, 2))",
    "F.linear(x(2, 2, 3), x(3), x())",
    "T.addr(x(0), x(2), x(3), beta=0)",
    "T.addr(x(1, 2, 3), x(2), x(3))",
    "T.addr(x(3), x(2, 1), x(3))",
    "T.addr(l(3), l(2), l(3), beta=2.5)",
    "T.addr(x(3), x(2), x(3), alpha=True)",
    "T.addr(x(3), x(2), x(3), beta=2j)",
    "T.addmv(x(2, 1), x(2, 3), x(3))",
    "T.baddbmm(x(0), x(4, 2, 4), x(4, 4, 3))",
    "T.baddbmm(d(3), x(4, 2, 4), x(4, 4, 3))",
    "T.addmm(l(3), l(2, 4), l(4, 3), beta=1e30)",
    "T.addmm(l(3).byte(), l(2, 4).byte(), l(4, 3).byte(), alpha=300)",
    "T.addmv(l(2), l(2, 3), l(3), beta=inf)",
    "T.baddbmm(l(3), l(4, 2, 4), l(4, 4, 3), alpha=-inf)",
    "x(2, 3) @ x(4, 5)",
    "T.mm(x(2), x(2, 3))",
    "T.mm(x(2, 3), x(3))",
    "T.mm(x(2, 3), d(3, 4))",
    "T.mm(x(2, 3) > 0, x(3, 2) > 0)",
    "T.bmm(x(2, 3), x(2, 3, 4))",
    "T.bmm(x(2, 3, 4), x(2, 3, 4))",
    "T.bmm(x(2, 3, 4), d(2, 4, 3))",
    "T.mv(x(2, 3), x(4))",
    "T.mv(x(2, 3), x(3, 1))",
    "T.mv(x(2, 3), d(3))",
    "T.dot(x(2), x(3))",
    "T.dot(x(2, 2), x(3))",
    "T.dot(x(2), d(2))",
    "T.addmm(x(3), x(2, 3), x(3, 5))",
    "T.addmm(x(2, 2, 5), x(2, 3), x(3, 5))",
    "T.addmm(d(5), x(2, 3), x(3, 5))",
    "T.addmm(x(5), x(2, 3), x(3))",
    "T.addmv(x(5), x(2, 3), x(3))",
    "T.baddbmm(x(2), x(2, 3, 4), x(2, 4, 5))",
    "T.matmul(x(), x(2))",
    "T.matmul(x(2, 3, 4), x(3, 4, 6))",
    "T.outer(x(2, 2), x(2))",
    "T.trace(x(2))",
    "F.linear(x(2, 3), x(4, 5))",
    "F.linear(x(2, 3), x(5, 3), x(4))",
    "F.linear(x(2, 3), d(5, 3))",
    "F.bilinear(x(2, 3), x(2, 4), x(5, 3, 3))",
    "T.einsum('ij,jk->ik', x(2, 3), x(4, 5))",
    "T.einsum('ij,jk->il', x(2, 3), x(3, 5))",
    "T.einsum('ij->i', x(2, 3), x(3, 5))",
    "T.einsum('ijk->i', x(2, 3))",
    "T.einsum('i1->i', x(2, 3))",
    "T.tensordot(x(2, 3), x(4, 5), dims=1)",
]

_NARROW = [
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8), t([[-128, 127, "
    "3], [5, -6, 7]], dtype=T.int8).t())",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8).to(T.uint8), "
    "t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8).t())",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8)[:, :0], "
    "t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8).t()[:0])",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8), t([[-128, 127, "
    "3], [5, -6, 7]], dtype=T.int8))",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8)[None], t([[-128, "
    "127, 3], [5, -6, 7]], dtype=T.int8))",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8).int(), t([[-128, "
    "127, 3], [5, -6, 7]], dtype=T.int8).t())",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8), t([[-128, 127, "
    "3], [5, -6, 7]], dtype=T.int8).t().float())",
    "T._int_mm(t([[-128, 127, 3], [5, -6, 7]], dtype=T.int8), t([[-128, 127, "
    "3], [5, -6, 7]], dtype=T.int8).t(), out=x(2, 2))",
    "T._weight_int8pack_mm(x(4, 3), t([[-128, 127, 3], [5, -6, 7]], "
    "dtype=T.int8), x(2))",
    "T._weight_int8pack_mm(x(4, 32).bfloat16(), "
    "(l(16, 32) % 200 - 100).to(T.int8), x(16).bfloat16())",
    "T._weight_int8pack_mm(x(4, 3).half(), t([[-128, 127, 3], [5, -6, 7]], "
    "dtype=T.int8), x(2))",
    "T._weight_int8pack_mm(d(4, 3), t([[-128, 127, 3], [5, -6, 7]], "
    "dtype=T.int8), d(2))",
    "T._weight_int8pack_mm(x(4, 2), t([[-128, 127, 3], [5, -6, 7]], "
    "dtype=T.int8), x(2))",
    "T._weight_int8pack_mm(x(4, 3), t([[-128, 127, 3], [5, -6, 7]], "
    "dtype=T.int8), x(3))",
    "T._convert_weight_to_int4pack_for_cpu((l(16, 4) % 16).int(), 2)",
    "T._convert_weight_to_int4pack_for_cpu((l(80, 2) % 16).int(), 2)",
    "T._convert_weight_to_int4pack_for_cpu(l(16, 4), 2)",
    "T._convert_weight_to_int4pack_for_cpu(l(15, 4).int(), 2)",
    "T._convert_weight_to_int4pack_for_cpu(l(16, 3).int(), 2)",
    "T._weight_int4pack_mm_for_cpu(x(2, 64), "
    "T._convert_weight_to_int4pack_for_cpu((l(80, 64) % 15).int(), 2), 32, "
    "x(2, 80, 2))",
    "T._weight_int4pack_mm_for_cpu(x(2, 32).bfloat16(), (l(16, 16) % "
    "200).to(T.uint8), 32, x(1, 16, 2).bfloat16())",
    "T._weight_int4pack_mm_for_cpu(x(2, 32), l(16, 16).to(T.uint8), 16, x(1, "
    "16, 2))",
    "T._weight_int4pack_mm_for_cpu(x(2, 32), l(16, 16).to(T.uint8), 64, x(1, "
    "16, 2))",
    "T._weight_int4pack_mm_for_cpu(x(2, 32), l(16, 16), 32, x(1, 16, 2))",
    "T._weight_int4pack_mm_for_cpu(x(2, 32), l(16, 16).to(T.uint8), 32, x(16, "
    "2))",
    "T._addmm_activation(x(4), x(2, 3), x(3, 4))",
    "T._addmm_activation(x(4), x(2, 3), x(3, 4), beta=2, alpha=-1, "
    "use_gelu=True)",
    "x(3, 4).clone().addbmm_(x(2, 3, 2), x(2, 2, 4), beta=2)",
    "x(3, 4).clone().addr_(x(3), x(4), alpha=3)",
    "T.einsum(x(2, 3), [0, 1], x(3, 4), [1, 30])",
    "T.einsum(x(2, 3), [0, ...], x(3, 4), [..., 1], [1])",
    "T.einsum(x(2, 3), [0, 52])",
    "T.einsum(x(2, 3))",
    "T.linalg.matrix_norm(x(2, 3), 1j)",
    "T.linalg.vector_norm(x(3), 2 + 1j)",
    "T.linalg.lu_solve(x(2, 2), t([0, 1], dtype=T.int32), x(2, 2))",
    "T.linalg.lu_solve(x(2, 2), t([1, 3], dtype=T.int32), x(2, 2))",
    "T.lu_unpack(x(2, 2), t([1, 3], dtype=T.int32))",
    "grad2(lambda a: T.linalg.det(a), d(3, 1, 1))",
]

CASES = cases(_PRODUCTS, _EINSUM, _GRADIENTS, _LINALG, _ERRORS, _NARROW)
