#include "hotaru/comm/store/store.h"

#include "hotaru/core/error.h"

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

namespace {

[[noreturn]] void no_queues() {
  throw NotImplementedError("queue support is not implemented.");
}

}  // namespace

void Store::queue_push(const std::string&, const std::string&) {
  no_queues();
}
std::string Store::queue_pop(const std::string&, bool) {
  no_queues();
}
int64_t Store::queue_len(const std::string&) {
  no_queues();
}
Keys Store::list_keys() {
  throw NotImplementedError("list_keys support is not implemented.");
}

void Store::barrier(const std::string& key, int64_t size, Millis timeout) {
  const std::string last = key + "/last_member";
  if (add(key + "/num_members", 1) >= size) set(last, "1");
  try {
    wait({last}, timeout);
  } catch (const DistStoreError&) {
    throw DistStoreError(
        concat("barrier timeout after ", timeout.count(), "ms, key: ", key));
  }
}

void Store::queue_is_empty(const std::string& key) {
  throw QueueEmptyError(concat("queue is empty: '", key, "'"));
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
