#include "hotaru/comm/store/tcp_server.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <vector>

#include "hotaru/comm/store/tcp_protocol.h"

namespace hotaru::comm {

namespace {
// Bytes of one client: of a message that has not ended, of answers.
constexpr size_t kMostUnfinished = 256 << 20, kMostWaiting = 64 << 20;
}  // namespace

struct TcpServer::Client {
  explicit Client(Socket connection) : socket(std::move(connection)) {}

  Socket socket;
  bool valid = false;
  std::string in, out;
  Keys waits_for;
  int64_t comers = 0;  // at a barrier: so many are waited for

  /// Who does not read its answers is not asked for more.
  short events() const {
    return short((out.size() < kMostWaiting ? POLLIN : 0) |
                 (out.empty() ? 0 : POLLOUT));
  }
};

/// Reads a message off the bytes that came; Short where there are more to come.
class TcpServer::Request {
 public:
  struct Short {};
  struct Wrong {};

  explicit Request(std::string_view bytes) : bytes_(bytes) {}

  size_t read() const { return at_; }
  template <class T>
  T number() {
    T out;
    std::memcpy(&out, take(sizeof out).data(), sizeof out);
    return out;
  }
  std::string key() { return text(kMaxKeyBytes); }
  std::string value() { return text(kMaxValueBytes); }
  Keys keys() {
    Keys out(count());
    for (std::string& key : out) key = this->key();
    return out;
  }
  size_t count() {
    const auto n = number<uint64_t>();
    if (n > kMaxKeys) throw Wrong();
    return n;
  }

 private:
  std::string_view take(uint64_t count) {
    if (bytes_.size() - at_ < count) throw Short();
    at_ += count;
    return bytes_.substr(at_ - count, count);
  }
  std::string text(uint64_t most) {
    const auto size = number<uint64_t>();
    if (size > most) throw Wrong();
    return std::string(take(size));
  }

  const std::string_view bytes_;
  size_t at_ = 0;
};

TcpServer::TcpServer(Socket listener)
    : listener_(std::move(listener)), port_(listener_.port()) {
  if (!wake_) throw DistNetworkError("eventfd failed");
  thread_ = std::thread([this] { run(); });
}

TcpServer::~TcpServer() {
  wake_.set();
  thread_.join();
}

void TcpServer::run() {
  std::vector<pollfd> polled;
  for (;;) {
    polled = {{wake_.descriptor(), POLLIN, 0},
              {listener_.descriptor(), POLLIN, 0}};
    for (const Client& client : clients_)
      polled.push_back({client.socket.descriptor(), client.events(), 0});
    if (::poll(polled.data(), polled.size(), -1) < 0) continue;  // EINTR
    if (polled[0].revents) return;
    size_t i = 2;
    for (auto client = clients_.begin(); client != clients_.end(); ++i) {
      const short came = polled[i].revents;
      const bool stays =
          !came || ((!(came & ~POLLOUT) || read(*client)) && write(*client));
      client = stays ? std::next(client) : clients_.erase(client);
    }
    if (polled[1].revents) accept_all();
    // Answers to whoever waited for what these clients set.
    for (auto client = clients_.begin(); client != clients_.end();)
      client = write(*client) ? std::next(client) : clients_.erase(client);
  }
}

void TcpServer::accept_all() {
  while (Socket socket = listener_.accept())
    clients_.emplace_back(std::move(socket));
}

bool TcpServer::read(Client& client) {
  char bytes[1 << 16];
  const ssize_t n = ::recv(client.socket.descriptor(), bytes, sizeof bytes, 0);
  if (n == 0) return false;
  if (n < 0) return errno == EAGAIN || errno == EINTR;
  client.in.append(bytes, size_t(n));
  size_t done = 0;
  try {
    while (done < client.in.size()) {
      Request request(std::string_view(client.in).substr(done));
      answer(client, request);
      done += request.read();
    }
  } catch (const Request::Short&) {
  } catch (const Request::Wrong&) {
    return false;
  } catch (const DistStoreError&) {  // a number that is none
    return false;
  }
  client.in.erase(0, done);
  return client.in.size() < kMostUnfinished;
}

bool TcpServer::write(Client& client) {
  while (!client.out.empty()) {
    const ssize_t n = ::send(client.socket.descriptor(), client.out.data(),
                             client.out.size(), MSG_NOSIGNAL);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    client.out.erase(0, size_t(n));
  }
  return true;
}

bool TcpServer::is_there(
    const Client& client,
    std::unordered_map<std::string, int64_t>& taken) const {
  if (client.comers) {
    const std::string* came = table_.find(client.waits_for.front());
    return came && std::atoll(came->c_str()) >= client.comers;
  }
  if (!table_.has_all(client.waits_for)) return false;
  for (const std::string& key : client.waits_for)
    if (!table_.find(key) && taken[key] >= table_.length(key)) return false;
  for (const std::string& key : client.waits_for)
    if (!table_.find(key)) ++taken[key];
  return true;
}

void TcpServer::changed() {
  std::unordered_map<std::string, int64_t> taken;
  for (Client& client : clients_)
    if (!client.waits_for.empty() && is_there(client, taken)) {
      client.waits_for.clear();
      client.comers = 0;
      client.out += char(kStopWaiting);
    }
}

void TcpServer::answer(Client& client, Request& request) {
  Message reply;
  const auto query = request.number<Query>();
  if (!client.valid) {
    if (query != Query::kValidate || request.number<uint32_t>() != kStoreMagic)
      throw Request::Wrong();
    client.valid = true;
    return;
  }
  const auto value_of = [&](const std::string& key) {
    const std::string* value = table_.find(key);
    if (!value) throw Request::Wrong();  // clients wait for it first
    reply.text(*value);
  };
  switch (query) {
    case Query::kSet: {
      const std::string key = request.key();
      table_.set(key, request.value());
      changed();
      break;
    }
    case Query::kCompareSet: {
      const std::string key = request.key(), expected = request.value();
      reply.text(table_.compare_set(key, expected, request.value()));
      changed();
      break;
    }
    case Query::kGet:
      value_of(request.key());
      break;
    case Query::kAdd: {
      const std::string key = request.key();
      reply.number(table_.add(key, request.number<int64_t>()));
      changed();
      break;
    }
    case Query::kCheck:
      reply.number(table_.has_all(request.keys()) ? kReady : kNotReady);
      break;
    case Query::kWait: {
      Keys keys = request.keys();
      if (table_.has_all(keys))
        reply.number(kStopWaiting);
      else
        client.waits_for = std::move(keys);
      break;
    }
    case Query::kCancelWait:
      client.waits_for.clear();
      client.comers = 0;
      reply.number(kWaitCanceled);
      break;
    case Query::kNumKeys:
      reply.number(table_.size());
      break;
    case Query::kDeleteKey:
      reply.number(int64_t(table_.erase(request.key())));
      break;
    case Query::kAppend: {
      const std::string key = request.key();
      table_.append(key, request.value());
      changed();
      break;
    }
    case Query::kMultiGet:
      for (const std::string& key : request.keys()) value_of(key);
      break;
    case Query::kMultiSet: {
      std::vector<std::pair<std::string, std::string>> items(request.count());
      for (auto& [key, value] : items) {
        key = request.key();
        value = request.value();
      }
      for (auto& [key, value] : items) table_.set(key, std::move(value));
      changed();
      break;
    }
    case Query::kPing:
      reply.number(request.number<uint32_t>());
      break;
    case Query::kQueuePush: {
      const std::string key = request.key();
      table_.push(key, request.value());
      changed();
      break;
    }
    case Query::kQueuePop: {
      const auto value = table_.pop(request.key());
      reply.number(int64_t(value.has_value()));
      if (value) reply.text(*value);
      break;
    }
    case Query::kQueueLen:
      reply.number(table_.length(request.key()));
      break;
    case Query::kListKeys: {
      const Keys keys = table_.keys();
      reply.number(int64_t(keys.size()));
      for (const std::string& key : keys) reply.text(key);
      break;
    }
    case Query::kBarrier: {
      const std::string key = request.key();
      client.comers = std::max<int64_t>(request.number<int64_t>(), 1);
      client.waits_for = {key};
      table_.add(key, 1);
      changed();
      break;
    }
    default:
      throw Request::Wrong();
  }
  client.out += reply.bytes();
}

}  // namespace hotaru::comm
