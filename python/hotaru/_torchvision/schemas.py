"""What torchvision's operators are called with."""

from __future__ import annotations

_BIN = "SymInt pooled_height, SymInt pooled_width"
_SIZE = "SymInt batch_size, SymInt channels, SymInt height, SymInt width"
_ROIS = f"Tensor input, Tensor rois, float spatial_scale, {_BIN}"
_BACK = "Tensor rois"
_STEPS = (
    "SymInt stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, "
    "SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask"
)
_DEFORM = "Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias"

SCHEMAS = (
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"roi_align({_ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    f"qroi_align({_ROIS}, int sampling_ratio, bool aligned) -> Tensor",
    f"_roi_align_backward(Tensor grad, {_BACK}, float spatial_scale, {_BIN}, "
    f"{_SIZE}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({_ROIS}) -> (Tensor, Tensor)",
    f"_roi_pool_backward(Tensor grad, {_BACK}, Tensor argmax, "
    f"float spatial_scale, {_BIN}, {_SIZE}) -> Tensor",
    f"ps_roi_align({_ROIS}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_ps_roi_align_backward(Tensor grad, {_BACK}, Tensor channel_mapping, "
    f"float spatial_scale, {_BIN}, int sampling_ratio, {_SIZE}) -> Tensor",
    f"ps_roi_pool({_ROIS}) -> (Tensor, Tensor)",
    f"_ps_roi_pool_backward(Tensor grad, {_BACK}, Tensor channel_mapping, "
    f"float spatial_scale, {_BIN}, {_SIZE}) -> Tensor",
    f"deform_conv2d({_DEFORM}, {_STEPS}) -> Tensor",
    f"_deform_conv2d_backward(Tensor grad, {_DEFORM}, {_STEPS}) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)",
)
