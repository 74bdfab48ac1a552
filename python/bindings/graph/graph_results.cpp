#include "bindings/graph/graph_results.h"

#include <algorithm>
#include <limits>

#include "bindings/tensor/tensor_object.h"
#include "hotaru/autograd/grad_mode.h"
#include "hotaru/autograd/record.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/inference/inference.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/inplace.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::python {
namespace {

/// Versions say that a tensor was written, hardly how often.
constexpr uint32_t kMostWrites = 64;

int64_t first_byte(const Tensor& t) {
  return t.storage_offset() * int64_t(itemsize(t.dtype()));
}

int64_t end_byte(const Tensor& t) {
  return first_byte(t) +
         storage_extent(t.sizes(), t.strides()) * int64_t(itemsize(t.dtype()));
}

bool is_dense_tensor(const Tensor& t) {
  return t.is_contiguous() || is_dense(t.sizes(), t.strides());
}

/// Where `part` begins within `whole`, if it lies in it as it lay in `from`.
int64_t offset_within(const Tensor& whole, const Tensor& part,
                      const Tensor& from) {
  const int64_t byte = first_byte(whole) + first_byte(part) - first_byte(from);
  const int64_t size = int64_t(itemsize(part.dtype()));
  HOTARU_CHECK(byte % size == 0, "self.storage_offset() must be divisible by ",
               size, " to view ", dtype_name(whole.dtype()), " as ",
               dtype_name(part.dtype()));
  return byte / size;
}

/// Tells whether a view that requires grad has no history that leads to its
/// base, and is not the one that was made without gradients either.
bool is_cut_off(const Tensor& view) {
  const autograd::ViewOrigin origin = autograd::view_origin(view);
  return origin == autograd::ViewOrigin::kInference ||
         (origin == autograd::ViewOrigin::kNoGrad && !autograd::is_leaf(view));
}

/// The base of a view, or the tensor itself.
Tensor base_of(const Tensor& t) {
  return t.is_view() ? Tensor(t.impl()->base) : t;
}

}  // namespace

GraphResults::GraphResults(const std::vector<Tensor>& results,
                           const std::vector<Argument>& arguments,
                           const std::vector<Guarded>& guarded,
                           const std::vector<Tensor>& lasting, bool fresh)
    : fresh_(fresh) {
  for (const Guarded& g : guarded) known_.push_back(&g.tensor);
  parts_.resize(results.size());
  std::vector<std::pair<Part*, Tensor>> own;
  for (size_t i = 0; i < results.size(); ++i) {
    const Tensor& t = results[i];
    Part& part = parts_[i];
    part = {.from = From::kRoot,
            .index = 0,
            .same = false,
            .tensor = t,
            .whole = {},
            .is_view = t.is_view(),
            .recorded = autograd::requires_grad(t),
            .leaf = autograd::requires_grad(t) && !t.is_view() &&
                    autograd::is_leaf(t),
            .tracks_version = t.impl()->tracks_version,
            .origin = autograd::view_origin(t)};
    const auto before =
        std::find_if(results.begin(), results.begin() + ptrdiff_t(i),
                     [&](const Tensor& earlier) { return earlier.is_same(t); });
    if (before != results.begin() + ptrdiff_t(i)) {
      part.from = From::kAgain;
      part.index = size_t(before - results.begin());
    } else if (!find_argument(part, arguments) &&
               !find_known(part, guarded, lasting)) {
      own.emplace_back(&part, t);
    }
  }
  add_roots(own);
  for (const Part& part : parts_) {
    const autograd::Meta* m = autograd::meta(part.tensor);
    if (part.is_view && m && m->requires_grad && !part.same)
      refusal_ = "a result is a view that requires grad by itself";
    if (part.recorded && !part.same && is_cut_off(part.tensor))
      refusal_ = "a result is a view of one that was made without gradients";
    if (part.is_view && !part.same &&
        base_of(part.tensor).storage() != part.tensor.storage())
      refusal_ = "a result is a view of what lies in other memory";
    const bool elsewhere =
        part.from == From::kArgument || part.from == From::kKnown;
    if (!elsewhere || !part.recorded || part.same) continue;
    if (part.is_view ? part.tensor.dtype() != part.whole.dtype() : !part.leaf)
      refusal_ = "a result in memory of an argument has a history of its own";
  }
  // From here on nothing keeps the history.
  for (Part& part : parts_) part.tensor = make_alias(part.tensor);
  only_root_ = parts_.size() == 1 && parts_[0].from == From::kRoot &&
               parts_[0].same && parts_[0].tracks_version;
}

bool GraphResults::find_argument(Part& part,
                                 const std::vector<Argument>& arguments) const {
  const Tensor& t = part.tensor;
  const Argument* found = nullptr;
  for (const Argument& a : arguments) {
    if (!a.target.defined() || a.target.storage() != t.storage()) continue;
    const bool is_base = base_of(t).is_same(base_of(a.target));
    if (!found || is_base) found = &a;
    if (t.is_same(a.target) || (is_base && a.target.impl()->base == nullptr))
      break;
  }
  if (!found) return false;
  part.from = From::kArgument;
  part.index = size_t(found - arguments.data());
  part.same = t.is_same(found->target);
  part.whole = make_alias(found->target);
  part.is_view = base_of(t).is_same(base_of(found->target));
  return true;
}

bool GraphResults::find_known(Part& part, const std::vector<Guarded>& guarded,
                              const std::vector<Tensor>& lasting) const {
  const Tensor& t = part.tensor;
  const Guarded* found = nullptr;
  for (const Guarded& g : guarded) {
    if (g.tensor.storage() != t.storage()) continue;
    const bool lasts =
        std::any_of(lasting.begin(), lasting.end(),
                    [&](const Tensor& l) { return l.is_same(g.tensor); });
    if (!lasts) continue;
    const Tensor base = base_of(g.tensor);
    const bool is_base = t.is_same(g.tensor) || base_of(t).is_same(base);
    if (!found || (is_base && !part.same)) found = &g;
    part.same |= t.is_same(g.tensor);
    if (part.same) break;
  }
  if (!found) return false;
  part.from = From::kKnown;
  part.index = size_t(found - guarded.data());
  part.whole = make_alias(found->tensor);
  part.is_view = base_of(t).is_same(base_of(found->tensor));
  return true;
}

void GraphResults::add_roots(std::vector<std::pair<Part*, Tensor>>& own) {
  std::vector<Tensor> made;  // of each root the tensor of the capture
  const auto memory_of = [&](const Tensor& t) {
    size_t m = 0;
    while (m < memories_.size() && memories_[m].storage != t.storage()) ++m;
    if (m == memories_.size()) {
      memories_.emplace_back();
      memories_[m].storage = t.storage();
      memories_[m].begin = std::numeric_limits<size_t>::max();
    }
    return m;
  };
  for (const auto& [part, t] : own) {
    Memory& memory = memories_[memory_of(t)];
    memory.alone = memory.pieces.empty();
    memory.pieces.push_back(make_alias(t));
  }
  for (const auto& [part, t] : own) {
    const size_t m = memory_of(t);
    Memory& memory = memories_[m];
    // A view that nothing else shares needs no base.
    const Tensor root = memory.alone ? t : base_of(t);
    if (part->recorded && !root.is_same(t) && root.dtype() != t.dtype())
      refusal_ = "a result that is a view of another dtype requires grad";
    if (part->recorded && !autograd::requires_grad(root))
      refusal_ = "a result requires grad, but not what it is a view of";
    if (part->leaf) refusal_ = "a result is a new leaf that requires grad";
    size_t at = 0;
    while (at < made.size() && !made[at].is_same(root)) ++at;
    if (at == made.size()) {
      made.push_back(root);
      shapes_.push_back({make_alias(root), m, root.impl()->tracks_version});
      recorded_.push_back(autograd::requires_grad(root));
      roots_.push_back(root);
      memory.begin = std::min(memory.begin, size_t(first_byte(root)));
      memory.end = std::max(memory.end, size_t(end_byte(root)));
    }
    memory.begin = std::min(memory.begin, size_t(first_byte(t)));
    memory.end = std::max(memory.end, size_t(end_byte(t)));
    part->index = at;
    part->same = root.is_same(t);
    part->whole = make_alias(root);
  }
  for (Memory& memory : memories_) {
    memory.begin = memory.begin / 64 * 64;
    const uint32_t version = memory.storage->version();
    memory.writes = std::min(version % kInferenceVersion, kMostWrites);
    // One that has all of what the others look at is copied for all.
    const auto all = std::find_if(
        memory.pieces.begin(), memory.pieces.end(), [&](const Tensor& piece) {
          return is_dense_tensor(piece) &&
                 std::all_of(memory.pieces.begin(), memory.pieces.end(),
                             [&](const Tensor& other) {
                               return first_byte(other) >= first_byte(piece) &&
                                      end_byte(other) <= end_byte(piece);
                             });
        });
    if (all != memory.pieces.end()) memory.pieces = {Tensor(*all)};
  }
}

/// A root in memory of its own, which roots of one storage share.
Tensor GraphResults::copy(const Root& root,
                          std::vector<Ref<Storage>>& made) const {
  const Memory& memory = memories_[root.memory];
  if (memory.alone && is_dense_tensor(root.tensor)) {
    const bool bytes = root.tensor.dtype() == DType::kBool;
    const Tensor out = bytes ? empty_like(root.tensor) : clone(root.tensor);
    if (bytes) bring_values(untracked(out), root.tensor);
    for (uint32_t i = 0; i < memory.writes; ++i) out.bump_version();
    return out;
  }
  Ref<Storage>& storage = made[root.memory];
  const auto placed = [&](const Tensor& t) {
    return make_tensor(
        storage, t.dtype(), t.sizes(), t.strides(),
        (first_byte(t) - int64_t(memory.begin)) / int64_t(itemsize(t.dtype())));
  };
  if (!storage) {
    const auto bytes = int64_t(memory.end - memory.begin);
    storage =
        empty(Dims{bytes}, TensorOptions(DType::kUInt8, root.tensor.device()))
            .storage();
    for (const Tensor& piece : memory.pieces) {
      Tensor to = placed(piece);
      to.impl()->tracks_version = false;
      bring_values(to, piece);
    }
    for (uint32_t i = 0; i < memory.writes; ++i) storage->bump_version();
  }
  return placed(root.tensor);
}

std::vector<Tensor> GraphResults::make_roots() const {
  const autograd::NoGrad no_grad;
  std::vector<Tensor> out;
  out.reserve(shapes_.size());
  std::vector<Ref<Storage>> made(only_root_ ? 1 : memories_.size());
  for (const Root& root : shapes_) {
    out.push_back(fresh_ ? copy(root, made) : detach(root.tensor));
    if (!root.tracks_version) out.back().impl()->tracks_version = false;
  }
  return out;
}

PyObject* GraphResults::view(const Part& part, const Tensor& whole) const {
  const Tensor& t = part.tensor;
  const int64_t offset = offset_within(whole, t, part.whole);
  if (!part.is_view) {
    Tensor alias =
        make_tensor(whole.storage(), t.dtype(), t.sizes(), t.strides(), offset);
    alias.impl()->tracks_version = part.tracks_version;
    if (part.leaf) autograd::set_requires_grad(alias, true);
    return wrap(std::move(alias));
  }
  const bool recorded =
      part.recorded && part.origin != autograd::ViewOrigin::kNoGrad;
  const autograd::GradMode mode(recorded && autograd::grad_enabled());
  Tensor out =
      t.dtype() == whole.dtype()
          ? as_strided(whole, t.sizes(), t.strides(), offset)
          : autograd::view_of(whole, t.dtype(), t.sizes(), t.strides(), offset);
  if (part.origin == autograd::ViewOrigin::kOneOfMany)
    autograd::ensure_meta(out).origin = part.origin;
  return wrap(std::move(out));
}

void GraphResults::make(const std::vector<Tensor>& roots, Arguments arguments,
                        PyObject** out) const {
  for (size_t i = 0; i < parts_.size(); ++i) {
    const Part& part = parts_[i];
    if (part.from == From::kAgain) {
      out[i] = Py_NewRef(out[part.index]);
    } else if (part.from == From::kArgument) {
      PyObject* argument = arguments[part.index];
      out[i] =
          part.same ? Py_NewRef(argument) : view(part, tensor_of(argument));
    } else {
      const Tensor& whole =
          part.from == From::kKnown ? *known_[part.index] : roots[part.index];
      out[i] = part.same ? wrap(whole) : view(part, whole);
    }
  }
}

}  // namespace hotaru::python
