#include "bindings/tensor/tensor_object.h"

#include "bindings/autograd/autograd_object.h"
#include "bindings/autograd/collect.h"
#include "bindings/errors.h"
#include "bindings/gil.h"
#include "bindings/ops/answering_class.h"
#include "bindings/ops/dispatch.h"
#include "bindings/ops/override.h"
#include "bindings/stable_abi.h"
#include "bindings/tensor/buffer.h"
#include "bindings/tensor/checks.h"
#include "bindings/tensor/creation.h"
#include "bindings/tensor/indexing.h"
#include "bindings/tensor/sparse_object.h"
#include "bindings/tensor/tensor_number.h"
#include "bindings/tensor/types.h"
#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/core/sparse/opaque.h"
#include "hotaru/core/sparse/sparse.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/shape/slice_shift.h"
#include "hotaru/ops/shape/transposes.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::python {

PyTypeObject* tensor_type = nullptr;

namespace {

TensorObject* cast(PyObject* o) {
  return reinterpret_cast<TensorObject*>(o);
}

void watch_finalizer(PyTypeObject* type);

/// The memory of an object that the collector does not know of: no cycle leads
/// through a tensor without history, hooks and attributes.
PyObject* allocate_plain() {
  TensorObject* made = PyObject_GC_New(TensorObject, tensor_type);
  if (made) {
    made->dict = made->weakrefs = nullptr;
    made->kept = false;
    made->answering = 0;
  }
  return reinterpret_cast<PyObject*>(made);
}

PyObject* allocate_of_class(PyTypeObject* type) {
  overrides::note_type(type);
  if (const uint8_t place = hidden_place(type)) {
    PyObject* object = allocate_plain();
    if (object) cast(object)->answering = place;
    return object;
  }
  PyObject* object = PyType_GenericAlloc(type, 0);
  if (object) watch_finalizer(type);
  return object;
}

PyObject* allocate(PyTypeObject* type, Tensor tensor) {
  PyObject* object =
      type == tensor_type ? allocate_plain() : allocate_of_class(type);
  if (!object) return nullptr;
  new (&cast(object)->tensor) Tensor(std::move(tensor));
  TensorImpl* impl = cast(object)->tensor.impl();
  impl->python_object = object;
  const auto* m = static_cast<const autograd::Meta*>(impl->autograd.get());
  if (m && !m->shared) track(object);
  return object;
}

// --- objects that tensors keep -----------------------------------------------
// An object with attributes or a class of its own is more than its tensor.
// While C++ holds that, a base, a gradient or a saved value, the object stays:
// the tensor owns it then, and it does not own the tensor.

/// True if an object that nobody in Python refers to any more is to stay.
bool stays(PyObject* self) {
  const TensorImpl* impl = cast(self)->tensor.impl();
  if (!impl || impl->python_object != self || impl->use_count() <= 1)
    return false;
  PyObject* dict = cast(self)->dict;
  return answering_class(self) != tensor_type || (dict && dict_size(dict) > 0);
}

/// Ends the weak references to an object that has one other reference left.
/// Who found it by them would not keep its tensor.
void end_weak_references(PyObject* self) {
  if (!cast(self)->weakrefs || references(self) != 1) return;
  // CPython's look-up forgets an exception that is on its way.
  PyObject *type = nullptr, *error = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &error, &trace);
  const bool answers = dispatch::answers(answering_class(self));
  PyErr_Restore(type, error, trace);
  if (answers) return;
  set_references(self, 0);  // as the call below asks for
  PyObject_ClearWeakRefs(self);
  set_references(self, 1);
}

/// Lets the tensor own an object that is about to go, if it stays.
bool keep(PyObject* self) {
  if (!stays(self)) return false;
  end_weak_references(self);
  Py_INCREF(self);
  cast(self)->kept = true;
  cast(self)->tensor.impl()->release();  // the handle's; not the last
  return true;
}

void finalize(PyObject* self) {
  keep(self);
}

// Function by which CPython calls __del__, of every class that has one.
destructor call_del = nullptr;

/// Finalizes objects with __del__, which is for those that do not stay.
void finalize_with_del(PyObject* self) {
  if (!keep(self)) call_del(self);
}

/// Has a subclass ask whether its objects stay, before its __del__.
void watch_finalizer(PyTypeObject* type) {
  destructor& present = finalizer(type);
  if (present == finalize || present == finalize_with_del) return;
  call_del = std::exchange(present, finalize_with_del);
}

/// CPython finalizes an object once, and notes that in the lowest bit of the
/// second word before it.
void may_be_finalized(PyObject* object) {
  reinterpret_cast<uintptr_t*>(object)[-1] &= ~uintptr_t{1};
}

/// A tensor that goes on where one ends.
Tensor successor(TensorImpl& ending) {
  auto next = make_ref<TensorImpl>(ending);
  next->tracks_version = ending.tracks_version;
  next->autograd = std::move(ending.autograd);
  next->base = std::move(ending.base);
  return Tensor(std::move(next));
}

/// The tensor goes that owns the object.
void release_object(void* object) {
  const GilAcquire gil;
  auto* self = static_cast<PyObject*>(object);
  cast(self)->kept = false;
  may_be_finalized(self);
  Tensor next;
  // Somebody has found the object by a weak reference or the collector, or its
  // __del__ is to find a tensor.
  if (references(self) > 1 || finalizer(Py_TYPE(self)) == finalize_with_del) {
    next = successor(*cast(self)->tensor.impl());
    next.impl()->python_object = self;
  }
  new (&cast(self)->tensor) Tensor(std::move(next));
  Py_DECREF(self);
}

/// The object of a tensor that has one; a new reference.
PyObject* known_object(TensorImpl* impl) {
  auto* known = static_cast<PyObject*>(impl->python_object);
  if (!cast(known)->kept) return Py_NewRef(known);
  cast(known)->kept = false;
  impl->retain();  // the object owns the tensor again
  may_be_finalized(known);
  return known;
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  // Referents of an object that stays are no garbage, though nobody in Python
  // may refer to it.
  if (!stays(self)) Py_VISIT(cast(self)->dict);
  return visit_tensor(tensor_of(self), visit, arg);
}

int clear(PyObject* self) {
  Py_CLEAR(cast(self)->dict);
  clear_tensor(tensor_of(self));
  return 0;
}

void dealloc(PyObject* self) {
  // CPython has asked this of a subclass before it came here.
  if (cast(self)->dict && Py_TYPE(self) == tensor_type &&
      finalize_in_dealloc(self) < 0)
    return;
  PyObject_GC_UnTrack(self);
  if (cast(self)->weakrefs) PyObject_ClearWeakRefs(self);
  Py_CLEAR(cast(self)->dict);
  Tensor& t = cast(self)->tensor;
  if (t.defined() && t.impl()->python_object == self)
    t.impl()->python_object = nullptr;
  t.~Tensor();
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_Del(self);
  Py_DECREF(type);
}

/// True if all of a tuple are Python's integers.
bool are_sizes(PyObject* args) {
  for (Py_ssize_t i = 0; i < tuple_size(args); ++i)
    if (!PyLong_CheckExact(tuple_item(args, i))) return false;
  return true;
}

/// The same elements in another tensor, with the history that there is.
Tensor shared(const Tensor& tensor) {
  return autograd::requires_grad(tensor) ? view(tensor, tensor.sizes())
                                         : make_alias(tensor);
}

/// Tensor(2, 3), Tensor([1., 2.]), Tensor(): the legacy constructor; and
/// subclasses that are handed a tensor to share.
PyObject* new_tensor(PyTypeObject* type, PyObject* args, PyObject* keywords) {
  return guarded([&]() -> PyObject* {
    const Py_ssize_t n = tuple_size(args);
    PyObject* first = n > 0 ? tuple_item(args, 0) : nullptr;
    if (n == 1 && !keywords && is_tensor(first))
      return wrap_as(type, shared(tensor_of(first)));
    if (n == 1 && !keywords &&
        (PyList_CheckExact(first) || PyTuple_CheckExact(first)))
      return allocate(type, tensor_from_data(first, default_dtype(), {}));
    if (!keywords && are_sizes(args))
      return allocate(type, empty(n ? to_dims(args) : Dims{0}));
    // Legacy knows what else there is, and the words about what there is not.
    const nb::object plain =
        nb::module_::import_("hotaru._tensor.legacy").attr("plain");
    const nb::object made =
        nb::steal(PyObject_Call(plain.ptr(), args, keywords));
    if (!made.is_valid()) throw nb::python_error();
    return wrap_as(type, shared(tensor_of(made.ptr())));
  });
}

Py_ssize_t length(PyObject* self) {
  if (overrides::possible && overrides::overridden({self})) {
    PyObject* answer = overrides::ask_attribute("__len__", nullptr, {self});
    const Py_ssize_t n = answer ? PyLong_AsSsize_t(answer) : -1;
    Py_XDECREF(answer);
    return n;
  }
  return guarded(
      [&] {
        const Tensor& t = tensor_of(self);
        HOTARU_CHECK_AS(TypeError, t.dim() > 0, "len() of a 0-d tensor");
        return Py_ssize_t(t.sizes()[0]);
      },
      Py_ssize_t{-1});
}

PyObject* subscript(PyObject* self, PyObject* index) {
  if (overrides::possible && overrides::overridden({self, index}))
    return overrides::ask_attribute("__getitem__", nullptr, {self, index});
  return guarded([&] { return wrap(get_item(tensor_of(self), index)); });
}

int set_subscript(PyObject* self, PyObject* index, PyObject* value) {
  if (overrides::possible && value &&
      overrides::overridden({self, index, value})) {
    PyObject* answer =
        overrides::ask_attribute("__setitem__", nullptr, {self, index, value});
    Py_XDECREF(answer);
    return answer ? 0 : -1;
  }
  return guarded(
      [&] {
        HOTARU_CHECK_AS(TypeError, value,
                        "Tensor does not support deleting items");
        set_item(tensor_of(self), index, value);
        return 0;
      },
      -1);
}

PyObject* iterate(PyObject* self) {
  return guarded([&] {
    const Tensor& t = tensor_of(self);
    const bool asks = overrides::possible && overrides::overridden({self});
    if (asks && is_opaque(t)) [[unlikely]]
      return overrides::ask_attribute("__iter__", nullptr, {self});
    HOTARU_CHECK_AS(TypeError, t.dim() > 0, "iteration over a 0-d tensor");
    if (asks) [[unlikely]] {
      // As in PyTorch, the class is asked for its dimensions and its rows.
      if (nb::cast<int64_t>(nb::handle(self).attr("dim")()) == 0)
        nb::raise_type_error("iteration over a 0-d tensor");
      const nb::object rows = nb::handle(self).attr("unbind")(0);
      return PyObject_GetIter(rows.ptr());
    }
    nb::list items;
    for (const Tensor& row : unbind(t, 0)) items.append(nb::steal(wrap(row)));
    return PyObject_GetIter(items.ptr());
  });
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  const int result = PyObject_GenericSetAttr(self, name, value);
  if (cast(self)->dict) track(self);
  return result;
}

PyObject* get_dict(PyObject* self, void* closure) {
  track(self);
  return PyObject_GenericGetDict(self, closure);
}

/// Hash that is id(), as in PyTorch: programs keep tables by either.
Py_hash_t hash(PyObject* self) {
  return Py_hash_t(reinterpret_cast<uintptr_t>(self));
}

// --- attributes --------------------------------------------------------------

using Getter = PyObject* (*)(const Tensor&);

template <Getter F>
PyObject* get(PyObject* self, void*) {
  return guarded([&] { return F(tensor_of(self)); });
}

/// A method without arguments from a getter.
template <Getter F>
PyObject* plain(PyObject* self) {
  return guarded([&] { return F(tensor_of(self)); });
}
template <overrides::Name kName, Getter F>
PyObject* call(PyObject* self, PyObject*) {
  return overrides::unary<kName, plain<F>>(self);
}

PyObject* new_bool(bool b) {
  return PyBool_FromLong(b);
}
PyObject* new_int(int64_t i) {
  return PyLong_FromLongLong(i);
}

PyObject* shape(const Tensor& t) {
  return size_object(t.sizes()).release().ptr();
}
PyObject* dtype(const Tensor& t) {
  return dtype_object(t.dtype()).release().ptr();
}
Layout layout_of(const Tensor& t) {
  const SparseStorage* sparse = sparse_storage(t);
  return sparse ? sparse->layout() : Layout::kStrided;
}
PyObject* layout(const Tensor& t) {
  return layout_object(int64_t(layout_of(t))).release().ptr();
}
PyObject* is_sparse(const Tensor& t) {
  return new_bool(layout_of(t) == Layout::kSparseCoo);
}
PyObject* is_sparse_csr(const Tensor& t) {
  return new_bool(layout_of(t) == Layout::kSparseCsr);
}
PyObject* device(const Tensor& t) {
  return device_object(t.device()).release().ptr();
}
PyObject* ndim(const Tensor& t) {
  return new_int(t.dim());
}
PyObject* numel(const Tensor& t) {
  return new_int(t.numel());
}
PyObject* element_size(const Tensor& t) {
  return new_int(int64_t(itemsize(t.dtype())));
}
PyObject* nbytes(const Tensor& t) {
  return new_int(t.numel() * int64_t(itemsize(t.dtype())));
}
PyObject* storage_offset(const Tensor& t) {
  return new_int(t.storage_offset() - slice_shift(t));
}
PyObject* data_ptr(const Tensor& t) {
  t.storage()->expose();
  return PyLong_FromVoidPtr(t.numel() ? t.address() : nullptr);
}
PyObject* storage_ptr(const Tensor& t) {
  return PyLong_FromVoidPtr(t.storage()->data());
}
PyObject* storage_bytes(const Tensor& t) {
  return new_int(int64_t(t.storage()->nbytes()));
}
PyObject* is_inference_method(const Tensor& t) {
  return new_bool(is_inference(t));
}
PyObject* is_view_method(const Tensor& t) {
  return new_bool(t.is_view());
}
PyObject* version(const Tensor& t) {
  HOTARU_CHECK(!is_inference(t),
               "Inference tensors do not track version counter.");
  return new_int(t.impl()->tracks_version ? t.version() : 0);
}
PyObject* is_cpu(const Tensor& t) {
  return new_bool(t.device().is_cpu());
}
PyObject* is_cuda(const Tensor& t) {
  return new_bool(t.device().is_cuda());
}
PyObject* is_meta(const Tensor& t) {
  return new_bool(t.device().type == DeviceType::kMeta);
}
PyObject* is_complex(const Tensor& t) {
  return new_bool(t.is_complex());
}
PyObject* is_floating(const Tensor& t) {
  return new_bool(t.is_floating_point());
}
PyObject* is_signed(const Tensor& t) {
  return new_bool(checked_signed(t.dtype()));
}
PyObject* is_contiguous(const Tensor& t) {
  return new_bool(t.is_contiguous());
}
PyObject* never(const Tensor&) {
  Py_RETURN_FALSE;
}
PyObject* transposed(const Tensor& t) {
  return wrap(numpy_T(t));
}
PyObject* matrix_transposed(const Tensor& t) {
  return wrap(matrix_T(t));
}
PyObject* item_method(const Tensor& t) {
  return item_of(t);
}
PyObject* tolist_method(const Tensor& t) {
  return to_list(t);
}
PyObject* data(const Tensor& t) {
  Tensor alias = make_alias(t);
  alias.impl()->tracks_version = false;
  return wrap(alias);
}

int set_data(PyObject* self, PyObject* value, void*) {
  return guarded(
      [&] {
        HOTARU_CHECK(value,
                     "Deleting tensor data is not allowed. Delete tensor "
                     "instead!");
        HOTARU_CHECK_AS(TypeError, is_tensor(value),
                        "Variable data has to be a tensor, but got ",
                        class_name(value));
        overrides::note_question("set_", self);
        autograd::set_data(tensor_of(self), tensor_of(value));
        return 0;
      },
      -1);
}

PyObject* ask_extent(const char* name, PyObject* self, PyObject* const* args,
                     Py_ssize_t n, PyObject* names) {
  const Py_ssize_t keywords = names ? tuple_size(names) : 0;
  std::vector<PyObject*> all{self};
  all.insert(all.end(), args, args + n + keywords);
  const nb::handle tensor(reinterpret_cast<PyObject*>(tensor_type));
  return guarded([&] {
    return overrides::ask(tensor.attr(name).ptr(),
                          Call{all.data(), size_t(n) + 1, names});
  });
}

/// size() or size(dim), stride() or stride(dim).
template <bool kStride>
PyObject* extent(PyObject* self, PyObject* const* args, Py_ssize_t n,
                 PyObject* names) {
  const char* name = kStride ? "stride" : "size";
  if (overrides::possible) [[unlikely]] {
    if (kStride) overrides::note_question(name, self);
    if (overrides::overridden({self}))
      return ask_extent(name, self, args, n, names);
  }
  return guarded([&]() -> PyObject* {
    const Tensor& t = tensor_of(self);
    const Py_ssize_t total = n + (names ? tuple_size(names) : 0);
    HOTARU_CHECK_AS(TypeError, total <= 1, name,
                    "() takes at most 1 argument (", total, " given)");
    if (total == 1 && args[0] != Py_None) {
      int64_t dim = 0;
      const bool fits = nb::try_cast(nb::handle(args[0]), dim);
      HOTARU_CHECK_AS(TypeError, fits || PyLong_Check(args[0]), name,
                      "(): argument 'dim' (position 1) must be int, not ",
                      class_name(args[0]));
      HOTARU_CHECK(fits, "Overflow when unpacking long");
      return new_int(kStride ? t.stride(dim) : t.size(dim));
    }
    if (!kStride) return shape(t);
    nb::list out;
    for (int64_t s : t.strides()) out.append(s);
    return PyList_AsTuple(out.ptr());
  });
}

PyGetSetDef getset[] = {
    {"shape", overrides::get<"shape", get<shape>>, nullptr,
     "The size of each dimension.", nullptr},
    {"dtype", overrides::get<"dtype", get<dtype>>, nullptr,
     "The type of the elements.", nullptr},
    {"device", overrides::get<"device", get<device>>, nullptr,
     "Where the tensor lives.", nullptr},
    {"ndim", overrides::get<"ndim", get<ndim>>, nullptr,
     "Number of dimensions.", nullptr},
    {"itemsize", overrides::get<"itemsize", get<element_size>>, nullptr,
     "Bytes an element.", nullptr},
    {"nbytes", overrides::get<"nbytes", get<nbytes>>, nullptr,
     "Bytes of all elements.", nullptr},
    {"is_cpu", overrides::get<"is_cpu", get<is_cpu>>, nullptr, nullptr,
     nullptr},
    {"is_cuda", overrides::get<"is_cuda", get<is_cuda>>, nullptr, nullptr,
     nullptr},
    {"layout", overrides::get<"layout", get<layout>>, nullptr,
     "How the elements are kept.", nullptr},
    {"is_nested", overrides::get<"is_nested", get<never>>, nullptr, nullptr,
     nullptr},
    {"is_sparse", overrides::get<"is_sparse", get<is_sparse>>, nullptr, nullptr,
     nullptr},
    {"is_sparse_csr", overrides::get<"is_sparse_csr", get<is_sparse_csr>>,
     nullptr, nullptr, nullptr},
    {"is_quantized", overrides::get<"is_quantized", get<never>>, nullptr,
     nullptr, nullptr},
    {"is_meta", overrides::get<"is_meta", get<is_meta>>, nullptr, nullptr,
     nullptr},
    {"T", overrides::get<"T", get<transposed>>, nullptr, "Dimensions reversed.",
     nullptr},
    {"mT", overrides::get<"mT", get<matrix_transposed>>, nullptr,
     "Last two swapped.", nullptr},
    {"data", overrides::get<"data", get<data>>,
     overrides::set<"data", set_data>, "The values without history.", nullptr},
    {"_version", overrides::get<"_version", get<version>>, nullptr,
     "Count of in-place writes.", nullptr},
    {"requires_grad", overrides::get<"requires_grad", get_requires_grad>,
     overrides::set<"requires_grad", set_requires_grad_attr>,
     "Whether gradients flow to this tensor.", nullptr},
    {"grad", overrides::get<"grad", get_grad>, overrides::set<"grad", set_grad>,
     "The accumulated gradient, or None.", nullptr},
    {"_grad", overrides::get<"_grad", get_grad>,
     overrides::set<"_grad", set_grad>, "The same.", nullptr},
    {"grad_dtype", overrides::get<"grad_dtype", get_grad_dtype>,
     overrides::set<"grad_dtype", set_grad_dtype>,
     "The dtype that a leaf's gradient is cast to; None for any.", nullptr},
    {"grad_fn", overrides::get<"grad_fn", get_grad_fn>, nullptr,
     "The node that made it, or None.", nullptr},
    {"is_leaf", overrides::get<"is_leaf", get_is_leaf>, nullptr,
     "Whether no operation made it.", nullptr},
    {"retains_grad", overrides::get<"retains_grad", get_retains_grad>, nullptr,
     nullptr, nullptr},
    {"output_nr", overrides::get<"output_nr", get_output_nr>, nullptr, nullptr,
     nullptr},
    {"_base", overrides::get<"_base", get_base>, nullptr,
     "The tensor that this is a view of.", nullptr},
    {"__dict__", get_dict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

#define HOTARU_FASTCALL(f) \
  reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)(void)>(f)), \
      METH_FASTCALL | METH_KEYWORDS

PyMethodDef methods[] = {
    {"size", HOTARU_FASTCALL(extent<false>),
     "Sizes, or the size of one dimension."},
    {"stride", HOTARU_FASTCALL(extent<true>),
     "Strides in elements, or the stride of one dimension."},
    {"dim", call<"dim", ndim>, METH_NOARGS, "Number of dimensions."},
    {"ndimension", call<"ndimension", ndim>, METH_NOARGS,
     "Number of dimensions."},
    {"numel", call<"numel", numel>, METH_NOARGS, "Number of elements."},
    {"nelement", call<"nelement", numel>, METH_NOARGS, "Number of elements."},
    {"element_size", call<"element_size", element_size>, METH_NOARGS,
     "Bytes an element."},
    {"storage_offset", call<"storage_offset", storage_offset>, METH_NOARGS,
     "First element's position in the storage."},
    {"data_ptr", call<"data_ptr", data_ptr>, METH_NOARGS,
     "First element's address."},
    {"_storage_ptr", call<"_storage_ptr", storage_ptr>, METH_NOARGS, nullptr},
    {"_storage_bytes", call<"_storage_bytes", storage_bytes>, METH_NOARGS,
     nullptr},
    {"item", call<"item", item_method>, METH_NOARGS,
     "The only element as a Python number."},
    {"tolist", call<"tolist", tolist_method>, METH_NOARGS,
     "The elements as nested lists, or one number."},
    {"is_floating_point", call<"is_floating_point", is_floating>, METH_NOARGS,
     nullptr},
    {"is_complex", call<"is_complex", is_complex>, METH_NOARGS, nullptr},
    {"is_signed", call<"is_signed", is_signed>, METH_NOARGS, nullptr},
    {"is_inference", call<"is_inference", is_inference_method>, METH_NOARGS,
     "Whether it was made in inference mode."},
    {"_is_view", call<"_is_view", is_view_method>, METH_NOARGS,
     "Whether autograd knows it as a view of another tensor."},
    {"_is_contiguous", call<"_is_contiguous", is_contiguous>, METH_NOARGS,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef members[] = {{"__dictoffset__", T_PYSSIZET,
                          offsetof(TensorObject, dict), READONLY, nullptr},
                         {"__weaklistoffset__", T_PYSSIZET,
                          offsetof(TensorObject, weakrefs), READONLY, nullptr},
                         {nullptr, 0, 0, 0, nullptr}};

}  // namespace

PyObject* wrap(Tensor tensor) {
  if (!tensor.defined()) Py_RETURN_NONE;
  if (tensor.impl()->python_object) return known_object(tensor.impl());
  // Evaluated before the tensor is moved; a sparse one makes `possible` true.
  PyTypeObject* type = overrides::possible ? type_for(tensor) : tensor_type;
  return allocate(type, std::move(tensor));
}

PyObject* wrap_as(PyTypeObject* type, Tensor tensor) {
  return allocate(type, std::move(tensor));
}

PyTypeObject* class_of(nb::handle type) {
  HOTARU_CHECK_AS(TypeError, PyType_Check(type.ptr()),
                  "cls must be a type (got ", class_name(type.ptr()), ")");
  auto* const cls = reinterpret_cast<PyTypeObject*>(type.ptr());
  HOTARU_CHECK_AS(TypeError, PyType_IsSubtype(cls, tensor_type), "cls (",
                  type_name(cls), ") is no subclass of Tensor");
  return cls;
}

void init_tensor(nb::module_& m) {
  std::vector<PyType_Slot> slots{
      {Py_tp_new, reinterpret_cast<void*>(new_tensor)},
      {Py_tp_dealloc, reinterpret_cast<void*>(dealloc)},
      {Py_tp_finalize, reinterpret_cast<void*>(finalize)},
      {Py_tp_traverse, reinterpret_cast<void*>(traverse)},
      {Py_tp_clear, reinterpret_cast<void*>(clear)},
      {Py_tp_setattro, reinterpret_cast<void*>(set_attribute)},
      {Py_tp_getset, getset},
      {Py_tp_methods, methods},
      {Py_tp_members, members},
      {Py_tp_iter, reinterpret_cast<void*>(iterate)},
      {Py_tp_hash, reinterpret_cast<void*>(hash)},
      {Py_mp_length, reinterpret_cast<void*>(length)},
      {Py_mp_subscript, reinterpret_cast<void*>(subscript)},
      {Py_mp_ass_subscript, reinterpret_cast<void*>(set_subscript)},
      {Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
      {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)}};
  add_number_slots(slots);
  slots.push_back({0, nullptr});
  PyType_Spec spec{
      "hotaru.Tensor", sizeof(TensorObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
      slots.data()};
  tensor_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!tensor_type) throw nb::python_error();
  set_object_release(release_object);
  // As in PyTorch, whose class is written in Python, messages say "Tensor".
  type_name(tensor_type) = "Tensor";
  m.attr("Tensor") = nb::borrow(reinterpret_cast<PyObject*>(tensor_type));
  m.def(
      "_whole_storage",
      [](const Tensor& t) {
        const auto bytes = int64_t(t.storage()->nbytes());
        return make_tensor(t.storage(), DType::kUInt8, Dims{bytes}, Dims{1}, 0);
      },
      "All bytes of the memory that a tensor looks into.");
  m.def(
      "_over_storage",
      [](const Tensor& like, const Tensor& bytes) {
        return make_tensor(bytes.storage(), like.dtype(), like.sizes(),
                           like.strides(), like.storage_offset());
      },
      "The tensor's look at its memory, at another tensor's memory.");
  init_answering_classes(m);
  m.def("_as_subclass", [](nb::handle type, const Tensor& t) {
    return nb::steal(wrap_as(class_of(type), view(t, t.sizes())));
  });
  m.def(
      "_make_subclass",
      [](nb::handle type, const Tensor& data, bool requires_grad) {
        PyTypeObject* const cls = class_of(type);
        check_gradient(requires_grad, data.dtype());
        Tensor alias = make_alias(data);
        if (requires_grad) autograd::set_requires_grad(alias, true);
        return nb::steal(wrap_as(cls, std::move(alias)));
      },
      nb::arg("type"), nb::arg("data"), nb::arg("require_grad") = false);
}

}  // namespace hotaru::python
