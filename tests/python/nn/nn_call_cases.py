# ruff: noqa: E501  (a case is one line)
"""Cases of nn: calls with particular arguments, and calls that fail."""

from __future__ import annotations

from outcomes import tensor


def call(text: str):
    """Evaluates `text` with lib, nn, F, x (a function making tensors)."""

    def run(lib):
        def x(*shape, **options):
            return tensor(lib, *shape, **options)

        scope = {"lib": lib, "nn": lib.nn, "F": lib.nn.functional, "x": x}
        scope["rnn"] = lib.nn.utils.rnn
        scope["init"] = lib.nn.init
        scope["ones"] = lib.ones
        return eval(text, scope)

    return run


_LOSSES = [
    "F.cross_entropy(x(2, 3), lib.tensor([0, 2]))",
    "F.cross_entropy(x(3), lib.tensor(1))",
    "F.cross_entropy(x(2, 3), lib.tensor([0, -100]), weight=x(3).abs())",
    "F.cross_entropy(x(2, 3), lib.tensor([0, 2]), reduction='none')",
    "F.cross_entropy(x(2, 3, 2), lib.tensor([[0, 2], [1, 1]]), label_smoothing=0.2)",
    "F.cross_entropy(x(2, 3), x(2, 3).softmax(1), reduction='sum')",
    "F.cross_entropy(x(2, 3), lib.tensor([0, 2]), reduction='foo')",
    "F.nll_loss(x(2, 3).log_softmax(1), lib.tensor([0, 2]))",
    "F.nll_loss(x(2, 3, 2), lib.tensor([[0, 2], [1, 1]]), ignore_index=1)",
    "F.nll_loss(x(2, 3), lib.tensor([0, 2]), size_average=False)",
    "F.nll_loss(x(2, 3), lib.tensor([0, 2]), reduce=False)",
    "nn.NLLLoss(weight=x(3).abs())(x(2, 3), lib.tensor([0, 2]))",
    "nn.CrossEntropyLoss(weight=x(3)).state_dict()",
    "F.binary_cross_entropy(x(2, 3).abs(), x(2, 3, start=3).abs())",
    "F.binary_cross_entropy(x(2, 3).abs(), x(2, 3).abs(), weight=x(3))",
    "F.binary_cross_entropy(x(2, 3).abs(), x(2, 1).abs())",
    "F.binary_cross_entropy_with_logits(x(2, 3), x(2, 3).abs(), pos_weight=x(3).abs())",
    "F.binary_cross_entropy_with_logits(x(2, 3), x(2, 1))",
    "nn.BCELoss()(x(2, 3).abs(), x(2, 3).abs())",
    "nn.BCEWithLogitsLoss(pos_weight=x(3)).state_dict()",
    "F.mse_loss(x(2, 3), x(3))",
    "F.mse_loss(x(2, 3), x(2, 3, start=2), weight=x(2, 3).abs())",
    "F.l1_loss(x(2, 3), x(2, 3, start=2), weight=x(2, 3).abs(), reduction='sum')",
    *(
        f"F.{loss}_loss(x(2, 3), x(2, 3, start=2), weight=x(2, 3).abs(), "
        f"reduction='{reduction}')"
        for loss in ("huber", "mse", "l1")
        for reduction in ("mean", "sum", "none", "foo")
    ),
    "F.huber_loss(x(2, 3), x(2, 3, start=2), weight=x(3).abs())",
    "F.mse_loss(x(2, 3), x(2, 3, start=2), size_average=False, weight=x(2, 3).abs())",
    "F.l1_loss(x(2, 3), x(2, 3, start=2), reduce=False, weight=x(2, 3).abs())",
    "F.mse_loss(x(2, 3), x(2, 3), reduction='foo')",
    "F.smooth_l1_loss(x(2, 3), x(2, 3), beta=-1.0)",
    "F.huber_loss(x(2, 3), x(2, 3), delta=-1.0)",
    "F.kl_div(x(2, 3), x(2, 3).softmax(1))",
    "F.kl_div(x(2, 3), x(2, 3).softmax(1), reduction='none')",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3, start=1), x(2, 3).abs())",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3, start=1), x(2, 1).abs(), full=True)",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3, start=1), x(2).abs(), reduction='none')",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3), 0.5)",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3), -x(2, 3).abs())",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3), x(2, 2).abs())",
    "F.gaussian_nll_loss(x(2, 3), x(2, 3), x(2, 3).abs(), reduction='z')",
    "F.triplet_margin_loss(x(2, 3), x(2, 3), x(2, 3), margin=-1)",
    "F.triplet_margin_with_distance_loss(x(2, 3), x(3), x(2, 3))",
    "F.triplet_margin_with_distance_loss(x(2, 3), x(2, 3, start=1), x(2, 3, start=4),"
    " swap=True)",
    "F.margin_ranking_loss(x(2, 3), x(2, 3), x(3))",
    "F.soft_margin_loss(x(2, 3), x(2, 3).sign())",
    "F.multi_margin_loss(x(2, 3), lib.tensor([0, 2]), p=2)",
    "F.multi_margin_loss(x(2, 3), lib.tensor([0, 2]), p=3)",
    "nn.MultiMarginLoss(weight=x(2, 3))",
    "F.multilabel_margin_loss(x(2, 3), lib.tensor([[0, 2, -1], [1, -1, 0]]))",
    "F.multilabel_soft_margin_loss(x(2, 3), x(2, 3).abs(), weight=x(3), reduction='none')",
    "F.poisson_nll_loss(x(2, 3), x(2, 3).abs(), log_input=False, full=True)",
    "F.ctc_loss(x(4, 2, 3).log_softmax(2), lib.tensor([[1, 2], [2, 1]]),"
    " lib.tensor([4, 4]), lib.tensor([2, 1]))",
]

_FUNCTIONS = [
    "F.relu(x(2, 3)), F.relu(x(2, 3), inplace=True), F.relu_(x(2, 3))",
    "F.softmax(x(2, 3), dim=0), F.softmax(x(2, 3), -1, dtype=lib.float64)",
    "F.softmax(x(2, 3))",
    "F.log_softmax(x(2, 3, 2))",
    "F.softmin(x(2, 3), 1)",
    "F.glu(x())",
    "F.hardtanh(x(3), 1, 0)",
    "F.leaky_relu(x(3), 0.3), F.elu(x(3), 0.3), F.celu(x(3), 0.3), F.selu(x(3))",
    "F.gelu(x(3), approximate='tanh'), F.silu(x(3)), F.mish(x(3)), F.softplus(x(3))",
    "F.threshold(x(3), 0.1, 7), F.hardshrink(x(3)), F.softshrink(x(3), 0.2)",
    "F.logsigmoid(x(3)), F.softsign(x(3)), F.tanhshrink(x(3)), F.sigmoid(x(3))",
    "F.rrelu(x(3)), F.rrelu(x(3), training=True).shape",
    "F.gumbel_softmax(x(2, 3)).shape, F.gumbel_softmax(x(2, 3), hard=True).sum(-1)",
    "F.gumbel_softmax(x(2, 3), tau=0.5)",
    "F.gumbel_softmax(x(2, 3).t(), tau=0.5)",
    "F.gumbel_softmax(x(2, 3).t().flip(0)[:, ::2], hard=True, dim=0)",
    "F.dropout(ones(8)), F.dropout(ones(8), 0.25), F.dropout(ones(3), training=False)",
    "F.dropout(x(3), p=1.5)",
    "F.dropout1d(ones(2, 4, 3)), F.dropout1d(ones(4, 3), 0.3)",
    "F.dropout1d(ones(3))",
    "F.dropout2d(ones(2, 3, 2, 2))",
    "F.dropout2d(ones(2, 3, 2))",
    "F.dropout2d(ones(2, 3))",
    "F.dropout3d(ones(2, 3, 1, 2, 1)), F.dropout3d(ones(3, 1, 2, 1))",
    "F.alpha_dropout(x(6), training=True), F.feature_alpha_dropout(x(2, 3, 2), 0.4, True)",
    "F.max_pool2d(x(1, 1, 4, 4), 2), F.max_pool2d(x(1, 1, 4, 4), 2, return_indices=True)",
    "F.max_pool1d(x(1, 1, 6), 2, stride=1), F.max_pool1d_with_indices(x(1, 1, 6), 2)",
    "F.adaptive_avg_pool2d(x(1, 1, 4, 4), (None, 2))",
    "F.adaptive_avg_pool2d(x(2), (None, 2))",
    "F.adaptive_max_pool2d(x(1, 1, 4, 4), 2, True)",
    "F.lp_pool1d(x(1, 1, 6), 3.0, 2)",
    "F.avg_pool2d(x(1, 1, 4, 4), 2)",
    "F.batch_norm(x(4, 2), lib.zeros(2), ones(2)), F.batch_norm(x(4, 2), None, None,"
    " training=True)",
    "F.batch_norm(x(1, 2), lib.zeros(2), ones(2), training=True)",
    "F.instance_norm(x(2, 2, 1))",
    "F.instance_norm(x(2, 2, 3))",
    "F.group_norm(x(4), 2)",
    "F.group_norm(x(1, 2), 2)",
    "F.layer_norm(x(2, 3), (3,)), F.rms_norm(x(2, 3), (3,))",
    "F.layer_norm(x(2, 3), (4,))",
    "F.local_response_norm(x(2, 3), 2)",
    "F.normalize(x(2, 3)), F.normalize(x(2, 3), p=1, dim=0), F.normalize(x(3), dim=0)",
    "F.embedding(lib.tensor([0, 2]), x(3, 2)), F.embedding(lib.tensor([[0], [1]]), x(3, 2))",
    "F.embedding(lib.tensor([0]), x(3, 2), padding_idx=3)",
    "F.embedding(lib.tensor([0, 2]), x(3, 2).clone(), max_norm=0.5)",
    "F.embedding(lib.tensor([3]), x(3, 2))",
    "F.embedding_bag(lib.tensor([[0, 2], [1, 1]]), x(3, 2))",
    "F.embedding_bag(lib.tensor([0, 2, 1]), x(3, 2), lib.tensor([0, 1]), mode='sum')",
    "F.embedding_bag(lib.tensor([0, 2, 1]), x(3, 2))",
    "F.embedding_bag(lib.tensor([[0, 2]]), x(3, 2), lib.tensor([0]))",
    "F.embedding_bag(lib.tensor([[0, 2]]), x(3, 2), mode='z')",
    "F.embedding_bag(lib.tensor([[0, 2]]), x(3, 2), mode='max', scale_grad_by_freq=True)",
    "F.embedding_bag(lib.tensor([[[0]]]), x(3, 2))",
    "F.one_hot(lib.tensor([0, 2]), 3)",
    "F.pad(x(1, 2, 3), (1, 2)), F.pad(x(2, 3), (1, 0, 0, 2), value=3.0)",
    "F.pad(x(1, 2, 3), (1, 2), mode='reflect'), F.pad(x(1, 2, 3), (-1, 1))",
    "F.interpolate(x(1, 1, 2, 3), scale_factor=2, mode='nearest')",
    "F.interpolate(x(1, 1, 2, 3), size=(3, 2), mode='bilinear', align_corners=True)",
    "F.interpolate(x(1, 1, 4, 4), size=2, mode='bilinear', antialias=True)",
    "F.interpolate(x(1, 1, 4), scale_factor=0.5, mode='area')",
    "F.interpolate(x(1, 1, 4), scale_factor=1.3, recompute_scale_factor=True)",
    "F.interpolate(x(1, 2, 4, 4), scale_factor=2, mode='linear')",
    "F.interpolate(x(1, 2, 4, 4), scale_factor=2, mode='trilinear')",
    "F.interpolate(x(2, 4, 4), scale_factor=2, mode='bilinear')",
    "F.interpolate(x(1, 2, 4, 4), size=(3,))",
    "F.interpolate(x(1, 2, 4, 4), scale_factor=(3,))",
    "F.interpolate(x(1, 2, 4, 4))",
    "F.interpolate(x(1, 2, 4, 4), size=2, scale_factor=2)",
    "F.interpolate(x(1, 2, 4, 4), size=2, align_corners=True)",
    "F.interpolate(x(1, 2, 4, 4), size=2, recompute_scale_factor=True)",
    "F.upsample(x(1, 1, 2), scale_factor=2)",
    "F.grid_sample(x(1, 1, 3, 3), x(1, 2, 2, 2), align_corners=True)",
    "F.grid_sample(x(1, 1, 3, 3), x(1, 2, 2, 2), mode='z')",
    "F.grid_sample(x(1, 1, 3, 3), x(1, 2, 2, 2), padding_mode='z')",
    "F.affine_grid(x(1, 2, 3), (1, 1, 2, 2), align_corners=False)",
    "F.unfold(x(1, 1, 3, 3), 2), F.fold(x(1, 4, 4), (3, 3), 2)",
    "F.cosine_similarity(x(2, 3), x(2, 3, start=4)), F.pairwise_distance(x(2, 3), x(2, 3))",
    "F.linear(x(2, 3), x(4, 3), x(4)), F.bilinear(x(2, 2), x(2, 3), x(1, 2, 3))",
    "F.scaled_dot_product_attention(x(1, 2, 3, 4), x(1, 2, 3, 4), x(1, 2, 3, 4))",
    "F.no_such_function",
]

_LAYERS = [
    "nn.Embedding(4, 3)(lib.tensor([[0, 3], [1, 1]]))",
    "nn.Embedding(4, 3, padding_idx=1)(lib.tensor([1, 0]))",
    "nn.Embedding.from_pretrained(x(3, 2)).weight.requires_grad",
    "nn.Embedding.from_pretrained(x(3, 2))(lib.tensor([2, 0]))",
    "nn.Embedding.from_pretrained(x(3))",
    "nn.Embedding(4, 3, _weight=x(3, 3))",
    "nn.EmbeddingBag(4, 3)(lib.tensor([[0, 3], [1, 1]]))",
    "nn.EmbeddingBag.from_pretrained(x(3, 2), mode='sum')(lib.tensor([[2, 0]]))",
    "nn.BatchNorm1d(3)(x(2, 3, 4, 5))",
    "nn.BatchNorm2d(3)(x(2, 3))",
    "nn.BatchNorm1d(3)(x(1, 3))",
    "nn.InstanceNorm1d(3)(x(3, 4))",
    "nn.InstanceNorm1d(3)(x(2, 4, 4))",
    "nn.InstanceNorm1d(3, affine=True)(x(2, 4, 4))",
    "nn.InstanceNorm2d(3)(x(2, 4))",
    "nn.Softmax2d()(x(2, 2))",
    "nn.CircularPad1d(1)(x(3))",
    "nn.Dropout(0.4)(ones(6)), nn.Dropout(0.4).eval()(ones(6))",
    "nn.ConvTranspose2d(1, 1, 3, stride=2)(x(1, 1, 4, 4), output_size=[1, 1])",
    "nn.ConvTranspose2d(1, 1, 3, stride=2)(x(1, 1, 4, 4), output_size=[1])",
    "nn.ConvTranspose2d(1, 1, 3, stride=2)(x(1, 1, 4, 4), output_size=(9, 10))",
    "nn.ConvTranspose2d(1, 1, 3, stride=2)(x(1, 1, 4, 4), output_size=(1, 1, 9, 10))",
    "nn.Linear(3, 4)(x(2, 2))",
    "nn.LSTM(2, 3)(x(2))",
    "nn.GRU(2, 3)(x(1, 2, 3, 4))",
    "nn.RNN(2, 3)(x(2))",
    "nn.LSTM(2, 3)(x(5, 3, 7))",
    "nn.LSTM(2, 3)(x(5, 3, 2).double())",
    "nn.GRU(2, 3)(x(5, 3, 2), x(1, 3, 3))",
    "nn.GRU(2, 3)(x(5, 3, 2), x(2, 3, 3))",
    "nn.GRU(2, 3)(x(5, 3, 2), x(3, 3))",
    "nn.GRU(2, 3)(x(5, 2), x(1, 1, 3))",
    "nn.GRU(2, 3)(x(5, 2), x(1, 3))",
    "nn.LSTM(2, 3)(x(5, 3, 2), (x(1, 3, 3), x(1, 3, 3)))",
    "nn.LSTM(2, 3)(x(5, 2), (x(1, 3), x(1, 3)))",
    "nn.LSTM(2, 3)(x(5, 3, 2), (x(2, 3, 3), x(1, 3, 3)))",
    "nn.LSTM(2, 3)(x(5, 3, 2), (x(1, 3, 3), x(2, 3, 3)))",
    "nn.LSTM(2, 3)(x(5, 3, 2), (x(1, 3, 3), x(3, 3)))",
    "nn.LSTM(2, 3)(x(5, 2), (x(1, 1, 3), x(1, 1, 3)))",
    "nn.LSTM(2, 4, proj_size=3)(x(5, 3, 2), (x(1, 3, 3), x(1, 3, 4)))",
    "nn.LSTM(2, 3, 2).all_weights",
    "nn.LSTMCell(2, 3)(x(4, 2), (x(4, 3), x(4, 3)))",
    "nn.LSTMCell(2, 3)(x(2), (x(3), x(3)))",
    "nn.GRUCell(2, 3)(x(4, 2), x(4, 3))",
    "nn.RNNCell(2, 3)(x(4, 2, 2))",
    "nn.RNNCell(2, 3)(x(4, 7))",
    "nn.RNNCell(2, 3)(x(4, 2), x(1, 4, 3))",
    "nn.LSTMCell(2, 3)(x(4, 2), (x(1, 4, 3), x(4, 3)))",
    "nn.RNNCell(2, 3, nonlinearity='z')(x(4, 2))",
    "nn.MultiheadAttention(4, 2)(x(3, 2, 4), x(2, 4), x(3, 2, 4))",
    "nn.MultiheadAttention(4, 2)(x(3, 2, 2), x(3, 2, 4), x(3, 2, 4))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, attn_mask=ones(2, 2))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, attn_mask=ones(2, 3, 3))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, attn_mask=ones(2))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 4)] * 3, attn_mask=ones(3, 3, 3))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, is_causal=True)",
    "nn.MultiheadAttention(4, 2)(x(4), x(3, 2, 4), x(3, 2, 4))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, average_attn_weights=False)",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, need_weights=False)",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, attn_mask=ones(3, 3).triu(1).bool())",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, attn_mask=x(4, 3, 3),"
    " need_weights=False)",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3,"
    " key_padding_mask=lib.tensor([[False, False, True], [False, True, True]]))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, key_padding_mask=x(2, 3),"
    " attn_mask=x(3, 3))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, key_padding_mask=lib.zeros(2, 3,"
    " dtype=lib.int32))",
    "nn.MultiheadAttention(4, 2)(*[x(3, 2, 4)] * 3, need_weights=False, is_causal=True,"
    " attn_mask=nn.Transformer.generate_square_subsequent_mask(3))",
    "nn.Transformer.generate_square_subsequent_mask(3)",
    "nn.Transformer(4, 2, 1, 1, 6, 0.0)(x(3, 1, 4), x(3, 2, 4))",
    "nn.Transformer(4, 2, 1, 1, 6, 0.0)(x(3, 1, 4), x(3, 1, 3))",
    "nn.Transformer(4, 2, 1, 1, 6, 0.0)(x(3, 1, 4), x(2, 1, 4),"
    " tgt_mask=nn.Transformer.generate_square_subsequent_mask(2))",
]

_SEQUENCES = [
    "rnn.pack_padded_sequence(x(5, 3, 2), [5, 3, 1])",
    "rnn.pack_padded_sequence(x(3, 5, 2), [5, 3, 1], batch_first=True)",
    "rnn.pack_padded_sequence(x(5, 3, 2), lib.tensor([1, 3, 5]), enforce_sorted=False)",
    "rnn.pack_padded_sequence(x(5, 3, 2), [1, 3, 5])",
    "rnn.pack_padded_sequence(x(5, 3, 2), [5, 3])",
    "rnn.pack_padded_sequence(x(5, 3, 2), [5, 3, 0])",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x(5, 3, 2), [4, 3, 1]))",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x(5, 3, 2), [2, 4, 1],"
    " enforce_sorted=False), batch_first=True, padding_value=7, total_length=6)",
    "rnn.pad_packed_sequence(rnn.pack_padded_sequence(x(5, 3, 2), [4, 3, 1]),"
    " total_length=3)",
    "rnn.pad_sequence([x(3, 2), x(2, 2), x(1, 2)])",
    "rnn.pad_sequence([x(3), x(2)], batch_first=True, padding_value=-1)",
    "rnn.pad_sequence([x(3), x(2)], padding_side='left')",
    "rnn.pad_sequence([x(3), x(2)], padding_side='z')",
    "rnn.pad_sequence(3)",
    "rnn.pack_sequence([x(3, 2), x(2, 2)])",
    "rnn.unpack_sequence(rnn.pack_sequence([x(3, 2), x(2, 2)]))",
    "rnn.unpad_sequence(x(3, 2), lib.tensor([3, 1]))",
    "rnn.PackedSequence(x(2))",
    "rnn.pack_sequence([x(3, 2), x(2, 2)]).double()",
    "nn.LSTM(2, 3)(rnn.pack_padded_sequence(x(5, 3, 2), [5, 3, 1]))",
    "nn.LSTM(2, 3, 2, bidirectional=True)(rnn.pack_padded_sequence(x(5, 3, 2), [1, 3, 5],"
    " enforce_sorted=False))",
    "nn.GRU(2, 3)(rnn.pack_padded_sequence(x(5, 3, 2), [2, 3, 5], enforce_sorted=False),"
    " x(1, 3, 3))",
    "nn.RNN(2, 3)(rnn.pack_padded_sequence(x(5, 3, 2), [5, 3, 1]), x(1, 2, 3))",
]

_INITS = [
    "init.uniform_(ones(3), -2, 3), init.normal_(ones(3), 1, 2)",
    "init.normal_(ones(5, 4), 1, 2)",
    "init.constant_(ones(3), 7), init.ones_(lib.zeros(2)), init.zeros_(ones(2))",
    "init.eye_(ones(2, 3)), init.dirac_(ones(2, 2, 3)), init.dirac_(ones(4, 1, 3), 2)",
    "init.dirac_(ones(4, 2, 3, 3)), init.dirac_(ones(2, 2, 1, 3, 3))",
    "init.eye_(ones(2))",
    "init.dirac_(ones(2))",
    "init.dirac_(ones(3, 2, 2), 2)",
    "init.xavier_uniform_(ones(2, 3)), init.xavier_normal_(ones(2, 3), gain=2.0)",
    "init.kaiming_uniform_(ones(2, 3, 2)), init.kaiming_normal_(ones(2, 3), mode='fan_out')",
    "init.kaiming_uniform_(ones(2, 3), nonlinearity='relu')",
    "init.kaiming_uniform_(ones(3))",
    "init.kaiming_uniform_(ones(2, 3), mode='z')",
    "init.kaiming_uniform_(ones(0, 3))",
    "init.trunc_normal_(ones(6)), init.trunc_normal_(ones(6), 1.0, 0.5, 0.9, 1.2)",
    "init.trunc_normal_(ones(2), mean=9)",
    "init.orthogonal_(ones(3, 2)), init.orthogonal_(ones(2, 3), gain=2)",
    "init.orthogonal_(ones(3))",
    "init.sparse_(ones(4, 3), 0.5)",
    "init.sparse_(ones(4), 0.5)",
    "[init.calculate_gain(n) for n in ('linear', 'conv2d', 'sigmoid', 'tanh', 'relu',"
    " 'selu', 'leaky_relu')]",
    "init.calculate_gain('leaky_relu', 0.3)",
    "init.calculate_gain('leaky_relu', 'z')",
    "init.calculate_gain('z')",
    "init.uniform(ones(3))",
]

CASES = {
    text: call(text) for text in (*_LOSSES, *_FUNCTIONS, *_LAYERS, *_SEQUENCES, *_INITS)
}
