"""Data of TensorBoard's plugins: hyperparameters, curves, meshes, tensors."""

from __future__ import annotations

import json

import numpy as np
from google.protobuf import struct_pb2
from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto

import hotaru

from ._array import array

# More thresholds break the plugin's messages.
_MOST_THRESHOLDS = 127


def _shape(sizes) -> TensorShapeProto:
    dims = [TensorShapeProto.Dim(size=size) for size in sizes]
    return TensorShapeProto(dim=dims)


def _metadata(name: str, content: bytes = b"") -> SummaryMetadata:
    plugin = SummaryMetadata.PluginData(plugin_name=name, content=content)
    return SummaryMetadata(plugin_data=plugin)


def _summary(tag: str, metadata=None, tensor=None) -> Summary:
    value = Summary.Value(tag=tag, metadata=metadata, tensor=tensor)
    return Summary(value=[value])


def _halves(tensor) -> list[int]:
    # The 16 bits of each, as TensorBoard reads them.
    bits = tensor.contiguous().view(hotaru.int16).reshape(-1)
    return (bits.to(hotaru.int32) & 0xFFFF).tolist()


def _parts(tensor) -> list[float]:
    return hotaru.view_as_real(tensor).reshape(-1).tolist()


def _numbers(tensor) -> list:
    return tensor.reshape(-1).tolist()


_DTYPES = {
    "float16": ("DT_HALF", "half_val", _halves),
    "bfloat16": ("DT_BFLOAT16", "half_val", _halves),
    "float32": ("DT_FLOAT", "float_val", _numbers),
    "float64": ("DT_DOUBLE", "double_val", _numbers),
    "int8": ("DT_INT8", "int_val", _numbers),
    "uint8": ("DT_UINT8", "int_val", _numbers),
    "int16": ("DT_INT16", "int_val", _numbers),
    "int32": ("DT_INT32", "int_val", _numbers),
    "int64": ("DT_INT64", "int64_val", _numbers),
    "bool": ("DT_BOOL", "bool_val", _numbers),
    "complex64": ("DT_COMPLEX64", "scomplex_val", _parts),
    "complex128": ("DT_COMPLEX128", "dcomplex_val", _parts),
}


def tensor_proto(tag: str, tensor) -> Summary:
    """A whole tensor.

    ValueError: above 2 GiB, or of a dtype that the format lacks.
    """
    tensor = tensor.detach().cpu()
    if tensor.numel() * tensor.itemsize >= 1 << 31:
        raise ValueError(
            "tensor is bigger than protocol buffer's hard limit of 2GB in size"
        )
    name = str(tensor.dtype).split(".")[-1]
    if name not in _DTYPES:
        raise ValueError(f"{tag} has unsupported tensor dtype {tensor.dtype}")
    dtype, field, convert = _DTYPES[name]
    held = TensorProto(
        dtype=dtype, tensor_shape=_shape(tensor.shape), **{field: convert(tensor)}
    )
    return _summary(tag, _metadata("tensor"), held)


def _kind_of(value) -> tuple[str, str]:
    """A hyperparameter's type, and the field that holds it."""
    if isinstance(value, (bool, int, float)):  # bools are shown as numbers
        return "DATA_TYPE_FLOAT64", "number_value"
    if isinstance(value, str):
        return "DATA_TYPE_STRING", "string_value"
    raise ValueError("value should be one of int, float, str, bool, or torch.Tensor")


def _check_hparams(values, metrics, choices) -> None:
    for what, given in (
        ("hparam_dict", values),
        ("metric_dict", metrics),
        ("hparam_domain_discrete", choices),
    ):
        if not isinstance(given, dict):
            raise TypeError(
                f"parameter: {what} should be a dictionary, nothing logged."
            )
    for key, listed in choices.items():
        fits = key in values and isinstance(listed, list)
        if not fits or not all(isinstance(one, type(values[key])) for one in listed):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{key}] should be a list "
                f"of same type as hparam_dict[{key}]."
            )


def hparams(hparam_dict=None, metric_dict=None, hparam_domain_discrete=None) -> tuple:
    """An experiment, and the start and the end of one run of it.

    Args:
        hparam_dict: hyperparameters by name; None is left out.
        metric_dict: results by name, of which the names alone are written.
        hparam_domain_discrete: of some hyperparameters, the values that they
            may have.
    """
    from tensorboard.plugins.hparams import api_pb2, metadata
    from tensorboard.plugins.hparams.plugin_data_pb2 import (
        HParamsPluginData,
        SessionEndInfo,
        SessionStartInfo,
    )

    choices = hparam_domain_discrete or {}
    _check_hparams(hparam_dict, metric_dict, choices)
    start, infos = SessionStartInfo(), []
    for key, value in hparam_dict.items():
        if value is None:
            continue
        if isinstance(value, hotaru.Tensor):
            value = float(array(value).reshape(-1)[0])
        kind, field = _kind_of(value)
        setattr(start.hparams[key], field, value)
        info = api_pb2.HParamInfo(name=key, type=api_pb2.DataType.Value(kind))
        if key in choices:
            listed = [struct_pb2.Value(**{field: one}) for one in choices[key]]
            info.domain_discrete.CopyFrom(struct_pb2.ListValue(values=listed))
        infos.append(info)
    names = [
        api_pb2.MetricInfo(name=api_pb2.MetricName(tag=key)) for key in metric_dict
    ]
    end = SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=names)

    def written(tag: str, **content) -> Summary:
        data = HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content)
        name = metadata.PLUGIN_NAME
        return _summary(tag, _metadata(name, data.SerializeToString()))

    return (
        written(metadata.EXPERIMENT_TAG, experiment=experiment),
        written(metadata.SESSION_START_INFO_TAG, session_start_info=start),
        written(metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


def pr_curve_raw(tag: str, rows, num_thresholds: int) -> Summary:
    """Precision and recall that were computed already.

    Args:
        rows: by threshold the true and false positives, the true and false
            negatives, precision and recall.
    """
    from tensorboard.plugins.pr_curve.plugin_data_pb2 import PrCurvePluginData

    data = np.stack([np.asarray(array(row)) for row in rows])
    content = PrCurvePluginData(
        version=0, num_thresholds=min(num_thresholds, _MOST_THRESHOLDS)
    )
    held = TensorProto(
        dtype="DT_FLOAT",
        float_val=data.reshape(-1).tolist(),
        tensor_shape=_shape(data.shape),
    )
    metadata = _metadata("pr_curves", content.SerializeToString())
    return _summary(tag, metadata, held)


def pr_curve(tag, labels, predictions, num_thresholds: int, weights) -> Summary:
    """Precision and recall of predictions between 0 and 1, by threshold."""
    count = min(num_thresholds, _MOST_THRESHOLDS)
    labels = array(labels).astype(np.float64)
    weights = 1.0 if weights is None else array(weights)
    buckets = np.int32(np.floor(array(predictions) * (count - 1)))

    def above(weight):
        counts, _ = np.histogram(
            buckets, bins=count, range=(0, count - 1), weights=weight
        )
        return np.cumsum(counts[::-1])[::-1]

    hits, false = above(labels * weights), above((1.0 - labels) * weights)
    misses, rejected = hits[0] - hits, false[0] - false
    precision = hits / np.maximum(1e-7, hits + false)
    recall = hits / np.maximum(1e-7, hits + misses)
    rows = (hits, false, rejected, misses, precision, recall)
    return pr_curve_raw(tag, rows, count)


def custom_scalars(layout: dict) -> Summary:
    """Which numbers share a chart.

    Args:
        layout: by category the charts by name: ("Multiline", tags), or
            ("Margin", [value, lower, upper]).
    """
    from tensorboard.plugins.custom_scalar import layout_pb2

    def chart(title: str, kind: str, tags) -> layout_pb2.Chart:
        if kind != "Margin":
            lines = layout_pb2.MultilineChartContent(tag=tags)
            return layout_pb2.Chart(title=title, multiline=lines)
        if len(tags) != 3:
            raise AssertionError("len(tags) != 3")
        series = layout_pb2.MarginChartContent.Series(
            value=tags[0], lower=tags[1], upper=tags[2]
        )
        margin = layout_pb2.MarginChartContent(series=[series])
        return layout_pb2.Chart(title=title, margin=margin)

    categories = [
        layout_pb2.Category(
            title=name,
            chart=[chart(title, *given[:2]) for title, given in charts.items()],
        )
        for name, charts in layout.items()
    ]
    held = TensorProto(
        dtype="DT_STRING",
        tensor_shape=TensorShapeProto(),
        string_val=[layout_pb2.Layout(category=categories).SerializeToString()],
    )
    tag = "custom_scalars__config__"
    return _summary(tag, _metadata("custom_scalars"), held)


def mesh(tag: str, vertices, colors, faces, config: dict | None) -> Summary:
    """Points in space, with their colours and the triangles between them."""
    from tensorboard.plugins.mesh import metadata
    from tensorboard.plugins.mesh.plugin_data_pb2 import MeshPluginData

    config = "{}" if config is None else json.dumps(config, sort_keys=True)
    given = [
        (vertices, MeshPluginData.VERTEX),
        (faces, MeshPluginData.FACE),
        (colors, MeshPluginData.COLOR),
    ]
    given = [(hotaru.as_tensor(part), kind) for part, kind in given if part is not None]
    components = metadata.get_components_bitmask([kind for _, kind in given])
    values = []
    for part, kind in given:
        held = TensorProto(
            dtype="DT_FLOAT",
            float_val=_numbers(part.detach()),
            tensor_shape=_shape([part.shape[i] for i in range(3)]),
        )
        described = metadata.create_summary_metadata(
            tag, None, kind, components, list(part.shape), None, json_config=config
        )
        name = metadata.get_instance_name(tag, kind)
        values.append(Summary.Value(tag=name, tensor=held, metadata=described))
    return Summary(value=values)
