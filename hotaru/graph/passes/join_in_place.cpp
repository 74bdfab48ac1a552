#include "hotaru/graph/passes/join_in_place.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

#include "hotaru/backend/common/shape/join.h"
#include "hotaru/graph/capture/touch.h"
#include "hotaru/graph/passes/known_kernels.h"

namespace hotaru::graph {
namespace {

// Where values begin that kernels write fast: at whole lines of caches.
constexpr int64_t kAlignment = 64;

int64_t bytes_of(const Tensor& t) {
  return t.numel() * int64_t(itemsize(t.dtype()));
}

class Joiner {
 public:
  explicit Joiner(Region& region) : region_(region) {
    for (size_t n = 0; n < region.nodes.size(); ++n)
      for (const Operand& operand : region.nodes[n]->call().operands()) {
        if (operand.object || !operand.tensor->defined()) continue;
        const Storage* storage = operand.tensor->storage().get();
        if (region.values.contains(storage)) note(values_[storage], n, operand);
      }
  }

  void run() {
    // From the last one, whose results hold those of joins before.
    for (size_t n = region_.nodes.size(); n-- > 0;)
      if (is_join(n)) join(n);
    for (auto& [storage, value] : values_)
      if (value.host) places_.push_back({storage, &value, place_of(storage)});
    for (const Moved& moved : places_) move(moved);
    Nodes nodes;
    for (size_t n = 0; n < region_.nodes.size(); ++n) {
      const auto at = copies_.find(n);
      if (at == copies_.end())
        nodes.push_back(std::move(region_.nodes[n]));
      else
        for (auto& copy : at->second) nodes.push_back(std::move(copy));
    }
    region_.nodes = std::move(nodes);
  }

 private:
  struct Value {
    std::vector<const Operand*> uses;
    size_t last_writer = 0;
    int writers = 0;
    bool one_dtype = true;
    /// Storage that it becomes a part of, from that byte on.
    Ref<Storage> host;
    int64_t offset = 0;
  };

  static void note(Value& value, size_t n, const Operand& operand) {
    if (!value.uses.empty() &&
        value.uses[0]->tensor->dtype() != operand.tensor->dtype())
      value.one_dtype = false;
    value.uses.push_back(&operand);
    if (!operand.writes()) return;
    ++value.writers;
    value.last_writer = n;
  }

  const KernelCall& call(size_t n) const { return region_.nodes[n]->call(); }

  Value* value_of(const Tensor& t) {
    const auto at = values_.find(t.storage().get());
    return at == values_.end() ? nullptr : &at->second;
  }

  /// A call that joins end to end into a value that nobody else writes.
  bool is_join(size_t n) {
    if (!is(call(n), known::kCat)) return false;
    const Tensor& out = call(n).tensor(0);
    const auto dim = size_t(call(n).attributes<CatAttributes>().dim);
    const Value* value = value_of(out);
    return value && value->writers == 1 && value->one_dtype && whole(out) &&
           numel_of(out.sizes().first(dim)) == 1;
  }

  /// True if all of a value is an input, which stays as it is from node n on.
  bool settled(const Tensor& input, const Value* value, size_t n) const {
    return value && value->one_dtype && whole(input) && value->writers > 0 &&
           value->last_writer < n;
  }

  /// Bytes of a storage, from an offset on.
  struct Place {
    Ref<Storage> storage;
    int64_t offset = 0;

    bool operator==(const Place& other) const = default;
  };
  struct Moved {
    const Storage* storage;
    const Value* value;
    Place to;
  };

  /// Where a value that has a host lies once all have moved.
  Place place_of(const Storage* storage) {
    Place place;
    for (auto at = values_.find(storage);
         at != values_.end() && at->second.host;
         at = values_.find(place.storage.get()))
      place = {at->second.host, place.offset + at->second.offset};
    return place;
  }

  /// Who uses a value finds it where it has moved to.
  void move(const Moved& moved) {
    for (const Operand* use : moved.value->uses) {
      const Tensor t = *use->tensor;
      const auto item = int64_t(itemsize(t.dtype()));
      t.impl()->storage = moved.to.storage;
      t.impl()->set_geometry(Dims(t.sizes()), Dims(t.strides()),
                             t.storage_offset() + moved.to.offset / item);
    }
    region_.values.erase(moved.storage);
  }

  void join(size_t n) {
    if (lies_joined(n)) {
      copies_.try_emplace(n);
      return;
    }
    const Tensor& out = call(n).tensor(0);
    std::vector<size_t> left;
    int64_t offset = 0;
    for (size_t i = 1; i < call(n).operands().size(); ++i) {
      const Tensor& input = call(n).tensor(i);
      Value* value = value_of(input);
      if (settled(input, value, n) && !value->host &&
          offset % kAlignment == 0 && input.storage() != out.storage()) {
        value->host = out.storage();
        value->offset = offset;
      } else {
        left.push_back(i);
      }
      offset += bytes_of(input);
    }
    if (left.size() + 1 < call(n).operands().size()) copy(n, left);
  }

  /// Tells whether the inputs already are neighbours in a later join's result,
  /// which the result then is a part of.
  bool lies_joined(size_t n) {
    Value* value = value_of(call(n).tensor(0));
    if (value->host) return false;
    Place next = place_of(call(n).tensor(1).storage().get());
    for (size_t i = 1; i < call(n).operands().size(); ++i) {
      const Tensor& input = call(n).tensor(i);
      const Value* part = value_of(input);
      if (!settled(input, part, n) || !part->host ||
          place_of(input.storage().get()) != next)
        return false;
      next.offset += bytes_of(input);
    }
    const Value* first = value_of(call(n).tensor(1));
    value->host = first->host;
    value->offset = first->offset;
    return true;
  }

  /// Inputs `left` of the join are copied, the others are in their place.
  void copy(size_t n, const std::vector<size_t>& left) {
    Nodes& copies = copies_[n];
    const Tensor& out = call(n).tensor(0);
    int64_t offset = 0;
    size_t at = 0;
    for (size_t i = 1; i < call(n).operands().size(); ++i) {
      const Tensor& input = call(n).tensor(i);
      if (at < left.size() && left[at] == i && ++at && input.numel() > 0) {
        const Tensor from = make_alias(input);
        const Tensor to(make_ref<TensorImpl>(
            out.storage(), out.dtype(), input.sizes(), out.strides(), offset));
        const Operand operands[] = {write(to), read(from)};
        copies.push_back(
            std::make_unique<Node>(KernelCall(known::kCopy, operands)));
        for (const Operand& operand : copies.back()->call().operands())
          if (Value* value = value_of(*operand.tensor))
            value->uses.push_back(&operand);
      }
      offset += input.numel();
    }
  }

  Region& region_;
  std::unordered_map<const Storage*, Value> values_;
  std::vector<Moved> places_;
  /// In place of the joins that are left out.
  std::unordered_map<size_t, Nodes> copies_;
};

}  // namespace

void join_in_place(Region& region) {
  Joiner(region).run();
}

}  // namespace hotaru::graph
