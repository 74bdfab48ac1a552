// Tensors that a node keeps of the forward pass.
#pragma once

#include <memory>

#include "hotaru/autograd/node.h"

namespace hotaru::autograd {

/// Keeps a tensor in a form of its own: in other memory, on disk.
class SavedHooks {
 public:
  virtual ~SavedHooks() = default;
  /// Called once, where nothing is recorded. Must not write the tensor.
  virtual void pack(const Tensor& tensor) = 0;
  /// Called each time the tensor is asked for.
  virtual Tensor unpack() = 0;
};

/// Makes the hooks of each tensor that this thread saves from now on; null for
/// none.
using SavedHooksMaker = std::unique_ptr<SavedHooks> (*)();
void set_saved_hooks_maker(SavedHooksMaker maker);

/// A tensor kept for the backward pass, together with the version it had.
/// A saved output of the node itself keeps no cycle alive.
class SavedTensor {
 public:
  SavedTensor() = default;
  /// `version` is what the tensor's version must be at unpack. Packed if the
  /// thread has hooks and `packable`. Throws for inference tensors.
  SavedTensor(const Tensor& tensor, bool output, uint32_t version,
              bool packable = true);
  /// The tensor, with its history. Throws PyTorch's text when it was written
  /// in place since; what hooks keep is theirs to check.
  Tensor unpack(Node* owner) const;

  /// Gives a saved output its tangent (autograd/forward.h), if there is one.
  void carry(const Tensor& tangent);

  /// Packs what was kept as it was. Throws PyTorch's texts where there is
  /// nothing, or hooks already.
  void set_hooks(std::unique_ptr<SavedHooks> hooks);
  /// The tensor itself, undefined if it is packed.
  const Tensor& tensor() const { return tensor_; }
  bool defined() const { return packed_ || tensor_.defined(); }

 private:
  /// A packed tensor and where its gradients go.
  struct Packed {
    std::unique_ptr<SavedHooks> hooks;
    Edge edge;
    bool leaf = false;
  };

  void pack(std::unique_ptr<SavedHooks> hooks, const Tensor& seen,
            const Tensor& history);
  Tensor unpack_packed(Node* owner) const;
  void check_version(Node* owner) const;

  Tensor tensor_;
  std::unique_ptr<Packed> packed_;
  uint32_t version_ = 0;
  uint32_t output_index_ = 0;
  bool output_ = false;
  /// Set if the saved input had been made by a node.
  bool made_ = false;
};

/// A node that keeps tensors.
class SavingNode : public Node {
 public:
  using Node::Node;

  void release_saved() override;
  /// Throws PyTorch's text if they were released.
  void check_kept() const;
  Tensor unpack(size_t i);

  std::vector<SavedTensor> saved;
  bool released = false;
};

}  // namespace hotaru::autograd
