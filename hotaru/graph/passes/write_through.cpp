#include "hotaru/graph/passes/write_through.h"

#include <algorithm>
#include <unordered_map>

#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/known_kernels.h"

namespace hotaru::graph {
namespace {

class Writer {
 public:
  explicit Writer(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n) {
      touches_.push_back(touches_of(region.nodes[n]->call()));
      for (const Operand& operand : region.nodes[n]->call().operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        const Storage* storage = operand.tensor->storage().get();
        if (region.values.contains(storage)) values_[storage].add(n, operand);
      }
    }
  }

  void run() {
    for (size_t n = 0; n < region_.nodes.size(); ++n)
      if (is_copy(n)) lead(n);
    std::erase(region_.nodes, nullptr);
  }

 private:
  /// The uses of a value.
  struct Value {
    std::vector<const Operand*> uses;
    size_t first = 0, last = 0;

    void add(size_t n, const Operand& operand) {
      if (uses.empty()) first = n;
      last = n;
      uses.push_back(&operand);
    }
  };

  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

  /// A copy of all of a value, element by element as it lies, to memory that is
  /// none.
  bool is_copy(size_t n) const {
    if (!is(call(n), known::kCopy) || call(n).operands().size() != 2)
      return false;
    const Tensor &to = call(n).tensor(0), &from = call(n).tensor(1);
    return whole(from) && to.dtype() == from.dtype() &&
           same(to.sizes(), from.sizes()) &&
           same(to.strides(), from.strides()) && to.device() == from.device() &&
           region_.values.contains(from.storage().get()) &&
           !region_.values.contains(to.storage().get());
  }

  /// Has who writes what copy n reads write to where it goes, if nobody else is
  /// there meanwhile.
  void lead(size_t n) {
    const Tensor &to = call(n).tensor(0), &from = call(n).tensor(1);
    const Value value = values_[from.storage().get()];
    if (value.last != n) return;
    const Touch target = touch_of(write(to));
    for (size_t k = value.first; k < n; ++k)
      for (const Touch& touch : touches_[k])
        if (touch.overlaps(target)) return;
    const Storage* const left = from.storage().get();
    const Ref<Storage> storage = to.storage();
    const int64_t moved = to.storage_offset();
    for (const Operand* use : value.uses) {
      // One dtype throughout: else offsets would mean other bytes.
      if (use->tensor->dtype() != to.dtype()) return;
    }
    for (const Operand* use : value.uses) {
      const Tensor t = *use->tensor;
      t.impl()->storage = storage;
      t.impl()->set_geometry(Dims(t.sizes()), Dims(t.strides()),
                             t.storage_offset() + moved);
    }
    region_.values.erase(left);
    for (size_t k = value.first; k < n; ++k)
      touches_[k] = region_.nodes[k] ? touches_of(call(k)) : Touches();
    region_.nodes[n].reset();
    touches_[n].clear();
  }

  Region& region_;
  std::vector<Touches> touches_;
  std::unordered_map<const Storage*, Value> values_;
};

}  // namespace

void write_through(Region& region) {
  Writer(region).run();
}

}  // namespace hotaru::graph
