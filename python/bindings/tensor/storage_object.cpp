#include "bindings/tensor/storage_object.h"

#include "bindings/autograd/held.h"
#include "bindings/errors.h"
#include "bindings/ops/override.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/default_device.h"
#include "bindings/tensor/tensor_object.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/shape/slice_shift.h"

namespace hotaru::python {
namespace {

/// A Python object and the storage that it stands for. One of them owns the
/// other: the object the storage while a program holds the object, and else the
/// storage the object, if there is something on it to keep.
struct StorageObject {
  PyObject_HEAD Storage* storage;
  bool owns;
  PyObject* dict;
  PyObject* weakrefs;
};

PyTypeObject* base_type = nullptr;
PyTypeObject* untyped_type = nullptr;

StorageObject* cast(PyObject* o) {
  return reinterpret_cast<StorageObject*>(o);
}

/// Link from the storage to its object. Guarded by the interpreter's lock.
struct Link : RefCounted {
  PyObject* object = nullptr;
  bool owns = false;

  ~Link() override {
    if (!owns) return;
    with_interpreter([this] {
      cast(object)->storage = nullptr;
      Py_DECREF(object);
    });
  }
};

Link* link_of(const Storage& storage) {
  return static_cast<Link*>(storage.companion().get());
}

PyObject* allocate(PyTypeObject* type, const Ref<Storage>& storage) {
  PyObject* made = PyType_GenericAlloc(type, 0);
  if (!made) return nullptr;
  storage->retain();
  cast(made)->storage = storage.get();
  cast(made)->owns = true;
  if (!storage->companion()) storage->accompany(make_ref<Link>());
  Link* link = link_of(*storage);
  if (!link->object) link->object = made;
  return made;
}

/// Hands an object that nobody refers to any more to its storage.
bool kept_by_storage(PyObject* self) {
  Storage* storage = cast(self)->storage;
  if (Py_TYPE(self) != untyped_type || !storage || !cast(self)->owns)
    return false;
  PyObject* dict = cast(self)->dict;
  const bool marked = cast(self)->weakrefs || (dict && dict_size(dict) > 0);
  Link* link = link_of(*storage);
  if (!marked || link->object != self || storage->use_count() < 2) return false;
  set_references(self, 1);
  link->owns = true;
  cast(self)->owns = false;
  storage->release();  // another thread may have let go meanwhile
  return true;
}

void dealloc(PyObject* self) {
  if (kept_by_storage(self)) return;
  PyObject_GC_UnTrack(self);
  if (cast(self)->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(cast(self)->dict);
  if (Storage* storage = std::exchange(cast(self)->storage, nullptr)) {
    if (Link* link = link_of(*storage); link->object == self)
      link->object = nullptr;
    if (cast(self)->owns) storage->release();
  }
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(cast(self)->dict);
  return 0;
}

int clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  return 0;
}

Storage& checked(PyObject* self) {
  HOTARU_CHECK(cast(self)->storage, "the storage is gone");
  return *cast(self)->storage;
}

/// StorageBase(size=0, *, device) or StorageBase(storage), which shares it.
PyObject* new_storage(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static const char* names[] = {"size", "device", nullptr};
    PyObject *size = nullptr, *device = nullptr;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|OO:UntypedStorage",
                                     const_cast<char**>(names), &size, &device))
      return nullptr;
    if (size)
      if (Storage* shared = storage_of(size))
        return allocate(type, Ref<Storage>(shared));
    const int64_t nbytes = size ? nb::cast<int64_t>(nb::handle(size)) : 0;
    HOTARU_CHECK(nbytes >= 0, "a storage cannot have ", nbytes, " bytes");
    const Device where = device && device != Py_None
                             ? to_device(device)
                             : default_device().value_or(Device{});
    const Tensor bytes = empty(Dims{nbytes}, {DType::kUInt8, where});
    return allocate(type, bytes.storage());
  });
}

PyObject* device(PyObject* self, void*) {
  return guarded(
      [&] { return device_object(checked(self).device()).release().ptr(); });
}

PyObject* address(PyObject* self, void*) {
  return PyLong_FromVoidPtr(cast(self)->storage);
}

PyObject* nbytes(PyObject* self, PyObject*) {
  return guarded([&] { return PyLong_FromSize_t(checked(self).nbytes()); });
}

PyObject* data_ptr(PyObject* self, PyObject*) {
  return guarded([&] {
    Storage& storage = checked(self);
    storage.expose();
    return PyLong_FromVoidPtr(storage.nbytes() ? storage.data() : nullptr);
  });
}

PyObject* resizable(PyObject* self, PyObject*) {
  return guarded([&] { return PyBool_FromLong(checked(self).resizable()); });
}

PyObject* resize(PyObject* self, PyObject* size) {
  return guarded([&]() -> PyObject* {
    const auto bytes = nb::cast<int64_t>(nb::handle(size));
    HOTARU_CHECK(bytes >= 0, "a storage cannot have ", bytes, " bytes");
    Storage& storage = checked(self);
    // Tensors do not check where they read: what they see must stay there.
    const bool seen =
        storage.use_count() > 1 && storage.device().type != DeviceType::kMeta;
    HOTARU_CHECK(!seen || size_t(bytes) >= storage.nbytes(),
                 "resize_: a storage of ", storage.nbytes(),
                 " bytes cannot shrink to ", bytes,
                 " while tensors look into it; give them other memory first "
                 "(Tensor.set_), or drop them");
    storage.resize(size_t(bytes));
    return Py_NewRef(self);
  });
}

PyObject* use_count(PyObject* self, PyObject*) {
  return guarded(
      [&] { return PyLong_FromLongLong(checked(self).use_count()); });
}

/// The bytes as a tensor of uint8, which counts no versions.
PyObject* bytes(PyObject* self, PyObject*) {
  return guarded([&] {
    const Ref<Storage> storage(&checked(self));
    const auto n = int64_t(storage->nbytes());
    Tensor t = make_tensor(storage, DType::kUInt8, Dims{n}, Dims{1}, 0);
    t.impl()->tracks_version = false;
    return wrap(std::move(t));
  });
}

PyGetSetDef getset[] = {
    {"device", device, nullptr, "Where the bytes lie.", nullptr},
    {"_cdata", address, nullptr, "Tells storages apart.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr,
     nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef methods[] = {
    {"nbytes", nbytes, METH_NOARGS, "How many bytes there are."},
    {"data_ptr", data_ptr, METH_NOARGS, "The first byte's address."},
    {"resizable", resizable, METH_NOARGS, "Whether resize_() works."},
    {"resize_", resize, METH_O,
     "Makes it larger or smaller; the leading bytes stay. RuntimeError where "
     "the memory is another's."},
    {"_use_count", use_count, METH_NOARGS, nullptr},
    {"_bytes", bytes, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET,
                          offsetof(StorageObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET,
                          offsetof(StorageObject, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

PyTypeObject* make_type(const char* name, PyType_Slot* slots, PyObject* bases) {
  PyType_Spec spec{
      name, sizeof(StorageObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  PyObject* type = PyType_FromSpecWithBases(&spec, bases);
  if (!type) throw nb::python_error();
  return reinterpret_cast<PyTypeObject*>(type);
}

/// The tensor looks at that memory from now on, as an in-place write.
void set_storage(const Tensor& self, const Ref<Storage>& storage,
                 int64_t offset, IntSpan sizes, IntSpan strides) {
  autograd::check_inplace(self);
  HOTARU_CHECK(offset >= 0, "Tensor: invalid storage offset ", offset);
  for (const int64_t stride : strides)
    HOTARU_CHECK(stride >= 0,
                 "as_strided: Negative strides are not supported "
                 "at the moment, got strides: ",
                 shape_text(strides));
  const size_t needed =
      storage_bytes(sizes, strides, itemsize(self.dtype()), offset);
  if (needed > storage->nbytes()) storage->resize(needed);
  TensorImpl* impl = self.impl();
  impl->storage = storage;
  impl->set_geometry(sizes, strides, offset);
  self.bump_version();
}

}  // namespace

Storage* storage_of(PyObject* object) {
  return PyObject_TypeCheck(object, base_type) ? cast(object)->storage
                                               : nullptr;
}

PyObject* wrap_storage(const Ref<Storage>& storage) {
  Link* link = link_of(*storage);
  if (!link || !link->object) return allocate(untyped_type, storage);
  if (!std::exchange(link->owns, false)) return Py_NewRef(link->object);
  storage->retain();
  cast(link->object)->owns = true;
  return link->object;  // with the reference that the storage had
}

void init_storage(nb::module_& m) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(new_storage)},
                         {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                         {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                         {Py_tp_clear, reinterpret_cast<void*>(clear)},
                         {Py_tp_getset, getset},
                         {Py_tp_methods, methods},
                         {Py_tp_members, members},
                         {0, nullptr}};
  base_type = make_type("hotaru.StorageBase", slots, nullptr);
  PyType_Slot none[] = {{Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
                        {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                        {Py_tp_clear, reinterpret_cast<void*>(clear)},
                        {0, nullptr}};
  const nb::object bases =
      nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(base_type)));
  untyped_type = make_type("hotaru.storage.UntypedStorage", none, bases.ptr());
  m.attr("StorageBase") = nb::borrow(reinterpret_cast<PyObject*>(base_type));
  m.attr("UntypedStorage") =
      nb::borrow(reinterpret_cast<PyObject*>(untyped_type));
  m.def("_storage_of", [](nb::handle t) {
    if (!is_tensor(t.ptr())) nb::raise_type_error("expected a tensor");
    if (overrides::possible) [[unlikely]]
      overrides::note_question("storage", t.ptr());
    return nb::steal(wrap_storage(tensor_of(t.ptr()).storage()));
  });
  m.def(
      "_part_of_storage",
      [](nb::handle whole, int64_t start, int64_t nbytes) {
        const Ref<Storage> owner(storage_of(whole.ptr()));
        HOTARU_CHECK_AS(TypeError, owner, "expected a storage");
        HOTARU_CHECK(start >= 0 && nbytes >= 0 &&
                         size_t(start + nbytes) <= owner->nbytes(),
                     "a slice of bytes outside of the storage");
        owner->lend();  // the part keeps the address
        auto* begin = static_cast<char*>(owner->data()) + start;
        return nb::steal(wrap_storage(make_ref<Storage>(
            begin, size_t(nbytes), owner->device(), Ref<RefCounted>(owner))));
      },
      "A storage over some bytes of another, which it keeps alive.");
  m.def("_storage_address",
        [](const Tensor& t) { return uintptr_t(t.storage().get()); });
  m.def(
      "_begin_slice",
      [](const nb::list& tensors, const nb::list& shifts) {
        SliceShifts pairs;
        for (size_t i = 0; i < tensors.size(); ++i) {
          pairs.emplace_back(tensor_of(tensors[i].ptr()),
                             nb::cast<int64_t>(shifts[i]));
        }
        begin_slice(std::move(pairs));
      },
      "Tells where the slices of mapped tensors lie, until _end_slice().");
  m.def("_end_slice", &end_slice);
  m.def(
      "_set_storage",
      [](nb::object self, nb::handle storage, int64_t offset, nb::handle sizes,
         nb::handle strides) {
        if (!is_tensor(self.ptr())) nb::raise_type_error("expected a tensor");
        Storage* s = storage_of(storage.ptr());
        HOTARU_CHECK_AS(TypeError, s, "set_(): expected an UntypedStorage");
        const Dims shape = to_dims(sizes.ptr());
        overrides::note_question("set_", self.ptr());
        set_storage(tensor_of(self.ptr()), Ref<Storage>(s), offset, shape,
                    strides.is_none() ? contiguous_strides(shape)
                                      : to_dims(strides.ptr()));
        return self;
      },
      nb::arg("self"), nb::arg("storage"), nb::arg("offset"), nb::arg("sizes"),
      nb::arg("strides") = nb::none());
}

}  // namespace hotaru::python
