// TCP connections.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>

namespace hotaru::comm {

using Deadline = std::chrono::steady_clock::time_point;

/// Owns a descriptor. Every error is a DistNetworkError.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int descriptor) : descriptor_(descriptor) {}
  Socket(Socket&& other) noexcept
      : descriptor_(std::exchange(other.descriptor_, -1)) {}
  Socket& operator=(Socket&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~Socket();

  /// Tries until the deadline, as the other side may have yet to start.
  static Socket connect(const std::string& host, uint16_t port,
                        std::chrono::milliseconds timeout);
  /// Listens at the host's own address and nowhere else; 0: any free port.
  static Socket listen(const std::string& host, uint16_t port);
  /// Somebody's that is bound, or listens already; takes it over.
  static Socket listening(int descriptor);
  /// Accepts on one that listens; empty if nobody is there. Does not block.
  Socket accept() const;

  int descriptor() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  uint16_t port() const;
  /// This side's, as numbers.
  std::string address() const;
  /// The address of a network interface, or of this machine's name, or else
  /// the loopback's.
  static std::string address_of_interface(const std::string& name);
  static std::string address_of_this_machine();
  void set_non_blocking() const;

  /// All of it, or an error.
  void send(const std::string& bytes, Deadline deadline) const;
  /// As many bytes, or an error; false where nothing came until the deadline.
  bool receive(void* data, size_t count, Deadline deadline) const;

 private:
  int descriptor_ = -1;
};

}  // namespace hotaru::comm
