"""Normalisation, and dropout beside it."""


def _norm_like(parameter: Tensor, X: Tensor) -> Tensor:
    # Parameters are of the input's dtype, or of float beside 16 bits.
    if parameter.dtype == X.dtype:
        return parameter
    if X.dtype == torch.float16 or X.dtype == torch.bfloat16:
        return parameter.float()
    return parameter.to(X.dtype)


def _norm_batch(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    mean: Optional[Tensor],
    var: Optional[Tensor],
    epsilon: float,
    spatial: bool,
) -> Tensor:
    # Without mean and var: those of the batch.
    training = mean is None
    if mean is not None and var is not None:
        # They may be parameters, of which PyTorch's exporter writes equal ones
        # once; nothing flows there.
        mean = mean.detach()
        var = var.detach()
    if spatial and X.dim() > 1:
        return torch.batch_norm(X, scale, B, mean, var, training, 0.0, epsilon, False)
    # Each feature is a channel; a single dimension is one channel's.
    x = X.flatten(1) if X.dim() > 1 else X.unsqueeze(1)
    if mean is not None and var is not None:
        mean = mean.flatten()
        var = var.flatten()
    return torch.batch_norm(
        x, scale.flatten(), B.flatten(), mean, var, training, 0.0, epsilon, False
    ).view(X.shape)


def _norm_moments(X: Tensor, spatial: bool) -> Tuple[Tensor, Tensor]:
    # Mean and population variance of each channel.
    x = X.float() if X.dtype == torch.float16 or X.dtype == torch.bfloat16 else X
    dims = [0]
    if X.dim() == 1:
        x = x.unsqueeze(1)
    elif spatial:
        dims += list(range(2, X.dim()))
    var, mean = torch.var_mean(x, dims, False, False)
    return mean, var


def _norm_mixed(old: Tensor, batch: Tensor, momentum: float) -> Tensor:
    return (old.to(batch.dtype) * momentum + batch * (1.0 - momentum)).to(old.dtype)


def BatchNormalization(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    consumed_inputs: Optional[List[int]] = None,
    epsilon: float = 1e-5,
    is_test: bool = False,
    momentum: float = 0.9,
    spatial: bool = True,
) -> Tensor:
    # Until version 14, whether there are further results says if it trains.
    return _norm_batch(X, scale, B, mean, var, epsilon, spatial)


def BatchNormalization__training(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    mean: Tensor,
    var: Tensor,
    *,
    consumed_inputs: Optional[List[int]] = None,
    epsilon: float = 1e-5,
    is_test: bool = False,
    momentum: float = 0.9,
    spatial: bool = True,
) -> Tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:
    if is_test:
        raise ValueError("BatchNormalization: is_test with the results of training")
    now, spread = _norm_moments(X, spatial)
    out = _norm_batch(X, scale, B, None, None, epsilon, spatial)
    return (
        out,
        _norm_mixed(mean, now, momentum),
        _norm_mixed(var, spread, momentum),
        now.to(mean.dtype),
        spread.to(var.dtype),
    )


def BatchNormalization_v14(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    input_mean: Tensor,
    input_var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: bool = False,
) -> Tensor:
    weight = _norm_like(scale, X)
    bias = _norm_like(B, X)
    if training_mode:
        return _norm_batch(X, weight, bias, None, None, epsilon, True)
    return _norm_batch(
        X,
        weight,
        bias,
        _norm_like(input_mean, X),
        _norm_like(input_var, X),
        epsilon,
        True,
    )


def BatchNormalization_v14__training(
    X: Tensor,
    scale: Tensor,
    B: Tensor,
    input_mean: Tensor,
    input_var: Tensor,
    *,
    epsilon: float = 1e-5,
    momentum: float = 0.9,
    training_mode: bool = False,
) -> Tuple[Tensor, Tensor, Tensor]:
    if not training_mode:
        raise ValueError(
            "BatchNormalization: statistics are results of training_mode only"
        )
    now, spread = _norm_moments(X, True)
    out = _norm_batch(
        X, _norm_like(scale, X), _norm_like(B, X), None, None, epsilon, True
    )
    return (
        out,
        _norm_mixed(input_mean, now, momentum),
        _norm_mixed(input_var, spread, momentum),
    )


def InstanceNormalization(
    input: Tensor,
    scale: Tensor,
    B: Tensor,
    *,
    consumed_inputs: Optional[List[int]] = None,
    epsilon: float = 1e-5,
) -> Tensor:
    return torch.group_norm(input, input.size(1), scale, B, epsilon, False)


def _norm_stashed(value: Tensor, stash_type: int) -> Tensor:
    # 16 is bfloat16, and 1 float.
    if stash_type != 1 and stash_type != 16:
        raise NotImplementedError(
            f"stash_type {stash_type}, where 1 and 16 (bfloat16) are supported"
        )
    return value.to(torch.bfloat16 if stash_type == 16 else torch.float32)


def LayerNormalization_v17(
    X: Tensor,
    Scale: Tensor,
    B: Optional[Tensor],
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    shape = X.shape[axis:]
    if Scale.shape == shape and (B is None or B.shape == shape):
        return torch.layer_norm(X, shape, Scale, B, epsilon, False)
    out = torch.layer_norm(X, shape, None, None, epsilon, False) * Scale
    return out if B is None else out + B


def LayerNormalization_v17__statistics(
    X: Tensor,
    Scale: Tensor,
    B: Optional[Tensor],
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tuple[Tensor, Tensor, Tensor]:
    shape = X.shape[axis:]
    weight: Optional[Tensor] = None
    bias: Optional[Tensor] = None
    fits = Scale.shape == shape and (B is None or B.shape == shape)
    half = X.dtype == torch.float16 or X.dtype == torch.bfloat16
    if fits:
        # Statistics have the parameters' dtype.
        weight = Scale.float() if half else Scale
        if B is not None:
            bias = B.float() if half else B
    elif half:
        weight = torch.ones(shape, device=X.device)
    out, mean, rstd = torch.native_layer_norm(X, shape, weight, bias, epsilon)
    if not fits:
        out = out * Scale
        if B is not None:
            out = out + B
    return out, _norm_stashed(mean, stash_type), _norm_stashed(rstd, stash_type)


def RMSNormalization_v23(
    X: Tensor,
    scale: Tensor,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
) -> Tensor:
    shape = X.shape[axis:]
    if scale.dtype == X.dtype and scale.shape == shape:
        return torch.rms_norm(X, shape, scale, epsilon)
    return torch.rms_norm(X, shape, None, epsilon).to(scale.dtype) * scale


def GroupNormalization_v18(
    X: Tensor, scale: Tensor, bias: Tensor, *, epsilon: float = 1e-5, num_groups: int
) -> Tensor:
    # One scale a group; the operator takes one a channel.
    each = X.size(1) // num_groups
    return torch.group_norm(
        X,
        num_groups,
        scale.repeat_interleave(each),
        bias.repeat_interleave(each),
        epsilon,
        False,
    )


def GroupNormalization_v21(
    X: Tensor,
    scale: Tensor,
    bias: Tensor,
    *,
    epsilon: float = 1e-5,
    num_groups: int,
    stash_type: int = 1,
) -> Tensor:
    return torch.group_norm(X, num_groups, scale, bias, epsilon, False)


def LRN(
    X: Tensor, *, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, size: int
) -> Tensor:
    x = X.float() if X.dtype == torch.float16 or X.dtype == torch.bfloat16 else X
    # Channels as rows: a window of `size` rows and a column.
    rows = (x * x).reshape(X.size(0), 1, X.size(1), -1)
    rows = torch.constant_pad_nd(rows, [0, 0, (size - 1) // 2, size // 2])
    means = torch.avg_pool2d(rows, [size, 1], [1, 1]).view(X.shape)
    return (x / (means * alpha + bias).pow(beta)).to(X.dtype)


def MeanVarianceNormalization_v9(X: Tensor, *, axes: List[int] = [0, 2, 3]) -> Tensor:
    x = X.float() if X.dtype == torch.float16 or X.dtype == torch.bfloat16 else X
    var, mean = torch.var_mean(x, axes, False, True)
    return ((x - mean) / (var.sqrt() + 1e-9)).to(X.dtype)


def LpNormalization(input: Tensor, *, axis: int = -1, p: int = 2) -> Tensor:
    norm = torch.linalg_vector_norm(input, p, [axis], True)
    return input / norm.masked_fill(norm == 0, 1)


def Dropout(
    data: Tensor,
    *,
    consumed_inputs: Optional[List[int]] = None,
    is_test: bool = False,
    ratio: float = 0.5,
) -> Tensor:
    return data if is_test else torch.dropout(data, ratio, True)


def Dropout__mask(
    data: Tensor,
    *,
    consumed_inputs: Optional[List[int]] = None,
    is_test: bool = False,
    ratio: float = 0.5,
) -> Tuple[Tensor, Tensor]:
    if is_test:
        return data, torch.ones_like(data)
    out, mask = torch.native_dropout(data, ratio, True)
    return out, mask.to(data.dtype)


def Dropout_v7(data: Tensor, *, ratio: float = 0.5) -> Tensor:
    # Versions 7 to 11 have no mode of training.
    return data


def Dropout_v7__mask(data: Tensor, *, ratio: float = 0.5) -> Tuple[Tensor, Tensor]:
    return data, torch.ones_like(data)


def Dropout_v10__mask(data: Tensor, *, ratio: float = 0.5) -> Tuple[Tensor, Tensor]:
    return data, torch.ones_like(data, dtype=torch.bool)


def Dropout_v12(
    data: Tensor,
    ratio: Optional[float],
    training_mode: Optional[bool],
    *,
    seed: Optional[int] = None,
) -> Tensor:
    if training_mode is None or not training_mode:
        return data
    # The process's own draws: a seed stands for no sequence that
    # implementations share.
    return torch.dropout(data, 0.5 if ratio is None else ratio, True)


def Dropout_v12__mask(
    data: Tensor,
    ratio: Optional[float],
    training_mode: Optional[bool],
    *,
    seed: Optional[int] = None,
) -> Tuple[Tensor, Tensor]:
    if training_mode is None or not training_mode:
        return data, torch.ones_like(data, dtype=torch.bool)
    return torch.native_dropout(data, 0.5 if ratio is None else ratio, True)
