// Parameters that calls have beside what lies in the device's memory.
#pragma once

#include <cstring>

#include "hotaru/backend/cuda/fused/writer.h"
#include "hotaru/backend/cuda/pointwise/pointwise.h"

namespace hotaru::cuda::fused {

/// Puts numbers and objects, as they are now, into a kernel's parameters.
template <class Params>
void set_values(Params& p, const FusedValues& values) {
  for (size_t i = 0; i < values.objects.size(); ++i)
    values.objects[i].put(*values.objects[i].call, p.formula[i]);
  for (size_t i = 0; i < values.numbers.size(); ++i)
    visit_dtype(RealAndBoolTypes{}, values.numbers[i].as, "fused",
                [&]<class T>() {
                  const auto value =
                      number_on_cpu<OpMath<T>>(*values.numbers[i].tensor);
                  std::memcpy(p.number[i], &value, sizeof(value));
                });
}

}  // namespace hotaru::cuda::fused
