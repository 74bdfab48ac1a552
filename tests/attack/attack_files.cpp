// Reads files as a .npy array, a file of tensors or an archive, and runs what
// is in them: refused with an exception or used. Ends with 0 then; sanitizers
// and crashes end otherwise.
//
//   attack_files FILE...
#include <cstdio>
#include <stdexcept>
#include <string>
#include <vector>

#include "hotaru/io/npy.h"
#include "hotaru/io/torch_file.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/reduce/reduce.h"
#include "hotaru/runtime/threads/parallel.h"
#include "hotaru/script/archive/archive.h"
#include "hotaru/script/run/interpreter.h"

namespace hotaru {
namespace {

constexpr size_t kMaxModules = 12;
constexpr int64_t kMaxElements = 1 << 22;

template <class F>
bool attempt(F use) {
  try {
    use();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Every element of tensors of any usual size is read.
void look(const Value& value) {
  script::value_text(value);
  if (value.is_tensor() && value.as_tensor().numel() <= kMaxElements)
    item(count_nonzero(value.as_tensor()));
}

void run(const script::Module& module) {
  size_t count = 0;
  for (const auto& [name, part] : module.named_modules()) {
    if (++count > kMaxModules) break;
    const std::vector<std::vector<Value>> calls = {
        {Value(ones(IntSpan({2, 4})))},
        {Value(ones(IntSpan({1, 3, 8})))},
        {Value(int64_t{3})},
        {}};
    for (const auto& arguments : calls)
      if (attempt([&] { look(part(arguments)); })) break;
  }
  for (const auto& [name, tensor] : module.named_parameters())
    look(Value(tensor));
  for (const auto& [name, tensor] : module.named_buffers()) look(Value(tensor));
}

void use(const std::string& path) {
  if (attempt([&] { look(Value(io::read_npy(path))); })) return;
  if (attempt([&] { look(io::load_torch_file(path)); })) return;
  attempt([&] { run(script::load(path)); });
}

}  // namespace
}  // namespace hotaru

int main(int count, char** paths) {
  hotaru::set_num_threads(1);
  for (int i = 1; i < count; ++i) {
    // Says which one it was that ended the process.
    std::printf("%s\n", paths[i]);
    std::fflush(stdout);
    hotaru::use(paths[i]);
  }
  return 0;
}
