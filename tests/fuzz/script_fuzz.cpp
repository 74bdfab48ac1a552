// Any text as TorchScript source: rejected with an Error or compiled, classes
// and functions alike.
#include <memory>
#include <string>

#include "hotaru/core/error.h"
#include "hotaru/script/program/unit.h"

namespace {

template <class F>
void attempt(F work) {
  try {
    work();
  } catch (const hotaru::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace hotaru::script;
  std::string text(reinterpret_cast<const char*>(data), size);
  auto unit = CompilationUnit::create();
  unit->set_parse_limits({.memory = size_t{1} << 25});
  unit->set_constants({hotaru::Value(1), hotaru::Value("c")});
  std::unique_ptr<Ast> names;
  Source copy("fuzz.py", text);
  attempt([&] {
    names = parse_module(copy);
    unit->define(std::make_unique<Source>("fuzz.py", text), "__torch__");
  });
  if (!names) return 0;
  for (const Stmt* stmt : names->statements) {
    attempt([&] {
      if (stmt->kind == StmtKind::kDef) {
        Function* function =
            unit->find_function(hotaru::concat("__torch__.", stmt->def->name));
        if (function) function->code();
        return;
      }
      TypePtr type =
          unit->find_type(hotaru::concat("__torch__.", stmt->cls->name));
      if (!type || type->kind != TypeKind::kClass) return;
      for (const auto& named : type->cls->methods())
        attempt([&] { named.second->code(); });
    });
  }
  return 0;
}
