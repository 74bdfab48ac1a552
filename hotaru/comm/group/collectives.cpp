#include "hotaru/comm/group/collectives.h"

#include <algorithm>
#include <cstring>
#include <list>
#include <memory>

namespace hotaru::comm {

namespace {

// So much goes at a time where ranks pass on, or add up, what they get: it is
// still in the cache then.
constexpr size_t kSegment = 512 << 10;
// Up to so many ranks all send to all.
constexpr int kFew = 8;

/// Memory for what comes from others.
struct Buffer {
  explicit Buffer(size_t bytes) : data(new char[bytes]) {}
  const std::unique_ptr<char[]> data;
};

using Transfers = std::list<Transfer>;

void send_to(Transfers& transfers, Operation& operation, int rank,
             const Elements& data) {
  transfers.emplace_back(operation, Way::kSend, rank, data.data, data.bytes());
}
void receive_from(Transfers& transfers, Operation& operation, int rank,
                  const Elements& data) {
  transfers.emplace_back(operation, Way::kReceive, rank, data.data,
                         data.bytes());
}

void copy(const Elements& from, const Elements& to) {
  if (from.data != to.data && from.bytes())
    std::memmove(to.data, from.data, from.bytes());
}

/// Elements behind each other, wherever they lie.
using Row = std::vector<Elements>;

int64_t count_of(const Row& row) {
  int64_t count = 0;
  for (const Elements& elements : row) count += elements.count;
  return count;
}

/// The i-th of as many parts as equal as can be.
Row part_of(const Row& row, int i, int parts) {
  const int64_t all = count_of(row);
  const int64_t begin = all * i / parts, end = all * (i + 1) / parts;
  Row out;
  int64_t at = 0;
  for (const Elements& elements : row) {
    const int64_t from = std::max(begin - at, int64_t(0));
    const int64_t to = std::min(end - at, elements.count);
    if (from < to) out.push_back(elements.part(from, to));
    at += elements.count;
  }
  return out;
}

/// Cuts a row into parts that travel as a message each.
Row segments(const Row& row) {
  Row out;
  for (const Elements& all : row) {
    const int64_t step =
        std::max<int64_t>(1, int64_t(kSegment / itemsize(all.dtype)));
    for (int64_t begin = 0; begin < all.count; begin += step)
      out.push_back(all.part(begin, std::min(all.count, begin + step)));
  }
  return out;
}
Row segments(const Elements& all) {
  return segments(Row{all});
}

/// Begins what goes to, and comes from, every other rank: rows by rank. Each
/// begins with another neighbour, so that all links are busy.
template <class Give, class Take>
void exchange(Transfers& transfers, Operation& operation, const Give& give,
              const Take& take) {
  const int size = operation.size(), me = operation.rank();
  for (int i = 1; i < size; ++i) {
    const int from = (me + size - i) % size;
    for (const Elements& piece : take(from))
      receive_from(transfers, operation, from, piece);
  }
  for (int i = 1; i < size; ++i) {
    const int to = (me + i) % size;
    for (const Elements& piece : give(to))
      send_to(transfers, operation, to, piece);
  }
}

/// Several tensors as few: the short ones are copied into one behind each
/// other, the long ones stay where they are.
class Packed {
 public:
  explicit Packed(const Row& tensors) {
    size_t bytes = 0;
    for (const Elements& tensor : tensors)
      (is_short(tensor) && tensors.size() > 1 ? short_ : row_)
          .push_back(tensor);
    for (const Elements& tensor : short_) bytes += tensor.bytes();
    if (short_.empty()) return;
    buffer_ = std::make_unique<Buffer>(bytes);
    Elements all{short_.front().dtype, buffer_->data.get(), count_of(short_)};
    each([](const Elements& tensor, const Elements& place) {
      copy(tensor, place);
    });
    row_.insert(row_.begin(), all);
  }
  const Row& row() const { return row_; }
  void unpack() const {
    each([](const Elements& tensor, const Elements& place) {
      copy(place, tensor);
    });
  }

 private:
  static bool is_short(const Elements& tensor) {
    return tensor.bytes() <= Frame::kShort;
  }
  template <class F>
  void each(const F& f) const {
    size_t at = 0;
    for (const Elements& tensor : short_) {
      f(tensor, {tensor.dtype, buffer_->data.get() + at, tensor.count});
      at += tensor.bytes();
    }
  }

  Row short_, row_;
  std::unique_ptr<Buffer> buffer_;
};

/// A binomial tree over ranks, counted from its root on.
struct Tree {
  Tree(const Operation& operation, int root)
      : size(operation.size()), root(root), me(relative(operation.rank())) {
    int bit = 1;
    while (bit < size && !(me & bit)) bit <<= 1;
    if (me) parent = absolute(me - bit);
    for (bit >>= 1; bit; bit >>= 1)
      if (me + bit < size) children.push_back(absolute(me + bit));
  }
  int relative(int rank) const { return (rank - root + size) % size; }
  int absolute(int rank) const { return (rank + root) % size; }

  const int size, root, me;
  int parent = -1;
  std::vector<int> children;  // those with most below them first
};

/// Adds up what a rank sends, segment by segment, while the next one comes.
Steps add_from(Operation& operation, int rank, Row into, Reduction reduction) {
  const Row pieces = segments(into);
  if (pieces.empty()) co_return;
  size_t bytes = 0;
  for (const Elements& piece : pieces) bytes = std::max(bytes, piece.bytes());
  const Buffer buffer(2 * bytes);
  const auto place = [&](size_t i) {
    return Elements{pieces[i].dtype, buffer.data.get() + i % 2 * bytes,
                    pieces[i].count};
  };
  Transfers coming;
  for (size_t i = 0; i < pieces.size() + 1; ++i) {
    if (i < pieces.size()) receive_from(coming, operation, rank, place(i));
    if (i == 0) continue;
    Transfer& next = coming.front();
    co_await next;
    coming.pop_front();
    reduce_into(reduction, pieces[i - 1].dtype, pieces[i - 1].data,
                place(i - 1).data, pieces[i - 1].count);
  }
}

Steps all_to_all_reduce(Operation& operation, Elements data,
                        Reduction reduction) {
  const int size = operation.size(), me = operation.rank();
  const Buffer buffer(size_t(size) * data.bytes());
  const auto of = [&](int rank) {
    return Elements{data.dtype, buffer.data.get() + size_t(rank) * data.bytes(),
                    data.count};
  };
  copy(data, of(me));
  Transfers transfers;
  exchange(
      transfers, operation, [&](int) { return Row(1, of(me)); },
      [&](int from) { return Row(1, of(from)); });
  for (Transfer& transfer : transfers) co_await transfer;
  copy(of(0), data);
  for (int rank = 1; rank < size; ++rank)
    reduce_into(reduction, data.dtype, data.data, of(rank).data, data.count);
}

Steps reduce_parts(Operation& operation, Row data, Reduction reduction) {
  const int size = operation.size(), me = operation.rank();
  {
    Transfers going;
    for (int i = 1; i < size; ++i) {
      const int to = (me + i) % size;
      for (const Elements& piece : segments(part_of(data, to, size)))
        send_to(going, operation, to, piece);
    }
    for (int i = 1; i < size; ++i)
      co_await add_from(operation, (me + size - i) % size,
                        part_of(data, me, size), reduction);
    for (Transfer& transfer : going) co_await transfer;
  }
  Transfers transfers;
  exchange(
      transfers, operation,
      [&](int) { return segments(part_of(data, me, size)); },
      [&](int from) { return segments(part_of(data, from, size)); });
  for (Transfer& transfer : transfers) co_await transfer;
}

Steps reduce_up(Operation& operation, Elements data, Reduction reduction,
                int root) {
  const Tree tree(operation, root);
  const Row row(1, data);
  for (auto child = tree.children.rbegin(); child != tree.children.rend();
       ++child)
    co_await add_from(operation, *child, row, reduction);
  if (tree.parent < 0) co_return;
  Transfers going;
  for (const Elements& piece : segments(data))
    send_to(going, operation, tree.parent, piece);
  for (Transfer& transfer : going) co_await transfer;
}

}  // namespace

Steps all_reduce(Operation& operation, std::vector<Elements> tensors,
                 Reduction reduction) {
  for (const Elements& data : tensors)
    reduction.prepare(data.dtype, data.data, data.count);
  const Packed packed(tensors);
  const Row& row = packed.row();
  if (operation.size() == 1) {
  } else if (row.size() > 1 || row.front().bytes() > Frame::kShort) {
    co_await reduce_parts(operation, row, reduction);
  } else if (operation.size() <= kFew) {
    co_await all_to_all_reduce(operation, row.front(), reduction);
  } else {
    co_await reduce_up(operation, row.front(), reduction, 0);
    co_await broadcast(operation, row.front(), 0);
  }
  packed.unpack();
  for (const Elements& data : tensors)
    reduction.conclude(data.dtype, data.data, data.count, operation.size());
}

Steps reduce(Operation& operation, Elements data, Reduction reduction,
             int root) {
  reduction.prepare(data.dtype, data.data, data.count);
  co_await reduce_up(operation, data, reduction, root);
  if (operation.rank() == root)
    reduction.conclude(data.dtype, data.data, data.count, operation.size());
}

Steps broadcast(Operation& operation, Elements data, int root) {
  const Tree tree(operation, root);
  const std::vector<Elements> pieces = segments(data);
  Transfers coming, going;
  if (tree.parent >= 0)
    for (const Elements& piece : pieces)
      receive_from(coming, operation, tree.parent, piece);
  auto came = coming.begin();
  for (const Elements& piece : pieces) {
    if (tree.parent >= 0) {
      Transfer& next = *came++;
      co_await next;
    }
    for (const int child : tree.children)
      send_to(going, operation, child, piece);
  }
  for (Transfer& transfer : going) co_await transfer;
}

Steps all_gather(Operation& operation, Elements input,
                 std::vector<Elements> outputs) {
  Transfers transfers;
  exchange(
      transfers, operation, [&](int) { return Row(1, input); },
      [&](int from) { return Row(1, outputs[size_t(from)]); });
  copy(input, outputs[size_t(operation.rank())]);
  for (Transfer& transfer : transfers) co_await transfer;
}

Steps gather(Operation& operation, Elements input,
             std::vector<Elements> outputs, int root) {
  Transfers transfers;
  if (operation.rank() != root) {
    send_to(transfers, operation, root, input);
  } else {
    for (int rank = 0; rank < operation.size(); ++rank)
      if (rank != root)
        receive_from(transfers, operation, rank, outputs[size_t(rank)]);
    copy(input, outputs[size_t(root)]);
  }
  for (Transfer& transfer : transfers) co_await transfer;
}

Steps scatter(Operation& operation, std::vector<Elements> inputs,
              Elements output, int root) {
  Transfers transfers;
  if (operation.rank() != root) {
    receive_from(transfers, operation, root, output);
  } else {
    for (int rank = 0; rank < operation.size(); ++rank)
      if (rank != root)
        send_to(transfers, operation, rank, inputs[size_t(rank)]);
    copy(inputs[size_t(root)], output);
  }
  for (Transfer& transfer : transfers) co_await transfer;
}

Steps reduce_scatter(Operation& operation, std::vector<Elements> inputs,
                     Elements output, Reduction reduction) {
  const int size = operation.size(), me = operation.rank();
  // The output may be a part of the input, which is sent meanwhile.
  const Buffer sum(output.bytes());
  const Elements own{output.dtype, sum.data.get(), output.count};
  const Row row(1, own);
  copy(inputs[size_t(me)], own);
  reduction.prepare(own.dtype, own.data, own.count);
  std::list<Buffer> scaled;
  Transfers going;
  for (int i = 1; i < size; ++i) {
    const int to = (me + i) % size;
    Elements input = inputs[size_t(to)];
    if (reduction.kind == ReduceKind::kScaledSum) {
      input.data = scaled.emplace_back(input.bytes()).data.get();
      copy(inputs[size_t(to)], input);
      reduction.prepare(input.dtype, input.data, input.count);
    }
    for (const Elements& piece : segments(input))
      send_to(going, operation, to, piece);
  }
  for (int i = 1; i < size; ++i)
    co_await add_from(operation, (me + size - i) % size, row, reduction);
  for (Transfer& transfer : going) co_await transfer;
  reduction.conclude(own.dtype, own.data, own.count, size);
  copy(own, output);
}

Steps all_to_all(Operation& operation, std::vector<Elements> inputs,
                 std::vector<Elements> outputs) {
  const auto me = size_t(operation.rank());
  Transfers transfers;
  exchange(
      transfers, operation, [&](int to) { return Row(1, inputs[size_t(to)]); },
      [&](int from) { return Row(1, outputs[size_t(from)]); });
  copy(inputs[me], outputs[me]);
  for (Transfer& transfer : transfers) co_await transfer;
}

/// Dissemination: after log2(size) rounds everybody has heard of everybody.
Steps barrier(Operation& operation) {
  const int size = operation.size(), me = operation.rank();
  for (int distance = 1; distance < size; distance *= 2) {
    Transfer going(operation, Way::kSend, (me + distance) % size, nullptr, 0);
    Transfer coming(operation, Way::kReceive, (me + size - distance) % size,
                    nullptr, 0);
    co_await going;
    co_await coming;
  }
}

Steps send(Operation& operation, Elements data, int to) {
  Transfer going(operation, Way::kSend, to, data.data, data.bytes());
  co_await going;
}

Steps receive(Operation& operation, Elements data, int from,
              std::function<void(int)> came) {
  Transfer coming(operation, Way::kReceive, from, data.data, data.bytes());
  co_await coming;
  const std::vector<int>& ranks = operation.channel->ranks;
  came(int(std::find(ranks.begin(), ranks.end(), coming.rank) - ranks.begin()));
}

}  // namespace hotaru::comm
