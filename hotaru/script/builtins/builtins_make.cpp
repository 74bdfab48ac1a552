// Tensors from numbers and nested lists: torch.tensor and torch.as_tensor.
#include <algorithm>
#include <utility>

#include "hotaru/autograd/node.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/host.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/script/builtins/builtins.h"

namespace hotaru::script {

namespace {

using GivenDType = Optional<DType>;
using Place = Optional<Device>;

Tensor finished(Tensor tensor, GivenDType dtype, Place device,
                bool requires_grad) {
  tensor = to(tensor, dtype, device);
  if (requires_grad) autograd::set_requires_grad(tensor, true);
  return tensor;
}

Tensor from_number(const Scalar& value, GivenDType dtype, Place device,
                   bool requires_grad) {
  return finished(scalar_tensor(value, TensorOptions(value.dtype())), dtype,
                  device, requires_grad);
}

void check_depth(bool equal) {
  HOTARU_CHECK_AS(ValueError, equal, "Expected sequences of equal depth");
}

// Collects the numbers of nested lists in order and the lengths on the way.
void flatten(const Value& value, size_t depth, Dims& sizes,
             std::vector<Value>& out) {
  if (!value.is_list() && !value.is_tuple()) {
    check_depth(depth == sizes.size());
    out.push_back(value);
    return;
  }
  const std::vector<Value>& items =
      value.is_tuple() ? value.as_tuple().items : value.as_list().items;
  int64_t count = int64_t(items.size());
  constexpr size_t kMaxDepth = 64;
  HOTARU_CHECK_AS(ValueError, depth < kMaxDepth, "lists nested too deeply");
  if (depth == sizes.size() && out.empty()) sizes.push_back(count);
  check_depth(depth < sizes.size());
  HOTARU_CHECK_AS(ValueError, sizes[depth] == count,
                  "Expected sequence of length ", sizes[depth], " at dim ",
                  depth, " (got ", count, ")");
  for (const Value& item : items) flatten(item, depth + 1, sizes, out);
}

DType common_dtype(const std::vector<Value>& items) {
  for (const Value& item : items) {
    HOTARU_CHECK(item.is_number(),
                 "Input must be of ints, floats, or bools, got ",
                 item.type_name());
  }
  DType dtype = items.empty() ? default_dtype() : items[0].as_scalar().dtype();
  for (const Value& item : items)
    dtype = promote_types(dtype, item.as_scalar().dtype());
  return dtype;
}

Tensor from_list(const Value& data, GivenDType dtype, Place device,
                 bool requires_grad) {
  Dims sizes;
  std::vector<Value> items;
  flatten(data, 0, sizes, items);
  Tensor out = empty(sizes, TensorOptions(common_dtype(items)));
  visit_dtype(AllTypes{}, out.dtype(), "tensor", [&]<class T>() {
    std::transform(items.begin(), items.end(), host_data<T>(out, "tensor"),
                   [](const Value& item) { return item.as_scalar().to<T>(); });
  });
  return finished(out, dtype, device, requires_grad);
}

}  // namespace

void add_make_builtins(BuiltinTable& table) {
  constexpr const char* kOptions =
      "*, ScalarType? dtype=None, Device? device=None, bool "
      "requires_grad=False) -> Tensor";
  constexpr const char* kShort =
      "ScalarType? dtype=None, Device? device=None) -> Tensor";
  for (const char* type : {"bool", "int", "float", "complex"}) {
    table.add(
        concat("tensor.", type, "(", type, " t, ", kOptions),
        +[](const Value& value, GivenDType dtype, Place device, bool grad) {
          return from_number(value.as_scalar(), dtype, device, grad);
        });
    table.add(
        concat("as_tensor.", type, "(", type, " t, ", kShort),
        +[](const Value& value, GivenDType dtype, Place device) {
          return from_number(value.as_scalar(), dtype, device, false);
        });
  }
  table.add(concat("tensor(t[] data, ", kOptions), &from_list);
  table.add(
      concat("as_tensor.list(t[] data, ", kShort),
      +[](const Value& data, GivenDType dtype, Place device) {
        return from_list(data, dtype, device, false);
      });
  table.add(
      concat("as_tensor(Tensor data, ", kShort),
      +[](const Tensor& data, GivenDType dtype, Place device) {
        return to(data, dtype, device);
      });
}

}  // namespace hotaru::script
