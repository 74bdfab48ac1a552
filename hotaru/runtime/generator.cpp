#include "hotaru/runtime/generator.h"

#include <random>

namespace hotaru {

uint64_t Generator::seed() {
  std::random_device entropy;
  const uint64_t high = entropy();
  manual_seed(high << 32 | entropy());
  return initial_seed();
}

}  // namespace hotaru
