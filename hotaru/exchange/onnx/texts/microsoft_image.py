"""Operators on images of the domain com.microsoft: convolutions and pools that
ONNX Runtime has fused, or with the channels last.
"""


def com_microsoft_FusedConv(
    X: Tensor,
    W: Tensor,
    B: Optional[Tensor],
    Z: Optional[Tensor],
    *,
    activation: str = "",
    activation_params: Optional[List[float]] = None,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    out = Conv(
        X,
        W,
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    if Z is not None:
        out = out + Z
    numbers: List[float] = []
    if activation_params is not None:
        numbers = activation_params
    return _microsoft_activated(out, activation, numbers)


def _microsoft_channels_first(x: Tensor) -> Tensor:
    return x.movedim([x.dim() - 1], [1])


def _microsoft_channels_last(x: Tensor) -> Tensor:
    return x.movedim([1], [x.dim() - 1])


# Weights are as Conv has them, all else has the channels last.
def com_microsoft_NhwcFusedConv(
    X: Tensor,
    W: Tensor,
    B: Optional[Tensor],
    Z: Optional[Tensor],
    *,
    activation: str = "",
    activation_params: Optional[List[float]] = None,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    out = com_microsoft_FusedConv(
        _microsoft_channels_first(X),
        W,
        B,
        None if Z is None else _microsoft_channels_first(Z),
        activation=activation,
        activation_params=activation_params,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return _microsoft_channels_last(out)


# The optimizer turns the weights as well: [out, rows, columns, in].
def com_microsoft_NhwcConv(
    X: Tensor,
    W: Tensor,
    B: Optional[Tensor],
    *,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    out = Conv(
        _microsoft_channels_first(X),
        _microsoft_channels_first(W),
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return _microsoft_channels_last(out)


def com_microsoft_NhwcMaxPool(
    x: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    dilations: Optional[List[int]] = None,
    kernel_shape: List[int],
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    out = MaxPool(
        _microsoft_channels_first(x),
        auto_pad=auto_pad,
        ceil_mode=ceil_mode,
        dilations=dilations,
        kernel_shape=kernel_shape,
        pads=pads,
        strides=strides,
    )
    return _microsoft_channels_last(out)


def _microsoft_groups(
    x: Tensor,
    gamma: Tensor,
    beta: Tensor,
    activation: int,
    channels_last: bool,
    epsilon: float,
    groups: int,
) -> Tensor:
    if activation != 0 and activation != 1:
        raise NotImplementedError(f"GroupNorm with activation {activation}")
    whole = (_microsoft_channels_first(x) if channels_last else x).float()
    out = torch.group_norm(whole, groups, gamma.float(), beta.float(), epsilon, False)
    if activation == 1:
        out = out * torch.sigmoid(out)
    return (_microsoft_channels_last(out) if channels_last else out).to(x.dtype)


def com_microsoft_GroupNorm(
    X: Tensor,
    gamma: Tensor,
    beta: Tensor,
    *,
    activation: int,
    channels_last: bool = True,
    epsilon: float = 1e-5,
    groups: int,
) -> Tensor:
    return _microsoft_groups(X, gamma, beta, activation, channels_last, epsilon, groups)


def com_microsoft_SkipGroupNorm(
    X: Tensor,
    gamma: Tensor,
    beta: Tensor,
    skip: Tensor,
    bias: Optional[Tensor],
    *,
    activation: int,
    channels_last: bool = True,
    epsilon: float = 1e-5,
    groups: int,
) -> Tuple[Tensor, Tensor]:
    added = skip
    if skip.dim() == 2:
        added = skip.unsqueeze(1).unsqueeze(1)
    if not channels_last and (skip.dim() == 2 or skip.size() != X.size()):
        added = _microsoft_channels_first(added)
    whole = X + added
    if bias is not None:
        shape = [1] * X.dim()
        shape[-1 if channels_last else 1] = -1
        whole = whole + bias.reshape(shape)
    out = _microsoft_groups(
        whole, gamma, beta, activation, channels_last, epsilon, groups
    )
    return out, whole


def com_microsoft_GridSample(
    X: Tensor,
    Grid: Tensor,
    *,
    align_corners: bool = False,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
) -> Tensor:
    return GridSample_v16(
        X, Grid, align_corners=align_corners, mode=mode, padding_mode=padding_mode
    )


def com_microsoft_ConvTransposeWithDynamicPads(
    X: Tensor,
    W: Tensor,
    Pads: Optional[List[int]],
    B: Optional[Tensor],
    *,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    output_padding: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    return ConvTranspose(
        X,
        W,
        B,
        auto_pad=auto_pad,
        dilations=dilations,
        group=group,
        kernel_shape=kernel_shape,
        output_padding=output_padding,
        pads=Pads,
        strides=strides,
    )


# Places of `count` samples from begin to end, both of them among them.
def _microsoft_places(begin: Tensor, end: Tensor, count: int, size: int) -> Tensor:
    last = float(size - 1)
    if count == 1:
        return (begin + end).unsqueeze(1) * (0.5 * last)
    step = (end - begin) * (last / float(count - 1))
    place = torch.arange(count - 1, dtype=begin.dtype, device=begin.device)
    between = (begin * last).unsqueeze(1) + step.unsqueeze(1) * place
    return torch.cat([between, (end * last).unsqueeze(1)], 1)


def com_microsoft_CropAndResize(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    crop_size: List[int],
    *,
    extrapolation_value: float = 0.0,
    mode: str = "bilinear",
) -> Tensor:
    rows = X.size(2)
    columns = X.size(3)
    y = _microsoft_places(rois[:, 0], rois[:, 2], crop_size[0], rows)
    x = _microsoft_places(rois[:, 1], rois[:, 3], crop_size[1], columns)
    inside_y = torch.logical_and(y >= 0, y <= rows - 1).unsqueeze(2)
    inside_x = torch.logical_and(x >= 0, x <= columns - 1).unsqueeze(1)
    there = torch.logical_and(inside_y, inside_x).unsqueeze(1)
    image = batch_indices.to(torch.int64).reshape([-1, 1, 1])
    planes = X.permute([0, 2, 3, 1])
    y = y.clamp(0, rows - 1).unsqueeze(2)
    x = x.clamp(0, columns - 1).unsqueeze(1)
    if mode == "nearest":
        # Halves go up.
        top = torch.floor(y + 0.5).to(torch.int64)
        left = torch.floor(x + 0.5).to(torch.int64)
        out = torch.index(planes, [image, top, left])
    else:
        top = torch.floor(y).to(torch.int64)
        left = torch.floor(x).to(torch.int64)
        bottom = torch.ceil(y).to(torch.int64)
        right = torch.ceil(x).to(torch.int64)
        down = (y - top).unsqueeze(3)
        along = (x - left).unsqueeze(3)
        upper = torch.lerp(
            torch.index(planes, [image, top, left]),
            torch.index(planes, [image, top, right]),
            along,
        )
        lower = torch.lerp(
            torch.index(planes, [image, bottom, left]),
            torch.index(planes, [image, bottom, right]),
            along,
        )
        out = torch.lerp(upper, lower, down)
    out = out.permute([0, 3, 1, 2])
    return torch.where(
        there, out, torch.full_like(out, extrapolation_value)
    ).contiguous()
