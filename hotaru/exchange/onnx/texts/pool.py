"""Pooling over windows, over everything, over regions, and back."""


def _pool_each(values: Optional[List[int]], n: int, default: int) -> List[int]:
    if values is None:
        return [default] * n
    if len(values) != n:
        raise ValueError(
            f"an attribute has {len(values)} entries for {n} spatial dimensions"
        )
    return values


def _pool_reach(kernel: List[int], dilations: List[int]) -> List[int]:
    return [dilations[i] * (kernel[i] - 1) + 1 for i in range(len(kernel))]


def _pool_pads(
    size: List[int],
    reach: List[int],
    strides: List[int],
    pads: Optional[List[int]],
    auto_pad: str,
) -> List[int]:
    # Begins, then ends.
    n = len(reach)
    if auto_pad == "NOTSET":
        return _pool_each(pads, 2 * n, 0)
    out = [0] * (2 * n)
    if auto_pad == "SAME_UPPER" or auto_pad == "SAME_LOWER":
        for i in range(n):
            windows = (size[i] + strides[i] - 1) // strides[i]
            total = max((windows - 1) * strides[i] + reach[i] - size[i], 0)
            out[i] = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
            out[n + i] = total - out[i]
    elif auto_pad != "VALID":
        raise ValueError(f"auto_pad is {auto_pad}")
    return out


def _pool_windows(
    size: List[int],
    reach: List[int],
    strides: List[int],
    pads: List[int],
    ceil_mode: bool,
) -> List[int]:
    n = len(reach)
    out: List[int] = []
    for i in range(n):
        room = size[i] + pads[i] + pads[n + i] - reach[i]
        count = room // strides[i] + 1
        if (
            ceil_mode
            and room % strides[i] != 0
            and count * strides[i] < size[i] + pads[i]
        ):
            # A window that starts in the padding at the end does not count.
            count += 1
        out.append(count)
    return out


def _pool_plain(pads: Optional[List[int]], kernel: List[int]) -> bool:
    # Tells whether our operators have this padding as it is.
    if pads is None:
        return True
    n = len(kernel)
    return pads[:n] == pads[n:] and 2 * max(pads) <= min(kernel)


def _pool_direct(
    size: List[int],
    reach: List[int],
    strides: List[int],
    pads: List[int],
    windows: List[int],
) -> bool:
    # Tells whether our operators, given the padding at the begin for both ends
    # and rounding up, have all windows; those that are too many are cut off.
    n = len(reach)
    both = pads[:n] + pads[:n]
    most = _pool_windows(size, reach, strides, both, True)
    fits = True
    for i in range(n):
        fits = fits and pads[i] <= reach[i] // 2 and most[i] >= windows[i]
    return fits


def _pool_first(X: Tensor, windows: List[int]) -> Tensor:
    out = X
    lead = X.dim() - len(windows)
    for i in range(len(windows)):
        if X.size(lead + i) != windows[i]:
            out = out.narrow(lead + i, 0, windows[i])
    return out


def _pool_padded(
    X: Tensor,
    reach: List[int],
    strides: List[int],
    begins: List[int],
    windows: List[int],
    value: float,
) -> Tensor:
    # Exactly what the windows cover, which may be less than X.
    n = len(reach)
    pairs: List[int] = []
    for i in range(n - 1, -1, -1):
        covered = (windows[i] - 1) * strides[i] + reach[i]
        pairs += [begins[i], covered - X.size(X.dim() - n + i) - begins[i]]
    return torch.constant_pad_nd(X, pairs, value)


def _pool_max(
    X: Tensor,
    kernel: List[int],
    strides: List[int],
    pads: List[int],
    dilations: List[int],
    ceil_mode: bool,
) -> Tensor:
    if len(kernel) == 2:
        return torch.max_pool2d(X, kernel, strides, pads, dilations, ceil_mode)
    if len(kernel) == 3:
        return torch.max_pool3d(X, kernel, strides, pads, dilations, ceil_mode)
    if len(kernel) != 1:
        raise NotImplementedError(
            f"pooling over {len(kernel)} dimensions; 1 to 3 is what there is"
        )
    row = X.unsqueeze(-2)
    return torch.max_pool2d(
        row, [1] + kernel, [1] + strides, [0] + pads, [1] + dilations, ceil_mode
    ).squeeze(-2)


def _pool_argmax(
    X: Tensor,
    kernel: List[int],
    strides: List[int],
    pads: List[int],
    dilations: List[int],
    ceil_mode: bool,
) -> Tuple[Tensor, Tensor]:
    if len(kernel) == 2:
        return torch.max_pool2d_with_indices(
            X, kernel, strides, pads, dilations, ceil_mode
        )
    if len(kernel) == 3:
        return torch.max_pool3d_with_indices(
            X, kernel, strides, pads, dilations, ceil_mode
        )
    if len(kernel) != 1:
        raise NotImplementedError(
            f"pooling over {len(kernel)} dimensions; 1 to 3 is what there is"
        )
    values, indices = torch.max_pool2d_with_indices(
        X.unsqueeze(-2),
        [1] + kernel,
        [1] + strides,
        [0] + pads,
        [1] + dilations,
        ceil_mode,
    )
    return values.squeeze(-2), indices.squeeze(-2)


def _pool_average(
    X: Tensor,
    kernel: List[int],
    strides: List[int],
    pads: List[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: Optional[int],
) -> Tensor:
    if len(kernel) == 2:
        return torch.avg_pool2d(
            X, kernel, strides, pads, ceil_mode, count_include_pad, divisor
        )
    if len(kernel) == 3:
        # The operator over three dimensions has no 16-bit floats.
        x = X.float() if X.dtype == torch.float16 or X.dtype == torch.bfloat16 else X
        return torch.avg_pool3d(
            x, kernel, strides, pads, ceil_mode, count_include_pad, divisor
        ).to(X.dtype)
    if len(kernel) != 1:
        raise NotImplementedError(
            f"pooling over {len(kernel)} dimensions; 1 to 3 is what there is"
        )
    return torch.avg_pool2d(
        X.unsqueeze(-2),
        [1] + kernel,
        [1] + strides,
        [0] + pads,
        ceil_mode,
        count_include_pad,
        divisor,
    ).squeeze(-2)


def _pool_sums(
    X: Tensor,
    kernel: List[int],
    strides: List[int],
    pads: List[int],
    dilations: List[int],
    windows: List[int],
) -> Tensor:
    n = len(kernel)
    reach = _pool_reach(kernel, dilations)
    if max(dilations) == 1:
        if _pool_direct(X.shape[2:], reach, strides, pads, windows):
            return _pool_first(
                _pool_average(X, kernel, strides, pads[:n], True, True, 1), windows
            )
        return _pool_average(
            _pool_padded(X, reach, strides, pads[:n], windows, 0.0),
            kernel,
            strides,
            [0] * n,
            False,
            True,
            1,
        )
    x = _pool_padded(X, reach, strides, pads[:n], windows, 0.0)
    ones = X.new_ones([1, 1] + kernel)
    planes = x.reshape([-1, 1] + x.shape[2:])
    sums = torch.convolution(
        planes, ones, None, strides, [0] * n, dilations, False, [0] * n, 1
    )
    return sums.reshape(X.shape[:2] + windows)


def MaxPool(
    X: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    dilations: Optional[List[int]] = None,
    kernel_shape: List[int],
    pads: Optional[List[int]] = None,
    storage_order: int = 0,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = len(kernel_shape)
    d = _pool_each(dilations, n, 1)
    s = _pool_each(strides, n, 1)
    if auto_pad == "NOTSET" and _pool_plain(pads, kernel_shape):
        begins = [0] * n if pads is None else pads[:n]
        return _pool_max(X, kernel_shape, s, begins, d, ceil_mode)
    reach = _pool_reach(kernel_shape, d)
    size = X.shape[2:]
    p = _pool_pads(size, reach, s, pads, auto_pad)
    windows = _pool_windows(size, reach, s, p, ceil_mode)
    if _pool_direct(size, reach, s, p, windows):
        begins = p[:n]
        rounds = ceil_mode or begins != p[n:]
        return _pool_first(_pool_max(X, kernel_shape, s, begins, d, rounds), windows)
    least = (
        -float("inf")
        if X.is_floating_point()
        else (0.0 if X.dtype == torch.uint8 else -128.0)
    )
    return _pool_max(
        _pool_padded(X, reach, s, p[:n], windows, least),
        kernel_shape,
        s,
        [0] * n,
        d,
        False,
    )


def MaxPool_v8__indices(
    X: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    dilations: Optional[List[int]] = None,
    kernel_shape: List[int],
    pads: Optional[List[int]] = None,
    storage_order: int = 0,
    strides: Optional[List[int]] = None,
) -> Tuple[Tensor, Tensor]:
    n = len(kernel_shape)
    d = _pool_each(dilations, n, 1)
    s = _pool_each(strides, n, 1)
    reach = _pool_reach(kernel_shape, d)
    size = X.shape[2:]
    p = _pool_pads(size, reach, s, pads, auto_pad)
    windows = _pool_windows(size, reach, s, p, ceil_mode)
    from_size = size
    before = [0] * n
    if _pool_direct(size, reach, s, p, windows):
        rounds = ceil_mode or p[:n] != p[n:]
        values, places = _pool_argmax(X, kernel_shape, s, p[:n], d, rounds)
        values = _pool_first(values, windows)
        places = _pool_first(places, windows)
    else:
        least = (
            -float("inf")
            if X.is_floating_point()
            else (0.0 if X.dtype == torch.uint8 else -128.0)
        )
        x = _pool_padded(X, reach, s, p[:n], windows, least)
        values, places = _pool_argmax(x, kernel_shape, s, [0] * n, d, False)
        from_size = x.shape[2:]
        before = p[:n]
    # Ours count within a plane, ONNX's over the whole tensor.
    plane = 1
    for i in size:
        plane *= i
    if storage_order != 0 or from_size != size:
        rest = places
        places = torch.zeros_like(rest)
        row_major = plane
        column_major = 1
        steps: List[int] = []
        for i in range(n):
            row_major = row_major // size[i]
            steps.append(column_major if storage_order != 0 else row_major)
            column_major *= size[i]
        for i in range(n - 1, -1, -1):
            places = places + (rest % from_size[i] - before[i]) * steps[i]
            rest = rest // from_size[i]
    planes = X.size(0) * X.size(1)
    first = torch.arange(planes, device=X.device) * plane
    return values, places + first.view([X.size(0), X.size(1)] + [1] * n)


def AveragePool(
    X: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    count_include_pad: bool = False,
    dilations: Optional[List[int]] = None,
    kernel_shape: List[int],
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = len(kernel_shape)
    d = _pool_each(dilations, n, 1)
    s = _pool_each(strides, n, 1)
    plain = auto_pad == "NOTSET" and dilations is None
    if plain and _pool_plain(pads, kernel_shape):
        begins = [0] * n if pads is None else pads[:n]
        return _pool_average(
            X, kernel_shape, s, begins, ceil_mode, count_include_pad, None
        )
    reach = _pool_reach(kernel_shape, d)
    size = X.shape[2:]
    p = _pool_pads(size, reach, s, pads, auto_pad)
    begins = p[:n]
    windows = _pool_windows(size, reach, s, p, ceil_mode)
    if max(d) == 1:
        same = begins == p[n:]
        if (same or not count_include_pad) and _pool_direct(size, reach, s, p, windows):
            out = _pool_average(
                X,
                kernel_shape,
                s,
                begins,
                ceil_mode or not same,
                count_include_pad,
                None,
            )
            return _pool_first(out, windows)
        if count_include_pad and not ceil_mode:
            x = _pool_padded(X, reach, s, begins, windows, 0.0)
            return _pool_average(x, kernel_shape, s, [0] * n, False, True, None)
    sums = _pool_sums(X, kernel_shape, s, p, d, windows)
    counted = size
    at = p
    if count_include_pad:
        counted = [size[i] + p[i] + p[n + i] for i in range(n)]
        at = [0] * (2 * n)
    return sums / _pool_sums(
        X.new_ones([1, 1] + counted), kernel_shape, s, at, d, windows
    )


def _pool_lp(
    X: Tensor,
    p: float,
    kernel: List[int],
    strides: Optional[List[int]],
    pads: Optional[List[int]],
    dilations: Optional[List[int]],
    auto_pad: str,
    ceil_mode: bool,
) -> Tensor:
    n = len(kernel)
    d = _pool_each(dilations, n, 1)
    s = _pool_each(strides, n, 1)
    reach = _pool_reach(kernel, d)
    size = X.shape[2:]
    around = _pool_pads(size, reach, s, pads, auto_pad)
    windows = _pool_windows(size, reach, s, around, ceil_mode)
    # Powers of 16-bit floats overflow soon.
    x = X.float() if X.dtype == torch.float16 or X.dtype == torch.bfloat16 else X
    if p == 1.0:
        return _pool_sums(x.abs(), kernel, s, around, d, windows).to(X.dtype)
    if p == 2.0:
        return _pool_sums(x * x, kernel, s, around, d, windows).sqrt().to(X.dtype)
    return (
        _pool_sums(x.abs().pow(p), kernel, s, around, d, windows)
        .pow(1.0 / p)
        .to(X.dtype)
    )


def LpPool(
    X: Tensor,
    *,
    auto_pad: str = "NOTSET",
    kernel_shape: List[int],
    p: float = 2.0,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    return _pool_lp(X, p, kernel_shape, strides, pads, None, auto_pad, False)


def LpPool_v2(
    X: Tensor,
    *,
    auto_pad: str = "NOTSET",
    ceil_mode: bool = False,
    dilations: Optional[List[int]] = None,
    kernel_shape: List[int],
    p: int = 2,
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    return _pool_lp(
        X, float(p), kernel_shape, strides, pads, dilations, auto_pad, ceil_mode
    )


def GlobalMaxPool(X: Tensor) -> Tensor:
    if X.dim() < 3:
        return X
    return torch.amax(X, list(range(2, X.dim())), True)


def GlobalAveragePool(X: Tensor) -> Tensor:
    if X.dim() < 3:
        return X
    return torch.mean(X, list(range(2, X.dim())), True)


def GlobalLpPool(X: Tensor, *, p: float = 2.0) -> Tensor:
    if X.dim() < 3:
        return X.abs()
    return torch.linalg_vector_norm(X, p, list(range(2, X.dim())), True)


def GlobalLpPool_v2(X: Tensor, *, p: int = 2) -> Tensor:
    if X.dim() < 3:
        return X.abs()
    return torch.linalg_vector_norm(X, p, list(range(2, X.dim())), True)


def MaxUnpool_v9(
    X: Tensor,
    I: Tensor,
    output_shape: Optional[List[int]],
    *,
    kernel_shape: List[int],
    pads: Optional[List[int]] = None,
    strides: Optional[List[int]] = None,
) -> Tensor:
    n = len(kernel_shape)
    s = _pool_each(strides, n, 1)
    p = _pool_each(pads, 2 * n, 0)
    shape = X.shape[:2]
    total = X.size(0) * X.size(1)
    for i in range(n):
        shape.append((X.size(i + 2) - 1) * s[i] - p[i] - p[n + i] + kernel_shape[i])
        total *= shape[i + 2]
    # Indices count in the shape that follows from the attributes; a wanted one
    # has that in its corner.
    out = X.new_zeros([total]).scatter(0, I.flatten(), X.flatten()).view(shape)
    if output_shape is not None and output_shape != shape:
        pairs: List[int] = []
        for i in range(n + 1, -1, -1):
            pairs += [0, output_shape[i] - shape[i]]
        out = torch.constant_pad_nd(out, pairs)
    return out


def MaxRoiPool(
    X: Tensor, rois: Tensor, *, pooled_shape: List[int], spatial_scale: float = 1.0
) -> Tensor:
    pooled, _ = ops.torchvision.roi_pool(
        X, rois, spatial_scale, pooled_shape[0], pooled_shape[1]
    )
    return pooled
