// The extension hotaru._C.
#include <nanobind/nanobind.h>

#include "bindings/autograd/autograd_object.h"
#include "bindings/comm/process_group.h"
#include "bindings/comm/stores.h"
#include "bindings/errors.h"
#include "bindings/exchange/cpp_api.h"
#include "bindings/exchange/exchange.h"
#include "bindings/graph/graph.h"
#include "bindings/graph/surroundings.h"
#include "bindings/graph/tensor_state.h"
#include "bindings/io/new_file.h"
#include "bindings/io/weights.h"
#include "bindings/ops/attention_kinds.h"
#include "bindings/ops/dispatch.h"
#include "bindings/ops/op_call.h"
#include "bindings/ops/override.h"
#include "bindings/ops/own_ops.h"
#include "bindings/ops/quantization.h"
#include "bindings/provider/provider.h"
#include "bindings/runtime/accelerator.h"
#include "bindings/runtime/callers.h"
#include "bindings/runtime/determinism.h"
#include "bindings/runtime/future_object.h"
#include "bindings/runtime/generator_object.h"
#include "bindings/runtime/own_kernel.h"
#include "bindings/runtime/stream.h"
#include "bindings/runtime/threads.h"
#include "bindings/script/exported_program.h"
#include "bindings/script/script_object.h"
#include "bindings/script/script_own.h"
#include "bindings/script/script_source.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/buffer.h"
#include "bindings/tensor/creation.h"
#include "bindings/tensor/default_device.h"
#include "bindings/tensor/memory.h"
#include "bindings/tensor/printing.h"
#include "bindings/tensor/shared_memory.h"
#include "bindings/tensor/sparse_object.h"
#include "bindings/tensor/storage_object.h"
#include "bindings/tensor/tensor_number.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"

NB_MODULE(_C, m) {
  using namespace hotaru::python;
  // The singletons of the module live as long as the process; the library
  // prints nothing.
  nanobind::set_leak_warnings(false);
  init_stable_abi();
  init_errors(m);
  init_types(m);
  init_default_device(m);
  init_tensor(m);
  overrides::init_overrides(m);
  init_storage(m);
  init_sparse(m);
  dispatch::init_dispatch(m);
  init_ops(m);
  init_own_ops(m);
  init_quantization(m);
  init_autocast(m);
  init_autograd(m);
  init_buffer(m);
  init_creation(m);
  init_numbers(m);
  init_dlpack(m);
  init_printing(m);
  init_random(m);
  init_shared_memory(m);
  init_callers(m);
  init_threads(m);
  init_determinism(m);
  init_attention_kinds(m);
  init_futures(m);
  init_script(m);
  init_script_source(m);
  init_script_class(m);
  init_script_enum(m);
  init_own_classes(m);
  init_script_operators(m);
  init_script_container(m);
  init_exchange(m);
  init_cpp_api(m);
  init_provider(m);
  init_onnx_export(m);
  init_weights(m);
  init_new_file(m);
  init_exported_program(m);
  init_stream(m);
  init_own_kernel(m);
  init_accelerator(m);
  init_graph(m);
  init_memory(m);
  init_surroundings(m);
  init_graph_call(m);
  init_tensor_state(m);
  // Parts that need Python's modules enum and datetime, which take longer to
  // import than the rest of the extension to make.
  m.def("_make_distributed", [] {
    nanobind::module_ itself = nanobind::module_::import_("hotaru._C");
    init_stores(itself);
    init_process_group(itself);
  });
}
