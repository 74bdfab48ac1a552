#include "hotaru/comm/mesh/meeting.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <list>
#include <random>
#include <sstream>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::comm {

using Clock = std::chrono::steady_clock;

namespace {

/// Greeting that who connects says first, and hears.
struct Hello {
  uint64_t magic = 0x3152544841544f48;  // "HOTAHTR1"
  uint64_t secret[2] = {};
  uint32_t rank = 0, size = 0;

  std::string bytes() const {
    return {reinterpret_cast<const char*>(this), sizeof *this};
  }
};

/// Strangers that are connected and have said nothing yet.
constexpr size_t kMostStrangers = 256;

struct Guest {
  Socket socket;
  std::string said;
};

std::string address_here(Store& store) {
  if (const char* name = std::getenv("GLOO_SOCKET_IFNAME"); name && *name)
    return Socket::address_of_interface(
        std::string(name).substr(0, std::string(name).find(',')));
  std::string address = store.local_address();
  return address.empty() ? Socket::address_of_this_machine() : address;
}

class Meeting {
 public:
  Meeting(Store& store, int rank, int size, Millis timeout)
      : store_(store),
        rank_(rank),
        size_(size),
        timeout_(timeout),
        deadline_(Clock::now() + timeout),
        sockets_(size_t(size)) {}

  std::vector<Socket> connect() {
    if (size_ == 1) return std::move(sockets_);
    agree_on_secret();
    const std::string address = address_here(store_);
    const Socket listener = Socket::listen(address, 0);
    store_.set(key(rank_), concat(address, " ", listener.port()));
    // Nobody needs the store any more when the first rank is through, who may
    // serve it and end.
    for (int other = 0; other < rank_; ++other) find(other);
    for (int other = 0; other < rank_; ++other) call(other);
    while (count_missing(rank_ + 1, size_)) receive_guests(listener);
    for (int other = 0; other < rank_; ++other) hear(other);
    return std::move(sockets_);
  }

 private:
  static std::string key(int rank) { return concat("rank/", rank); }

  Millis left() const {
    return std::max(Millis(1),
                    std::chrono::ceil<Millis>(deadline_ - Clock::now()));
  }
  [[noreturn]] void not_met(const std::string& who) const {
    throw DistBackendError(concat("rank ", rank_, " of ", size_, " waited ",
                                  timeout_.count(), "ms for ", who));
  }
  Hello hello(int rank) const {
    Hello out;
    std::memcpy(out.secret, secret_, sizeof secret_);
    out.rank = uint32_t(rank);
    out.size = uint32_t(size_);
    return out;
  }

  /// The first one's.
  void agree_on_secret() {
    std::random_device random;
    std::string mine(sizeof secret_, 0);
    for (char& c : mine) c = char('a' + random() % 26);
    const std::string ours = store_.compare_set("secret", "", mine);
    if (ours.size() != sizeof secret_)
      throw DistBackendError("the store has something else under this name");
    std::memcpy(secret_, ours.data(), sizeof secret_);
  }

  void find(int other) {
    try {
      store_.wait({key(other)}, left());
    } catch (const DistStoreError&) {
      not_met(concat("rank ", other, " (it is not in the store)"));
    }
    std::istringstream where(store_.get(key(other)));
    Place place;
    where >> place.host >> place.port;
    places_.push_back(std::move(place));
  }

  void call(int other) {
    const auto& [host, port] = places_[size_t(other)];
    Socket& socket = sockets_[size_t(other)];
    socket = Socket::connect(host, uint16_t(port), left());
    socket.set_non_blocking();
    socket.send(hello(rank_).bytes(), deadline_);
  }

  void hear(int other) {
    Hello answer;
    if (!sockets_[size_t(other)].receive(&answer, sizeof answer, deadline_))
      not_met(concat("the answer of rank ", other));
    if (answer.bytes() != hello(other).bytes())
      throw DistBackendError(
          concat("what answers in place of rank ", other, " is another"));
  }

  int count_missing(int begin, int end) const {
    int count = 0;
    for (int i = begin; i < end; ++i) count += !sockets_[size_t(i)];
    return count;
  }

  void receive_guests(const Socket& listener) {
    std::vector<pollfd> polled{{listener.descriptor(), POLLIN, 0}};
    for (const Guest& guest : guests_)
      polled.push_back({guest.socket.descriptor(), POLLIN, 0});
    ::poll(polled.data(), polled.size(), int(left().count()));
    if (Clock::now() >= deadline_) {
      std::string missing;
      for (int i = rank_ + 1; i < size_; ++i)
        if (!sockets_[size_t(i)])
          missing += concat(missing.empty() ? "" : ", ", i);
      not_met("rank " + missing);
    }
    size_t i = 1;
    for (auto guest = guests_.begin(); guest != guests_.end(); ++i) {
      const bool stays = !polled[i].revents || listen_to(*guest);
      guest = stays ? std::next(guest) : guests_.erase(guest);
    }
    while (Socket socket = listener.accept()) {
      if (guests_.size() == kMostStrangers) guests_.pop_front();
      guests_.push_back({std::move(socket), {}});
    }
  }

  /// False when the guest has said who it is, or is none.
  bool listen_to(Guest& guest) {
    char bytes[sizeof(Hello)];
    const ssize_t n = ::recv(guest.socket.descriptor(), bytes,
                             sizeof bytes - guest.said.size(), 0);
    if (n < 0) return errno == EAGAIN || errno == EINTR;
    if (n == 0) return false;
    guest.said.append(bytes, size_t(n));
    if (guest.said.size() < sizeof(Hello)) return true;
    Hello said;
    std::memcpy(&said, guest.said.data(), sizeof said);
    const int other = int(said.rank);
    if (other <= rank_ || other >= size_ ||
        guest.said != hello(other).bytes() || sockets_[size_t(other)])
      return false;
    guest.socket.send(hello(rank_).bytes(), deadline_);
    sockets_[size_t(other)] = std::move(guest.socket);
    return false;
  }

  struct Place {
    std::string host;
    int port = 0;
  };

  Store& store_;
  const int rank_, size_;
  const Millis timeout_;
  const Deadline deadline_;
  char secret_[16] = {};
  std::vector<Socket> sockets_;
  std::vector<Place> places_;  // of the ranks before this one
  std::list<Guest> guests_;
};

}  // namespace

Ref<Mesh> meet(Store& store, int rank, int size, Millis timeout) {
  return make_ref<Mesh>(Meeting(store, rank, size, timeout).connect(), rank);
}

}  // namespace hotaru::comm
