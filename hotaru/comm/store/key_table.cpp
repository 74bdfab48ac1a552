#include "hotaru/comm/store/key_table.h"

#include <algorithm>
#include <charconv>

#include "hotaru/core/printing/concat.h"

namespace hotaru::comm {

bool KeyTable::has_all(const Keys& keys) const {
  return std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    return find(key) || length(key) > 0;
  });
}

Keys KeyTable::keys() const {
  Keys out;
  for (const auto& [key, value] : values_) out.push_back(key);
  return out;
}

std::optional<std::string> KeyTable::pop(const std::string& key) {
  const auto found = queues_.find(key);
  if (found == queues_.end()) return {};
  std::string first = std::move(found->second.front());
  found->second.pop_front();
  if (found->second.empty()) queues_.erase(found);
  return first;
}

int64_t KeyTable::add(const std::string& key, int64_t amount) {
  int64_t number = 0;
  if (const std::string* text = find(key)) {
    const char* end = text->data() + text->size();
    const auto read = std::from_chars(text->data(), end, number);
    if (read.ec != std::errc() || read.ptr != end)
      throw DistStoreError(
          concat("add: the value of '", key, "' is not a number"));
  }
  if (__builtin_add_overflow(number, amount, &number))
    throw DistStoreError(concat("add: the sum of '", key, "' overflows"));
  set(key, std::to_string(number));
  return number;
}

std::string KeyTable::compare_set(const std::string& key,
                                  const std::string& expected,
                                  const std::string& desired) {
  const std::string* there = find(key);
  if (there ? *there != expected : !expected.empty())
    return there ? *there : expected;
  set(key, desired);
  return desired;
}

}  // namespace hotaru::comm
