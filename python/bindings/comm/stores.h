// Stores that processes meet through (hotaru/comm) for Python.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/comm/store/store.h"

namespace hotaru::python {

/// torch.distributed.Store.
struct PyStore {
  Ref<comm::Store> store;
};

void init_stores(nanobind::module_& m);

}  // namespace hotaru::python
