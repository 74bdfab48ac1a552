#include "hotaru/script/builtins/out_copy.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "hotaru/core/mutex.h"
#include "hotaru/ops/out.h"

namespace hotaru::script {
namespace {

void invoke_copy(const Callee& callee, Value* arguments, Value* results) {
  const auto& op = *reinterpret_cast<const Operator*>(callee.function);
  const Tensor out = arguments[0].as_tensor();
  write_out(op, out, arguments[1].as_tensor());
  results[0] = out;
}

struct Copies {
  Mutex mutex;
  std::map<const Operator*, Operator> of;
};

}  // namespace

const Operator& out_copy(const Operator& op) {
  static Copies& copies = *new Copies;
  const Operator* copy = Registry::instance().find("copy_", "");
  const std::lock_guard lock(copies.mutex);
  return copies.of
      .try_emplace(
          &op, copy->text().data(),
          reinterpret_cast<GenericFunction>(const_cast<Operator*>(&op)),
          &invoke_copy)
      .first->second;
}

bool follows_out(std::string_view name) {
  constexpr std::string_view kSums[] = {"sum", "nansum", "prod", "cumsum",
                                        "cumprod"};
  if (std::ranges::find(kSums, name) != std::end(kSums)) return true;
  return std::ranges::any_of(
      Registry::instance().find(name), [](const Operator* op) {
        const Schema& schema = op->schema();
        return schema.find("dtype") >= 0 && !schema.arguments.empty() &&
               schema.arguments.front().type.kind != ArgKind::kTensor;
      });
}

}  // namespace hotaru::script
