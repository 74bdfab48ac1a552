#include "bindings/comm/program_store.h"

#include <nanobind/stl/chrono.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings/comm/stores.h"
#include "bindings/stable_abi.h"
#include "hotaru/core/checks/check.h"

namespace nb = nanobind;

namespace hotaru::python {

using comm::Keys;
using comm::Millis;

nb::bytes bytes_of(const std::string& value) {
  return nb::bytes(value.data(), value.size());
}

namespace {

std::string text_of(const nb::object& value) {
  if (PyBytes_Check(value.ptr()))
    return std::string(view_of_bytes(value.ptr()));
  return nb::cast<std::string>(value);
}

}  // namespace

ProgramStore::ProgramStore(nb::handle object)
    : Store(comm::kStoreTimeout), weak_(nb::weakref(object)) {}

ProgramStore::~ProgramStore() {
  const nb::gil_scoped_acquire lock;
  weak_.reset();
}

bool ProgramStore::has(const char* name) const {
  const nb::object self = weak_();
  return !self.is_none() &&
         !nb::object(self.type().attr(name)).is(nb::type<PyStore>().attr(name));
}

void ProgramStore::check_has(const char* name, const char* by) const {
  HOTARU_CHECK(has(name) || has(by),
               "Not implemented. The store's class has "
               "neither ",
               name, "() nor ", by, "()");
}

bool ProgramStore::has_extended_api() const {
  return has("has_extended_api") && nb::cast<bool>(call("has_extended_api"));
}

nb::object ProgramStore::method(const char* name) const {
  nb::object self = weak_();
  HOTARU_CHECK(!self.is_none(),
               "the store, an object of the program's, is "
               "gone");
  const nb::object own = self.type().attr(name);
  HOTARU_CHECK(!own.is(nb::type<PyStore>().attr(name)),
               "Tried to call pure virtual function \"::c10d::Store::", name,
               "\": the class ", nb::inst_name(self).c_str(),
               " has no such method");
  return self.attr(name);
}

template <class... A>
nb::object ProgramStore::call(const char* name, const A&... arguments) const {
  return method(name)(arguments...);
}

void ProgramStore::set(const std::string& key, const std::string& value) {
  const nb::gil_scoped_acquire lock;
  call("set", key, bytes_of(value));
}
std::string ProgramStore::get(const std::string& key) {
  const nb::gil_scoped_acquire lock;
  return text_of(call("get", key));
}
int64_t ProgramStore::add(const std::string& key, int64_t amount) {
  const nb::gil_scoped_acquire lock;
  return nb::cast<int64_t>(call("add", key, amount));
}
std::string ProgramStore::compare_set(const std::string& key,
                                      const std::string& expected,
                                      const std::string& desired) {
  const nb::gil_scoped_acquire lock;
  return text_of(
      call("compare_set", key, bytes_of(expected), bytes_of(desired)));
}
void ProgramStore::append(const std::string& key, const std::string& value) {
  const nb::gil_scoped_acquire lock;
  check_has("append", "compare_set");
  if (has("append")) {
    call("append", key, bytes_of(value));
    return;
  }
  std::string wanted = value;
  std::string there = compare_set(key, "", wanted);
  while (there != wanted) {
    wanted = there + value;
    there = compare_set(key, there, wanted);
  }
}
std::vector<std::string> ProgramStore::multi_get(const Keys& keys) {
  const nb::gil_scoped_acquire lock;
  check_has("multi_get", "get");
  if (!has("multi_get")) return Store::multi_get(keys);
  std::vector<std::string> out;
  for (nb::handle value : call("multi_get", keys))
    out.push_back(text_of(nb::borrow(value)));
  return out;
}
void ProgramStore::multi_set(const Keys& keys,
                             const std::vector<std::string>& values) {
  const nb::gil_scoped_acquire lock;
  check_has("multi_set", "set");
  if (!has("multi_set")) return Store::multi_set(keys, values);
  nb::list given;
  for (const std::string& value : values) given.append(bytes_of(value));
  call("multi_set", keys, given);
}
bool ProgramStore::delete_key(const std::string& key) {
  const nb::gil_scoped_acquire lock;
  return nb::cast<bool>(call("delete_key", key));
}
int64_t ProgramStore::num_keys() {
  const nb::gil_scoped_acquire lock;
  return nb::cast<int64_t>(call("num_keys"));
}
bool ProgramStore::check(const Keys& keys) {
  const nb::gil_scoped_acquire lock;
  return nb::cast<bool>(call("check", keys));
}
void ProgramStore::wait(const Keys& keys, Millis timeout) {
  const nb::gil_scoped_acquire lock;
  call("wait", keys, timeout);
}

}  // namespace hotaru::python
