// The connection to one other rank: frames in and out, without waiting.
#pragma once

#include <array>
#include <deque>
#include <string>
#include <vector>

#include "hotaru/comm/mesh/frame.h"
#include "hotaru/comm/socket.h"

namespace hotaru::comm {

class Transfer;

/// Whoever is told what came. Called by Link::read, which goes on afterwards.
class LinkReader {
 public:
  /// Where the payload of a message goes: exactly frame.bytes; null where
  /// nobody waits for it, and then it comes with message().
  virtual Transfer* receiver(int rank, const Frame& frame) = 0;
  virtual void arrived(Transfer& transfer) = 0;
  virtual void gone_out(Transfer& transfer) = 0;
  virtual void message(int rank, const Frame& frame, std::string payload) = 0;

 protected:
  ~LinkReader() = default;
};

/// Guarded by the mesh's mutex.
class Link {
 public:
  Link(Socket socket, int rank) : socket_(std::move(socket)), rank_(rank) {}

  /// Reads all that is there. False where the other side has ended or sent
  /// what is no frame: see why().
  bool read(LinkReader& reader);
  /// Puts a frame behind the others and begins to write; `transfer` has its
  /// payload and is told when it is gone.
  void send(LinkReader& reader, const Frame& frame, Transfer* transfer);
  void send_text(LinkReader& reader, const Frame& frame, std::string text);
  /// Goes on writing. False where the other side takes nothing any more.
  bool write(LinkReader& reader);
  /// The transfer's memory is not to be used any more. Amid its message that
  /// is the end of the connection.
  void forget(const Transfer& transfer);

  /// Transfers that the link would still take or give.
  std::vector<Transfer*> under_way() const;

  int rank() const { return rank_; }
  int descriptor() const { return socket_.descriptor(); }
  bool open() const { return open_; }
  bool writes() const { return open_ && !out_.empty() && writable_; }
  const std::string& why() const { return why_; }
  /// Ends the connection; what is left unsaid is lost.
  void close();
  /// In a child of fork(): lets go of it without a word to the other side.
  void abandon() { socket_ = Socket(); }

 private:
  struct Out {
    Frame frame;
    Transfer* transfer = nullptr;
    std::string text;
    size_t done = 0;
  };

  bool take(LinkReader& reader);
  bool take_frame(LinkReader& reader);
  bool take_payload(LinkReader& reader, size_t& came);

  Socket socket_;
  const int rank_;
  bool open_ = true, writable_ = true;
  std::string why_;

  // Bytes that were read and not looked at yet.
  std::array<char, 1 << 13> buffer_;
  size_t begin_ = 0, end_ = 0;
  // The frame whose payload comes.
  Frame frame_;
  bool within_ = false;
  size_t got_ = 0;
  Transfer* into_ = nullptr;
  std::string payload_;

  std::deque<Out> out_;
};

}  // namespace hotaru::comm
