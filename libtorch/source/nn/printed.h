// How modules print themselves.
#pragma once

#include <ostream>

namespace torch::nn {

/// "torch::nn::Name(a=1, inplace=true)": pairs of names and values, the last
/// one only where it is set.
class Printed {
 public:
  Printed(std::ostream& out, const char* name) : out_(out) {
    out << std::boolalpha << "torch::nn::" << name << "(";
  }
  ~Printed() { out_ << ")"; }
  template <class T>
  Printed& with(const char* name, const T& value) {
    out_ << (first_ ? "" : ", ") << name << "=" << value;
    first_ = false;
    return *this;
  }
  Printed& inplace(bool on) { return on ? with("inplace", on) : *this; }
  template <class T>
  Printed& only(const T& value) {
    out_ << value;
    first_ = false;
    return *this;
  }

 private:
  std::ostream& out_;
  bool first_ = true;
};

}  // namespace torch::nn
