// Seeding generators of any device.
#pragma once

#include <cstdint>

#include "hotaru/runtime/generator.h"

namespace at {

/// Draws that are queued come before.
void seed_with(hotaru::Generator& generator, uint64_t seed);

}  // namespace at
