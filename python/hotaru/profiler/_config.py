"""Options of a profile that only PyTorch's library of events has."""

from __future__ import annotations


class _ExperimentalConfig:
    """Options by name, as `torch._C._profiler` has them.

    Traces have call stacks wherever these are kept, which is `verbose`; other
    options are a warning of the profile that gets them.
    """

    def __init__(
        self,
        profiler_metrics: list[str] = [],  # noqa: B006
        profiler_measure_per_kernel: bool = False,
        verbose: bool = False,
        performance_events: list[str] = [],  # noqa: B006
        enable_cuda_sync_events: bool = False,
        adjust_profiler_step: bool = False,
        disable_external_correlation: bool = False,
        profile_all_threads: bool = False,
        capture_overload_names: bool = False,
        record_python_gc_info: bool = False,
        expose_kineto_event_metadata: bool = False,
        custom_profiler_config: str = "",
        adjust_timestamps: bool = False,
        trace_only: bool = False,
    ) -> None:
        given = dict(locals())
        del given["self"], given["verbose"]
        self.trace_only, self.verbose = trace_only, verbose
        self.custom_profiler_config = custom_profiler_config
        self._asked = [name for name, value in given.items() if value]


def asked_for(config) -> list[str]:
    """Names of what a configuration asks for that there is not."""
    if config is None:
        return []
    return getattr(config, "_asked", ["experimental_config"])
