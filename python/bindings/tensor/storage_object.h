// The Python types StorageBase and UntypedStorage: the bytes behind tensors.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/core/storage.h"

namespace hotaru::python {

/// Null unless the object is a StorageBase. The reference is borrowed.
Storage* storage_of(PyObject* object);
/// The Python object of a storage, the same one as long as the storage lives:
/// what a program sets on it stays. A new reference.
PyObject* wrap_storage(const Ref<Storage>& storage);

void init_storage(nanobind::module_& m);

}  // namespace hotaru::python
