// Lines whose extreme elements are looked for.
#pragma once

#include "hotaru/backend/common/kernel_types.h"
#include "hotaru/backend/common/reduce/line.h"
#include "hotaru/backend/cpu/lines.h"

namespace hotaru::cpu {

/// f(line, value, index) for each line of the input: where it, its values and
/// their positions begin. Operands: values, indices, input.
template <class Types, class F>
void for_extreme_lines(const KernelCall& call, const Types& types, const F& f) {
  const Tensor &values = call.tensor(0), &indices = call.tensor(1),
               &in = call.tensor(2);
  const int64_t dim = call.attributes<LineAttributes>().dim;
  types.visit(call, [&]<class T>() {
    const T* x = in.data<T>();
    T* value = values.data<T>();
    int64_t* index = indices.data<int64_t>();
    for_lines(
        dim, line_size(in, dim),
        [&](const auto& at) { f(x + at[2], value + at[0], index + at[1]); },
        values, indices, in);
  });
}

}  // namespace hotaru::cpu
