// Forward mode's needs of operators and of the backward pass.
#include "hotaru/autograd/forward.h"

#include <algorithm>

#include "hotaru/autograd/leaf.h"
#include "hotaru/autograd/record.h"
#include "hotaru/autograd/view_map.h"
#include "hotaru/core/error.h"
#include "hotaru/engine/engine.h"
#include "hotaru/engine/strided_memory.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/create/factory.h"
#include "hotaru/ops/pointwise/complex.h"
#include "hotaru/ops/shape/view.h"

namespace hotaru::autograd {
namespace {

/// Tensors that in-place operators of this thread are about to overwrite; one
/// operator may be made of a few.
struct Original {
  Ref<TensorImpl> of;
  uint32_t version;
  Tensor value;
};
constexpr size_t kOriginals = 4;
thread_local std::vector<Original> originals;

/// A tangent of `base` as memory that a view of base can be found in.
Tensor as_memory(const Tensor& tangent, const ViewMap& map) {
  const DType dtype = map.base.dtype;
  const Tensor memory =
      zeros(Dims{map.extent(dtype)}, {dtype, tangent.device()});
  copy_(at(memory, map.base), tangent);
  return memory;
}

bool lies_alike(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && same(a.strides(), b.strides());
}

/// Tells whether a view laid out so lies within the tangent's memory: one made
/// by as_strided may show more than its base.
bool reaches(const Tensor& tangent, const Tensor& view, int64_t offset) {
  const int64_t end = offset + storage_extent(view.sizes(), view.strides());
  return offset >= 0 && end * int64_t(itemsize(view.dtype())) <=
                            int64_t(tangent.storage()->nbytes());
}

/// The part of the base's tangent that belongs to a view of the base.
Tensor part_of(const Tensor& tangent, const Tensor& base, const Tensor& view) {
  const int64_t offset =
      tangent.storage_offset() + view.storage_offset() - base.storage_offset();
  if (lies_alike(tangent, base) && view.dtype() == base.dtype() &&
      reaches(tangent, view, offset))
    return as_strided(tangent, view.sizes(), view.strides(), offset);
  const ViewMap map(base, view);
  return at(as_memory(tangent, map), map.view);
}

/// After a write into a view: the base's tangent has the view's in its place.
void write_part(const Tensor& view, const Tensor& part) {
  const Tensor base(view.impl()->base);
  Tensor whole = tangent(base);
  if (!whole.defined()) whole = zeros(base.sizes(), TensorOptions(base));
  const ViewMap map(base, view);
  const Tensor memory = as_memory(whole, map);
  copy_(at(memory, map.view), part);
  set_tangent(base, at(memory, map.base));
}

/// The tangent as the formula's gradient has shape and dtype: the transpose of
/// what the backward pass does to bring a gradient to its input's.
Tensor fitted(const Tensor& tangent, const Tensor& grad) {
  Tensor t = tangent;
  if (!same(t.sizes(), grad.sizes())) t = expand(t, grad.sizes());
  if (t.is_complex() && !grad.is_complex()) t = real(t);
  return to(t, grad.dtype());
}

bool is_tracked(const Tensors& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const Tensor& t) { return requires_grad(t); });
}

/// Makes what to differentiate the formula by, one an output. As it is linear
/// any values do, but some take logarithms of them.
Tensors make_seeds(const Tensors& outputs) {
  Tensors seeds(outputs.size());
  for (size_t i = 0; i < outputs.size(); ++i) {
    const Tensor& out = outputs[i];
    if (!out.defined() || !is_differentiable(out.dtype())) continue;
    seeds[i] = ones(out.sizes(), TensorOptions(out));
    set_requires_grad(seeds[i], true);
  }
  return seeds;
}

/// The formula's gradients of the inputs that have tangents, by the seeds.
Tensors apply_formula(const Formula& formula, const Tensors& tangents,
                      const Tensors& read, const Tensors& seeds) {
  const auto node = make_ref<RecordedNode>("ForwardBackward0", formula);
  const auto wanted = make_ref<RecordedNode>("Wanted", Formula());
  for (const Tensor& t : tangents)
    node->add_edge(t.defined() ? Edge{wanted, 0} : Edge{});
  for (const Tensor& t : read)
    // Not packed by hooks: it is gone in a moment.
    node->saved.push_back(t.defined()
                              ? SavedTensor(t, false, t.version(), false)
                              : SavedTensor());
  Tensors grads = node->apply(seeds);
  grads.resize(tangents.size());
  return grads;
}

/// J t from the transpose of J: what the gradients by the seeds of the
/// formula, weighed with the tangents, are.
Tensors transpose(const Tensors& grads, const Tensors& tangents,
                  const Tensors& seeds, bool create_graph) {
  Tensors roots, weights, leaves;
  for (size_t i = 0; i < grads.size(); ++i) {
    if (!tangents[i].defined() || !requires_grad(grads[i])) continue;
    roots.push_back(grads[i]);
    weights.push_back(fitted(tangents[i], grads[i]));
  }
  for (const Tensor& seed : seeds)
    if (seed.defined()) leaves.push_back(seed);
  Tensors out(seeds.size());
  if (roots.empty() || leaves.empty()) return out;
  const Tensors found =
      grad(roots, leaves, weights, {true, create_graph}, true);
  for (size_t i = 0, j = 0; i < seeds.size(); ++i)
    if (seeds[i].defined()) out[i] = found[j++];
  return out;
}

}  // namespace

Tensor tangent(const Tensor& t) {
  if (const Meta* m = meta(t); m && m->tangent.defined()) return m->tangent;
  const Ref<TensorImpl>& base = t.impl()->base;
  if (!base || !base->autograd) return {};
  const Tensor& whole = static_cast<const Meta&>(*base->autograd).tangent;
  if (!whole.defined()) return {};
  const ForwardMode off(false);
  return part_of(whole, Tensor(base), t);
}

void give_tangent(const Tensor& output, Tensor t, bool written) {
  if (!written && output.is_view() && has_tangent(output)) return;
  if (!t.defined()) {
    if (!written) return;
    t = zeros(output.sizes(), TensorOptions(output));
  }
  t = to(t, output.dtype());
  if (written && output.is_view())
    write_part(output, t);
  else
    set_tangent(output, t);
}

void leave_base(const Tensor& t) {
  const Tensor own =
      dual_level_open() && has_tangent(t) ? tangent(t) : Tensor();
  t.impl()->base = {};
  if (const Meta* m = meta(t); m && m->shared) t.impl()->autograd = {};
  if (own.defined()) set_tangent(t, own);
}

Tensor make_dual(const Tensor& primal, const Tensor& given, int64_t level) {
  HOTARU_CHECK(level == 0 && dual_level_open(),
               "Trying to create a dual Tensor for forward AD but no level "
               "exists, make sure to enter_dual_level() first.");
  HOTARU_CHECK(!passes_tangent(given),
               "Setting a forward grad that itself has a forward gradient at "
               "the same level",
               level, " is not supported.");
  HOTARU_CHECK(!passes_tangent(primal),
               "Making a dual Tensor based on a Tensor that already has a "
               "forward gradient at the same level ",
               level, " is not supported.");
  HOTARU_CHECK(same(primal.sizes(), given.sizes()),
               "Trying to set a forward gradient that has a different size "
               "than that of the original Tensor, this is not supported. "
               "Tensor is of size ",
               shape_text(primal.sizes()),
               " while the given forward gradient is of size ",
               shape_text(given.sizes()), ".");
  const Tensor dual = primal_of(primal);
  set_tangent(dual, given);
  return dual;
}

Tensor primal_of(const Tensor& dual) {
  const ForwardMode off(false);
  const Tensor out = make_alias(dual);
  if (needs_grad(dual))
    record("ViewBackward0", out, {dual}, {},
           [](Backward&, const Tensor& g) -> Tensors { return {g}; });
  return out;
}

void remember_original(const Tensor& t) {
  if (!forward_enabled()) return;
  const ForwardMode off(false);
  if (originals.size() == kOriginals) originals.erase(originals.begin());
  originals.push_back({t.ref(), t.version(), clone(t)});
}

Tensor take_original(const Tensor& t) {
  for (size_t i = originals.size(); i-- > 0;)
    if (originals[i].of.get() == t.impl() &&
        originals[i].version == t.version())
      return originals[i].value;
  return t;
}

void forget_originals() {
  originals.clear();
}

namespace {

/// Says of an operator without a formula that it has no tangents: `what` is
/// what its formula says, "the derivative for 'igamma: input' is not ...".
[[noreturn]] void refuse_tangents(const NotImplementedError& what) {
  const std::string_view text = what.what(), start = "the derivative for '";
  if (!text.starts_with(start)) throw what;
  const std::string_view rest = text.substr(start.size());
  fail<NotImplementedError>(
      "Trying to use forward AD with ", rest.substr(0, rest.find(':')),
      " that does not support it because it has not been implemented yet.");
}

}  // namespace

void push_tangents(const Tensors& outputs, std::span<const Tensor> inputs,
                   const Tensors& read, const Formula& formula) {
  Tensors tangents(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i)
    if (passes_tangent(inputs[i])) tangents[i] = tangent(inputs[i]);
  const ForwardMode off(false);
  const bool create_graph =
      grad_enabled() && (is_tracked(tangents) || is_tracked(read));
  const GradMode on(true);
  const Tensors seeds = make_seeds(outputs);
  Tensors grads;
  try {
    grads = apply_formula(formula, tangents, read, seeds);
  } catch (const NotImplementedError& e) {
    refuse_tangents(e);
  }
  Tensors found = transpose(grads, tangents, seeds, create_graph);
  const GradMode record(create_graph);
  forget_originals();
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!seeds[i].defined()) continue;
    const Tensor& out = outputs[i];
    const bool written =
        std::any_of(inputs.begin(), inputs.end(),
                    [&](const Tensor& t) { return t.is_same(out); });
    // Outputs that do not depend on the inputs, as a draw, have zeros.
    if (!found[i].defined()) found[i] = zeros(out.sizes(), TensorOptions(out));
    give_tangent(out, std::move(found[i]), written);
  }
}

}  // namespace hotaru::autograd
