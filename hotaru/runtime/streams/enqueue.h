// How operators hand a kernel its operands: at the door of the stream that is
// current on the output's device.
#pragma once

#include <initializer_list>
#include <span>

#include "hotaru/core/tensor.h"
#include "hotaru/runtime/streams/stream.h"

namespace hotaru {

/// Enqueues on the current stream of the first operand's device.
inline void enqueue(const Kernel& kernel,
                    std::initializer_list<Operand> operands) {
  current_stream(operands.begin()->tensor->device())
      .enqueue({kernel, {operands.begin(), operands.size()}});
}
template <class A>
void enqueue(const Kernel& kernel, std::initializer_list<Operand> operands,
             const A& attributes) {
  current_stream(operands.begin()->tensor->device())
      .enqueue({kernel, {operands.begin(), operands.size()}, attributes});
}
/// The same for a number of operands known only at run time.
template <class A>
void enqueue_list(const Kernel& kernel, std::span<const Operand> operands,
                  const A& attributes) {
  current_stream(operands.front().tensor->device())
      .enqueue({kernel, operands, attributes});
}

}  // namespace hotaru
