// The extension hotaru._C.
#include <nanobind/nanobind.h>

#include "bindings/autograd_object.h"
#include "bindings/creation.h"
#include "bindings/errors.h"
#include "bindings/future_object.h"
#include "bindings/generator_object.h"
#include "bindings/graph.h"
#include "bindings/memory.h"
#include "bindings/op_call.h"
#include "bindings/printing.h"
#include "bindings/script_object.h"
#include "bindings/script_source.h"
#include "bindings/shared_memory.h"
#include "bindings/stream.h"
#include "bindings/tensor_object.h"
#include "bindings/threads.h"
#include "bindings/types.h"

NB_MODULE(_C, m) {
  using namespace hotaru::python;
  // The singletons of the module live as long as the process; the library
  // prints nothing.
  nanobind::set_leak_warnings(false);
  init_errors(m);
  init_types(m);
  init_tensor(m);
  init_ops(m);
  init_autograd(m);
  init_creation(m);
  init_dlpack(m);
  init_printing(m);
  init_random(m);
  init_shared_memory(m);
  init_threads(m);
  init_futures(m);
  init_script(m);
  init_script_source(m);
  init_script_class(m);
  init_script_enum(m);
  init_stream(m);
  init_graph(m);
  init_memory(m);
  init_graph_call(m);
}
