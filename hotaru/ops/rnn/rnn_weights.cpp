// Weights as a library has them, kept while they stay as they are.
#include <memory>
#include <mutex>

#include "hotaru/autograd/node.h"
#include "hotaru/ops/rnn/rnn_stack.h"
#include "hotaru/runtime/backend.h"
#include "hotaru/runtime/streams/enqueue.h"
#include "hotaru/runtime/streams/stream.h"
#include "hotaru/runtime/streams/uses.h"
#include "hotaru/runtime/threads/blocking.h"

namespace hotaru {
namespace {

Tensor pack(const RnnStack& stack, int64_t bytes,
            std::span<const Tensor> params) {
  static const Kernel& kernel_ = kernel("rnn_stack_pack");
  const Tensor out = allocate(Dims{bytes}, DType::kUInt8, params[0].device());
  std::vector<Operand> operands{write(out)};
  for (const Tensor& p : params) operands.push_back(read(p));
  enqueue_list(kernel_, operands, stack);
  return out;
}

/// Packed weights and their memory. Of a parameter, so it goes with that.
class Kept : public RefCounted {
 public:
  Kept(const RnnStack& stack, int64_t bytes, std::span<const Tensor> params)
      : key_(key_of(stack, bytes, params)), watch_(storages_of(params)) {
    watch_.reset();
    packed = pack(stack, bytes, params);
  }
  bool serves(const RnnStack& stack, int64_t bytes,
              std::span<const Tensor> params) const {
    return !watch_.changed() && key_ == key_of(stack, bytes, params);
  }

  Tensor packed;

 private:
  static std::vector<int64_t> key_of(const RnnStack& s, int64_t bytes,
                                     std::span<const Tensor> params) {
    std::vector<int64_t> key{
        int64_t(s.mode), s.bidirectional,  s.has_biases, s.packed,
        s.tf32,          s.layers,         s.input,      s.cells,
        s.output,        int64_t(s.dtype), bytes};
    for (const Tensor& p : params)
      key.push_back(int64_t(reinterpret_cast<intptr_t>(p.address())));
    return key;
  }
  static std::vector<Ref<Ordered>> storages_of(std::span<const Tensor> params) {
    std::vector<Ref<Ordered>> out;
    for (const Tensor& p : params) out.emplace_back(p.storage());
    return out;
  }

  const std::vector<int64_t> key_;
  Watch watch_;
};

/// The leaf that keeps them, or null: what autocast made goes at once, and what
/// others write unseen is no use. Nor does a graph keep what was packed: it
/// packs itself, whenever weights changed.
autograd::Meta* owner_of(std::span<const Tensor> params) {
  autograd::Meta* const owner = autograd::meta(params[0]);
  if (!owner || owner->shared || owner->grad_fn ||
      current_stream(params[0].device()).diverted())
    return nullptr;
  for (const Tensor& p : params)
    if (p.storage()->exposed()) return nullptr;
  return owner;
}

}  // namespace

Tensor packed_weights(const RnnStack& stack, int64_t bytes,
                      std::span<const Tensor> params) {
  static auto* const mutex = new std::mutex;
  autograd::Meta* const owner = owner_of(params);
  if (!owner) return pack(stack, bytes, params);
  const auto lock = blocking_lock(*mutex);
  auto* kept = static_cast<Kept*>(owner->derived.get());
  if (!kept || !kept->serves(stack, bytes, params)) {
    owner->derived = nullptr;  // its memory first
    owner->derived = Ref<RefCounted>(new Kept(stack, bytes, params));
    kept = static_cast<Kept*>(owner->derived.get());
  }
  return kept->packed;
}

}  // namespace hotaru
