#include "hotaru/autograd/leaf.h"

#include <limits>
#include <mutex>

#include "hotaru/core/mutex.h"

namespace hotaru::autograd {
namespace {

// Guards Meta::accumulator, which many threads that run forward passes over
// the same parameters read and write.
constinit Mutex accumulator_mutex;

Edge leaf_edge(const Tensor& t) {
  std::lock_guard lock(accumulator_mutex);
  Meta& m = *meta(t);
  if (m.accumulator && m.accumulator->try_retain())
    return {Ref<Node>::adopt(m.accumulator), 0};
  const auto made = make_ref<AccumulateGrad>(t);
  m.accumulator = made.get();
  return {made, 0};
}

ViewGeometry geometry(const Tensor& t) {
  return {t.sizes(), t.strides(), t.storage_offset()};
}

}  // namespace

AccumulateGrad::AccumulateGrad(Tensor variable)
    : Node("torch::autograd::AccumulateGrad"), variable_(std::move(variable)) {
  add_output(variable_);
  set_sequence(std::numeric_limits<uint64_t>::max());
}

AccumulateGrad::~AccumulateGrad() {
  std::lock_guard lock(accumulator_mutex);
  if (Meta* m = meta(variable_); m && m->accumulator == this)
    m->accumulator = nullptr;
}

AsStridedBackward::AsStridedBackward(const Tensor& base, const Tensor& view)
    : Node("AsStridedBackward0"),
      base_(geometry(base)),
      view_(geometry(view)),
      base_extent_(int64_t(base.storage()->nbytes() / itemsize(base.dtype()))) {
  add_edge(gradient_edge(base));
}

CopySlices::CopySlices(const Tensor& base, const Tensor& view, Ref<Node> writer)
    : Node("torch::autograd::CopySlices"),
      view_(geometry(view)),
      writer_(std::move(writer)) {
  view_.offset -= base.storage_offset();
  add_edge(gradient_edge(base));
  const auto& edges = writer_->edges();
  for (size_t i = 1; i < edges.size(); ++i) add_edge(edges[i]);
  add_output(base);
}

void rebase_view(const Tensor& view, const Ref<Node>& writer) {
  const Tensor base(view.impl()->base);
  writer->add_output(view);
  const auto slices = make_ref<CopySlices>(base, view, writer);
  Meta& base_meta = ensure_meta(base);
  base_meta.grad_fn = slices;
  base_meta.output_index = 0;
  base_meta.requires_grad = false;
  // The version bump that follows the write makes the view's own history
  // stale; grad_fn() derives it from the base at the next use.
  Meta& view_meta = ensure_meta(view);
  view_meta.grad_fn = nullptr;
  view_meta.view_version = view.version() - 1;
}

Ref<Meta> copy_history(const Tensor& t) {
  const Meta* m = meta(t);
  if (!m) return nullptr;
  auto copy = make_ref<Meta>();
  copy->grad_fn = m->grad_fn;
  copy->output_index = m->output_index;
  copy->requires_grad = m->requires_grad;
  copy->view_version = m->view_version;
  return copy;
}

Ref<Node> grad_fn(const Tensor& t) {
  Meta* m = meta(t);
  if (!t.impl()->base) return m ? m->grad_fn : nullptr;
  const Tensor base(t.impl()->base);
  const Meta* base_meta = meta(base);
  if (!base_meta || !base_meta->grad_fn) return m ? m->grad_fn : nullptr;
  if (m && m->grad_fn && m->view_version == t.version()) return m->grad_fn;
  if (m && m->one_of_many && m->grad_fn)
    fail_one_of_many(t,
                     " is a view and its base or another view of its base has "
                     "been modified inplace. ");
  Meta& own = ensure_meta(t);
  const auto node = make_ref<AsStridedBackward>(base, t);
  own.output_index = node->add_output(t);
  own.grad_fn = node;
  own.view_version = t.version();
  return node;
}

Edge gradient_edge(const Tensor& t) {
  if (!requires_grad(t)) return {};
  if (Ref<Node> node = grad_fn(t))
    return {std::move(node), meta(t)->output_index};
  return leaf_edge(t);
}

}  // namespace hotaru::autograd
