#include "hotaru/comm/store/store.h"

namespace hotaru::comm {

std::vector<std::string> Store::multi_get(const Keys& keys) {
  std::vector<std::string> out;
  for (const std::string& key : keys) out.push_back(get(key));
  return out;
}

void Store::multi_set(const Keys& keys,
                      const std::vector<std::string>& values) {
  check_as_many(keys, values);
  for (size_t i = 0; i < keys.size(); ++i) set(keys[i], values[i]);
}

void Store::check_as_many(const Keys& keys,
                          const std::vector<std::string>& values) {
  HOTARU_CHECK_AS(ValueError, keys.size() == values.size(),
                  "multi_set: ", keys.size(), " keys and ", values.size(),
                  " values");
}

void Store::set_timeout(Millis timeout) {
  HOTARU_CHECK_AS(ValueError, timeout.count() > 0,
                  "a store's timeout is positive, not ", timeout.count(),
                  " ms");
  timeout_ = timeout;
}

void Store::timed_out(const Keys& keys, Millis timeout) {
  std::string names;
  for (const std::string& key : keys)
    names += (names.empty() ? "" : ", ") + key;
  throw DistStoreError(
      concat("wait timeout after ", timeout.count(), "ms, keys: ", names));
}

}  // namespace hotaru::comm
