#include "bindings/graph/surroundings.h"

#include <unordered_map>

#include "bindings/stable_abi.h"

namespace hotaru::python {
namespace {

namespace nb = nanobind;

// Where a number lies that every change of a dict raises, as long as the dict
// lives. Up to 3.13 dicts carry one themselves (PEP 509).
#if PY_VERSION_HEX < 0x030E0000 && !defined(Py_LIMITED_API)
const uint64_t* tag_of(PyObject* dict) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return &reinterpret_cast<PyDictObject*>(dict)->ma_version_tag;
#pragma GCC diagnostic pop
}
#else
// Later versions tell a callback. Dicts are forgotten when they die.
std::unordered_map<PyObject*, uint64_t>& changes() {
  static auto* map = new std::unordered_map<PyObject*, uint64_t>();
  return *map;
}

int on_change(DictEvent event, PyObject* dict, PyObject*, PyObject*) {
  static uint64_t next = 0;
  if (event == kDictGone)
    changes().erase(dict);
  else
    changes()[dict] = ++next;
  return 0;
}

const uint64_t* tag_of(PyObject* dict) {
  static const int watcher = add_dict_watcher(on_change);
  if (watcher < 0 || watch_dict(watcher, dict) < 0) nb::raise_python_error();
  return &changes().try_emplace(dict, 0).first->second;
}
#endif

PyObject* value_of(PyObject* dict, PyObject* name) {
  PyObject* value = PyDict_GetItemWithError(dict, name);
  if (!value) PyErr_Clear();
  return value;
}

nb::object defaults_of(PyObject* function) {
  PyObject* defaults = function_defaults(function);
  return defaults ? nb::borrow(defaults) : nb::none();
}

PyObject* slot_of(PyObject* object, Py_ssize_t offset) {
  return *reinterpret_cast<PyObject**>(reinterpret_cast<char*>(object) +
                                       offset);
}

}  // namespace

void Surroundings::add_dict(nb::handle dict) {
  if (!PyDict_Check(dict.ptr())) throw nb::type_error("expected a dict");
  tags_.push_back(tag_of(dict.ptr()));
  dicts_.push_back({nb::borrow(dict), *tags_.back(), {}});
  sum_ += *tags_.back();
}

void Surroundings::add_names(nb::handle dict, const nb::tuple& names) {
  if (!names.size()) return;
  add_dict(dict);
  for (nb::handle name : names)
    dicts_.back().names.push_back(
        {nb::borrow(name), nb::borrow(value_of(dict.ptr(), name.ptr()))});
}

void Surroundings::add_list(nb::handle list) {
  if (!PyList_Check(list.ptr())) throw nb::type_error("expected a list");
  lists_.push_back({nb::borrow(list), {}});
  for (Py_ssize_t i = 0; i < sequence_size(list.ptr()); ++i)
    lists_.back().items.push_back(nb::borrow(list_item(list.ptr(), i)));
}

void Surroundings::add_cell(nb::handle cell) {
  if (!is_cell(cell.ptr())) throw nb::type_error("expected a cell");
  PyObject* value = cell_value(cell.ptr());
  cells_.push_back({nb::borrow(cell), value ? nb::borrow(value) : nb::none()});
}

void Surroundings::add_function(nb::handle function) {
  PyObject* f = function.ptr();
  if (!is_function(f)) throw nb::type_error("expected a function");
  functions_.push_back(
      {nb::borrow(function), nb::borrow(function_code(f)), defaults_of(f)});
  if (PyObject* keywords = function_keyword_defaults(f)) add_dict(keywords);
}

void Surroundings::add_slot(nb::handle object, nb::handle member) {
  if (Py_TYPE(member.ptr()) != &PyMemberDescr_Type)
    throw nb::type_error("expected a slot's descriptor");
  if (member_of(member.ptr())->type != T_OBJECT_EX ||
      !PyObject_TypeCheck(object.ptr(), member_class(member.ptr())))
    throw nb::type_error("expected a slot of the object");
  const Py_ssize_t offset = member_of(member.ptr())->offset;
  slots_.push_back(
      {nb::borrow(object), nb::borrow(slot_of(object.ptr(), offset)), offset});
}

void Surroundings::add_type(nb::handle type) {
  if (!PyType_Check(type.ptr())) throw nb::type_error("expected a class");
  PyObject* dict = type_dict(reinterpret_cast<PyTypeObject*>(type.ptr()));
  if (dict) add_dict(dict);
}

bool Surroundings::same_names(const Dict& dict) {
  for (const Name& name : dict.names)
    if (value_of(dict.dict.ptr(), name.key.ptr()) != name.value.ptr())
      return false;
  return true;
}

bool Surroundings::same_dicts() const {
  uint64_t sum = 0;
  size_t at = 0;
  for (const uint64_t* const* t = tags_.data(); at + 4 <= tags_.size(); at += 4)
    sum += *t[at] + *t[at + 1] + *t[at + 2] + *t[at + 3];
  for (; at < tags_.size(); ++at) sum += *tags_[at];
  if (sum == sum_) return true;
  for (size_t i = 0; i < dicts_.size(); ++i) {
    const Dict& dict = dicts_[i];
    if (*tags_[i] == dict.tag) continue;
    if (dict.names.empty() || !same_names(dict)) return false;
    dict.tag = *tags_[i];  // other names changed
  }
  sum_ = sum;
  return true;
}

bool Surroundings::unchanged() const {
  if (!same_dicts()) return false;
  for (const List& list : lists_) {
    PyObject* now = list.list.ptr();
    if (size_t(sequence_size(now)) != list.items.size()) return false;
    for (size_t i = 0; i < list.items.size(); ++i)
      if (list_item(now, Py_ssize_t(i)) != list.items[i].ptr()) return false;
  }
  for (const Cell& cell : cells_) {
    PyObject* value = cell_value(cell.cell.ptr());
    if ((value ? value : Py_None) != cell.value.ptr()) return false;
  }
  for (const Function& f : functions_)
    if (function_code(f.function.ptr()) != f.code.ptr() ||
        !defaults_of(f.function.ptr()).is(f.defaults))
      return false;
  for (const Slot& slot : slots_)
    if (slot_of(slot.object.ptr(), slot.offset) != slot.value.ptr())
      return false;
  return true;
}

int Surroundings::traverse(visitproc visit, void* arg) const {
  for (const Dict& dict : dicts_) {
    Py_VISIT(dict.dict.ptr());
    for (const Name& name : dict.names) {
      Py_VISIT(name.key.ptr());
      Py_VISIT(name.value.ptr());
    }
  }
  for (const List& list : lists_) {
    Py_VISIT(list.list.ptr());
    for (const nb::object& item : list.items) Py_VISIT(item.ptr());
  }
  for (const Cell& cell : cells_) {
    Py_VISIT(cell.cell.ptr());
    Py_VISIT(cell.value.ptr());
  }
  for (const Function& f : functions_) {
    Py_VISIT(f.function.ptr());
    Py_VISIT(f.code.ptr());
    Py_VISIT(f.defaults.ptr());
  }
  for (const Slot& slot : slots_) {
    Py_VISIT(slot.object.ptr());
    Py_VISIT(slot.value.ptr());
  }
  return 0;
}

void Surroundings::clear() {
  // Moved out first: what a destructor runs may look here.
  tags_.clear();
  sum_ = 0;
  const auto dicts = std::move(dicts_);
  const auto lists = std::move(lists_);
  const auto cells = std::move(cells_);
  const auto functions = std::move(functions_);
  const auto slots = std::move(slots_);
}

namespace {

int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  return nb::inst_ptr<Surroundings>(self)->traverse(visit, arg);
}

int clear(PyObject* self) {
  if (nb::inst_ready(self)) nb::inst_ptr<Surroundings>(self)->clear();
  return 0;
}

PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void init_surroundings(nb::module_& m) {
  nb::class_<Surroundings>(m, "_Surroundings", nb::type_slots(slots))
      .def(nb::init<>())
      .def("add_dict", &Surroundings::add_dict)
      .def("add_names", &Surroundings::add_names)
      .def("add_list", &Surroundings::add_list)
      .def("add_cell", &Surroundings::add_cell)
      .def("add_function", &Surroundings::add_function)
      .def("add_slot", &Surroundings::add_slot)
      .def("add_type", &Surroundings::add_type)
      .def("unchanged", &Surroundings::unchanged);
}

}  // namespace hotaru::python
