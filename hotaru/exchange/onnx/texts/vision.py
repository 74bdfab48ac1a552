"""Regions and boxes, and pictures cut to size or rearranged."""


def _vision_maxima(
    X: Tensor, batch: Tensor, y: Tensor, x: Tensor, samples: List[int]
) -> Tensor:
    # Samples at rows y [K, cells * samples[0]] and columns x: of each the
    # largest of its four weighted neighbours, of a cell's samples the largest.
    height = X.size(2)
    width = X.size(3)
    inside = ((y >= -1.0) & (y <= height)).unsqueeze(2) & (
        (x >= -1.0) & (x <= width)
    ).unsqueeze(1)
    row = y.clamp(0.0, float(height - 1))
    column = x.clamp(0.0, float(width - 1))
    top = row.floor()
    left = column.floor()
    down = (row - top).unsqueeze(2)
    right = (column - left).unsqueeze(1)
    rows = [
        top.to(torch.int64),
        (top + 1.0).clamp(0.0, float(height - 1)).to(torch.int64),
    ]
    columns = [
        left.to(torch.int64),
        (left + 1.0).clamp(0.0, float(width - 1)).to(torch.int64),
    ]
    last = X.permute(0, 2, 3, 1)
    of = batch.view(-1, 1, 1)
    best = torch.zeros([0], dtype=X.dtype, device=X.device)
    for i in range(2):
        for j in range(2):
            weight = (
                (down if i == 1 else 1.0 - down)
                * (right if j == 1 else 1.0 - right)
                * inside
            )
            value = last[
                of, rows[i].unsqueeze(2), columns[j].unsqueeze(1)
            ] * weight.unsqueeze(3)
            best = value if i + j == 0 else torch.maximum(best, value)
    cells = [
        best.size(0),
        best.size(1) // samples[0],
        samples[0],
        best.size(2) // samples[1],
        samples[1],
        X.size(1),
    ]
    return best.view(cells).amax([2, 4]).permute(0, 3, 1, 2)


def _vision_places(start: Tensor, extent: Tensor, cells: int, samples: int) -> Tensor:
    # [K, cells * samples]: the centres of equal parts.
    at = (
        torch.arange(cells * samples, dtype=start.dtype, device=start.device) + 0.5
    ) / (cells * samples)
    return start.unsqueeze(1) + extent.unsqueeze(1) * at


def _vision_roi_align(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    aligned: bool,
    mode: str,
    height: int,
    width: int,
    sampling_ratio: int,
    spatial_scale: float,
) -> Tensor:
    half = X.dtype == torch.float16 or X.dtype == torch.bfloat16
    # Indices above 2048 are none of a 16-bit float's.
    pictures = X.float() if half else X
    regions = rois.to(pictures.dtype)
    if mode == "avg":
        numbered = torch.cat([batch_indices.to(regions.dtype).unsqueeze(1), regions], 1)
        return ops.torchvision.roi_align(
            pictures, numbered, spatial_scale, height, width, sampling_ratio, aligned
        ).to(X.dtype)
    if mode != "max":
        raise ValueError(f"RoiAlign: mode is {mode}")
    corners = regions * spatial_scale - (0.5 if aligned else 0.0)
    starts = corners[:, :2]
    extents = corners[:, 2:] - starts
    if not aligned:
        extents = extents.clamp(min=1.0)
    if sampling_ratio > 0:
        y = _vision_places(starts[:, 1], extents[:, 1], height, sampling_ratio)
        x = _vision_places(starts[:, 0], extents[:, 0], width, sampling_ratio)
        return _vision_maxima(
            pictures, batch_indices, y, x, [sampling_ratio, sampling_ratio]
        ).to(X.dtype)
    # Each region has a grid of its own.
    out = [torch.zeros([0, X.size(1), height, width], dtype=X.dtype, device=X.device)]
    for k in range(rois.size(0)):
        rows = int((extents[k, 1] / height).ceil().item())
        columns = int((extents[k, 0] / width).ceil().item())
        if rows < 1 or columns < 1:
            out.append(X.new_zeros([1, X.size(1), height, width]))
            continue
        y = _vision_places(starts[k : k + 1, 1], extents[k : k + 1, 1], height, rows)
        x = _vision_places(starts[k : k + 1, 0], extents[k : k + 1, 0], width, columns)
        one = _vision_maxima(pictures, batch_indices[k : k + 1], y, x, [rows, columns])
        out.append(one.to(X.dtype))
    return torch.cat(out, 0)


def RoiAlign_v10(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    return _vision_roi_align(
        X,
        rois,
        batch_indices,
        False,
        mode,
        output_height,
        output_width,
        sampling_ratio,
        spatial_scale,
    )


def RoiAlign_v16(
    X: Tensor,
    rois: Tensor,
    batch_indices: Tensor,
    *,
    coordinate_transformation_mode: str = "half_pixel",
    mode: str = "avg",
    output_height: int = 1,
    output_width: int = 1,
    sampling_ratio: int = 0,
    spatial_scale: float = 1.0,
) -> Tensor:
    aligned = coordinate_transformation_mode == "half_pixel"
    if not aligned and coordinate_transformation_mode != "output_half_pixel":
        raise ValueError(f"RoiAlign: coordinates are {coordinate_transformation_mode}")
    return _vision_roi_align(
        X,
        rois,
        batch_indices,
        aligned,
        mode,
        output_height,
        output_width,
        sampling_ratio,
        spatial_scale,
    )


def NonMaxSuppression_v10(
    boxes: Tensor,
    scores: Tensor,
    max_output_boxes_per_class: Optional[int],
    iou_threshold: Optional[float],
    score_threshold: Optional[float],
    *,
    center_point_box: bool = False,
) -> Tensor:
    most = 0 if max_output_boxes_per_class is None else max_output_boxes_per_class
    overlap = 0.0 if iou_threshold is None else iou_threshold
    first = boxes[:, :, :2]
    second = boxes[:, :, 2:]
    if center_point_box:
        corners = torch.cat([first - second / 2, first + second / 2], 2)
    else:
        # Any two opposite corners.
        corners = torch.cat(
            [torch.minimum(first, second), torch.maximum(first, second)], 2
        )
    chosen = [torch.zeros([0, 3], dtype=torch.int64, device=boxes.device)]
    if most > 0:
        for i in range(scores.size(0)):
            for j in range(scores.size(1)):
                score = scores[i, j]
                if score_threshold is None:
                    kept = ops.torchvision.nms(corners[i], score, overlap)[:most]
                else:
                    above = (score > score_threshold).nonzero().flatten()
                    kept = above[
                        ops.torchvision.nms(corners[i][above], score[above], overlap)[
                            :most
                        ]
                    ]
                of_class = torch.constant_pad_nd(kept.unsqueeze(1), [1, 0], j)
                chosen.append(torch.constant_pad_nd(of_class, [1, 0], i))
    return torch.cat(chosen, 0)


def CenterCropPad_v18(
    input_data: Tensor, shape: List[int], *, axes: Optional[List[int]] = None
) -> Tensor:
    rank = input_data.dim()
    chosen = list(range(rank))
    if axes is not None:
        chosen = [i % rank for i in axes]
    pairs = [0] * (2 * rank)
    for i in range(len(chosen)):
        d = chosen[i]
        more = shape[i] - input_data.size(d)
        before = more // 2 if more >= 0 else -(-more // 2)
        pairs[2 * (rank - 1 - d)] = before
        pairs[2 * (rank - 1 - d) + 1] = more - before
    return torch.constant_pad_nd(input_data, pairs)


def DepthToSpace(input: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    b = blocksize
    n, c, h, w = input.shape
    if mode == "CRD":
        return torch.pixel_shuffle(input, b)
    if mode != "DCR":
        raise ValueError(f"DepthToSpace: mode is {mode}")
    parts = input.reshape(n, b, b, c // (b * b), h, w).permute(0, 3, 4, 1, 5, 2)
    return parts.reshape(n, c // (b * b), h * b, w * b)


def SpaceToDepth(input: Tensor, *, blocksize: int, mode: str = "DCR") -> Tensor:
    b = blocksize
    n, c, h, w = input.shape
    if mode == "CRD":
        return torch.pixel_unshuffle(input, b)
    if mode != "DCR":
        raise ValueError(f"SpaceToDepth: mode is {mode}")
    parts = input.reshape(n, c, h // b, b, w // b, b).permute(0, 3, 5, 1, 2, 4)
    return parts.reshape(n, c * b * b, h // b, w // b)
