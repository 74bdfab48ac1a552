// Serves the keys of a TCP store.
#pragma once

#include <atomic>
#include <list>
#include <string>
#include <thread>
#include <unordered_map>

#include "hotaru/comm/socket.h"
#include "hotaru/comm/store/key_table.h"
#include "hotaru/platform/wake_event.h"

namespace hotaru::comm {

/// One thread, which sleeps until somebody asks. Who sends what is no message
/// of a store's, or does not begin with its magic number, is hung up on; the
/// others do not notice.
class TcpServer {
 public:
  /// Serves at a socket that listens.
  explicit TcpServer(Socket listener);
  /// Closes every connection.
  ~TcpServer();
  TcpServer(const TcpServer&) = delete;
  TcpServer& operator=(const TcpServer&) = delete;

  uint16_t port() const { return port_; }

 private:
  struct Client;
  class Request;

  void run();
  void accept_all();
  /// False where the client is gone or wrong.
  bool read(Client& client);
  bool write(Client& client);
  /// Answers one message; throws for what is none.
  void answer(Client& client, Request& request);
  void changed();
  /// Tells whether what a client waits for is there; items of queues that
  /// others who waited get are `taken`.
  bool is_there(const Client& client,
                std::unordered_map<std::string, int64_t>& taken) const;

  const Socket listener_;
  const uint16_t port_;
  platform::WakeEvent wake_;  // the server ends
  KeyTable table_;
  std::list<Client> clients_;
  std::thread thread_;
};

}  // namespace hotaru::comm
