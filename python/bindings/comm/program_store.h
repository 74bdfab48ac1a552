// Stores that a program writes in Python, as classes of Store's.
#pragma once

#include <nanobind/nanobind.h>

#include <string>
#include <vector>

#include "hotaru/comm/store/store.h"

namespace hotaru::python {

/// Bytes that a store holds, as Python sees them.
nanobind::bytes bytes_of(const std::string& value);

/// Calls the object's methods. The object owns this; one that is gone, or lacks
/// a method, is an Error.
class ProgramStore final : public comm::Store {
 public:
  explicit ProgramStore(nanobind::handle object);
  ~ProgramStore() override;

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override;
  void append(const std::string& key, const std::string& value) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  bool check(const comm::Keys& keys) override;
  void wait(const comm::Keys& keys, comm::Millis timeout) override;
  /// By get() and set() where the program has no methods of these names, as
  /// append() is by compare_set().
  std::vector<std::string> multi_get(const comm::Keys& keys) override;
  void multi_set(const comm::Keys& keys,
                 const std::vector<std::string>& values) override;
  /// Answer of the program's has_extended_api(); false without one.
  bool has_extended_api() const;

 private:
  bool has(const char* name) const;
  void check_has(const char* name, const char* by) const;
  /// The program's method; Error if the class has none of its own.
  nanobind::object method(const char* name) const;
  template <class... A>
  nanobind::object call(const char* name, const A&... arguments) const;

  nanobind::object weak_;
};

}  // namespace hotaru::python
