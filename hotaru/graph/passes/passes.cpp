#include "hotaru/graph/passes/passes.h"

#include <algorithm>
#include <array>
#include <unordered_set>

#include "hotaru/core/tensor.h"
#include "hotaru/graph/passes/branches.h"
#include "hotaru/graph/passes/compute_once.h"
#include "hotaru/graph/passes/fuse_pointwise.h"
#include "hotaru/graph/passes/join_in_place.h"
#include "hotaru/graph/passes/pictures/block_channels.h"
#include "hotaru/graph/passes/pictures/fuse_conv.h"
#include "hotaru/graph/passes/pictures/round_pictures.h"
#include "hotaru/graph/passes/pictures/widen_pictures.h"
#include "hotaru/graph/passes/pictures/winograd.h"
#include "hotaru/graph/passes/products/fuse_attention.h"
#include "hotaru/graph/passes/products/fuse_linear.h"
#include "hotaru/graph/passes/products/pack_int8.h"
#include "hotaru/graph/passes/silu.h"
#include "hotaru/graph/passes/straighten.h"
#include "hotaru/graph/passes/write_through.h"

namespace hotaru::graph {
namespace {

void launch_dependent(Region& region) {
  region.dependent_launch = true;
}

using enum PassDevices;
constexpr auto kPasses = std::to_array<Pass>({
    {"dead", "calls of which nobody reads what they write", true, kAll,
     &remove_dead},
    {"duplicates", "elementwise calls that compute what another one computes",
     true, kAll, &remove_duplicates},
    {"once", "what comes out alike each time, and weights made of weights",
     true, kCPU, &compute_once},
    {"silu", "x * sigmoid(x) becomes one call", true, kCPU, &find_silu},
    {"widen_pictures",
     "convolutions of 16 bits and what follows them go the ways of float32",
     false, kCPU, &widen_pictures},
    {"fuse_conv", "norms, sums and rectifiers become part of convolutions",
     false, kCPU, &fuse_conv},
    {"block_channels",
     "pictures between convolutions lie in blocks of channels", false, kCPU,
     &block_channels},
    {"round_pictures",
     "convolutions that may round multiply bfloat16, and pictures that they "
     "alone read are kept in it",
     false, kCPU, &round_pictures},
    {"winograd", "3 x 3 convolutions with 16 multiplications in place of 36",
     false, kCPU, &winograd},
    {"straighten",
     "values of elementwise calls lie row by row where most who touch them do",
     true, kCPU, &straighten},
    {"fuse_linear",
     "scales, sums and activations become part of matrix products", false, kAll,
     &fuse_linear},
    {"fuse_attention",
     "products and the softmax between them become attention, whose scores are "
     "not kept",
     false, kCPU, &fuse_attention},
    {"pack_weights",
     "weights of products and recurrent layers are brought into the order of "
     "their use once",
     false, kCPU, &pack_weights},
    {"pack_int8", "weights of 8-bit integers are brought into that order, too",
     true, kCPU, &pack_int8},
    {"write_through",
     "values that are copied at last are computed where the copy would be",
     true, kAll, &write_through},
    {"join_in_place",
     "what is joined end to end is written into the result at once", true, kCPU,
     &join_in_place},
    {"fuse_pointwise", "calls that go on with each other's elements become one",
     true, kAll, &fuse_pointwise},
    {"branches", "independent calls run side by side where that pays", false,
     kCPU, &find_branches},
    {"dependent_launch", "CUDA sets up our kernels while those before them end",
     true, kNotCPU, &launch_dependent},
});

}  // namespace

std::span<const Pass> passes() {
  return kPasses;
}

void remove_dead(Region& region) {
  std::unordered_set<const Storage*> read;
  const auto matters = [&](const Node& node) {
    bool writes = false;
    for (const Operand& operand : node.call().operands()) {
      if (operand.object) return true;  // a generator moves on
      if (!operand.writes() || !operand.tensor->defined()) continue;
      writes = true;
      const Storage* storage = operand.tensor->storage().get();
      if (!region.values.contains(storage) || read.contains(storage))
        return true;
    }
    // A call that only checks.
    return !writes;
  };
  for (auto node = region.nodes.rbegin(); node != region.nodes.rend(); ++node) {
    if (!matters(**node)) {
      node->reset();
      continue;
    }
    // Whatever it touches: a write may cover a part only.
    for (const Operand& operand : (*node)->call().operands())
      if (!operand.object && operand.tensor->defined())
        read.insert(operand.tensor->storage().get());
  }
  std::erase(region.nodes, nullptr);
}

}  // namespace hotaru::graph
