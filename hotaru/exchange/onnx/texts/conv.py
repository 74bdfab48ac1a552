"""Convolutions and what undoes their windows."""


def _conv_each(values: Optional[List[int]], n: int, default: int) -> List[int]:
    if values is None:
        return [default] * n
    if len(values) != n:
        raise ValueError(
            f"an attribute has {len(values)} entries for {n} spatial dimensions"
        )
    return values


def _conv_same(
    size: List[int],
    kernel: List[int],
    strides: List[int],
    dilations: List[int],
    upper: bool,
) -> List[int]:
    # Padding for ceil(size / stride) windows: begins, then ends. Of an odd
    # number the end has one more if `upper`.
    n = len(size)
    out = [0] * (2 * n)
    for i in range(n):
        windows = (size[i] + strides[i] - 1) // strides[i]
        total = max(
            (windows - 1) * strides[i] + dilations[i] * (kernel[i] - 1) + 1 - size[i], 0
        )
        out[i] = total // 2 if upper else total - total // 2
        out[n + i] = total - out[i]
    return out


def _conv_pads(
    X: Tensor,
    kernel: List[int],
    strides: List[int],
    dilations: List[int],
    pads: Optional[List[int]],
    auto_pad: str,
) -> List[int]:
    n = len(kernel)
    if auto_pad == "SAME_UPPER" or auto_pad == "SAME_LOWER":
        return _conv_same(
            X.shape[2:], kernel, strides, dilations, auto_pad == "SAME_UPPER"
        )
    if auto_pad == "VALID":
        return [0] * (2 * n)
    if auto_pad != "NOTSET":
        raise ValueError(f"auto_pad is {auto_pad}")
    return _conv_each(pads, 2 * n, 0)


def _conv_padded(X: Tensor, pads: List[int]) -> Tensor:
    # The attribute lists all begins first; the operator takes pairs, the last
    # dimension's first.
    n = len(pads) // 2
    pairs: List[int] = []
    for i in range(n):
        pairs += [pads[n - 1 - i], pads[2 * n - 1 - i]]
    return torch.constant_pad_nd(X, pairs)


def Conv(
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
    n = W.dim() - 2
    d = _conv_each(dilations, n, 1)
    s = _conv_each(strides, n, 1)
    p = _conv_pads(X, W.shape[2:], s, d, pads, auto_pad)
    begins = p[:n]
    if begins == p[n:]:
        return torch.convolution(X, W, B, s, begins, d, False, [0] * n, group)
    return torch.convolution(
        _conv_padded(X, p), W, B, s, [0] * n, d, False, [0] * n, group
    )


def ConvTranspose(
    X: Tensor,
    W: Tensor,
    B: Optional[Tensor],
    *,
    auto_pad: str = "NOTSET",
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    output_padding: Optional[List[int]] = None,
    output_shape: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = W.dim() - 2
    d = _conv_each(dilations, n, 1)
    s = _conv_each(strides, n, 1)
    more = _conv_each(output_padding, n, 0)
    wanted: Optional[List[int]] = None
    if output_shape is not None:
        # Some exporters write the batch and the channels, too.
        wanted = output_shape[len(output_shape) - n :]
    elif auto_pad == "SAME_UPPER" or auto_pad == "SAME_LOWER":
        wanted = [X.size(i + 2) * s[i] for i in range(n)]
    elif auto_pad != "NOTSET" and auto_pad != "VALID":
        raise ValueError(f"auto_pad is {auto_pad}")
    begins = [0] * n
    ends = [0] * n
    if wanted is not None:
        for i in range(n):
            total = (
                s[i] * (X.size(i + 2) - 1)
                + more[i]
                + (W.size(i + 2) - 1) * d[i]
                + 1
                - wanted[i]
            )
            begins[i] = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            ends[i] = total - begins[i]
    elif pads is not None and auto_pad == "NOTSET":
        begins = _conv_each(pads, 2 * n, 0)[:n]
        ends = pads[n:]
    # One operator where the end loses no more than the beginning.
    kept = [begins[i] - ends[i] + more[i] for i in range(n)]
    fits = True
    for i in range(n):
        fits = fits and begins[i] >= 0 and kept[i] >= 0 and kept[i] < max(s[i], d[i])
    if fits:
        return torch.convolution(X, W, B, s, begins, d, True, kept, group)
    whole = torch.convolution(X, W, None, s, [0] * n, d, True, [0] * n, group)
    out = _conv_padded(
        whole, [-i for i in begins] + [more[i] - ends[i] for i in range(n)]
    )
    if B is not None:
        out = out + B.view([-1] + [1] * n)
    return out


def DeformConv_v19(
    X: Tensor,
    W: Tensor,
    offset: Tensor,
    B: Optional[Tensor],
    mask: Optional[Tensor],
    *,
    dilations: Optional[List[int]] = None,
    group: int = 1,
    kernel_shape: Optional[List[int]] = None,
    offset_group: int = 1,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    if W.dim() != 4:
        raise NotImplementedError(
            f"DeformConv: weight of {W.dim()} dimensions, where 4 are supported"
        )
    d = _conv_each(dilations, 2, 1)
    s = _conv_each(strides, 2, 1)
    p = _conv_each(pads, 4, 0)
    x = X
    if p[:2] != p[2:]:
        x = _conv_padded(X, p)
        p = [0, 0, 0, 0]
    bias = W.new_zeros([W.size(0)]) if B is None else B
    weights = W.new_zeros([0]) if mask is None else mask
    return ops.torchvision.deform_conv2d(
        x,
        W,
        offset,
        weights,
        bias,
        s[0],
        s[1],
        p[0],
        p[1],
        d[0],
        d[1],
        group,
        offset_group,
        mask is not None,
    )


def Col2Im_v18(
    input: Tensor,
    image_shape: List[int],
    block_shape: List[int],
    *,
    dilations: Optional[List[int]] = None,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = len(image_shape)
    d = _conv_each(dilations, n, 1)
    s = _conv_each(strides, n, 1)
    p = _conv_each(pads, 2 * n, 0)
    if n == 2 and p[:n] == p[n:] and input.is_floating_point():
        return torch.col2im(input, image_shape, block_shape, d, p[:n], s)
    # Each element's place in the padded picture: an axis for the taps, one for
    # the windows.
    taps = 1
    windows = 1
    padded: List[int] = []
    place = torch.zeros([1, 1], dtype=torch.int64, device=input.device)
    for i in range(n):
        size = image_shape[i] + p[i] + p[n + i]
        count = (size - d[i] * (block_shape[i] - 1) - 1) // s[i] + 1
        padded.append(size)
        tap = torch.arange(block_shape[i], device=input.device) * d[i]
        window = torch.arange(count, device=input.device) * s[i]
        here = tap.view(1, -1, 1, 1) + window.view(1, 1, 1, -1)
        taps *= block_shape[i]
        windows *= count
        place = (place.view(place.size(0), 1, -1, 1) * size + here).reshape(
            taps, windows
        )
    batch = input.size(0)
    channels = input.size(1) // taps
    if input.size(1) != channels * taps or input.size(2) != windows:
        raise ValueError(
            f"Col2Im: input {input.shape} for {taps} taps, {windows} windows"
        )
    total = 1
    for size in padded:
        total *= size
    flat = input.new_zeros([batch * channels, total])
    flat = flat.index_add(1, place.flatten(), input.reshape(batch * channels, -1))
    return _conv_padded(flat.view([batch, channels] + padded), [-i for i in p])


def CausalConvWithState_v27(
    input: Tensor,
    weight: Tensor,
    bias: Optional[Tensor],
    past_state: Optional[Tensor],
    *,
    activation: str = "none",
) -> Tuple[Tensor, Tensor]:
    channels = input.size(1)
    kept = weight.size(2) - 1
    past = (
        input.new_zeros([input.size(0), channels, kept])
        if past_state is None
        else past_state
    )
    whole = torch.cat([past, input], 2)
    out = torch.convolution(whole, weight, bias, [1], [0], [1], False, [0], channels)
    if activation == "silu" or activation == "swish":
        out = torch.silu(out)
    elif activation != "none":
        raise ValueError(f"CausalConvWithState: activation is {activation}")
    return out, whole[:, :, whole.size(2) - kept :]
