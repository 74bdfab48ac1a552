// Results of a captured function, and how its calls return the like: the same
// tensors, views of the same tensors, memory shared in the same way.
#pragma once

#include <string>

#include "bindings/graph/graph_arguments.h"
#include "hotaru/autograd/node.h"

namespace hotaru::python {

class GraphResults {
 public:
  /// Results as the function left them. Those in memory of an argument, or of
  /// one of the `lasting` tensors among those known by address, are views of
  /// it, or it. `fresh`: the others lie in memory of their own for each call,
  /// not in the graph's.
  GraphResults(const std::vector<Tensor>& results,
               const std::vector<Argument>& arguments,
               const std::vector<Guarded>& guarded,
               const std::vector<Tensor>& lasting, bool fresh);
  GraphResults() = default;

  /// Why calls cannot return the like; empty if they can.
  const std::string& refusal() const { return refusal_; }
  /// The tensors that gradients of results come to, with their history: results
  /// and tensors that several results are views of.
  const std::vector<Tensor>& roots() const { return roots_; }
  /// Forgets roots, which were needed for a backward only.
  void forget_roots() { roots_.clear(); }

  /// The tensors of roots() for a call whose kernels ran or are queued.
  std::vector<Tensor> make_roots() const;
  /// All results, given those, as new references.
  void make(const std::vector<Tensor>& roots, Arguments arguments,
            PyObject** out) const;
  /// The only result of a call, where it is one that nothing else shares: what
  /// make_roots() gives.
  bool only_root() const { return only_root_; }
  size_t size() const { return parts_.size(); }
  /// Set at i if the i-th root requires grad.
  const std::vector<bool>& recorded() const { return recorded_; }

 private:
  enum class From : uint8_t { kRoot, kArgument, kKnown, kAgain };
  /// One result: `index` is a root, an argument, a tensor known by address or
  /// an earlier result, `whole` the tensor there as it was in the capture.
  struct Part {
    From from;
    size_t index;
    bool same;  // the very tensor
    Tensor tensor, whole;
    bool is_view, recorded, leaf, tracks_version;
    autograd::ViewOrigin origin;
  };
  /// A tensor that is made for each call.
  struct Root {
    Tensor tensor;
    size_t memory;
    bool tracks_version;
  };
  /// A storage of the graph, and what of it results may look at.
  struct Memory {
    Ref<Storage> storage;
    size_t begin = 0, end = 0;   // bytes
    std::vector<Tensor> pieces;  // to be copied
    uint32_t writes = 0;
    bool alone = true;
  };

  bool find_argument(Part& part, const std::vector<Argument>& arguments) const;
  bool find_known(Part& part, const std::vector<Guarded>& guarded,
                  const std::vector<Tensor>& lasting) const;
  void add_roots(std::vector<std::pair<Part*, Tensor>>& own);
  Tensor copy(const Root& root, std::vector<Ref<Storage>>& made) const;
  PyObject* view(const Part& part, const Tensor& whole) const;

  std::vector<Part> parts_;
  std::vector<Root> shapes_;
  std::vector<Memory> memories_;
  std::vector<bool> recorded_;
  std::vector<Tensor> roots_;
  std::vector<const Tensor*> known_;
  std::string refusal_;
  bool fresh_ = false, only_root_ = false;
};

}  // namespace hotaru::python
