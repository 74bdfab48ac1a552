// Names of dimensions, as far as programs write them down: tensors have none
// here, and what would give them some throws NotImplementedError.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "c10/util/ArrayRef.h"

namespace c10 {

/// "dimname::batch".
class Symbol {
 public:
  static Symbol dimname(const std::string& name) {
    return Symbol("dimname::" + name);
  }
  const std::string& toQualString() const { return name_; }
  const char* toUnqualString() const {
    return name_.c_str() + name_.rfind(':') + 1;
  }
  bool operator==(const Symbol&) const = default;

 private:
  explicit Symbol(std::string name) : name_(std::move(name)) {}
  std::string name_;
};

}  // namespace c10

namespace at {

using c10::Symbol;

enum class NameType : uint8_t { BASIC, WILDCARD };

class Dimname {
 public:
  static Dimname fromSymbol(Symbol name) {
    return Dimname(std::move(name), NameType::BASIC);
  }
  static Dimname wildcard() {
    return Dimname(Symbol::dimname("*"), NameType::WILDCARD);
  }
  Symbol symbol() const { return name_; }
  NameType type() const { return type_; }
  bool isBasic() const { return type_ == NameType::BASIC; }
  bool isWildcard() const { return type_ == NameType::WILDCARD; }
  bool operator==(const Dimname&) const = default;

 private:
  Dimname(Symbol name, NameType type) : name_(std::move(name)), type_(type) {}
  Symbol name_;
  NameType type_;
};
using DimnameList = c10::ArrayRef<Dimname>;

}  // namespace at
