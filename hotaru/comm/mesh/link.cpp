#include "hotaru/comm/mesh/link.h"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "hotaru/comm/mesh/transfer.h"

namespace hotaru::comm {

bool Link::read(LinkReader& reader) {
  while (open_) {
    if (begin_ == end_) begin_ = end_ = 0;
    // Long payloads go where they belong at once.
    const bool direct = within_ && into_ && begin_ == end_ &&
                        frame_.bytes - got_ >= buffer_.size();
    char* to = direct ? into_->data + got_ : buffer_.data() + end_;
    const size_t room = direct ? frame_.bytes - got_ : buffer_.size() - end_;
    const ssize_t n = ::recv(socket_.descriptor(), to, room, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return true;
    if (n <= 0) {
      why_ = n == 0 ? "Connection closed by peer" : std::strerror(errno);
      return false;
    }
    if (direct)
      got_ += size_t(n);
    else
      end_ += size_t(n);
    if (!take(reader)) return false;
    // A socket that gave less than asked for is empty.
    if (size_t(n) < room) return true;
  }
  return false;
}

/// Goes through what was read.
bool Link::take(LinkReader& reader) {
  for (;;) {
    if (!within_) {
      if (!take_frame(reader)) return why_.empty();
      continue;
    }
    const size_t wanted = std::min(end_ - begin_, frame_.bytes - got_);
    if (wanted) {
      if (into_)
        std::memcpy(into_->data + got_, buffer_.data() + begin_, wanted);
      else
        payload_.append(buffer_.data() + begin_, wanted);
      begin_ += wanted;
      got_ += wanted;
    }
    if (got_ < frame_.bytes) return true;
    within_ = false;
    if (into_)
      reader.arrived(*std::exchange(into_, nullptr));
    else
      reader.message(rank_, frame_, std::exchange(payload_, {}));
    if (!open_) return true;
  }
}

/// False where there is no whole frame yet, or, with why_, none at all.
bool Link::take_frame(LinkReader& reader) {
  if (end_ - begin_ < sizeof(Frame)) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    return false;
  }
  std::memcpy(&frame_, buffer_.data() + begin_, sizeof(Frame));
  begin_ += sizeof(Frame);
  if (!frame_.valid()) {
    why_ = "it sent what is no message";
    return false;
  }
  into_ = frame_.kind == FrameKind::kData ? reader.receiver(rank_, frame_)
                                          : nullptr;
  if (!into_ && frame_.bytes > Frame::kShort) {
    why_ = "it sent a long message that nobody asked for";
    return false;
  }
  within_ = true;
  got_ = 0;
  return true;
}

void Link::send(LinkReader& reader, const Frame& frame, Transfer* transfer) {
  const bool idle = out_.empty();
  out_.push_back({frame, transfer, {}, 0});
  if (idle) write(reader);
}

void Link::send_text(LinkReader& reader, const Frame& frame, std::string text) {
  const bool idle = out_.empty();
  out_.push_back({frame, nullptr, std::move(text), 0});
  out_.back().frame.bytes = out_.back().text.size();
  if (idle) write(reader);
}

bool Link::write(LinkReader& reader) {
  while (open_ && writable_ && !out_.empty()) {
    Out& out = out_.front();
    const size_t total = sizeof(Frame) + out.frame.bytes;
    iovec pieces[2];
    int count = 0;
    if (out.done < sizeof(Frame))
      pieces[count++] = {reinterpret_cast<char*>(&out.frame) + out.done,
                         sizeof(Frame) - out.done};
    if (const size_t at =
            out.done > sizeof(Frame) ? out.done - sizeof(Frame) : 0;
        at < out.frame.bytes)
      pieces[count++] = {
          (out.transfer ? out.transfer->data : out.text.data()) + at,
          out.frame.bytes - at};
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = size_t(count);
    const ssize_t n = ::sendmsg(socket_.descriptor(), &message, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return true;
      // Whatever the other side said before it went is still to be read.
      writable_ = false;
      return false;
    }
    out.done += size_t(n);
    if (out.done < total) continue;
    Transfer* gone = out.transfer;
    out_.pop_front();
    if (gone) reader.gone_out(*gone);
  }
  return writable_;
}

void Link::forget(const Transfer& transfer) {
  if (into_ == &transfer) close();
  if (!out_.empty() && out_.front().transfer == &transfer &&
      out_.front().done > 0)
    close();
  std::erase_if(out_, [&](const Out& o) { return o.transfer == &transfer; });
}

std::vector<Transfer*> Link::under_way() const {
  std::vector<Transfer*> out;
  if (into_) out.push_back(into_);
  for (const Out& o : out_)
    if (o.transfer) out.push_back(o.transfer);
  return out;
}

void Link::close() {
  if (open_) ::shutdown(socket_.descriptor(), SHUT_RDWR);
  open_ = false;
  into_ = nullptr;
  if (why_.empty()) why_ = "an operation was given up amid a message";
}

}  // namespace hotaru::comm
