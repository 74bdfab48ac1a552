"""Switches of PyTorch's compiler of kernels, by their names.

Kernels are compiled before a program runs here, so none of these changes
anything: programs read them, set them and set them back. They have the values
that PyTorch has at first.
"""

from __future__ import annotations

import sys

from .._utils.switches import Switches, read_table

_WITHOUT_EFFECT = """
    inplace_padding=True can_inplace_pad_graph_input=False
    enable_auto_functionalized_v2=True debug=False disable_progress=True
    verbose_progress=False worker_log_path=None
    precompilation_timeout_seconds=300 fx_graph_cache=True
    remote_gemm_autotune_cache=False fx_graph_remote_cache=None
    bundle_triton_into_fx_graph_cache=True
    non_blocking_remote_cache_write=True autotune_local_cache=True
    autotune_remote_cache=None bundled_autotune_remote_cache=None
    force_disable_caches=False
    unsafe_skip_cache_dynamic_shape_guards=False
    sleep_sec_TESTING_ONLY=None
    triton_kernel_default_layout_constraint='needs_fixed_stride_order'
    cpp_wrapper=False cpp_wrapper_build_separate=False fx_wrapper=False
    cpp_cache_precompile_headers=True online_softmax=True
    apply_gumbel_max_trick=True dce=False static_weight_shapes=True
    size_asserts=True nan_asserts=False runtime_triton_nan_asserts=False
    scalar_asserts=True alignment_asserts=True pick_loop_orders=True
    inplace_buffers=True allow_buffer_reuse=True memory_planning=False
    use_fast_math=False memory_pool='intermediates' benchmark_harness=True
    epilogue_fusion=True epilogue_fusion_with_atomic_add=False
    prologue_fusion=True epilogue_fusion_first=False
    epilogue_fusion_user_defined_triton_kernel=False pattern_matcher=True
    b2b_gemm_pass=False post_grad_custom_pre_pass=None
    post_grad_custom_post_pass=None custom_partitioner_fn=None
    joint_custom_pre_pass=None joint_custom_post_pass=None
    pre_grad_custom_pass=None split_cat_fx_passes=True
    efficient_conv_bn_eval_fx_passes=False group_fusion=False
    batch_fusion=True reorder_for_locality=True dynamic_scale_rblock=True
    force_fuse_int_mm_with_mul=False keep_addmm_fused_for_half_dtypes=True
    use_mixed_mm=True mixed_mm_choice='heuristic'
    reorder_for_compute_comm_overlap=False
    reorder_for_compute_comm_overlap_passes=[] reorder_prefetch_limit=None
    reorder_for_peak_memory=True reorder_for_peak_memory_debug=False
    size_threshold_for_succ_based_strategy=0 bucket_all_gathers_fx='none'
    bucket_all_gathers_fx_bucket_size_determinator=None
    bucket_all_gathers_bucket_mode='default' dedup_reduce_scatters=False
    bucket_reduce_scatters_fx='none'
    bucket_reduce_scatters_fx_bucket_size_determinator=None
    bucket_reduce_scatters_bucket_mode='default'
    bucket_all_reduces_fx='none'
    bucket_all_reduces_fx_bucket_size_determinator=None
    estimate_op_runtime='default' runtime_estimations_mms_benchmark=False
    intra_node_bw=None inter_node_bw=None cpu_gpu_bw=50.0
    use_experimental_benchmarker=True distributed_max_autotune_gemm=False
    pipeline_max_autotune_gemm=False use_torch_profiler_benchmarker=False
    max_autotune=False max_autotune_pointwise=False
    max_autotune_gemm=False incremental_autotune=False
    inductor_default_autotune_warmup=25 inductor_default_autotune_rep=100
    autotune_num_choices_displayed=10
    max_autotune_report_choices_stats=True
    max_autotune_prune_choices_based_on_shared_mem=False
    triton_disable_device_detection=False graph_partition=True
    cudagraph_policy=None custom_should_partition_ops=[]
    cudagraph_unsafe_unbacked_ops=[]
    max_autotune_allow_flexible_layouts=False multi_kernel_hints=[]
    max_autotune_gemm_backends='ATEN,TRITON,CPP'
    nvgemm_max_profiling_configs=5 nvgemm_supplement_configs=False
    max_autotune_conv_backends='ATEN,TRITON'
    max_autotune_conv_bwd_weight_backends='ATEN'
    max_autotune_conv_bwd_input_backends='ATEN'
    max_autotune_gemm_search_space='DEFAULT'
    max_autotune_flex_search_space='DEFAULT' fallback_by_default=False
    selective_decompose=False use_dce=True use_pre_grad_passes=True
    pre_grad_pass_timing='default' use_joint_graph_passes=True
    use_post_grad_passes=True cutedsl_enable_autotuning=False
    autotune_fallback_to_aten=False unbacked_symint_fallback=8192
    search_autotune_cache=False save_args=False autotune_in_subproc=False
    max_autotune_subproc_result_timeout_seconds=60.0
    max_autotune_subproc_graceful_timeout_seconds=0.0
    max_autotune_subproc_terminate_timeout_seconds=0.0
    autotune_multi_device=False collective_benchmark_nruns=50
    collective_benchmark_timeout=30.0 coordinate_descent_tuning=False
    coordinate_descent_check_all_directions=False
    coordinate_descent_search_radius=1 run_jit_post_compile_hook=False
    autoheuristic_log_path='DEFAULT' layout_opt_default='1'
    layout_optimization=True force_layout_optimization=False
    cache_sdpa_constraint=False keep_output_stride=True
    warn_mix_layout=False realize_reads_threshold=4
    realize_opcount_threshold=None realize_cpu_opcount_threshold=50
    realize_acc_reads_threshold=None realize_cpu_acc_reads_threshold=12
    realize_acc_reads_size_threshold=None delay_realize_cheap_outputs=True
    fallback_random=False align_random_eager=False
    fallback_embedding_bag_byte_unpack=False implicit_fallbacks=True
    assume_unaligned_fallback_output=False inductor_choices_class=None
    aggressive_fusion=False debug_fusion=False benchmark_fusion=False
    enabled_metric_tables='' loop_ordering_after_fusion=True
    loop_reindexing_after_fusion=True loop_index_inversion_in_fusion=True
    score_fusion_memory_threshold=10 benchmark_epilogue_fusion=True
    max_epilogue_benchmarked_choices=1 max_fusion_size=64
    min_overlap_ratio=1.1 max_fusion_buffer_group_pairwise_attempts=64
    max_fusion_unique_io_buffers=None max_complex_pointwise_cat_inputs=8
    max_pointwise_cat_inputs=8 force_pointwise_cat=False
    unroll_reductions_threshold=8 comment_origin=False
    conv_1x1_as_mm=False split_reductions=True deterministic=False
    batch_invariant=False min_num_split=0 benchmark_kernel=False
    constant_and_index_propagation=True always_keep_tensor_constants=False
    assert_indirect_indexing=True do_not_emit_runtime_assertions=False
    compute_all_bounds=False combo_kernels=False
    benchmark_combo_kernel=False combo_kernels_autotune=1
    combo_kernel_allow_mixed_sizes=1
    combo_kernel_foreach_dynamic_shapes=True combo_kernel_max_num_args=250
    combo_kernel_max_num_nodes=8 combo_kernel_per_subkernel_blocks=False
    combo_kernel_autotune_grouping=True combo_kernels_pointwise_only=False
    combo_kernel_peak_memory_increase_gb=None
    combo_kernel_peak_memory_pct_threshold=0.05
    combo_kernel_max_distance=-1 joint_graph_constant_folding=True
    debug_index_asserts=False developer_warnings=False
    optimize_scatter_upon_const_tensor=True add_pre_grad_passes=None
    remove_pre_grad_passes=None disabled_passes=''
    small_memory_access_threshold=16777216 worker_suppress_logging=True
    log_tlparse=False partitioned_scatter_enabled=False
    partitioned_scatter_min_partitions=2
    partitioned_scatter_max_partitions=128
    partitioned_scatter_memory_budget=0.1 quiesce_async_compile_pool=True
    quiesce_async_compile_time=60 use_static_cuda_launcher=True
    use_static_triton_launcher=True
    static_launch_user_defined_triton_kernels=False
    strict_static_cuda_launcher=False strict_static_triton_launcher=False
    keep_static_cubin_raw=False use_fast_triton_launcher=True
    use_launch_metadata_schema=True global_cache_dir=None
    kernel_name_max_ops=10 shape_padding=True comprehensive_padding=True
    pad_channels_last=False pad_dynamic_shapes=False
    disable_padding_cpu=True expand_dimension_for_pointwise_nodes=False
    padding_alignment_bytes=128 padding_stride_threshold=1024
    pad_outputs=False bw_outputs_user_visible=True force_shape_pad=False
    permute_fusion=False profiler_mark_wrapper_call=False
    generate_intermediate_hooks=False debug_ir_traceback=False
    profile_bandwidth=False profile_bandwidth_regex=''
    profile_bandwidth_output=None
    profile_bandwidth_with_do_bench_using_profiling=False
    disable_cpp_codegen=False freezing=False
    freezing_discard_parameters=False decompose_mem_bound_mm=False
    wrap_inductor_compiled_regions=False assume_aligned_inputs=False
    assume_32bit_indexing=False
    unsafe_ignore_unsupported_triton_autotune_args=False
    check_stack_no_cycles_TESTING_ONLY=False
    force_disable_cudagraph_TESTING_ONLY=False
    enable_linear_binary_folding=False annotate_training=False
    enable_caching_generated_triton_templates=True file_lock_timeout=600
    compile_worker_wait_timeout=0 enable_autograd_for_aot=False
    torchinductor_worker_logpath='' cpp.threads=-1
    cpp.no_redundant_loops=True cpp.dynamic_threads=False cpp.simdlen=None
    cpp.min_chunk_size=512 cpp.march=None cpp.enable_kernel_profile=False
    cpp.weight_prepack=True cpp.inject_relu_bug_TESTING_ONLY=None
    cpp.inject_log1p_bug_TESTING_ONLY=None cpp.vec_isa_ok=None
    cpp.descriptive_names='original_aten'
    cpp.max_horizontal_fusion_size=16 cpp.fallback_scatter_reduce_sum=True
    cpp.enable_unsafe_math_opt_flag=False
    cpp.enable_floating_point_contract_flag='off'
    cpp.enable_tiling_heuristics=True
    cpp.enable_grouped_gemm_template=False cpp.gemm_max_k_slices=1
    cpp.gemm_cache_blocking=None cpp.gemm_thread_factors=None
    cpp.enable_loop_tail_vec=True cpp.enable_concat_linear=False
    cpp.use_decompose_tanh=False cpp.use_small_dequant_buffer=False
    cpp.force_inline_kernel=False cpp.use_constexpr_for_int_array=True
    cpp.use_two_step_variance_threshold=1024 triton.cudagraphs=False
    triton.cudagraph_trees=True triton.cudagraph_skip_dynamic_graphs=False
    triton.cudagraph_capture_sizes=None
    triton.cudagraph_min_partition_size=0
    triton.slow_path_cudagraph_asserts=True
    triton.cudagraph_trees_history_recording=False
    triton.cudagraph_trees_objgraph=False
    triton.cudagraph_support_input_mutation=True
    triton.cudagraph_unexpected_rerecord_limit=128
    triton.cudagraph_dynamic_shape_warn_limit=8
    triton.force_cudagraph_sync=False triton.force_cudagraphs_warmup=False
    triton.cudagraph_or_error=False
    triton.reorder_for_reducing_graph_partitions=True
    triton.cudagraph_partition_memory_budget=1.1
    triton.fast_path_cudagraph_asserts=False
    triton.skip_cudagraph_warmup=False triton.debug_sync_graph=False
    triton.debug_sync_kernel=False triton.dense_indexing=False
    triton.coalesce_tiling_analysis=True triton.max_tiles=None
    triton.prefer_nd_tiling=False triton.autotune_pointwise=True
    triton.autotune_cublasLt=True triton.autotune_at_compile_time=None
    triton.autotune_with_sample_inputs=False triton.tile_reductions=False
    triton.native_matmul=False
    triton.tiling_prevents_pointwise_fusion=True
    triton.tiling_prevents_reduction_fusion=True
    triton.unique_kernel_names=True triton.unique_user_kernel_names=False
    triton.descriptive_names='original_aten'
    triton.persistent_reductions=True triton.decompose_sort_ops=False
    triton.cooperative_reductions=False
    triton.force_cooperative_reductions=False
    triton.use_two_step_variance_min_numel=1024
    triton.use_two_step_variance_threshold=32768 triton.multi_kernel=0
    triton.divisible_by_16=True triton.emit_pointer_range_32=True
    triton.min_split_scan_rblock=256 triton.store_cubin=False
    triton.spill_threshold=16 triton.use_block_ptr=False
    triton.use_tensor_descriptor=False
    triton.transpose_discontiguous_tensor_descriptor=True
    triton.inject_relu_bug_TESTING_ONLY=None
    triton.codegen_upcast_to_fp32=True
    triton.enable_persistent_tma_matmul=False
    triton.enable_template_tma_store=False
    triton.enable_tma_load_for_template_epilogue=False
    triton.skip_l1_cache=False
    triton.disallow_failing_autotune_kernels_TESTING_ONLY=False
    triton.num_decompose_k_splits=10 triton.decompose_k_threshold=32
    triton.enable_pdl=False triton.mix_order_reduction=True
    triton.mix_order_reduction_initial_xblock=1
    triton.mix_order_reduction_split_size=None
    triton.mix_order_reduction_autotune_split_size=False
    triton.mix_order_reduction_non_strict_mode=False
    triton.mix_order_reduction_max_reads=10
    triton.mix_order_reduction_allow_multi_stages=True
    triton.nested_reduction=False triton.max_kernel_dump_occurrences=3
    triton.proton_profiling=False triton.proton_output_dir=None
    triton.proton_group_by_sm=True triton.proton_split_invocations=True
    triton.proton_per_cta_occupancy=True
    triton.dynamic_disable_pipelining=True
    aot_inductor.autotune_per_kernel_alloc=False
    aot_inductor.output_path='' aot_inductor.debug_compile=False
    aot_inductor.debug_symbols=False
    aot_inductor.enable_frame_pointer=True
    aot_inductor.enable_line_tables=True
    aot_inductor.compile_wrapper_opt_level='O1'
    aot_inductor.debug_intermediate_value_printer='0'
    aot_inductor.filtered_kernel_names=None
    aot_inductor.serialized_in_spec='' aot_inductor.serialized_out_spec=''
    aot_inductor.use_runtime_constant_folding=False
    aot_inductor.force_mmap_weights=False
    aot_inductor.use_consts_asm_build=True aot_inductor.package=False
    aot_inductor.package_cpp_only=None aot_inductor.dynamic_linkage=True
    aot_inductor.raise_error_on_ignored_optimization=True
    aot_inductor.check_lowerbound=True
    aot_inductor.dump_aoti_minifier=False aot_inductor.repro_level=2
    aot_inductor.allow_stack_allocation=False
    aot_inductor.use_minimal_arrayref_interface=False
    aot_inductor.weight_use_caching_allocator=False
    aot_inductor.package_constants_in_so=True
    aot_inductor.package_constants_on_disk_format=None
    aot_inductor.precompile_headers=True
    aot_inductor.embed_kernel_binary=None
    aot_inductor.emit_multi_arch_kernel=None
    aot_inductor.model_name_for_generated_files=None
    aot_inductor.custom_op_libs=None aot_inductor.enable_lto=False
    aot_inductor.link_libtorch=True
    aot_inductor.cross_target_platform=None
    aot_inductor.aoti_shim_library=None
    aot_inductor.aoti_shim_library_path=None cpu_backend='cpp'
    tpu_backend='pallas' xpu_backend='triton' external_matmul=[]
    write_are_deterministic_algorithms_enabled=True
    emulate_precision_casts=False
    emulate_precision_casts_on_saved_tensors=True
"""

_module = sys.modules[__name__]
_module.__class__ = Switches
_module.fill(read_table(_WITHOUT_EFFECT))
