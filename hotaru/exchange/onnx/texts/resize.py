"""Pictures of other sizes, and samples of them at given places."""


def _resize_length(length: int, scale: float) -> int:
    # Rounded down from the product in float: 10 times float's 0.7, which is
    # below 0.7, is 7.
    product = length * scale
    nearest = math.floor(product + 0.5)
    if abs(product - nearest) < 1e-6 * nearest:
        return int(torch.tensor(product, dtype=torch.float32).item())
    return int(math.floor(product))


def _resize_exact(length: int, size: int, factor: float) -> bool:
    return abs(length * factor - size) <= 1e-5 * size


def _resize_coordinates(
    length: int,
    size: int,
    factor: float,
    start: float,
    end: float,
    mode: str,
    device: Device,
) -> Tensor:
    # Where the output's elements lie in the input. In float, as by others.
    x = torch.arange(size, dtype=torch.float32, device=device)
    if mode == "asymmetric":
        return x / factor
    if mode == "align_corners":
        wanted = factor * length
        if size == 1 and (wanted == 1.0 or length == 1):
            return x
        return x * (length - 1) / (wanted - 1.0)
    if mode == "pytorch_half_pixel" and size == 1:
        return x
    if mode == "tf_half_pixel_for_nn":
        return (x + 0.5) / factor
    if mode == "tf_crop_and_resize":
        if size == 1:
            return x + 0.5 * (start + end) * (length - 1)
        return start * (length - 1) + x * ((end - start) * (length - 1) / (size - 1))
    if mode == "half_pixel_symmetric":
        # The centres fall together although the size was rounded.
        offset = 0.5 * length * (1.0 - size / (factor * length))
        return (x + 0.5) / factor + offset - 0.5
    if mode != "half_pixel" and mode != "pytorch_half_pixel":
        raise ValueError(f"coordinate_transformation_mode is {mode}")
    return (x + 0.5) / factor - 0.5


def _resize_cubic(distance: Tensor, a: float) -> Tensor:
    d = distance.abs()
    near = ((a + 2.0) * d - (a + 3.0)) * d * d + 1.0
    far = ((a * d - 5.0 * a) * d + 8.0 * a) * d - 4.0 * a
    return torch.where(d <= 1.0, near, torch.where(d < 2.0, far, torch.zeros_like(d)))


def _resize_weights(
    at: Tensor, length: int, mode: str, a: float, stretch: float, exclude_outside: bool
) -> Tensor:
    # [output, input] along one axis. The filter is wider by 1 / stretch.
    half = 2 if mode == "cubic" else 1
    first = int(math.floor(-half / stretch)) + 1
    taps = torch.arange(first, 2 - first, device=at.device)
    base = at.floor()
    distance = (taps - (at - base).unsqueeze(1)) * stretch
    weights = (
        _resize_cubic(distance, a)
        if mode == "cubic"
        else (1.0 - distance.abs()).clamp(0.0)
    )
    places = base.to(torch.int64).unsqueeze(1) + taps
    if exclude_outside:
        weights = weights * (places >= 0) * (places < length)
    if exclude_outside or stretch != 1.0:
        weights = weights / weights.sum(1, True)
    # Outside there is more of the edge.
    out = torch.zeros([at.size(0), length], device=at.device)
    return out.scatter_add(1, places.clamp(0, length - 1), weights)


def _resize_nearest(at: Tensor, length: int, nearest_mode: str) -> Tensor:
    if nearest_mode == "floor":
        out = at.floor()
    elif nearest_mode == "ceil":
        out = at.ceil()
    elif nearest_mode == "round_prefer_floor":
        out = (at - 0.5).ceil()
    elif nearest_mode == "round_prefer_ceil":
        out = (at + 0.5).floor()
    else:
        raise ValueError(f"nearest_mode is {nearest_mode}")
    return out.to(torch.int64).clamp(0, length - 1)


def _resize_native(
    X: Tensor,
    size: List[int],
    factors: List[float],
    scaled: bool,
    mode: str,
    coordinates: str,
    nearest_mode: str,
    a: float,
) -> Optional[Tensor]:
    # Our operators do it where one of them does as ONNX does.
    n = X.dim() - 2
    out = size[2:]
    f = factors[2:]
    whole = True
    several = True
    exact = True
    for i in range(n):
        times = out[i] // X.size(i + 2)
        # Up to 40 all quotients are right in float.
        whole = (
            whole
            and times * X.size(i + 2) == out[i]
            and times <= 40
            and abs(f[i] - times) < 1e-6
        )
        several = several and (out[i] > 1 or X.size(i + 2) == 1)
        exact = exact and _resize_exact(X.size(i + 2), out[i], f[i])
    if mode == "nearest":
        halves = (
            coordinates.find("half_pixel") >= 0
            and coordinates != "tf_half_pixel_for_nn"
        )
        floors = coordinates == "asymmetric" and (
            nearest_mode == "floor" or nearest_mode == "simple"
        )
        rounds = halves and nearest_mode.startswith("round")
        fits = X.is_floating_point() or X.dtype == torch.uint8
        if not whole or not fits or not (floors or rounds):
            return None
        if n == 1:
            return torch.upsample_nearest1d(X, out)
        if n == 2:
            return torch.upsample_nearest2d(X, out)
        return torch.upsample_nearest3d(X, out)
    corners = coordinates == "align_corners"
    halves = coordinates == "half_pixel" or (
        coordinates == "pytorch_half_pixel" and several
    )
    if coordinates == "half_pixel_symmetric":
        halves = exact
    if not X.is_floating_point() or not (halves or (corners and exact)):
        return None
    # A factor takes precedence over the quotient of sizes.
    s: List[Optional[float]] = []
    for each in f:
        s.append(each if scaled else None)
    if mode == "linear":
        if n == 1:
            return torch.upsample_linear1d(X, out, corners, s[0])
        if n == 2:
            return torch.upsample_bilinear2d(X, out, corners, s[0], s[1])
        return torch.upsample_trilinear3d(X, out, corners, s[0], s[1], s[2])
    if mode == "cubic" and n == 2 and a == -0.75:
        return torch.upsample_bicubic2d(X, out, corners, s[0], s[1])
    return None


def _resize(
    X: Tensor,
    size: List[int],
    factors: List[float],
    scaled: bool,
    starts: List[float],
    ends: List[float],
    mode: str,
    coordinates: str,
    nearest_mode: str,
    a: float,
    exclude_outside: bool,
    extrapolation: float,
    antialias: bool,
) -> Tensor:
    rank = X.dim()
    crops = coordinates == "tf_crop_and_resize"
    direct = rank >= 3 and rank <= 5 and not (exclude_outside or antialias or crops)
    if (
        direct
        and size[:2] == X.shape[:2]
        and factors[0] == 1.0
        and factors[1] == 1.0
        and min(X.shape) > 0
    ):
        native = _resize_native(
            X, size, factors, scaled, mode, coordinates, nearest_mode, a
        )
        if native is not None:
            return native
    if mode != "nearest" and mode != "linear" and mode != "cubic":
        raise ValueError(f"mode is {mode}")
    out = X
    if mode != "nearest" and X.dtype != torch.float64:
        out = X.float()
    for i in range(rank):
        length = X.size(i)
        cropped = crops and (starts[i] != 0.0 or ends[i] != 1.0)
        if size[i] == length and factors[i] == 1.0 and not cropped:
            continue
        at = _resize_coordinates(
            length, size[i], factors[i], starts[i], ends[i], coordinates, X.device
        )
        if mode == "nearest":
            rounding = nearest_mode
            if rounding == "simple":
                rounding = "ceil" if factors[i] < 1.0 else "floor"
            out = out.index_select(i, _resize_nearest(at, length, rounding))
        else:
            stretch = min(factors[i], 1.0) if antialias else 1.0
            weights = _resize_weights(at, length, mode, a, stretch, exclude_outside)
            out = torch.matmul(
                out.transpose(i, -1), weights.to(out.dtype).t()
            ).transpose(i, -1)
        if crops:
            outside = ((at < 0) | (at > length - 1)).view([-1] + [1] * (rank - 1 - i))
            out = out.masked_fill(outside, extrapolation)
    if mode != "nearest" and not X.is_floating_point():
        return _resize_integers(out, X.dtype)
    return out.to(X.dtype)


def _resize_integers(x: Tensor, dtype: int) -> Tensor:
    # Saturated, for cubic curves overshoot.
    if dtype == torch.uint8:
        x = x.clamp(0, 255)
    elif dtype == torch.int8:
        x = x.clamp(-128, 127)
    return x.to(dtype)


def _resize_any(
    X: Tensor,
    roi: Optional[List[float]],
    scales: Optional[List[float]],
    sizes: Optional[List[int]],
    axes: Optional[List[int]],
    policy: str,
    mode: str,
    coordinates: str,
    nearest_mode: str,
    a: float,
    exclude_outside: bool,
    extrapolation: float,
    antialias: bool,
) -> Tensor:
    rank = X.dim()
    chosen = list(range(rank))
    if axes is not None:
        chosen = [i % rank for i in axes]
    n = len(chosen)
    starts = [0.0] * rank
    ends = [1.0] * rank
    crops = coordinates == "tf_crop_and_resize"
    if crops:
        if roi is None or len(roi) != 2 * n:
            raise ValueError(
                f"Resize: tf_crop_and_resize needs a roi of {2 * n} numbers"
            )
        for i in range(n):
            starts[chosen[i]] = roi[i]
            ends[chosen[i]] = roi[n + i]
    factors = [1.0] * rank
    size = X.shape
    scaled = scales is not None and len(scales) > 0
    if scales is not None and scaled:
        if len(scales) != n:
            raise ValueError(f"Resize: {len(scales)} scales for {n} axes")
        for i in range(n):
            d = chosen[i]
            factors[d] = scales[i]
            # Without the roi's extent, as every implementation has it.
            size[d] = _resize_length(X.size(d), scales[i])
    elif sizes is not None:
        if len(sizes) != n:
            raise ValueError(f"Resize: {len(sizes)} sizes for {n} axes")
        for i in range(n):
            size[chosen[i]] = sizes[i]
            factors[chosen[i]] = sizes[i] / X.size(chosen[i])
        if policy != "stretch":
            quotients = [factors[i] for i in chosen]
            if policy != "not_larger" and policy != "not_smaller":
                raise ValueError(f"keep_aspect_ratio_policy is {policy}")
            factor = min(quotients) if policy == "not_larger" else max(quotients)
            scaled = True
            for i in chosen:
                factors[i] = factor
                size[i] = int(math.floor(factor * X.size(i) + 0.5))
    else:
        raise ValueError("Resize: neither scales nor sizes")
    return _resize(
        X,
        size,
        factors,
        scaled,
        starts,
        ends,
        mode,
        coordinates,
        nearest_mode,
        a,
        exclude_outside,
        extrapolation,
        antialias,
    )


def Resize_v10(X: Tensor, scales: List[float], *, mode: str = "nearest") -> Tensor:
    # Its nearest element is the next one where the picture shrinks.
    return _resize_any(
        X,
        None,
        scales,
        None,
        None,
        "stretch",
        mode,
        "asymmetric",
        "simple",
        -0.75,
        False,
        0.0,
        False,
    )


def Resize_v11(
    X: Tensor,
    roi: Optional[List[float]],
    scales: Optional[List[float]],
    sizes: Optional[List[int]],
    *,
    antialias: bool = False,
    axes: Optional[List[int]] = None,
    coordinate_transformation_mode: str = "half_pixel",
    cubic_coeff_a: float = -0.75,
    exclude_outside: bool = False,
    extrapolation_value: float = 0.0,
    keep_aspect_ratio_policy: str = "stretch",
    mode: str = "nearest",
    nearest_mode: str = "round_prefer_floor",
) -> Tensor:
    return _resize_any(
        X,
        roi,
        scales,
        sizes,
        axes,
        keep_aspect_ratio_policy,
        mode,
        coordinate_transformation_mode,
        nearest_mode,
        cubic_coeff_a,
        exclude_outside,
        extrapolation_value,
        antialias,
    )


def Upsample(
    X: Tensor, *, height_scale: float, mode: str = "nearest", width_scale: float
) -> Tensor:
    kind = "linear" if mode == "bilinear" else mode
    scales = [1.0, 1.0, height_scale, width_scale]
    return _resize_any(
        X,
        None,
        scales,
        None,
        None,
        "stretch",
        kind,
        "asymmetric",
        "floor",
        -0.75,
        False,
        0.0,
        False,
    )


def Upsample_v7(X: Tensor, *, mode: str = "nearest", scales: List[float]) -> Tensor:
    return _resize_any(
        X,
        None,
        scales,
        None,
        None,
        "stretch",
        mode,
        "asymmetric",
        "floor",
        -0.75,
        False,
        0.0,
        False,
    )


def Upsample_v9(X: Tensor, scales: List[float], *, mode: str = "nearest") -> Tensor:
    return _resize_any(
        X,
        None,
        scales,
        None,
        None,
        "stretch",
        mode,
        "asymmetric",
        "floor",
        -0.75,
        False,
        0.0,
        False,
    )


def _resize_sampled(
    X: Tensor, grid: Tensor, mode: int, padding_mode: str, align_corners: bool
) -> Tensor:
    padding = 0
    if padding_mode == "border":
        padding = 1
    elif padding_mode == "reflection":
        padding = 2
    elif padding_mode != "zeros":
        raise ValueError(f"GridSample: padding_mode is {padding_mode}")
    if X.is_floating_point():
        places = grid if grid.dtype == X.dtype else grid.to(X.dtype)
        return torch.grid_sampler(X, places, mode, padding, align_corners)
    # Integers are interpolated as floats and cut off.
    return torch.grid_sampler(X.to(grid.dtype), grid, mode, padding, align_corners).to(
        X.dtype
    )


def GridSample_v16(
    X: Tensor,
    grid: Tensor,
    *,
    align_corners: bool = False,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
) -> Tensor:
    kind = -1
    # From opset 20 on names without "bi", which volumes do not fit.
    if mode == "bilinear" or mode == "linear":
        kind = 0
    elif mode == "nearest":
        kind = 1
    elif mode == "bicubic" or mode == "cubic":
        kind = 2
    else:
        raise ValueError(f"GridSample: mode is {mode}")
    return _resize_sampled(X, grid, kind, padding_mode, align_corners)


def AffineGrid_v20(
    theta: Tensor, size: List[int], *, align_corners: bool = False
) -> Tensor:
    return torch.affine_grid_generator(theta, size, align_corners)
