// Lists.
#include <algorithm>
#include <functional>

#include "hotaru/core/checks/check.h"
#include "hotaru/ops/create/copy.h"
#include "hotaru/ops/pointwise/pointwise.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/run/interpreter.h"
#include "hotaru/script/types/enum_type.h"
#include "hotaru/script/types/python_errors.h"

namespace hotaru::script {

namespace {

using Items = std::vector<Value>;

Items& items_of(const Value& list) {
  return list.as_list().items;
}

size_t wrapped(const Value& list, int64_t index) {
  int64_t size = int64_t(items_of(list).size());
  int64_t at = index < 0 ? index + size : index;
  HOTARU_CHECK_AS(IndexError, at >= 0 && at < size, kListIndex);
  return size_t(at);
}

bool same(const Value& a, const Value& b);

bool same_dicts(const DictObject& a, const DictObject& b) {
  return a.items.size() == b.items.size() &&
         std::ranges::all_of(a.items, [&](const auto& item) {
           const Value* other = b.find(item.first);
           return other && same(item.second, *other);
         });
}

// Python's == of elements. Of tensors that are not the same one it is what the
// comparison's one element says; Error if there are several.
bool same(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) return a.as_scalar() == b.as_scalar();
  if (a.tag() != b.tag()) return false;
  if (a.is_string()) return a.as_string() == b.as_string();
  if (a.is_list()) {
    return std::equal(items_of(a).begin(), items_of(a).end(),
                      items_of(b).begin(), items_of(b).end(), same);
  }
  if (a.is_tuple()) {
    const Items &x = a.as_tuple().items, &y = b.as_tuple().items;
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), same);
  }
  if (a.is_dict()) return same_dicts(a.as_dict(), b.as_dict());
  if (a.is(b)) return true;
  if (a.is_tensor()) return truth_of(eq(a.as_tensor(), b.as_tensor()));
  return same_member(a, b);
}

bool less(const Value& a, const Value& b) {
  if (a.is_string() && b.is_string()) return a.as_string() < b.as_string();
  if (a.is_int() && b.is_int()) return a.as_int() < b.as_int();
  if (a.is_tuple() && b.is_tuple()) {
    const Items &x = a.as_tuple().items, &y = b.as_tuple().items;
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end(),
                                        less);
  }
  return a.to_double() < b.to_double();
}

std::string type_text(const Value& value) {
  TypeTable types;
  const TypePtr type = type_of(types, value);
  return type ? type->annotation() : std::string(value.type_name());
}

bool can_be_sorted(const Value& value) {
  if (value.is_tuple()) {
    const Items& items = value.as_tuple().items;
    return std::all_of(items.begin(), items.end(), can_be_sorted);
  }
  return value.is_bool() || value.is_int() || value.is_double() ||
         value.is_string() || value.is_tensor() || value.is_instance();
}

// Refuses what has no order, and values of several types.
void check_order(const Items& items) {
  for (const Value& item : items) {
    if (!can_be_sorted(item)) {
      TypeTable types;
      const TypePtr type = type_of(types, item);
      HOTARU_CHECK(!item.is_tuple(), "Contained elements in ",
                   type ? type->str() : std::string(item.type_name()),
                   " are not sortable. Only Int, Bool, Float, String, Tensor, "
                   "a User Defined Class with __lt__ method defined or Tuples "
                   "of aforementioned types can be sorted.");
      fail(
          "Only list of Tensors, ints, floats, bools, strs, a User Defined "
          "Class that defines the __lt__ compare method or Tuples of "
          "aforementioned types can be sorted, got list of ",
          type_text(item), "\n");
    }
    const bool alike =
        item.tag() == items[0].tag() &&
        (!item.is_tuple() || type_text(item) == type_text(items[0]));
    HOTARU_CHECK(alike, "Only values of same type can be compared. Found ",
                 type_text(items[0]), " and ", type_text(item));
  }
}

void sort_items(Items& items, bool reverse) {
  check_order(items);
  if (reverse) {
    std::stable_sort(items.begin(), items.end(),
                     [](const Value& a, const Value& b) { return less(b, a); });
  } else {
    std::stable_sort(items.begin(), items.end(), less);
  }
}

bool is_true(const Value& value) {
  if (value.is_string()) return !value.as_string().empty();
  return value.as_scalar().to_complex() != std::complex<double>();
}

Value slice(const Value& list, Optional<int64_t> begin, Optional<int64_t> end,
            int64_t step) {
  const Items& items = items_of(list);
  Items out;
  for (size_t i : slice_places(items.size(), begin, end, step))
    out.push_back(items[i]);
  return Value::list(std::move(out));
}

Value repeated(const Value& list, int64_t count) {
  const Items& items = items_of(list);
  constexpr int64_t kLimit = int64_t{1} << 26;
  HOTARU_CHECK(count <= 0 || int64_t(items.size()) <= kLimit / count,
               "the repeated list is too long");
  Items out;
  for (int64_t i = 0; i < count; ++i)
    out.insert(out.end(), items.begin(), items.end());
  return Value::list(std::move(out));
}

Value extremum(const Value& list, bool greatest) {
  const Items& items = items_of(list);
  HOTARU_CHECK_AS(ValueError, !items.empty(), greatest ? "max()" : "min()",
                  " arg is an empty sequence");
  auto found = greatest ? std::max_element(items.begin(), items.end(), less)
                        : std::min_element(items.begin(), items.end(), less);
  return *found;
}

void add_access(BuiltinTable& table) {
  table.add(
      "len.t(t[] a) -> int",
      +[](const Value& list) { return int64_t(items_of(list).size()); });
  table.add(
      "__getitem__.t(t[] list, int idx) -> t",
      +[](const Value& list, int64_t i) {
        return Value(items_of(list)[wrapped(list, i)]);
      });
  table.add(
      "_set_item.t(t[] l, int idx, t el) -> ()",
      +[](const Value& list, int64_t i, Value item) {
        items_of(list)[wrapped(list, i)] = std::move(item);
      });
  table.add(
      "Delete.t(t[] self, int idx) -> ()", +[](const Value& list, int64_t i) {
        Items& items = items_of(list);
        items.erase(items.begin() + std::ptrdiff_t(wrapped(list, i)));
      });
  table.add(
      "slice.t(t[] l, int? start=None, int? end=None, int step=1) "
      "-> t[]",
      &slice);
  table.add(
      "__contains__.t(t[] l, t item) -> bool",
      +[](const Value& list, const Value& item) {
        const Items& items = items_of(list);
        return std::any_of(items.begin(), items.end(), [&](const Value& other) {
          return same(other, item);
        });
      });
  table.add(
      "index.list(t[] self, t el) -> int",
      +[](const Value& list, const Value& item) {
        const Items& items = items_of(list);
        for (size_t i = 0; i < items.size(); ++i) {
          if (same(items[i], item)) return int64_t(i);
        }
        fail<ValueError>("'", value_text(item), "' is not in list");
      });
  table.add(
      "count.list(t[] self, t el) -> int",
      +[](const Value& list, const Value& item) {
        const Items& items = items_of(list);
        return int64_t(std::count_if(
            items.begin(), items.end(),
            [&](const Value& other) { return same(other, item); }));
      });
  table.add(
      "eq.t(t[] a, t[] b) -> bool",
      +[](const Value& a, const Value& b) { return same(a, b); });
  table.add(
      "ne.t(t[] a, t[] b) -> bool",
      +[](const Value& a, const Value& b) { return !same(a, b); });
  table.add(
      "eq.any(Any a, Any b) -> bool",
      +[](const Value& a, const Value& b) { return same(a, b); });
  table.add(
      "ne.any(Any a, Any b) -> bool",
      +[](const Value& a, const Value& b) { return !same(a, b); });
}

void add_writes(BuiltinTable& table) {
  table.add(
      "append.t(t[] self, t el) -> t[]", +[](Value list, Value item) {
        items_of(list).push_back(std::move(item));
        return list;
      });
  table.add(
      "extend.t(t[] self, t[] other) -> ()",
      +[](const Value& list, const Value& other) {
        Items more = items_of(other);
        Items& items = items_of(list);
        items.insert(items.end(), more.begin(), more.end());
      });
  table.add(
      "add_.t(t[] self, t[] b) -> t[]", +[](Value list, Value other) {
        Items more = items_of(other);
        Items& items = items_of(list);
        items.insert(items.end(), more.begin(), more.end());
        return list;
      });
  table.add(
      "mul_.t(t[] self, int n) -> t[]", +[](Value list, int64_t n) {
        const Value more = repeated(list, n);
        items_of(list).swap(items_of(more));
        return list;
      });
  table.add(
      "insert.t(t[] self, int idx, t el) -> ()",
      +[](const Value& list, int64_t i, Value item) {
        Items& items = items_of(list);
        int64_t size = int64_t(items.size());
        int64_t at = std::clamp<int64_t>(i < 0 ? i + size : i, 0, size);
        items.insert(items.begin() + at, std::move(item));
      });
  table.add(
      "pop.t(t[] self, int idx=-1) -> t", +[](const Value& list, int64_t i) {
        Items& items = items_of(list);
        HOTARU_CHECK_AS(IndexError, !items.empty(), "pop from empty list");
        auto at = items.begin() + std::ptrdiff_t(wrapped(list, i));
        Value item = std::move(*at);
        items.erase(at);
        return item;
      });
  table.add(
      "remove.t(t[] self, t el) -> ()",
      +[](const Value& list, const Value& item) {
        Items& items = items_of(list);
        auto found =
            std::find_if(items.begin(), items.end(),
                         [&](const Value& other) { return same(other, item); });
        HOTARU_CHECK_AS(ValueError, found != items.end(),
                        "list.remove(x): x not in list");
        items.erase(found);
      });
  table.add(
      "clear.t(t[] self) -> ()",
      +[](const Value& list) { items_of(list).clear(); });
  table.add(
      "reverse.t(t[] self) -> ()", +[](const Value& list) {
        std::reverse(items_of(list).begin(), items_of(list).end());
      });
  table.add(
      "sort.t(t[] self, bool reverse=False) -> ()",
      +[](const Value& list, bool reverse) {
        sort_items(items_of(list), reverse);
      });
}

void add_copies(BuiltinTable& table) {
  table.add(
      "add.t(t[] a, t[] b) -> t[]", +[](const Value& a, const Value& b) {
        Items out = items_of(a);
        out.insert(out.end(), items_of(b).begin(), items_of(b).end());
        return Value::list(std::move(out));
      });
  auto copy = +[](const Value& list) { return Value::list(items_of(list)); };
  table.add("copy.t(t[] self) -> t[]", copy);
  table.add("list.t(t[] l) -> t[]", copy);
  // A torch.Size is a list of integers there.
  table.add("Size(int[] sizes) -> int[]", copy);
  table.add("mul.left_t(t[] l, int n) -> t[]", &repeated);
  table.add(
      "mul.right_(int n, t[] l) -> t[]",
      +[](int64_t n, const Value& list) { return repeated(list, n); });
  table.add(
      "sorted.t(t[] input) -> t[]", +[](const Value& list) {
        Items out = items_of(list);
        sort_items(out, false);
        return Value::list(std::move(out));
      });
  for (const char* item : {"int", "float", "str"}) {
    table.add(
        concat("min.self_", item, "(", item, "[] self) -> ", item),
        +[](const Value& list) { return extremum(list, false); });
    table.add(
        concat("max.self_", item, "(", item, "[] self) -> ", item),
        +[](const Value& list) { return extremum(list, true); });
  }
  table.add(
      "sum.int(int[] self) -> int", +[](const Value& list) {
        uint64_t total = 0;
        for (const Value& item : items_of(list))
          total += uint64_t(item.as_int());
        return int64_t(total);
      });
  table.add(
      "sum.float(float[] self) -> float", +[](const Value& list) {
        double total = 0;
        for (const Value& item : items_of(list)) total += item.to_double();
        return total;
      });
  for (const char* item : {"bool", "int", "float", "str"}) {
    table.add(
        concat("any.", item, "(", item, "[] self) -> bool"),
        +[](const Value& list) {
          const Items& items = items_of(list);
          return std::any_of(items.begin(), items.end(), is_true);
        });
    table.add(
        concat("all.", item, "(", item, "[] self) -> bool"),
        +[](const Value& list) {
          const Items& items = items_of(list);
          return std::all_of(items.begin(), items.end(), is_true);
        });
  }
}

}  // namespace

std::vector<size_t> slice_places(size_t size, Optional<int64_t> begin,
                                 Optional<int64_t> end, int64_t step) {
  HOTARU_CHECK_AS(ValueError, step != 0, kSliceStep);
  const int64_t count = int64_t(size);
  const int64_t low = step > 0 ? 0 : -1;
  const int64_t high = step > 0 ? count : count - 1;
  const auto bound = [&](int64_t i) {
    return std::clamp<int64_t>(i < 0 ? i + count : i, low, high);
  };
  int64_t from = begin ? bound(*begin) : (step > 0 ? 0 : count - 1);
  const int64_t to = end ? bound(*end) : (step > 0 ? count : -1);
  std::vector<size_t> out;
  while (step > 0 ? from < to : from > to) {
    out.push_back(size_t(from));
    // The next place may lie far outside of int64.
    if (__builtin_add_overflow(from, step, &from)) break;
  }
  return out;
}

void add_list_builtins(BuiltinTable& table) {
  add_access(table);
  add_writes(table);
  add_copies(table);
}

}  // namespace hotaru::script
