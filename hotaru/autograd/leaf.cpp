#include "hotaru/autograd/leaf.h"

#include <limits>
#include <mutex>
#include <unordered_set>

#include "hotaru/autograd/creation_hooks.h"
#include "hotaru/core/checks/check.h"
#include "hotaru/core/cpp_type.h"
#include "hotaru/core/mutex.h"

namespace hotaru::autograd {
namespace {

// Guards Meta::accumulator, which many threads that run forward passes over
// the same parameters read and write.
constinit Mutex accumulator_mutex;

constexpr char kAccumulate[] = "torch::autograd::AccumulateGrad";
constexpr char kAsStrided[] = "AsStridedBackward0";

Edge leaf_edge(const Tensor& t) {
  Ref<Node> made;
  {
    std::lock_guard lock(accumulator_mutex);
    Meta& m = *meta(t);
    if (m.stands_for) return {m.stands_for, 0};
    if (m.accumulator && m.accumulator->try_retain())
      return {Ref<Node>::adopt(m.accumulator), 0};
    check_creation(kAccumulate);
    made = make_ref<AccumulateGrad>(t);
    m.accumulator = made.get();
  }
  tell_creation(made);
  return {std::move(made), 0};
}

/// Makes the view's history its base's.
Ref<Node> derive_history(const Tensor& view, const Tensor& base) {
  check_creation(kAsStrided);
  Ref<Node> node = make_ref<AsStridedBackward>(base, view);
  set_history(view, node);
  tell_creation(node);
  return node;
}

}  // namespace

AccumulateGrad::AccumulateGrad(Tensor variable)
    : Node(kAccumulate), variable_(std::move(variable)) {
  add_output(variable_);
  if (const Meta* m = meta(variable_); m && m->grad_dtype)
    Node::set_grad_dtype(0, *m->grad_dtype);
  set_sequence(std::numeric_limits<uint64_t>::max());
}

AccumulateGrad::~AccumulateGrad() {
  std::lock_guard lock(accumulator_mutex);
  if (Meta* m = meta(variable_); m && m->accumulator == this)
    m->accumulator = nullptr;
}

bool reaches_below(const Tensors& tensors, uint32_t level) {
  std::vector<Ref<Node>> waiting;
  std::unordered_set<const Node*> seen;
  for (const Tensor& t : tensors)
    if (Edge edge = gradient_edge(t); edge.node)
      waiting.push_back(std::move(edge.node));
  while (!waiting.empty()) {
    const Ref<Node> node = std::move(waiting.back());
    waiting.pop_back();
    if (!seen.insert(node.get()).second) continue;
    if (const auto* leaf = dynamic_cast<const AccumulateGrad*>(node.get())) {
      const Meta* m = meta(leaf->variable());
      // Levels count round and round, 0 is none.
      if (!m || !m->level || int32_t(m->level - level) < 0) return true;
    }
    for (const Edge& edge : node->edges())
      if (edge.node) waiting.push_back(edge.node);
  }
  return false;
}

void forget_accumulator(const Tensor& leaf) {
  std::lock_guard lock(accumulator_mutex);
  if (Meta* m = meta(leaf); m && m->accumulator) m->accumulator = nullptr;
}

std::optional<DType> grad_dtype(const Tensor& leaf) {
  HOTARU_CHECK(is_leaf(leaf),
               "grad_dtype can only be accessed on leaf tensors.");
  const Meta* m = meta(leaf);
  return m && m->grad_dtype ? *m->grad_dtype : leaf.dtype();
}

void set_grad_dtype(const Tensor& leaf, std::optional<DType> dtype) {
  HOTARU_CHECK(is_leaf(leaf), "grad_dtype can only be set on leaf tensors.");
  Meta& m = ensure_meta(leaf);
  if (m.grad.defined() && dtype)
    HOTARU_CHECK(m.grad.dtype() == *dtype, "Cannot set grad_dtype to '",
                 scalar_type_name(*dtype),
                 "' because there is already a gradient with dtype '",
                 cpp_type_name(m.grad.dtype()),
                 "'. Please clear the gradient (.grad = None) before changing "
                 "grad_dtype, or ensure the new grad_dtype matches the "
                 "existing gradient's dtype.");
  std::lock_guard lock(accumulator_mutex);
  m.grad_dtype = dtype;
  if (m.accumulator) m.accumulator->set_grad_dtype(0, dtype);
}

void set_data(const Tensor& self, const Tensor& other) {
  HOTARU_CHECK(!requires_grad(self) || is_differentiable(other.dtype()),
               "data set to a tensor that requires gradients must be floating "
               "point or complex dtype");
  TensorImpl* impl = self.impl();
  if (impl->dtype != other.dtype() || impl->storage->device() != other.device())
    forget_accumulator(self);
  impl->storage = other.storage();
  impl->dtype = other.dtype();
  impl->set_geometry(other.sizes(), other.strides(), other.storage_offset());
}

AsStridedBackward::AsStridedBackward(const Tensor& base, const Tensor& view)
    : Node(kAsStrided), map_(base, view) {
  add_edge(gradient_edge(base));
}

CopySlices::CopySlices(const Tensor& base, const Tensor& view, Ref<Node> writer,
                       size_t slot)
    : Node("torch::autograd::CopySlices"),
      map_(base, view),
      writer_(std::move(writer)),
      slot_(slot) {
  const auto& edges = writer_->edges();
  for (size_t i = 0; i < edges.size(); ++i)
    add_edge(i == slot_ ? gradient_edge(base) : edges[i]);
  add_output(base);
}

bool writes_base(const Tensor& t) {
  Ref<TensorImpl>& base = t.impl()->base;
  if (!base) return false;
  if (base->use_count() > 1) return true;
  grad_fn(t);  // what it has to know of the base
  leave_base(t);
  if (Meta* m = meta(t); m && !m->shared) m->origin = ViewOrigin::kPlain;
  return false;
}

void rebase_view(const Tensor& view, const Ref<Node>& writer, size_t slot) {
  check_origin(view, kModified);
  const Tensor base(view.impl()->base);
  writer->add_output(view);
  Meta& base_meta = ensure_meta(base);
  const auto node = make_ref<CopySlices>(base, view, writer, slot);
  base_meta.set_node(node, 0);
  base_meta.requires_grad = false;
  forget_history(view);
  tell_creation(node);
}

void forget_history(const Tensor& view) {
  // grad_fn() sees another version, as after every write into the base.
  Meta& m = ensure_meta(view);
  m.set_node(nullptr, 0);
  m.view_version = view.version() - 1;
  // It makes none for views of a leaf, which keep their way to it otherwise.
  const Tensor base(view.impl()->base);
  if (requires_grad(base) && !meta(base)->grad_fn) derive_history(view, base);
}

Ref<Meta> copy_history(const Tensor& t) {
  const Meta* m = meta(t);
  if (!m) return nullptr;
  auto copy = make_ref<Meta>();
  copy->grad_fn = m->grad_fn;
  copy->output_index = m->output_index;
  copy->requires_grad = m->requires_grad;
  copy->view_version = m->view_version;
  copy->level = m->level;
  return copy;
}

Ref<Node> grad_fn(const Tensor& t) {
  const Meta* m = meta(t);
  Ref<Node> known = m ? m->grad_fn : nullptr;
  const Ref<TensorImpl>& base = t.impl()->base;
  if (!base || !base->autograd) return known;
  const Meta& base_meta = static_cast<const Meta&>(*base->autograd);
  if (!base_meta.grad_fn && !base_meta.requires_grad) return known;
  // Views of what had no history then, and not written with one since.
  if (m && m->shared && !base_meta.grad_fn) return known;
  if (m && m->view_version == t.version() &&
      (known || m->origin != ViewOrigin::kPlain))
    return known;
  check_origin(t,
               "its base or another view of its base has been modified "
               "inplace");
  // A leaf was only written where nothing is recorded: the view's way to it is
  // the one it had.
  if (!base_meta.grad_fn) return known;
  return derive_history(t, Tensor(base));
}

Edge gradient_edge(const Tensor& t) {
  if (!requires_grad(t)) return {};
  if (Ref<Node> node = grad_fn(t))
    return {std::move(node), meta(t)->output_index};
  // A view of a leaf made without recording asks for gradients and has no way
  // to pass them on.
  const Meta* m = meta(t);
  return m && m->requires_grad ? leaf_edge(t) : Edge{};
}

}  // namespace hotaru::autograd
