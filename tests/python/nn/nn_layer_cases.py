# ruff: noqa: E501  (a case is one line)
"""Cases of nn: every layer with its weights, text, result and gradients."""

from __future__ import annotations

from outcomes import tensor

# Constructor -> shapes of the inputs.
LAYERS = {
    "Linear(3, 4)": [(2, 3)],
    "Linear(3, 4, bias=False)": [(3,)],
    "Linear(3, 2, dtype=lib.float64)": None,
    "Bilinear(2, 3, 4)": [(2, 2), (2, 3)],
    "Identity(5, x=2)": [(2, 3)],
    "Conv1d(2, 4, 3)": [(2, 2, 7)],
    "Conv1d(2, 4, 3, stride=2, padding=1, groups=2, bias=False)": [(2, 7)],
    "Conv1d(2, 3, 4, padding='same')": [(1, 2, 6)],
    "Conv2d(2, 3, 3)": [(1, 2, 5, 4)],
    "Conv2d(2, 4, (2, 3), stride=(2, 1), padding=(1, 0), dilation=(1, 2))": [
        (1, 2, 5, 6)
    ],
    "Conv2d(2, 2, 3, padding=1, padding_mode='reflect')": [(1, 2, 4, 4)],
    "Conv2d(2, 2, 3, padding=1, padding_mode='circular')": [(1, 2, 4, 4)],
    "Conv2d(2, 2, 3, padding='same', padding_mode='replicate')": [(1, 2, 4, 4)],
    "Conv2d(2, 2, 3, padding='valid')": [(1, 2, 4, 4)],
    "Conv3d(1, 2, 2)": [(1, 1, 3, 3, 3)],
    "ConvTranspose1d(2, 3, 3, stride=2)": [(1, 2, 4)],
    "ConvTranspose2d(2, 4, 3, stride=2, padding=1, output_padding=1, groups=2)": [
        (1, 2, 3, 3)
    ],
    "ConvTranspose3d(1, 2, 2)": [(1, 1, 2, 2, 2)],
    "MaxPool1d(2)": [(1, 2, 6)],
    "MaxPool1d(2, ceil_mode=True, padding=1)": [(1, 2, 5)],
    "MaxPool2d(2)": [(1, 2, 4, 4)],
    "MaxPool2d((2, 3), stride=1, dilation=1, return_indices=True)": [(1, 2, 4, 4)],
    "MaxPool3d(2)": [(1, 1, 4, 4, 2)],
    "AvgPool1d(2)": [(1, 2, 6)],
    "AvgPool2d(3, 2, 1, count_include_pad=False)": [(1, 2, 5, 5)],
    "AvgPool2d(2, divisor_override=3)": [(1, 2, 4, 4)],
    "AvgPool3d(2)": [(1, 1, 2, 2, 4)],
    "AdaptiveAvgPool1d(3)": [(1, 2, 7)],
    "AdaptiveAvgPool2d((2, None))": [(1, 2, 5, 3)],
    "AdaptiveAvgPool2d(2)": [(1, 2, 5, 3)],
    "AdaptiveAvgPool3d(1)": [(1, 2, 2, 2, 2)],
    "AdaptiveMaxPool1d(3)": [(1, 2, 7)],
    "AdaptiveMaxPool2d((None, 2), return_indices=True)": [(1, 2, 3, 5)],
    "AdaptiveMaxPool3d(1)": [(1, 1, 2, 2, 2)],
    "LPPool1d(2, 3)": [(1, 2, 7)],
    "LPPool2d(2, (2, 2), stride=1)": [(1, 2, 3, 3)],
    "LPPool3d(2, 2)": [(1, 1, 2, 2, 2)],
    "ReLU()": [(2, 3)],
    "ReLU(inplace=True)": None,
    "ReLU6()": [(2, 3)],
    "ReLU6(True)": None,
    "LeakyReLU()": [(2, 3)],
    "LeakyReLU(0.2, True)": None,
    "PReLU()": [(2, 3)],
    "PReLU(3, init=0.1)": [(2, 3)],
    "RReLU()": None,
    "RReLU(0.2, 0.2)": [(2, 3)],
    "ELU(0.5)": [(2, 3)],
    "SELU()": [(2, 3)],
    "CELU(0.7)": [(2, 3)],
    "GELU()": [(2, 3)],
    "GELU('tanh')": [(2, 3)],
    "SiLU()": [(2, 3)],
    "SiLU(inplace=True)": None,
    "Mish()": [(2, 3)],
    "Sigmoid()": [(2, 3)],
    "Tanh()": [(2, 3)],
    "Hardtanh()": [(2, 3)],
    "Hardtanh(-0.3, 0.4, inplace=True)": None,
    "Hardtanh(min_value=-0.3, max_value=0.4)": [(2, 3)],
    "Hardtanh(2, 1)": None,
    "Hardsigmoid()": [(2, 3)],
    "Hardswish()": [(2, 3)],
    "Softplus()": [(2, 3)],
    "Softplus(2.0, 0.5)": [(2, 3)],
    "Softsign()": [(2, 3)],
    "Tanhshrink()": [(2, 3)],
    "Softshrink()": [(2, 3)],
    "Hardshrink(0.3)": [(2, 3)],
    "Threshold(0.1, 20)": [(2, 3)],
    "LogSigmoid()": [(2, 3)],
    "Softmax(dim=1)": [(2, 3)],
    "Softmax()": [(2, 3)],
    "LogSoftmax(dim=-1)": [(2, 3)],
    "Softmin(dim=0)": [(2, 3)],
    "Softmax2d()": [(1, 3, 2, 2)],
    "GLU()": [(2, 4)],
    "GLU(dim=0)": [(2, 4)],
    "BatchNorm1d(3)": [(4, 3)],
    "BatchNorm1d(3, affine=False)": [(2, 3, 4)],
    "BatchNorm2d(2, momentum=None)": [(2, 2, 3, 3)],
    "BatchNorm2d(2, track_running_stats=False)": [(2, 2, 3, 3)],
    "BatchNorm3d(2, eps=1e-3, momentum=0.3)": [(2, 2, 2, 2, 2)],
    "BatchNorm1d(3, bias=False)": None,
    "InstanceNorm1d(3)": [(2, 3, 4)],
    "InstanceNorm2d(2, affine=True, track_running_stats=True)": [(2, 2, 3, 3)],
    "InstanceNorm3d(2)": [(2, 2, 2, 2, 2)],
    "GroupNorm(2, 4)": [(2, 4, 3)],
    "GroupNorm(2, 4, affine=False)": [(2, 4, 3)],
    "LayerNorm(3)": [(2, 3)],
    "LayerNorm((2, 3), bias=False)": [(2, 2, 3)],
    "LayerNorm([3], elementwise_affine=False)": [(2, 3)],
    "RMSNorm(4)": [(2, 4)],
    "RMSNorm((4,), eps=1e-3, elementwise_affine=False)": [(2, 4)],
    "LocalResponseNorm(2)": [(1, 4, 3)],
    "LocalResponseNorm(3, alpha=0.1)": [(1, 4, 2, 2)],
    "Dropout(0.0)": [(2, 3)],
    "Dropout(1.0)": [(2, 3)],
    "Dropout(2)": None,
    "Dropout2d(0.2, True)": None,
    "AlphaDropout(0.0)": [(2, 3)],
    "FeatureAlphaDropout()": None,
    "Embedding(4, 3)": None,
    "Embedding(4, 3, padding_idx=-1)": None,
    "Embedding(4, 3, padding_idx=4)": None,
    "Embedding(4, 3, max_norm=1.0, norm_type=1, scale_grad_by_freq=True, sparse=True)": (
        None
    ),
    "EmbeddingBag(4, 3, mode='sum')": None,
    "EmbeddingBag(4, 3, padding_idx=1)": None,
    "Flatten()": [(2, 3, 2)],
    "Flatten(0, 1)": [(2, 3, 2)],
    "Unflatten(1, (2, 3))": [(2, 6)],
    "Unflatten(1, 3)": None,
    "Unflatten(1, (2, 3.0))": None,
    "ZeroPad1d(1)": [(1, 2, 3)],
    "ZeroPad2d((1, 0, 2, 1))": [(1, 1, 2, 2)],
    "ZeroPad3d(1)": None,
    "ConstantPad1d(2, 1.5)": [(1, 1, 3)],
    "ConstantPad2d(1, 3)": [(1, 1, 2, 2)],
    "ConstantPad3d(1, -1.0)": [(1, 1, 1, 2, 2)],
    "ReflectionPad1d(2)": [(1, 1, 4)],
    "ReflectionPad2d((1, 2, 0, 1))": [(1, 1, 3, 3)],
    "ReflectionPad3d(1)": [(1, 1, 2, 2, 2)],
    "ReplicationPad1d((1, 2))": [(1, 1, 3)],
    "ReplicationPad2d(1)": [(1, 1, 2, 2)],
    "ReplicationPad3d(1)": [(1, 1, 2, 2, 2)],
    "CircularPad1d(1)": [(1, 1, 3)],
    "CircularPad2d((1, 2, 0, 1))": [(1, 1, 3, 3)],
    "CircularPad3d(1)": [(1, 1, 2, 2, 2)],
    "Upsample(scale_factor=2)": [(1, 2, 3)],
    "Upsample(size=(5, 3), mode='bilinear')": [(1, 1, 2, 2)],
    "Upsample(scale_factor=(2.0, 1.5), mode='bilinear', align_corners=True)": [
        (1, 1, 2, 4)
    ],
    "Upsample(scale_factor=2, mode='bicubic')": [(1, 1, 3, 3)],
    "Upsample(scale_factor=2, mode='linear', recompute_scale_factor=True)": [(1, 1, 3)],
    "Upsample(scale_factor=2, mode='trilinear')": [(1, 1, 1, 2, 2)],
    "Upsample(scale_factor=2, mode='area')": [(1, 1, 2, 2)],
    "Upsample(size=3, mode='nearest-exact')": [(1, 1, 2, 2)],
    "UpsamplingNearest2d(scale_factor=2)": [(1, 1, 2, 2)],
    "UpsamplingBilinear2d(size=3)": [(1, 1, 2, 2)],
    "PixelShuffle(2)": [(1, 4, 2, 2)],
    "PixelUnshuffle(2)": [(1, 1, 4, 4)],
    "ChannelShuffle(2)": None,
    "Fold((3, 3), 2)": [(1, 8, 4)],
    "Unfold(2, padding=1)": [(1, 2, 3, 3)],
    "CosineSimilarity()": [(2, 3), (2, 3)],
    "CosineSimilarity(dim=0, eps=1e-3)": [(2, 3), (2, 3)],
    "PairwiseDistance()": [(2, 3), (2, 3)],
    "PairwiseDistance(1.0, keepdim=True)": [(2, 3), (2, 3)],
    "RNN(2, 3)": [(4, 2, 2)],
    "RNN(2, 3, nonlinearity='relu', bias=False)": [(4, 2)],
    "RNN(2, 3, 2, 'relu', False, True)": [(2, 4, 2)],
    "LSTM(2, 3)": [(4, 2, 2)],
    "LSTM(2, 3, num_layers=2, bidirectional=True, batch_first=True)": [(2, 4, 2)],
    "LSTM(2, 4, proj_size=3, num_layers=2)": [(3, 2, 2)],
    "LSTM(2, 3, bias=False)": [(4, 2)],
    "GRU(2, 3)": [(4, 2, 2)],
    "GRU(2, 3, 2, bidirectional=True)": [(3, 1, 2)],
    "GRU(2, 3, batch_first=True)": [(4, 2)],
    "LSTMCell(2, 3)": [(4, 2)],
    "LSTMCell(2, 3, bias=False)": [(2,)],
    "GRUCell(2, 3)": [(4, 2)],
    "RNNCell(2, 3)": [(4, 2)],
    "RNNCell(2, 3, nonlinearity='relu')": [(2,)],
    "MultiheadAttention(4, 2)": [(3, 2, 4), (3, 2, 4), (3, 2, 4)],
    "MultiheadAttention(4, 2, batch_first=True, bias=False)": [
        (2, 3, 4),
        (2, 5, 4),
        (2, 5, 4),
    ],
    "MultiheadAttention(4, 2, kdim=3, vdim=5)": [(3, 2, 4), (2, 2, 3), (2, 2, 5)],
    "MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True)": [
        (3, 4),
        (2, 4),
        (2, 4),
    ],
    "MultiheadAttention(4, 3)": None,
    "MultiheadAttention(0, 3)": None,
    "TransformerEncoderLayer(4, 2, 6, dropout=0.0)": [(3, 2, 4)],
    "TransformerEncoderLayer(4, 2, 6, 0.0, 'gelu', batch_first=True, norm_first=True)": [
        (2, 3, 4)
    ],
    "TransformerDecoderLayer(4, 2, 6, dropout=0.0)": [(3, 2, 4), (2, 2, 4)],
    "TransformerEncoder(nn.TransformerEncoderLayer(4, 2, 6, 0.0, batch_first=True), 2)": [
        (2, 3, 4)
    ],
    "TransformerDecoder(nn.TransformerDecoderLayer(4, 2, 6, 0.0), 2, nn.LayerNorm(4))": [
        (3, 2, 4),
        (2, 2, 4),
    ],
    "Transformer(4, 2, 1, 1, 6, dropout=0.0, batch_first=True)": [(1, 3, 4), (1, 2, 4)],
    "TransformerEncoderLayer(4, 2, activation='z')": None,
    "L1Loss()": [(2, 3), (2, 3)],
    "L1Loss(reduction='sum')": [(2, 3), (2, 3)],
    "MSELoss(reduction='none')": [(2, 3), (2, 3)],
    "MSELoss(size_average=False)": [(2, 3), (2, 3)],
    "MSELoss(reduction='z')": [(2, 3), (2, 3)],
    "SmoothL1Loss(beta=0.3)": [(2, 3), (2, 3)],
    "SmoothL1Loss(beta=0.0)": [(2, 3), (2, 3)],
    "HuberLoss(delta=0.4)": [(2, 3), (2, 3)],
    "CrossEntropyLoss(label_smoothing=0.1)": [(2, 3), (2, 3)],
    "BCEWithLogitsLoss()": [(2, 3), (2, 3)],
    "KLDivLoss(reduction='batchmean')": [(2, 3), (2, 3)],
    "KLDivLoss(log_target=True)": [(2, 3), (2, 3)],
    "PoissonNLLLoss()": [(2, 3), (2, 3)],
    "HingeEmbeddingLoss(0.5)": [(2, 3), (2, 3)],
    "MarginRankingLoss(0.5)": [(2, 3), (2, 3), (2, 3)],
    "CosineEmbeddingLoss(0.2)": [(2, 3), (2, 3), (2,)],
    "SoftMarginLoss()": None,
    "MultiLabelSoftMarginLoss()": [(2, 3), (2, 3)],
    "TripletMarginLoss(0.7, swap=True)": [(2, 3), (2, 3), (2, 3)],
    "TripletMarginWithDistanceLoss()": [(2, 3), (2, 3), (2, 3)],
    "TripletMarginLoss(-1)": None,
    "GaussianNLLLoss()": None,
    "Conv2d(3, 4, 3, padding='same', stride=2)": None,
    "Conv2d(3, 4, 3, groups=0)": None,
    "Conv2d(3, 4, 3, groups=2)": None,
    "ConvTranspose2d(3, 4, 3, padding_mode='reflect')": None,
    "GroupNorm(2, 3)": None,
    "Linear(2)": None,
    "RNN(2.0, 3)": None,
    "GRU(2, 3.0)": None,
    "LSTM(2, 0)": None,
    "LSTM(2, 3, 0)": None,
    "LSTM(2, 3, dropout=2)": None,
    "LSTM(2, 3, dropout=0.5)": None,
    "LSTM(2, 3, proj_size=3)": None,
    "LSTM(2, 3, proj_size=-1)": None,
    "GRU(2, 3, proj_size=1)": None,
    "RNN(2, 3, proj_size=1)": None,
    "RNN(2, 3, nonlinearity='foo')": None,
    "LSTM(2, 3, bias=3)": None,
    "Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))": [(2, 2)],
    # Arguments that no layer can have, and odd ones that layers keep.
    "LSTM(2, 3, batch_first=1)": None,
    "GRU(2, 3, batch_first=None)": None,
    "RNN(2, 3, batch_first='yes')": None,
    "LSTM(0, 3)": None,
    "GRU(-1, 3)": None,
    "LSTM(2, -1)": None,
    "Bilinear(0, 3, 4)": None,
    "HuberLoss(delta='a')": None,
    "HuberLoss(delta=None)": None,
    "HuberLoss(delta=0)": [(2, 3), (2, 3)],
    "EmbeddingBag(5, 3, padding_idx=7)": None,
    "Embedding(5, 3, padding_idx=True)": None,
    "FractionalMaxPool3d(0, output_size=2)": None,
    "FractionalMaxPool3d((2, -1, 2), output_size=2)": None,
    "Conv1d(2, 4, (1, 2))": None,
    "Conv3d(2, 4, 2, padding=(1, 2))": None,
    "ConvTranspose2d(2, 4, 2, padding=[2])": None,
    **{
        f"{name}(3, eps={eps}{more})": [shape]
        for name, shape in (
            ("BatchNorm1d", (2, 3)),
            ("BatchNorm2d", (2, 3, 2, 2)),
            ("BatchNorm3d", (2, 3, 1, 2, 2)),
            ("InstanceNorm1d", (2, 3, 4)),
        )
        for eps in (-1, 0, 0.0)
        for more in ("", ", affine=False", ", track_running_stats=False")
    },
    "BatchNorm1d(3, eps=-1).eval()": [(2, 3)],
    "BatchNorm1d(3, eps=0.0).eval()": [(2, 3)],
}

# Targets that are not in (-1, 1): their cases are in nn_call_cases.
_NEEDS_PROBABILITIES = {
    "CrossEntropyLoss(label_smoothing=0.1)",
    "KLDivLoss(reduction='batchmean')",
    "PoissonNLLLoss()",
}


def case_of(text: str, shapes):
    """Builds the layer `text`; with shapes also runs it forward and back."""

    def run(lib):
        nn = lib.nn
        layer = eval(f"nn.{text}", {"lib": lib, "nn": nn})
        found = [repr(layer), layer.state_dict()]
        if shapes is None:
            return found
        inputs = [
            tensor(lib, *shape, start=10 * i, requires_grad=True)
            for i, shape in enumerate(shapes)
        ]
        args = list(inputs)
        if text in _NEEDS_PROBABILITIES:
            args[1] = args[1].abs()
        outputs = _flat(lib, layer(*args))
        loss = sum((o * tensor(lib, *o.shape, start=5)).sum() for o in outputs)
        loss.backward()
        found += [outputs, [i.grad for i in inputs]]
        found += [{name: p.grad for name, p in layer.named_parameters()}]
        found += [dict(layer.named_buffers())]
        layer.eval()
        found += [_flat(lib, layer(*args))]
        return found

    return run


def _flat(lib, value) -> list:
    """The floating point tensors of a nested result."""
    if isinstance(value, lib.Tensor):
        return [value] if value.is_floating_point() else []
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in _flat(lib, item)]
    return []


CASES = {text: case_of(text, shapes) for text, shapes in LAYERS.items()}
