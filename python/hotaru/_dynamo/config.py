"""Switches that programs set by PyTorch's names for them.

Each is read by what the comment says; those of the table below change nothing.
"""

from __future__ import annotations

import sys

from .._utils.switches import Switches, read_table

# Set if fake tensors remember what results look like, for each mode.
fake_tensor_cache_enabled: bool = True
# Set if they compute results nevertheless, and compare.
fake_tensor_cache_crosscheck_enabled: bool = False
# Graphs that `compile` keeps of a function, one for each kind of call; those
# of functions that are compiled from then on.
recompile_limit: int = 8
# Set if `compile` gives functions back as they are.
disable: bool = False
# Lets what has no graph run without: it does, unless fullgraph is asked.
suppress_errors: bool = False
# Makes a graph be for one size of each argument at first: it always is.
assume_static_by_default: bool = True
dynamic_shapes: bool = True
automatic_dynamic_shapes: bool = True
# Makes numbers read from tensors parts of graphs: they never are.
capture_scalar_outputs: bool = False
capture_dynamic_output_shape_ops: bool = False

# Switches that change nothing here, with the values that PyTorch has at first:
# programs read them, set them and set them back.
_WITHOUT_EFFECT = """
    log_file_name=None verbose=False verify_correctness=False
    leaf_function_validate_outputs=False
    leaf_function_check_escaped_gradients=False minimum_call_count=1
    dead_code_elimination=None replay_side_effects=True
    generate_pycode=False side_effect_replay_policy='info'
    accumulated_recompile_limit=256
    skip_code_recursive_on_recompile_limit_hit=True
    fail_on_recompile_limit_hit=False specialize_int=False
    specialize_float=False use_lazy_graph_module=True
    automatic_dynamic_shapes_mark_as='dynamic'
    automatic_dynamic_exclusion_guard=False
    log_graph_in_out_metadata=False force_parameter_static_shapes=True
    force_nn_module_property_static_shapes=True
    allow_ignore_mark_dynamic=False guard_nn_modules=True
    guard_nn_modules_using_dict_tags=True prepare_freezing=False
    replay_record_enabled=False rewrite_assert_with_torch_assert=True
    cprofile=False dynamo_profiler=False same_two_models_use_fp64=True
    prefer_deferred_runtime_asserts_over_guards=False
    force_unspec_int_unbacked_size_like_on_torchrec_kjt=False
    allow_unspec_int_on_nn_module=False optimize_ddp=True
    do_not_emit_runtime_asserts=False skip_torchrec=True
    dont_skip_tracing=False optimize_ddp_lazy_compile=False
    use_lamba_guard_for_object_aliasing=True skip_fsdp_guards=True
    skip_nnmodule_hook_guards=True
    skip_no_tensor_aliasing_guards_on_parameters=True
    skip_tensor_guards_with_matching_dict_tags=True
    skip_guards_on_constant_func_defaults=False
    assume_dunder_attributes_remain_unchanged=True
    use_recursive_dict_tags_for_guards=False
    max_saved_pointers_for_recursive_dict_tags_check=256
    raise_on_ctx_manager_usage=True raise_on_unsafe_aot_autograd=False
    error_on_nested_jit_trace=True error_on_nested_fx_trace=True
    force_compile_during_fx_trace=False allow_rnn=False
    capture_sparse_compute=True error_on_recompile=False
    report_guard_failures=True trace_numpy=True trace_autograd_ops=False
    numpy_default_float='float64' numpy_default_complex='complex128'
    numpy_default_int='int64' use_numpy_random_stream=False
    enable_cpp_guard_manager=True enable_cpp_symbolic_shape_guards=False
    enable_trace_contextlib=True enable_trace_unittest=False
    enable_trace_load_build_class=False
    enable_faithful_generator_behavior=True inline_inbuilt_nn_modules=True
    nested_graph_breaks=False
    error_on_dynamo_callback_in_fullgraph_compiled_code=False
    install_free_tensors=False install_free_tensors_for_export=True
    enable_cpp_framelocals_guard_eval=True use_graph_deduplication=False
    track_nodes_for_deduplication=False graph_deduplication_lint=False
    issue_3_13_0_warning=True allow_empty_graphs=False
    record_compile_time_instruction_count=False
    cudagraph_backend_keep_input_mutation=False
    cudagraph_backend_support_input_mutation=False
    only_allow_pt2_compliant_ops=False capture_autograd_function=True
    capture_func_transforms=True capture_profiler_record_function=False
    log_compilation_metrics=True fake_tensor_disable_inference_mode=True
    caching_precompile=False strict_precompile=False
    compiled_autograd=False enable_dynamo_decompositions=True
    graph_break_on_nn_param_ctor=True
    inline_torch_dispatch_torch_compile=True
    skip_fwd_side_effects_in_bwd_under_checkpoint=False
    enable_compiler_collectives=False enable_p2p_compilation=False
    automatic_dynamic_local_pgo=True automatic_dynamic_remote_pgo=None
    pt2_compile_id_prefix=None run_gc_after_compile=True
    constant_fold_autograd_profiler_enabled=False wrap_top_frame=False
    record_runtime_overhead=True enable_aot_compile=True
    enable_invoke_subgraph_regional_compile=False
    inline_invoke_subgraph=False inline_single_use_invoke_subgraph=True
    invalidate_compile_context_weakrefs=None
"""
reorderable_logging_functions: set = set()
ignore_logger_methods: set = set()
ignore_logging_functions: set = set()
traceable_tensor_subclasses: set = set()
nontraceable_tensor_subclasses: set = set()

_ALIASES = {
    "cache_size_limit": "recompile_limit",
    "accumulated_cache_size_limit": "accumulated_recompile_limit",
    "fail_on_cache_limit_hit": "fail_on_recompile_limit_hit",
    "skip_code_recursive_on_cache_limit_hit": (
        "skip_code_recursive_on_recompile_limit_hit"
    ),
}

_module = sys.modules[__name__]
_module.__class__ = Switches
_module.fill(read_table(_WITHOUT_EFFECT))
