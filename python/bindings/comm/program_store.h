// Stores that a program writes in Python, as classes of Store's.
#pragma once

#include <nanobind/nanobind.h>

#include "hotaru/comm/store/store.h"

namespace hotaru::python {

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

 private:
  /// The program's method; Error if the class has none of its own.
  nanobind::object method(const char* name) const;
  template <class... A>
  nanobind::object call(const char* name, const A&... arguments) const;

  nanobind::object weak_;
};

}  // namespace hotaru::python
