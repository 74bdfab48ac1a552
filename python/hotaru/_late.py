"""Names that upper packages lend to lower ones.

A file imports what stands below it, in the order that
`scripts/layers/python_order.py` has. PyTorch's API goes the other way here and
there: a tensor makes a sparse one of itself, a layer talks to other processes.
Whoever stands below then asks `lent(name)` when it is called, and the row of
that name says which upper module has the thing. No other file names a module in
a text.

The lint holds that every row names something that is there, that somebody asks
for it, and that it could not have been imported.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module

from ._own_names import no_attribute

# By name, "module:what it has"; without a colon the module itself.
LENT = {
    # Methods of Tensor that are made of tensors, or make tensors of other
    # kinds. The extension takes them from here by their names.
    "nonzero": "functional:nonzero",
    "norm": "functional:norm",
    "stft": "functional:stft",
    "unique": "functional:unique",
    "unique_consecutive": "functional:unique_consecutive",
    "lu": "_lowrank:_lu",
    "to_dense": "sparse.convert:to_dense",
    "to_sparse": "sparse.convert:to_sparse",
    "to_sparse_coo": "sparse.convert:to_sparse_coo",
    "to_sparse_csr": "sparse.convert:to_sparse_csr",
    "to_sparse_csc": "sparse.convert:to_sparse_csc",
    "to_sparse_bsr": "sparse.convert:to_sparse_bsr",
    "to_sparse_bsc": "sparse.convert:to_sparse_bsc",
    "sparse_mask": "sparse.masks:sparse_mask",
    "smm": "sparse.coo.products:smm",
    "sspaddmm": "sparse.coo.products:sspaddmm",
    "hspmm": "sparse.coo.products:hspmm",
    "to_mkldnn": "_onednn.convert:to_mkldnn",
    "dequantize": "_quantized.create:dequantize",
    "int_repr": "_quantized.create:int_repr",
    "q_per_channel_axis": "_quantized.create:q_per_channel_axis",
    "q_per_channel_scales": "_quantized.create:q_per_channel_scales",
    "q_per_channel_zero_points": "_quantized.create:q_per_channel_zero_points",
    "q_scale": "_quantized.create:q_scale",
    "q_zero_point": "_quantized.create:q_zero_point",
    "qscheme": "_quantized.create:qscheme",
    "polar_factors": "autograd._hermitian:polar",
    "matrix_sqrth": "autograd._hermitian:matrix_sqrth",
    # Classes of tensors are told what answers them: handlers need the class.
    "sparse_kind": "sparse._kind:SPARSE",
    "onednn_kind": "_onednn.tensor:ONEDNN",
    "onednn_functions": "_onednn.functions",
    "assign_sparse": "sparse.inplace:assign",
    "text_of_sparse": "sparse.printing:text",
    "each_once": "sparse.coo:each_once",
    "values_at": "sparse.masks:values_at",
    "sparse_masks": "masked.maskedtensor.sparse_layouts",
    "make_wrapper": "_dispatch.wrappers:make",
    "return_types": "return_types",
    "copy_wrapper": "_dispatch.wrappers:copied",
    # Pickles and copies of all kinds of tensors begin at the tensor.
    "copied_sparse": "sparse.pickling:copied",
    "reduce_sparse": "sparse.pickling:reduce",
    "sparse_of_parts": "sparse.pickling:_rebuild_sparse_tensor",
    "nested_of_tables": "nested._packed:from_tables",
    "jagged_tensors": "nested._jagged",
    "reduce_quantized": "_quantized.pickling:reduce",
    "quantized_of_parts": "_quantized.pickling:rebuild",
    "parameter": "nn.parameter",
    "save": "serialization:save",
    "load": "serialization:load",
    "share_memory": "multiprocessing.reductions:share",
    # Names of PyTorch's extension that are written in Python here.
    "parse_to": "nn.modules._aspects.conversion:parse_to",
    "flatten_dense_tensors": "_utils.flat:_flatten_dense_tensors",
    "unflatten_dense_tensors": "_utils.flat:_unflatten_dense_tensors",
    "is_tracing": "jit:is_tracing",
    "FileCheck": "testing._file_check:FileCheck",
    "nested_from_mask": "nested.create:_nested_tensor_from_mask",
    "nested_is_left_aligned": ("nested.create:_nested_tensor_from_mask_left_aligned"),
    "nested_of_list": "nested.create:as_nested_tensor",
    "PyTorchFileReader": "serialization._file_classes:PyTorchFileReader",
    "PyTorchFileWriter": "serialization._file_classes:PyTorchFileWriter",
    "Block": "jit._ir:Block",
    "Graph": "jit._ir:Graph",
    "Node": "jit._ir:Node",
    "Use": "jit._ir:Use",
    "Value": "jit._ir:Value",
    "parse_ir": "jit._ir:parse_ir",
    "_create_function_from_graph": "jit._ir.program:create_function_from_graph",
    "passes": "jit._passes.names:NAMES",
    "source_of_graph": "jit._ir.program:source_of_graph",
    "CompilationUnit": "jit:CompilationUnit",
    "InferredType": "fx._infer:InferredType",
    "_jit_pass_canonicalize": "jit._ir.passes:canonicalize",
    "_jit_pass_inline": "jit._ir.passes:inline",
    "_jit_pass_lint": "jit._ir.passes:lint",
    "_freeze_module": "jit._native_module:_freeze_module",
    "_Await": "_awaits:_Await",
    "_are_functorch_transforms_active": (
        "autograd._transforms:_are_functorch_transforms_active"
    ),
    "functorch_extension": "_functorch.extension",
    "_jit_try_infer_type": "fx._infer:try_infer_type",
    "_EnableTorchFunction": "overrides:_EnableTorchFunction",
    "questions": "_operators.questions:NAMES",
    # Operators and devices, of those who are built upon them.
    "current_accelerator": "accelerator:current_accelerator",
    "cuda_is_available": "cuda.devices:is_available",
    "cuda_index": "cuda.devices:device_index",
    "qualified_name": "fx._names:qualified_name",
    "register_flatten_spec": "fx._pytree:register_pytree_flatten_spec",
    "define_quantized": "_quantized.joined:define",
    "define_onednn": "_onednn.functions:define",
    "define_prims": "_prims.operators:define",
    "define_composed": "_library.composed:define",
    "namespace": "_ops.namespaces:namespace",
    "dispatch_questions": "_dispatch.questions",
    "derivatives": "_dispatch.derivative:Derivatives",
    "higher_order_operators": "_higher_order_ops",
    "torchvision": "_torchvision",
    "_sparse_compressed_tensor_with_dims": (
        "sparse.compressed.create:_sparse_compressed_tensor_with_dims"
    ),
    "dispatch_again": "_dispatch.stack:again",
    # Derivatives by transforms, and by differences of sparse tensors.
    "vmap": "func:vmap",
    "map_slices": "_vmap_internals:_vmap",
    "functional_call": "func:functional_call",
    "pushforward": "func._forward:Pushforward",
    "moved": "sparse.moved",
    "moved_onednn": "_onednn.moved",
    # A layer among processes.
    "distributed": "distributed",
    "c10d": "distributed.distributed_c10d",
    "rpc_extension": "distributed.rpc._extension",
    "batch_norm_of_all": "distributed.nn.batch_norm:batch_norm",
    "BackwardHook": "utils._backward_hook:BackwardHook",
    # Graphs are of modules; what runs them in their place is of graphs.
    "graphs": "graphs",
    "is_capturing": "graphs:is_current_stream_capturing",
    "compile_in_place": "graphs._compile:compile_in_place",
    "inductor_options": "_inductor:list_options",
    "xla": "_xla.graphed",
    "dynamo": "_dynamo",
    "dynamo_config": "_dynamo.config",
    # Looked for where a program has imported it, and else of no concern.
    "optim": "optim",
    "backends": "backends",
    "OwnClass": "classes:OwnClass",
    "ClassNamespace": "classes:ClassNamespace",
    "DefinedPacket": "_ops:DefinedPacket",
    "DefinedOverload": "_ops:DefinedOverload",
    # Archives of scripts lie in packages, whose importer reads them.
    "DirectoryReader": "package._directory_reader:DirectoryReader",
    "packaged_script": "package._script_archives:read_module",
}


@cache
def _module(name: str):
    return import_module(f"{__package__}.{name}")


def lent(name: str):
    """Returns what an upper package lends by that name; its module is loaded
    now.

    KeyError: there is no such row.
    """
    module, _, inside = LENT[name].partition(":")
    found = _module(module)
    return getattr(found, inside) if inside else found


def loaded(name: str):
    """The same, or None while no program has imported its module."""
    module, _, inside = LENT[name].partition(":")
    found = sys.modules.get(f"{__package__}.{module}")
    return getattr(found, inside) if found and inside else found


def __getattr__(name: str):
    """Methods of Tensor, which the extension takes from here by their names."""
    if name in LENT:
        return lent(name)
    raise no_attribute(__name__, name)
