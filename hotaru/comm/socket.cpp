#include "hotaru/comm/socket.h"

#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <thread>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/printing/concat.h"

namespace hotaru::comm {
namespace {

using Clock = std::chrono::steady_clock;
using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

std::string reason() {
  return std::strerror(errno);
}

[[noreturn]] void gone(const std::string& what) {
  throw DistNetworkError(
      what +
      ". Connection was likely closed. Did the remote server shutdown or "
      "crash?");
}

/// Resolves a host's name to addresses; IPv4 first, as programs write it.
Addresses resolve(const std::string& host, uint16_t port, int flags) {
  addrinfo hints{}, *found = nullptr;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  const int wrong =
      ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (wrong)
    throw DistNetworkError(
        concat("The hostname '", host,
               "' cannot be resolved: ", ::gai_strerror(wrong)));
  return {found, &::freeaddrinfo};
}

int milliseconds_until(Deadline deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
  return int(std::clamp<int64_t>(left.count(), 0, 1 << 30));
}

/// Tells whether the socket can be read, or written, before the deadline.
bool ready(int descriptor, short events, Deadline deadline) {
  for (;;) {
    pollfd wanted{descriptor, events, 0};
    const int n = ::poll(&wanted, 1, milliseconds_until(deadline));
    if (n > 0) return true;
    if (n < 0 && errno != EINTR)
      throw DistNetworkError(concat("poll failed: ", reason()));
    if (n == 0 && Clock::now() >= deadline) return false;
  }
}

Socket opened(const addrinfo& address) {
  Socket out(::socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC,
                      address.ai_protocol));
  const int on = 1;
  if (out) {
    ::setsockopt(out.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::setsockopt(out.descriptor(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  }
  return out;
}

/// One try; an empty socket, and errno, where nobody listens.
Socket try_connect(const addrinfo& address, Deadline deadline) {
  Socket out = opened(address);
  if (!out) return {};
  out.set_non_blocking();
  if (::connect(out.descriptor(), address.ai_addr, address.ai_addrlen) == 0)
    return out;
  if (errno != EINPROGRESS || !ready(out.descriptor(), POLLOUT, deadline))
    return {};
  int wrong = 0;
  socklen_t size = sizeof wrong;
  ::getsockopt(out.descriptor(), SOL_SOCKET, SO_ERROR, &wrong, &size);
  errno = wrong;
  return wrong ? Socket() : std::move(out);
}

sockaddr_storage name_of(int descriptor) {
  sockaddr_storage name{};
  socklen_t size = sizeof name;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&name), &size))
    throw DistNetworkError(concat("the socket has no name: ", reason()));
  return name;
}

std::string numbers_of(const sockaddr& address, socklen_t size) {
  char host[NI_MAXHOST] = "";
  if (::getnameinfo(&address, size, host, sizeof host, nullptr, 0,
                    NI_NUMERICHOST))
    throw DistNetworkError("the socket has no address of numbers");
  return host;
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Socket Socket::connect(const std::string& host, uint16_t port,
                       std::chrono::milliseconds timeout) {
  const Deadline deadline = Clock::now() + timeout;
  std::string why;
  for (std::chrono::milliseconds pause{1};;
       pause = std::min(2 * pause, std::chrono::milliseconds{250})) {
    try {  // a name may have yet to be known, too
      const Addresses addresses = resolve(host, port, 0);
      for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
        if (Socket out = try_connect(*a, deadline)) return out;
        why = reason();
      }
    } catch (const DistNetworkError& unknown) {
      why = unknown.what();
    }
    if (Clock::now() + pause >= deadline)
      throw DistNetworkError(concat(
          "The client socket has timed out after ", timeout.count(),
          "ms while trying to connect to (", host, ", ", port, "): ", why));
    std::this_thread::sleep_for(pause);
  }
}

Socket Socket::listen(const std::string& host, uint16_t port) {
  std::string why;
  const Addresses addresses = resolve(host, port, AI_PASSIVE);
  for (const addrinfo* a = addresses.get(); a; a = a->ai_next) {
    Socket out = opened(*a);
    const int on = 1;
    if (out)
      ::setsockopt(out.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (out && ::bind(out.descriptor(), a->ai_addr, a->ai_addrlen) == 0 &&
        ::listen(out.descriptor(), 2048) == 0) {
      out.set_non_blocking();
      return out;
    }
    why = reason();
  }
  throw DistNetworkError(concat(
      "The server socket has failed to listen on any local network address. "
      "host: ",
      host, ", port: ", port, ", message: ", why));
}

Socket Socket::listening(int descriptor) {
  if (::listen(descriptor, 2048) != 0)
    throw DistNetworkError(concat("descriptor ", descriptor,
                                  " is no socket that can listen: ", reason()));
  Socket out(descriptor);
  out.set_non_blocking();
  return out;
}

Socket Socket::accept() const {
  Socket out(
      ::accept4(descriptor_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  const int on = 1;
  if (out)
    ::setsockopt(out.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return out;
}

std::string Socket::address() const {
  const sockaddr_storage name = name_of(descriptor_);
  return numbers_of(reinterpret_cast<const sockaddr&>(name), sizeof name);
}

std::string Socket::address_of_interface(const std::string& name) {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all))
    throw DistNetworkError(concat("getifaddrs failed: ", reason()));
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(
      all, &::freeifaddrs);
  for (const int family : {AF_INET, AF_INET6})
    for (const ifaddrs* a = all; a; a = a->ifa_next)
      if (a->ifa_addr && a->ifa_addr->sa_family == family &&
          name == a->ifa_name)
        return numbers_of(*a->ifa_addr, family == AF_INET
                                            ? sizeof(sockaddr_in)
                                            : sizeof(sockaddr_in6));
  throw DistNetworkError(concat("Unable to find address for: ", name,
                                " (no such network interface)"));
}

std::string Socket::address_of_this_machine() {
  char name[256] = "";
  if (::gethostname(name, sizeof name - 1) == 0) try {
      const Addresses addresses = resolve(name, 0, 0);
      // One that a socket can be bound to.
      for (const addrinfo* a = addresses.get(); a; a = a->ai_next)
        if (const Socket probe = opened(*a);
            probe && ::bind(probe.descriptor(), a->ai_addr, a->ai_addrlen) == 0)
          return numbers_of(*a->ai_addr, a->ai_addrlen);
    } catch (const DistNetworkError&) {
    }
  return "127.0.0.1";
}

uint16_t Socket::port() const {
  sockaddr_storage name = name_of(descriptor_);
  return ntohs(name.ss_family == AF_INET6
                   ? reinterpret_cast<sockaddr_in6&>(name).sin6_port
                   : reinterpret_cast<sockaddr_in&>(name).sin_port);
}

void Socket::set_non_blocking() const {
  ::fcntl(descriptor_, F_SETFL, ::fcntl(descriptor_, F_GETFL) | O_NONBLOCK);
}

void Socket::send(const std::string& bytes, Deadline deadline) const {
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t n = ::send(descriptor_, bytes.data() + done,
                             bytes.size() - done, MSG_NOSIGNAL);
    if (n >= 0) {
      done += size_t(n);
      continue;
    }
    if (errno != EAGAIN && errno != EINTR) gone("failed to send: " + reason());
    if (!ready(descriptor_, POLLOUT, deadline))
      throw DistNetworkError("failed to send: the other side does not read");
  }
}

bool Socket::receive(void* data, size_t count, Deadline deadline) const {
  auto* to = static_cast<char*>(data);
  for (size_t done = 0; done < count;) {
    const ssize_t n = ::recv(descriptor_, to + done, count - done, 0);
    if (n > 0) {
      done += size_t(n);
      continue;
    }
    if (n == 0) gone("failed to recv, got 0 bytes");
    if (errno != EAGAIN && errno != EINTR) gone("failed to recv: " + reason());
    if (!ready(descriptor_, POLLIN, deadline)) {
      if (done == 0) return false;
      throw DistNetworkError("failed to recv: a message stopped midway");
    }
  }
  return true;
}

}  // namespace hotaru::comm
