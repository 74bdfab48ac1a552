"""`SummaryWriter`: numbers, pictures and texts by their step."""

from __future__ import annotations

import os
import socket
import time
from datetime import datetime

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from ..._own_names import no_member
from . import summary
from ._plugins import Plugins

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """One file of events.

    Args:
        log_dir: its folder, which is made.
        max_queue: events that wait before one is written at once.
        flush_secs: how often they are written.
        filename_suffix: the end of the file's name.
    """

    def __init__(
        self,
        log_dir,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        self.event_writer = EventFileWriter(
            str(log_dir), max_queue, flush_secs, filename_suffix
        )

    def get_logdir(self) -> str:
        """The folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event, step=None, walltime=None) -> None:
        """Writes an event of a step, now or at `walltime`."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add_event(event)

    def add_summary(self, made, global_step=None, walltime=None) -> None:
        """Writes a summary as an event."""
        self.add_event(Event(summary=made), global_step, walltime)

    def flush(self) -> None:
        """Writes what waits."""
        self.event_writer.flush()

    def close(self) -> None:
        """Writes what waits and ends the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begins another file after `close`."""
        self.event_writer.reopen()


class SummaryWriter(Plugins):
    """Writes what TensorBoard shows into a folder.

    Args:
        log_dir: the folder; by default runs/ and the time and the machine.
        comment: added to the default's name.
        purge_step: events of this step and later ones are forgotten.
        max_queue, flush_secs, filename_suffix: of `FileWriter`.
    """

    def __init__(
        self,
        log_dir=None,
        comment: str = "",
        purge_step=None,
        max_queue: int = 10,
        flush_secs: int = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            now = datetime.now().strftime("%b%d_%H-%M-%S")
            name = f"{now}_{socket.gethostname()}{comment}"
            log_dir = os.path.join("runs", name)
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue, self.flush_secs = max_queue, flush_secs
        self.filename_suffix = filename_suffix
        self.default_bins = summary.BINS
        self.file_writer = self.all_writers = None
        self._get_file_writer()

    def _file(self, folder) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        """The file, begun again where it was closed."""
        if self.file_writer is None:
            self.file_writer = self._file(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                start = SessionLog(status=SessionLog.START)
                for event in (
                    Event(file_version="brain.Event:2"),
                    Event(session_log=start),
                ):
                    self.file_writer.add_event(event, self.purge_step)
                self.purge_step = None
        return self.file_writer

    def get_logdir(self):
        """The folder."""
        return self.log_dir

    def _add(self, made, global_step, walltime) -> None:
        self._get_file_writer().add_summary(made, global_step, walltime)

    def add_scalar(
        self,
        tag,
        scalar_value,
        global_step=None,
        walltime=None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """One number."""
        made = summary.scalar(tag, scalar_value, new_style, double_precision)
        self._add(made, global_step, walltime)

    def add_scalars(
        self, main_tag, tag_scalar_dict, global_step=None, walltime=None
    ) -> None:
        """Several numbers of one diagram: each in a folder of its own."""
        self._get_file_writer()
        for tag, value in tag_scalar_dict.items():
            name = main_tag.replace("/", "_") + "_" + tag
            folder = os.path.join(str(self.log_dir), name)
            if folder not in self.all_writers:
                self.all_writers[folder] = self._file(folder)
            self.all_writers[folder].add_summary(
                summary.scalar(main_tag, value, False, False), global_step, walltime
            )

    def add_histogram(
        self,
        tag,
        values,
        global_step=None,
        bins="tensorflow",
        walltime=None,
        max_bins=None,
    ) -> None:
        """How values are spread; `bins` as of `numpy.histogram`."""
        made = summary.histogram(tag, values, bins, max_bins)
        self._add(made, global_step, walltime)

    def add_histogram_raw(
        self,
        tag,
        min,
        max,
        num,
        sum,
        sum_squares,
        bucket_limits,
        bucket_counts,
        global_step=None,
        walltime=None,
    ) -> None:
        """A histogram that was counted already."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError(
                "len(bucket_limits) != len(bucket_counts), see the document."
            )
        made = summary.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(made, global_step, walltime)

    def add_image(
        self, tag, img_tensor, global_step=None, walltime=None, dataformats="CHW"
    ) -> None:
        """A picture, of values between 0 and 1 or of bytes."""
        made = summary.image(tag, img_tensor, dataformats)
        self._add(made, global_step, walltime)

    def add_images(
        self, tag, img_tensor, global_step=None, walltime=None, dataformats="NCHW"
    ) -> None:
        """Pictures, side by side."""
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self, tag, figure, global_step=None, close: bool = True, walltime=None
    ) -> None:
        """A figure of matplotlib, or several; closed afterwards."""
        figures = figure if isinstance(figure, list) else [figure]
        pictures = [summary.figure_pixels(one) for one in figures]
        if close:
            import matplotlib.pyplot

            for one in figures:
                matplotlib.pyplot.close(one)
        if isinstance(figure, list):
            import numpy

            stacked = numpy.stack(pictures)
            self.add_image(tag, stacked, global_step, walltime, "NCHW")
        else:
            self.add_image(tag, pictures[0], global_step, walltime, "CHW")

    def add_text(self, tag, text_string, global_step=None, walltime=None) -> None:
        """A text, shown as Markdown."""
        self._add(summary.text(tag, text_string), global_step, walltime)

    def flush(self) -> None:
        """Writes what waits."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Ends the files; the next value begins others."""
        for writer in (self.all_writers or {}).values():
            writer.flush()
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(self, *error) -> None:
        self.close()

    def __getattr__(self, name: str):
        if name == "add_onnx_graph":
            raise NotImplementedError(
                "SummaryWriter.add_onnx_graph is not implemented in hotaru: "
                "add_graph draws the model itself"
            )
        raise no_member(type(self), name)
