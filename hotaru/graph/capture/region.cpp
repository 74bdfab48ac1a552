#include "hotaru/graph/capture/region.h"

#include "hotaru/graph/capture/touch.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/operand.h"

namespace hotaru::graph {

bool Region::lasts(const Tensor& t) const {
  const Storage* storage = t.storage().get();
  if (values.contains(storage) || inputs.contains(storage) ||
      storage->exposed())
    return false;
  const Touch mine = touch_of(read(t));
  for (const auto& node : nodes) {
    if (!node) continue;  // left out meanwhile
    for (const Operand& operand : node->call().operands())
      if (operand.writes() && ordered_of(operand) &&
          touch_of(operand).overlaps(mine))
        return false;
  }
  return true;
}

Tensor Region::make_value(IntSpan sizes, DType dtype) {
  const int64_t numel = numel_of(sizes);
  auto storage = make_ref<Storage>(
      DeviceTable::instance().backend(DeviceType::kCPU).allocator(0),
      size_t(numel) * itemsize(dtype), Device{DeviceType::kCPU}, true);
  values.insert(storage.get());
  kept.emplace_back(storage.get());
  return Tensor(make_ref<TensorImpl>(std::move(storage), dtype, sizes, numel));
}

}  // namespace hotaru::graph
