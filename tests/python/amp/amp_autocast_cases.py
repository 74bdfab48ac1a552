# ruff: noqa: E501  (a case is one line)
"""Cases of autocast on the CPU: every operator of its lists, what is made of
them, and some that are on none. A case is a row: float32 and 16-bit tensors,
under bfloat16 and float16.
"""

from __future__ import annotations

from amp_eval import MODES, table

LOWER = [
    "T.mm(x(3, 4), x(4, 2))",
    "x(3, 4) @ x(4, 2)",
    "x(4) @ x(4)",
    "T.matmul(x(2, 3, 4), x(4, 2))",
    "T.bmm(x(2, 3, 4), x(2, 4, 2))",
    "T.addmm(x(3, 2), x(3, 4), x(4, 2))",
    "T.addbmm(x(3, 2), x(2, 3, 4), x(2, 4, 2))",
    "T.baddbmm(x(2, 3, 2), x(2, 3, 4), x(2, 4, 2))",
    "F.linear(x(3, 4), x(2, 4), x(2))",
    "F.linear(x(3, 4), f(2, 4), f(2))",
    "F.conv1d(x(1, 2, 5), x(3, 2, 2), x(3))",
    "F.conv2d(x(1, 2, 4, 4), x(3, 2, 2, 2), x(3))",
    "F.conv3d(x(1, 1, 3, 3, 3), x(2, 1, 2, 2, 2), x(2))",
    "F.conv1d(x(1, 2, 5), x(3, 2, 2), padding='same')",
    "F.conv2d(x(1, 2, 4, 4), x(3, 2, 2, 2), padding='valid')",
    "F.conv3d(x(1, 1, 3, 3, 3), x(2, 1, 2, 2, 2), padding='same')",
    "F.conv_transpose1d(x(1, 2, 4), x(2, 3, 2), x(3))",
    "F.conv_transpose2d(x(1, 2, 3, 3), x(2, 3, 2, 2), x(3))",
    "F.conv_transpose3d(x(1, 1, 2, 2, 2), x(1, 2, 2, 2, 2), x(2))",
    "F.prelu(x(2, 3), x(3))",
    "F.scaled_dot_product_attention(x(1, 2, 3, 4), x(1, 2, 3, 4, start=3), x(1, 2, 3, 4, start=7))",
    "T.mm(x(3, 4).double(), x(4, 2).double())",
    "T.mm(l(2, 2), l(2, 2))",
    "T.mm(x(3, 4).bfloat16(), x(4, 2).half())",
]
FLOAT = [
    "F.avg_pool3d(x(1, 1, 4, 4, 4), 2)",
    "F.max_pool3d(x(1, 1, 4, 4, 4), 2)",
    "F.adaptive_avg_pool3d(x(1, 1, 4, 4, 4), 2)",
    "F.adaptive_max_pool3d(x(1, 1, 4, 4, 4), 2)",
    "F.max_unpool2d(x(1, 1, 2, 2), t([[[[0, 3], [9, 12]]]]), 2)",
    "F.max_unpool3d(x(1, 1, 1, 2, 2), t([[[[[0, 3], [9, 12]]]]]), (1, 2, 2))",
    "F.fractional_max_pool2d(x(1, 1, 4, 4), 2, (2, 2), _random_samples=x(1, 1, 2).abs())",
    "F.fractional_max_pool3d(x(1, 1, 4, 4, 4), 2, (2, 2, 2), _random_samples=x(1, 1, 3).abs())",
    "F.pad(x(1, 2, 4), (1, 1), 'reflect')",
    "F.pad(x(1, 2, 4, 4), (1, 1, 1, 1), 'reflect')",
    "F.pad(x(1, 2, 4), (1, 1), 'replicate')",
    "F.pad(x(1, 2, 4, 4), (1, 1, 1, 1), 'replicate')",
    "F.pad(x(1, 1, 2, 2, 2), (1, 1, 1, 1, 1, 1), 'replicate')",
    "F.pad(x(1, 1, 2, 2, 2), (1, 1, 1, 1, 1, 1), 'reflect')",
    "F.pad(x(1, 2, 4), (1, 1), 'circular')",
    "F.pad(x(1, 2, 4), (1, 1))",
    "F.grid_sample(x(1, 1, 3, 3), x(1, 2, 2, 2), align_corners=False)",
    "F.binary_cross_entropy(p(3), p(3, start=3))",
    "F.binary_cross_entropy_with_logits(x(3), p(3))",
    "F.mse_loss(x(3), x(3, start=3))",
    "F.mse_loss(x(3), f(3, start=3))",
    "F.l1_loss(x(3), x(3, start=3))",
    "F.smooth_l1_loss(x(3), x(3, start=3))",
    "F.huber_loss(x(3), x(3, start=3))",
    "F.kl_div(x(3), p(3))",
    "F.nll_loss(x(3, 4), t([0, 1, 2]))",
    "F.nll_loss(x(1, 3, 2, 2), t([[[0, 1], [2, 0]]]))",
    "F.cross_entropy(x(3, 4), t([0, 1, 2]))",
    "F.cross_entropy(x(3, 4), p(3, 4))",
    "F.ctc_loss(x(5, 1, 3).log_softmax(2), t([[1, 2]]), (5,), (2,))",
    "F.ctc_loss(x(5, 1, 3).log_softmax(2), t([[1, 2]]), t([5]), t([2]))",
    "F.cosine_embedding_loss(x(2, 3), x(2, 3, start=3), t([1, -1]))",
    "F.hinge_embedding_loss(x(3), t([1, -1, 1]))",
    "F.margin_ranking_loss(x(3), x(3, start=3), t([1, -1, 1]))",
    "F.multi_margin_loss(x(2, 3), t([0, 2]))",
    "F.multilabel_margin_loss(x(3), t([0, 2, -1]))",
    "F.poisson_nll_loss(x(3), p(3))",
    "F.soft_margin_loss(x(3), t([1, -1, 1]))",
    "F.triplet_margin_loss(x(2, 3), x(2, 3, start=3), x(2, 3, start=7))",
    "T.cdist(x(2, 3), x(2, 3, start=3))",
    "T.trace(x(3, 3))",
    "T.prod(x(3))",
    "T.quantile(x(3), 0.5)",
    "T.quantile(x(3), f(2).abs())",
    "T.nanquantile(x(3), 0.5)",
    "x(2, 3).prod(1)",
    "T.inverse(x(2, 2) + T.eye(2))",
    "T.linalg.inv(x(2, 2) + T.eye(2))",
    "T.linalg.solve(x(2, 2) + T.eye(2), x(2, 1))",
    "T.linalg.cholesky(T.eye(2).to(x(1).dtype) * 4)",
    "T.cholesky(T.eye(2).to(x(1).dtype) * 4)",
    "T.linalg.qr(x(2, 2))[1].abs()",
    "T.qr(x(2, 2))[1].abs()",
    "T.view_as_real(T.polar(p(2), x(2)))",
    "T.view_as_real(T.view_as_complex(x(3, 2)))",
]
PROMOTE = [
    "T.cat([x(2), x(2)])",
    "T.cat([x(2), f(2)])",
    "T.cat([f(2), f(2).bfloat16()])",
    "T.cat([f(2).half(), f(2).half()])",
    "T.cat([x(2).double(), x(2)])",
    "T.cat([l(2), l(2)])",
    "T.concat([x(2), f(2)])",
    "T.stack([x(2), f(2)])",
    "T.vstack([x(2), f(2)])",
    "T.hstack([x(2), f(2)])",
    "T.dstack([x(2), f(2)])",
    "T.column_stack([x(2), f(2)])",
    "T.index_copy(f(3, 2), 0, t([0]), x(1, 2))",
]
# Made of listed ones.
COMPOSITE = [
    "T.einsum('ij,jk->ik', x(2, 3), x(3, 2))",
    "T.einsum('ij->i', x(2, 3))",
    "T.einsum('ij,ij->ij', x(2, 3), x(2, 3))",
    "T.einsum('ij,ij->', x(2, 3), x(2, 3))",
    "T.einsum('ij,jk,ik->ik', x(2, 3), x(3, 2), x(2, 2))",
    "T.einsum('ij,jk,kl->il', x(2, 3), x(3, 2), x(2, 2))",
    "T.einsum('ij,k->j', x(2, 3), x(2))",
    "T.tensordot(x(2, 3), x(3, 2), 1)",
    "T.tensordot(x(3), x(3), 1)",
    "T.tensordot(x(2, 3), x(2, 3), 2)",
    "T.tensordot(x(2), x(3), 0)",
    "T.inner(x(2, 3), x(2, 3))",
    "T.inner(x(3), x(3))",
    "T.chain_matmul(x(2, 3), x(3, 2), x(2, 2))",
    "T.chain_matmul(x(2, 3))",
    "T.matrix_power(x(2, 2), 3)",
    "T.matrix_power(x(2, 2) + T.eye(2), -2)",
    "T.matrix_power(x(2, 2) + T.eye(2), -1)",
    "T.matrix_power(x(2, 2), 0)",
    "F.bilinear(x(2, 3), x(2, 2), x(2, 3, 2), x(2))",
    "F.bilinear(x(2, 3), x(2, 2), x(2, 3, 2))",
    "F.affine_grid(x(1, 2, 3), (1, 1, 2, 2), align_corners=False)",
    "F.multi_head_attention_forward(x(2, 1, 4), x(2, 1, 4), x(2, 1, 4), 4, 2, f(12, 4), f(12), None, None, False, 0.0, f(4, 4), f(4))",
    "T.cov(x(2, 3))",
    "T.corrcoef(x(2, 3))",
    "F.pairwise_distance(x(2, 3), x(2, 3, start=3))",
    "F.local_response_norm(x(1, 3, 4), 2)",
]
UNLISTED = [
    "T.mv(x(2, 3), x(3))",
    "T.dot(x(3), x(3))",
    "T.outer(x(2), x(3))",
    "T.addmv(x(2), x(2, 3), x(3))",
    "T.kron(x(2, 2), x(2, 2))",
    "x(3) + f(3)",
    "x(3).sum()",
    "x(3).exp()",
    "x(3) ** 2",
    "2 / p(3)",
    "x(3).norm()",
    "x(2, 3).softmax(1)",
    "x(2, 3).log_softmax(1)",
    "x(2, 3).logsumexp(1)",
    "x(2, 3).cumsum(1)",
    "F.layer_norm(x(2, 3), (3,))",
    "F.group_norm(x(2, 4), 2)",
    "F.gelu(x(3))",
    "T.trapezoid(x(3))",
    "T.cumulative_trapezoid(x(3), x(3))",
    "T.renorm(x(2, 3), 2, 0, 0.5)",
    "F.cosine_similarity(x(2, 3), x(2, 3, start=3))",
    "F.interpolate(x(1, 1, 2, 2), scale_factor=2.0, mode='bilinear')",
    "F.avg_pool2d(x(1, 1, 4, 4), 2)",
    "F.embedding(t([0, 1]), x(2, 3))",
    "T.mm(x(2, 3), x(3, 2), out=T.empty(2, 2, dtype=x(1).dtype))",
    "x(2, 2).clone().addmm_(x(2, 3), x(3, 2))",
]
_CELLS = [
    f"bag(nn.{cell}(3, 2))(f(2, 3), {state})"
    for cell, state in (
        ("LSTMCell", "(f(2, 2), f(2, 2))"),
        ("GRUCell", "f(2, 2)"),
        ("RNNCell", "f(2, 2)"),
    )
]
_LAYERS = [
    f"[*(lambda y, h: (y, *(h if isinstance(h, tuple) else (h,))))(*bag(nn.{layer})(f(3, 2, 3)))]"
    for layer in (
        "GRU(3, 2)",
        "GRU(3, 2, 2, bidirectional=True)",
        "GRU(3, 2).requires_grad_(False)",
        "RNN(3, 2)",
        "RNN(3, 2, nonlinearity='relu', batch_first=True)",
        "RNN(3, 2).requires_grad_(False)",
    )
]
# PyTorch has no float16 here.
_LSTM = [
    "[*(lambda y, h: (y, *h))(*bag(nn.LSTM(3, 2))(f(3, 2, 3)))]",
    "[*(lambda y, h: (y, *h))(*bag(nn.LSTM(3, 2, 2, bidirectional=True))(f(3, 2, 3)))]",
    "[*(lambda y, h: (y, *h))(*bag(nn.LSTM(3, 2).requires_grad_(False))(f(3, 2, 3)))]",
]
_PACKED = [
    f"(lambda y, h: y.data)(*bag(nn.{layer}(3, 2))(nn.utils.rnn.pack_sequence([f(3, 3), f(2, 3)])))"
    for layer in ("LSTM", "GRU", "RNN")
]
_NETWORKS = [
    *(
        f"bag(nn.{layer}(3, 2))(f(3, 2, 3).to(T.get_autocast_dtype('cpu')))[0]"
        for layer in ("GRU", "RNN")
    ),
    "F.rms_norm(f(2, 3).to(T.get_autocast_dtype('cpu')), (3,), f(3, start=4))",
    "bag(nn.TransformerDecoderLayer(4, 2, 8, dropout=0.0))(f(2, 1, 4), f(2, 1, 4))",
    "bag(nn.MultiheadAttention(4, 2, kdim=3, vdim=3, add_zero_attn=True))(f(2, 1, 4), f(2, 1, 3), f(2, 1, 3))",
    "bag(nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)))(f(2, 3))",
    "bag(nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.ReLU()))(f(2, 1, 5, 5))",
    "bag(nn.MultiheadAttention(4, 2))(f(2, 1, 4), f(2, 1, 4), f(2, 1, 4))",
    "bag(nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0))(f(2, 1, 4))",
]

CASES = {
    text: table(text) for text in (*LOWER, *FLOAT, *PROMOTE, *COMPOSITE, *UNLISTED)
}
CASES |= {
    text: table(text, (MODES[0], MODES[2]))
    for text in (*_CELLS, *_LAYERS, *_PACKED, *_NETWORKS)
}
CASES |= {text: table(text, MODES[:1]) for text in _LSTM}
