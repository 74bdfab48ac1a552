#include "bindings/tensor/memory.h"

#include "hotaru/backend/cpu/block_cache.h"

namespace hotaru::python {

void init_memory(nanobind::module_& m) {
  using cpu::BlockCache;
  m.def("_cpu_memory_allocated", [] { return BlockCache::instance().used(); });
  m.def("_cpu_memory_kept", [] { return BlockCache::instance().kept(); });
  m.def("_cpu_memory_peak", [] { return BlockCache::instance().peak(); });
  m.def("_cpu_memory_reset_peak", [] { BlockCache::instance().reset_peak(); });
  m.def("_cpu_memory_clear", [] { BlockCache::instance().clear(); });
}

}  // namespace hotaru::python
