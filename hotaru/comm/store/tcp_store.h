// A store behind a socket: the usual way in which processes meet.
#pragma once

#include <memory>
#include <mutex>
#include <optional>

#include "hotaru/comm/socket.h"
#include "hotaru/comm/store/store.h"
#include "hotaru/comm/store/tcp_server.h"

namespace hotaru::comm {

struct TcpStoreOptions {
  std::string host;
  uint16_t port = 0;  // a master's: 0 is any free one
  std::optional<int> world_size;
  bool is_master = false;  // serves the keys, too
  bool wait_for_workers = true;
  /// One server for all masters of this process that say so of a port. A
  /// server of another process is never joined: that would be another job.
  bool multi_tenant = false;
  Millis timeout = kStoreTimeout;
  /// A master's: a socket that listens already, in place of the port.
  int listener = -1;
};

/// A client, of PyTorch's server as well as of ours. Values are at most 8 MiB
/// and keys 8 KiB long.
class TcpStore final : public Store {
 public:
  /// Connects; with wait_for_workers and a world's size a master waits until
  /// as many clients have come. DistNetworkError where there is no server in
  /// time, or the port is taken.
  explicit TcpStore(TcpStoreOptions options);

  const std::string& host() const { return options_.host; }
  uint16_t port() const { return options_.port; }
  bool serves() const { return bool(server_); }

  void set(const std::string& key, const std::string& value) override;
  std::string get(const std::string& key) override;
  int64_t add(const std::string& key, int64_t amount) override;
  std::string compare_set(const std::string& key, const std::string& expected,
                          const std::string& desired) override;
  void append(const std::string& key, const std::string& value) override;
  bool delete_key(const std::string& key) override;
  int64_t num_keys() override;
  bool check(const Keys& keys) override;
  void wait(const Keys& keys, Millis timeout) override;
  std::vector<std::string> multi_get(const Keys& keys) override;
  void multi_set(const Keys& keys,
                 const std::vector<std::string>& values) override;
  void queue_push(const std::string& key, const std::string& value) override;
  std::string queue_pop(const std::string& key, bool block) override;
  int64_t queue_len(const std::string& key) override;
  Keys list_keys() override;
  void barrier(const std::string& key, int64_t size, Millis timeout) override;
  std::string local_address() override;
  Ref<Store> clone() override;

 private:
  TcpStore(TcpStoreOptions options, std::shared_ptr<TcpServer> server);

  void open();
  void wait_for_workers();
  /// These are used under the mutex.
  /// What f gives; after an error of its the connection is not used again.
  template <class F>
  auto or_give_up(const F& f);
  void send(const class Message& message);
  template <class T>
  T answer();
  std::string answer_text();
  int64_t add_named(const std::string& key, int64_t amount);
  void wait_named(const Keys& keys, Millis timeout);
  /// For the answer that ends a wait; false, and it is given up, without one.
  bool hear_end(Millis timeout);

  TcpStoreOptions options_;
  std::shared_ptr<TcpServer> server_;
  std::mutex mutex_;
  Socket socket_;
};

}  // namespace hotaru::comm
