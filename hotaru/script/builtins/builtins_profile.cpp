// Functions that record_function(...) of PyTorch's programs calls.
#include <atomic>
#include <chrono>
#include <utility>

#include "hotaru/core/error.h"
#include "hotaru/script/builtins/builtins.h"
#include "hotaru/script/program/own_class.h"
#include "hotaru/script/run/ranges.h"

namespace hotaru::script {

namespace {

std::atomic<RangeListener> listener{nullptr};

/// A range that has begun.
struct OpenRange : RefCounted {
  explicit OpenRange(NamedRange range) : range(std::move(range)) {}
  const NamedRange range;
};

Value begin_range(const std::string& name, Optional<std::string> arguments) {
  static const OwnClass& handle = *find_own_class(kRangeClass);
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  const std::chrono::nanoseconds start = now;
  NamedRange range{name, std::nullopt, start.count()};
  if (arguments) range.arguments = *arguments;
  return Value(own_instance(
      handle, Value::from_object(make_ref<OpenRange>(std::move(range)))));
}

void end_range(const Value& handle) {
  const OpenRange* open = nullptr;
  if (own_class_of(handle))
    open = dynamic_cast<const OpenRange*>(
        handle.as_instance().slots[0].as_object());
  HOTARU_CHECK_AS(TypeError, open, "this is no range that has begun");
  if (const RangeListener tell = listener.load()) tell(open->range);
}

}  // namespace

void set_range_listener(RangeListener to) {
  listener.store(to);
}

void add_profile_builtins(BuiltinTable& table) {
  table.add(concat("profiler::_record_function_enter_new(str name, "
                   "str? args=None) -> ",
                   kRangeClass),
            &begin_range);
  table.add(
      concat("profiler::_record_function_exit(", kRangeClass, " record) -> ()"),
      &end_range);
}

}  // namespace hotaru::script
