#include "hotaru/comm/store/tcp_store.h"

#include <unistd.h>

#include <algorithm>
#include <thread>
#include <unordered_map>

#include "hotaru/comm/store/tcp_protocol.h"
#include "hotaru/core/checks/check.h"

namespace hotaru::comm {
namespace {

using Clock = std::chrono::steady_clock;

/// Clients' keys begin with a slash, the store's own do not.
std::string named(const std::string& key) {
  HOTARU_CHECK_AS(ValueError, key.size() < kMaxKeyBytes,
                  "a store's key is at most ", kMaxKeyBytes - 1,
                  " bytes long, not ", key.size());
  return "/" + key;
}
Keys named(Keys keys) {
  HOTARU_CHECK_AS(ValueError, keys.size() <= kMaxKeys, "at most ", kMaxKeys,
                  " keys at once, not ", keys.size());
  for (std::string& key : keys) key = named(key);
  return keys;
}
const std::string& fitting(const std::string& value) {
  HOTARU_CHECK_AS(ValueError, value.size() <= kMaxValueBytes,
                  "a store's value is at most ", kMaxValueBytes,
                  " bytes long, not ", value.size());
  return value;
}

Message listed(Query query, const Keys& keys) {
  Message out(query);
  out.number(uint64_t(keys.size()));
  for (const std::string& key : keys) out.text(key);
  return out;
}

constexpr const char* kInit = "init/";

std::shared_ptr<TcpServer> started(TcpStoreOptions& options) {
  return std::make_shared<TcpServer>(
      options.listener < 0
          ? Socket::listen(options.host, options.port)
          : Socket::listening(std::exchange(options.listener, -1)));
}

/// The servers that masters of one process have in common, by port.
class SharedServers {
 public:
  static SharedServers& of_process() {
    static SharedServers servers;
    return servers;
  }

  std::shared_ptr<TcpServer> get(TcpStoreOptions& options) {
    const std::lock_guard lock(mutex_);
    // In a forked child the server is its parent's.
    if (process_ != ::getpid()) {
      process_ = ::getpid();
      servers_.clear();
    }
    if (auto there = servers_[options.port].lock()) return there;
    auto server = started(options);
    servers_[server->port()] = server;
    return server;
  }

 private:
  std::mutex mutex_;
  pid_t process_ = 0;
  std::unordered_map<uint16_t, std::weak_ptr<TcpServer>> servers_;
};

}  // namespace

TcpStore::TcpStore(TcpStoreOptions options)
    : Store(options.timeout), options_(std::move(options)) {
  if (options_.is_master) {
    server_ = options_.multi_tenant ? SharedServers::of_process().get(options_)
                                    : started(options_);
    options_.port = server_->port();
  }
  open();
  if (options_.wait_for_workers && options_.world_size) wait_for_workers();
}

TcpStore::TcpStore(TcpStoreOptions options, std::shared_ptr<TcpServer> server)
    : Store(options.timeout),
      options_(std::move(options)),
      server_(std::move(server)) {
  open();
}

Ref<Store> TcpStore::clone() {
  TcpStoreOptions options = options_;
  options.timeout = timeout();
  return Ref<Store>(new TcpStore(std::move(options), server_));
}

std::string TcpStore::local_address() {
  const std::lock_guard lock(mutex_);
  return socket_ ? socket_.address() : std::string();
}

void TcpStore::open() {
  socket_ = Socket::connect(options_.host, options_.port, timeout());
  const auto nonce = uint32_t(::getpid());  // PyTorch's, which tests look at
  send(Message(Query::kValidate).number(kStoreMagic));
  send(Message(Query::kPing).number(nonce));
  if (answer<uint32_t>() != nonce)
    throw DistNetworkError(concat("what listens at (", options_.host, ", ",
                                  options_.port, ") is no store"));
}

void TcpStore::wait_for_workers() {
  const std::lock_guard lock(mutex_);
  const int wanted = *options_.world_size;
  const auto begin = Clock::now();
  int64_t there = add_named(kInit, 1);
  if (!options_.is_master) return;
  while (there < wanted) {
    if (Clock::now() - begin > timeout())
      throw DistStoreError(concat(
          "Timed out after ",
          std::chrono::duration_cast<std::chrono::seconds>(timeout()).count() +
              1,
          " seconds waiting for clients. ", there, "/", wanted,
          " clients joined."));
    std::this_thread::sleep_for(Millis{2});
    there = add_named(kInit, 0);
  }
}

template <class F>
auto TcpStore::or_give_up(const F& f) {
  try {
    return f();
  } catch (...) {
    socket_ = Socket();
    throw;
  }
}

void TcpStore::send(const Message& message) {
  HOTARU_CHECK_AS(comm::DistNetworkError, socket_,
                  "the connection to the store was given up after an error");
  or_give_up([&] { socket_.send(message.bytes(), Clock::now() + timeout()); });
}
template <class T>
T TcpStore::answer() {
  T out{};
  const bool came = or_give_up([&] {
    return socket_.receive(&out, sizeof out, Clock::now() + timeout());
  });
  if (came) return out;
  socket_ = Socket();  // an answer that comes now would be taken for the next
  throw DistStoreError(concat("the store at (", options_.host, ", ",
                              options_.port, ") has not answered for ",
                              timeout().count(), " ms"));
}
std::string TcpStore::answer_text() {
  const auto size = answer<uint64_t>();
  std::string out;
  if (size > (uint64_t(1) << 40)) {
    socket_ = Socket();
    throw DistNetworkError("the store's answer makes no sense");
  }
  // As it comes, not as it says: a wrong size takes no memory.
  while (out.size() < size) {
    const size_t had = out.size();
    out.resize(had + std::min<uint64_t>(size - had, 1 << 20));
    or_give_up([&] {
      HOTARU_CHECK_AS(comm::DistNetworkError,
                      socket_.receive(out.data() + had, out.size() - had,
                                      Clock::now() + timeout()),
                      "the store's answer stopped midway");
    });
  }
  return out;
}

void TcpStore::set(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kSet).text(named(key)).text(fitting(value)));
}
std::string TcpStore::get(const std::string& key) {
  const std::lock_guard lock(mutex_);
  wait_named({named(key)}, timeout());
  send(Message(Query::kGet).text(named(key)));
  return answer_text();
}
int64_t TcpStore::add(const std::string& key, int64_t amount) {
  const std::lock_guard lock(mutex_);
  return add_named(named(key), amount);
}
int64_t TcpStore::add_named(const std::string& key, int64_t amount) {
  send(Message(Query::kAdd).text(key).number(amount));
  return answer<int64_t>();
}
std::string TcpStore::compare_set(const std::string& key,
                                  const std::string& expected,
                                  const std::string& desired) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kCompareSet)
           .text(named(key))
           .text(fitting(expected))
           .text(fitting(desired)));
  return answer_text();
}
void TcpStore::append(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kAppend).text(named(key)).text(fitting(value)));
}
bool TcpStore::delete_key(const std::string& key) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kDeleteKey).text(named(key)));
  return answer<int64_t>() == 1;
}
int64_t TcpStore::num_keys() {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kNumKeys));
  return answer<int64_t>();
}
bool TcpStore::check(const Keys& keys) {
  const std::lock_guard lock(mutex_);
  send(listed(Query::kCheck, named(keys)));
  return answer<uint8_t>() == kReady;
}
void TcpStore::wait(const Keys& keys, Millis timeout) {
  const std::lock_guard lock(mutex_);
  wait_named(named(keys), timeout);
}
std::vector<std::string> TcpStore::multi_get(const Keys& keys) {
  const std::lock_guard lock(mutex_);
  const Keys all = named(keys);
  wait_named(all, timeout());
  send(listed(Query::kMultiGet, all));
  std::vector<std::string> out;
  for (size_t i = 0; i < keys.size(); ++i) out.push_back(answer_text());
  return out;
}
void TcpStore::multi_set(const Keys& keys,
                         const std::vector<std::string>& values) {
  check_as_many(keys, values);
  const std::lock_guard lock(mutex_);
  Message message(Query::kMultiSet);
  message.number(uint64_t(keys.size()));
  for (size_t i = 0; i < keys.size(); ++i)
    message.text(named(keys[i])).text(fitting(values[i]));
  send(message);
}

void TcpStore::queue_push(const std::string& key, const std::string& value) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kQueuePush).text(named(key)).text(fitting(value)));
}
std::string TcpStore::queue_pop(const std::string& key, bool block) {
  const std::lock_guard lock(mutex_);
  const Keys keys{named(key)};
  const auto end = Clock::now() + timeout();
  while (true) {
    if (block) {
      const auto left = std::chrono::ceil<Millis>(end - Clock::now());
      send(listed(Query::kWait, keys));
      if (!hear_end(std::max(left, Millis(0)))) timed_out(keys, timeout());
    }
    send(Message(Query::kQueuePop).text(keys[0]));
    if (answer<int64_t>() > 0) return answer_text();
    if (!block) queue_is_empty(key);
    // Somebody else was first: one more wait.
  }
}
int64_t TcpStore::queue_len(const std::string& key) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kQueueLen).text(named(key)));
  return answer<int64_t>();
}
Keys TcpStore::list_keys() {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kListKeys));
  const auto count = answer<int64_t>();
  Keys out;
  for (int64_t i = 0; i < count; ++i)
    if (std::string key = answer_text(); key.starts_with('/'))
      out.push_back(key.substr(1));
  return out;
}
void TcpStore::barrier(const std::string& key, int64_t size, Millis timeout) {
  const std::lock_guard lock(mutex_);
  send(Message(Query::kBarrier).text(named(key)).number(size));
  if (!hear_end(timeout))
    throw DistStoreError(
        concat("barrier timeout after ", timeout.count(), "ms, key: ", key));
}

void TcpStore::wait_named(const Keys& keys, Millis timeout) {
  send(listed(Query::kWait, keys));
  if (!hear_end(timeout)) timed_out(keys, timeout);
}

bool TcpStore::hear_end(Millis timeout) {
  uint8_t came = 0;
  const bool in_time = or_give_up(
      [&] { return socket_.receive(&came, 1, Clock::now() + timeout); });
  if (in_time) {
    HOTARU_CHECK_AS(comm::DistNetworkError, came == kStopWaiting,
                    "the store's answer makes no sense");
    return true;
  }
  send(Message(Query::kCancelWait));
  // The keys may have come at the last moment.
  const bool late = answer<uint8_t>() == kStopWaiting;
  if (late) answer<uint8_t>();
  return late;
}

}  // namespace hotaru::comm
