// Memory shared between processes, for hotaru.multiprocessing and DataLoader.
#include "hotaru/runtime/shared_memory.h"

#include <optional>

#include "bindings/tensor/shared_memory.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "bindings/tensor/value_convert.h"
#include "hotaru/ops/shape/join.h"

namespace hotaru::python {
namespace {

struct Block {
  Ref<SharedMemory> memory;
};

nb::object block_of(const Tensor& t) {
  Ref<SharedMemory> memory = SharedMemory::find(t.storage()->data());
  if (!memory) return nb::none();
  return nb::cast(Block{std::move(memory)});
}

Tensor tensor_in(const Block& block, nb::handle dtype, nb::handle sizes,
                 nb::handle strides, int64_t offset, bool taken) {
  const Dims shape = to_dims(sizes.ptr());
  const Dims steps =
      strides.is_none() ? contiguous_strides(shape) : to_dims(strides.ptr());
  return shared_tensor(block.memory, to_dtype(dtype.ptr()), shape, steps,
                       offset, taken);
}

}  // namespace

void init_shared_memory(nb::module_& m) {
  nb::class_<Block>(m, "_SharedMemory")
      .def_static(
          "create",
          [](size_t nbytes) { return Block{SharedMemory::create(nbytes)}; })
      .def_static(
          "map",
          [](int descriptor) { return Block{SharedMemory::map(descriptor)}; })
      .def_static("of", &block_of)
      .def_prop_ro("address",
                   [](const Block& b) { return uintptr_t(b.memory->data()); })
      .def_prop_ro("nbytes", [](const Block& b) { return b.memory->nbytes(); })
      .def_prop_ro("descriptor",
                   [](const Block& b) { return b.memory->descriptor(); })
      .def_prop_ro("idle", [](const Block& b) { return b.memory->idle(); })
      .def("close_descriptor",
           [](const Block& b) { b.memory->close_descriptor(); })
      .def("take", [](const Block& b) { b.memory->take(); })
      .def("give_back", [](const Block& b) { b.memory->give_back(); })
      .def("tensor", &tensor_in, nb::arg("dtype"), nb::arg("sizes"),
           nb::arg("strides") = nb::none(), nb::arg("offset") = 0,
           nb::arg("taken") = false);
  m.def("_share_storage", [](const Tensor& t) { share(*t.storage()); });
  m.def(
      "_stack_into",
      [](const Tensor& out, nb::list tensors) {
        Tensors rows;
        rows.reserve(tensors.size());
        for (nb::handle item : tensors) rows.push_back(nb::cast<Tensor>(item));
        stack_into(out, rows);
      },
      nb::arg("out"), nb::arg("tensors"),
      "Writes stack(tensors) into `out`; without gradients.");
}

}  // namespace hotaru::python
