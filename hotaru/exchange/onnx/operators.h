// The functions that say what ONNX's operators do, by operator and version.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hotaru/script/program/resolver.h"
#include "hotaru/script/program/unit.h"

namespace hotaru::exchange::onnx {

/// How functions' names begin of operators of the domain com.microsoft.
inline constexpr std::string_view kMicrosoft = "com_microsoft_";

/// Finds functions in texts/. One is named after its operator, the first
/// opset of that meaning, and a name of its own where there are several that
/// differ in what they take: `Squeeze`, `Squeeze_v13`, `Squeeze_v13__host`. A
/// family is parsed when one of its functions is first asked for. Belongs to
/// one compilation unit; to be used under its lock.
class Operators : public std::enable_shared_from_this<Operators> {
 public:
  /// Reads the texts from the folder that HOTARU_ONNX_TEXTS names, if any, so
  /// that they can be changed without building the library.
  explicit Operators(script::CompilationUnit& unit);

  /// The functions of an operator, one for each name of its own: the newest
  /// that the opset knows. Empty for unknown operators. Ones of known numbers
  /// (texts/known.py) only if asked for.
  std::vector<script::Function*> find(std::string_view op, int64_t opset,
                                      bool known = false);
  /// A function by its whole name, or null.
  script::Function* find_function(std::string_view name);
  /// Gives meaning to these functions' names in a program's text.
  std::unique_ptr<script::Resolver> resolver();
  /// All operators, sorted; those of another domain than ONNX's with it, as in
  /// "com.microsoft::FusedConv".
  std::vector<std::string> names() const;

 private:
  struct Definition {
    size_t family = 0;
    std::string name;
    int64_t version = 1;
    std::string variant = {};
  };
  struct Family {
    std::string name;
    std::string text;
    bool loaded = false;
  };

  void add_family(std::string name, std::string text);
  void load(Family& family);

  script::CompilationUnit& unit_;
  std::vector<Family> families_;
  // In the order in which a file has them.
  std::map<std::string, std::vector<Definition>, std::less<>> by_op_;
  std::map<std::string, size_t, std::less<>> family_of_;
  std::map<std::string, script::Function*, std::less<>> functions_;
};

}  // namespace hotaru::exchange::onnx
