"""Records that `SummaryWriter` writes for TensorBoard's plugins."""

from __future__ import annotations

import os
import time

from tensorboard.compat.proto.event_pb2 import Event, TaggedRunMetadata
from tensorboard.plugins.projector.projector_config_pb2 import ProjectorConfig

from . import embedding, media, tables


class Plugins:
    """Methods over `_add`, `_get_file_writer` and `get_logdir`."""

    def add_tensor(self, tag, tensor, global_step=None, walltime=None) -> None:
        """A whole tensor."""
        self._add(tables.tensor_proto(tag, tensor), global_step, walltime)

    def add_hparams(
        self,
        hparam_dict,
        metric_dict,
        hparam_domain_discrete=None,
        run_name=None,
        global_step=None,
    ) -> None:
        """Hyperparameters and what came of them, in a folder of their own.

        Raises:
            TypeError: no dictionaries, or choices of another type.
            ValueError: a value that is no number, text or tensor.
        """
        if type(hparam_dict) is not dict or type(metric_dict) is not dict:
            raise TypeError("hparam_dict and metric_dict should be dictionary.")
        made = tables.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(
            self._get_file_writer().get_logdir(), run_name or str(time.time())
        )
        with type(self)(log_dir=folder) as writer:
            for part in made:
                writer.file_writer.add_summary(part, global_step)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def add_pr_curve(
        self,
        tag,
        labels,
        predictions,
        global_step=None,
        num_thresholds=127,
        weights=None,
        walltime=None,
    ) -> None:
        """Precision and recall of predictions between 0 and 1."""
        made = tables.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag,
        true_positive_counts,
        false_positive_counts,
        true_negative_counts,
        false_negative_counts,
        precision,
        recall,
        global_step=None,
        num_thresholds=127,
        weights=None,
        walltime=None,
    ) -> None:
        """Precision and recall that were computed already.

        weights: has no effect, as the counts have it.
        """
        rows = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
        )
        made = tables.pr_curve_raw(tag, rows, num_thresholds)
        self._add(made, global_step, walltime)

    def add_custom_scalars(self, layout) -> None:
        """Which numbers share a chart: {category: {chart: (kind, tags)}}."""
        self._add(tables.custom_scalars(layout), None, None)

    def add_custom_scalars_multilinechart(
        self, tags, category="default", title="untitled"
    ) -> None:
        """Several numbers in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags, category="default", title="untitled"
    ) -> None:
        """A number with its lower and upper limit."""
        if len(tags) != 3:
            raise AssertionError(f"Expected 3 tags, got {len(tags)}.")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_mesh(
        self,
        tag,
        vertices,
        colors=None,
        faces=None,
        config_dict=None,
        global_step=None,
        walltime=None,
    ) -> None:
        """Points [B, N, 3], their colours, the triangles between them."""
        made = tables.mesh(tag, vertices, colors, faces, config_dict)
        self._add(made, global_step, walltime)

    def add_image_with_boxes(
        self,
        tag,
        img_tensor,
        box_tensor,
        global_step=None,
        walltime=None,
        rescale=1,
        dataformats="CHW",
        labels=None,
    ) -> None:
        """A picture with boxes (left, top, right, bottom) drawn in.

        labels: texts; left out where there are not as many as boxes.
        """
        if isinstance(labels, str):
            labels = [labels]
        if labels is not None and len(labels) != box_tensor.shape[0]:
            labels = None
        made = media.image_boxes(
            tag, img_tensor, box_tensor, rescale, dataformats, labels
        )
        self._add(made, global_step, walltime)

    def add_video(
        self, tag, vid_tensor, global_step=None, fps=4, walltime=None
    ) -> None:
        """Films [N, T, C, H, W], side by side."""
        self._add(media.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self, tag, snd_tensor, global_step=None, sample_rate=44100, walltime=None
    ) -> None:
        """Sound of one channel, between -1 and 1."""
        made = media.audio(tag, snd_tensor, sample_rate)
        self._add(made, global_step, walltime)

    def add_embedding(
        self,
        mat,
        metadata=None,
        label_img=None,
        global_step=None,
        tag="default",
        metadata_header=None,
    ) -> None:
        """Points [N, D] for the projector, with names and pictures."""
        from google.protobuf import text_format

        folder = self._get_file_writer().get_logdir()
        made = embedding.write(
            folder, mat, metadata, label_img, global_step, tag, metadata_header
        )
        if not hasattr(self, "_projector_config"):
            self._projector_config = ProjectorConfig()
        self._projector_config.embeddings.append(made)
        path = os.path.join(folder, "projector_config.pbtxt")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text_format.MessageToString(self._projector_config))

    def add_graph(
        self, model, input_to_model=None, verbose=False, use_strict_trace=True
    ) -> None:
        """A model's graph, of a call with `input_to_model`."""
        from .graph import graph

        made, run = graph(model, input_to_model, verbose, use_strict_trace)
        writer = self._get_file_writer()
        writer.add_event(Event(graph_def=made.SerializeToString()))
        tagged = TaggedRunMetadata(tag="step1", run_metadata=run.SerializeToString())
        writer.add_event(Event(tagged_run_metadata=tagged))
