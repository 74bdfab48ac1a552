#include "hotaru/comm/group/process_group.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <cstring>

#include "hotaru/comm/dist_error.h"
#include "hotaru/core/host.h"
#include "hotaru/runtime/backend.h"
#include "tests/cpp/comm/ranks.h"

namespace hotaru::comm {
namespace {

using Kind = CollectiveKind;

// One that everybody sends to everybody, one for a tree, one in parts, and
// what divides by nothing.
const std::vector<int64_t> kLengths{0, 1, 5, 1000, 20000, 300001};
const std::vector<int> kSizes{1, 2, 3, 4, 9};

Tensor filled(int64_t length, float value) {
  Tensor out = allocate(IntSpan(&length, 1), DType::kFloat32, Device{});
  auto* data = out.data<float>();
  for (int64_t i = 0; i < length; ++i) data[i] = value + float(i % 7);
  return out;
}

/// Tells whether element i is base + count * (i % 7).
::testing::AssertionResult holds(const Tensor& tensor, float base,
                                 float count) {
  const float* data = tensor.data<float>();
  for (int64_t i = 0; i < tensor.numel(); ++i)
    if (data[i] != base + count * float(i % 7))
      return ::testing::AssertionFailure()
             << "element " << i << " of " << tensor.numel() << " is " << data[i]
             << ", not " << base + count * float(i % 7);
  return ::testing::AssertionSuccess();
}

std::vector<Tensor> one_a_rank(int size, int64_t length, float value) {
  std::vector<Tensor> out;
  for (int i = 0; i < size; ++i)
    out.push_back(filled(length, value + float(i)));
  return out;
}

float sum_to(int size) {
  return float(size * (size - 1) / 2);
}

void expect_none(const std::vector<std::string>& errors) {
  for (size_t i = 0; i < errors.size(); ++i)
    EXPECT_EQ(errors[i], "") << "rank " << i;
}

class Everywhere : public ::testing::TestWithParam<bool> {
 protected:
  /// f(group, length) for every world and length.
  void each(const std::function<void(ProcessGroup&, int64_t)>& f) {
    for (const int size : kSizes)
      expect_none(run_ranks(size, [&](ProcessGroup& group) {
        for (const int64_t length : kLengths) f(group, length);
      }));
  }
  void issue(ProcessGroup& group, Collective collective) {
    collective.async = GetParam();
    group.issue(collective).wait();
  }
};
INSTANTIATE_TEST_SUITE_P(Collectives, Everywhere, ::testing::Bool(),
                         [](const auto& param) {
                           return param.param ? "async" : "sync";
                         });

TEST_P(Everywhere, all_reduce) {
  each([&](ProcessGroup& group, int64_t length) {
    const Tensor x = filled(length, float(group.rank()));
    issue(group, {.kind = Kind::kAllReduce, .outputs = {x}});
    EXPECT_TRUE(holds(x, sum_to(group.size()), float(group.size())));
  });
}

TEST_P(Everywhere, all_reduce_of_several) {
  each([&](ProcessGroup& group, int64_t length) {
    // Short ones between long ones.
    std::vector<Tensor> x;
    for (int i = 0; i < 5; ++i)
      x.push_back(
          filled(i % 2 ? length : 7 * int64_t(i), float(group.rank() + i)));
    issue(group, {.kind = Kind::kAllReduce, .outputs = x});
    const auto size = float(group.size());
    for (int i = 0; i < 5; ++i)
      EXPECT_TRUE(
          holds(x[size_t(i)], sum_to(group.size()) + size * float(i), size));
  });
}

TEST_P(Everywhere, reduce_and_broadcast) {
  each([&](ProcessGroup& group, int64_t length) {
    const int root = group.size() - 1, me = group.rank();
    const Tensor x = filled(length, float(me));
    issue(group, {.kind = Kind::kReduce, .outputs = {x}, .root = root});
    if (me == root)
      EXPECT_TRUE(holds(x, sum_to(group.size()), float(group.size())));
    const Tensor y = filled(length, float(me));
    Collective c{.kind = Kind::kBroadcast, .root = root};
    (me == root ? c.inputs : c.outputs).push_back(y);
    issue(group, c);
    EXPECT_TRUE(holds(y, float(root), 1));
  });
}

TEST_P(Everywhere, gathers) {
  each([&](ProcessGroup& group, int64_t length) {
    const int size = group.size(), me = group.rank(), root = size / 2;
    auto out = one_a_rank(size, length, 100);
    issue(group, {.kind = Kind::kAllGather,
                  .inputs = {filled(length, float(me))},
                  .outputs = out});
    for (int i = 0; i < size; ++i)
      EXPECT_TRUE(holds(out[size_t(i)], float(i), 1));
    if (me == root) out = one_a_rank(size, length, 100);
    issue(group, {.kind = Kind::kGather,
                  .inputs = {filled(length, float(me))},
                  .outputs = me == root ? out : std::vector<Tensor>{},
                  .root = root});
    for (int i = 0; i < size; ++i)
      EXPECT_TRUE(holds(out[size_t(i)], float(i), 1));
  });
}

TEST_P(Everywhere, scatters) {
  each([&](ProcessGroup& group, int64_t length) {
    const int size = group.size(), me = group.rank(), root = size / 2;
    const Tensor x = filled(length, 100);
    Collective c{.kind = Kind::kScatter, .outputs = {x}, .root = root};
    if (me == root) c.inputs = one_a_rank(size, length, 0);
    issue(group, c);
    EXPECT_TRUE(holds(x, float(me), 1));
    const Tensor y = filled(length, 100);
    issue(group, {.kind = Kind::kReduceScatter,
                  .inputs = one_a_rank(size, length, float(me)),
                  .outputs = {y}});
    EXPECT_TRUE(holds(y, sum_to(size) + float(size * me), float(size)));
  });
}

TEST_P(Everywhere, all_to_all_of_different_lengths) {
  each([&](ProcessGroup& group, int64_t length) {
    const int size = group.size(), me = group.rank();
    std::vector<Tensor> in, out;
    for (int i = 0; i < size; ++i) {
      in.push_back(filled(length + me, float(10 * me + i)));
      out.push_back(filled(length + i, -1));
    }
    issue(group, {.kind = Kind::kAllToAll, .inputs = in, .outputs = out});
    for (int i = 0; i < size; ++i)
      EXPECT_TRUE(holds(out[size_t(i)], float(10 * i + me), 1));
  });
}

TEST_P(Everywhere, a_ring_of_messages) {
  each([&](ProcessGroup& group, int64_t length) {
    const int size = group.size(), me = group.rank();
    if (size == 1) return;
    const Tensor x = filled(length, float(me)), y = filled(length, -1);
    // Received before it is sent: what waits holds up nothing else.
    const Work came = group.issue({.kind = Kind::kReceive,
                                   .outputs = {y},
                                   .root = (me + size - 1) % size,
                                   .async = true});
    issue(group, {.kind = Kind::kSend, .inputs = {x}, .root = (me + 1) % size});
    came.wait();
    EXPECT_TRUE(holds(y, float((me + size - 1) % size), 1));
    EXPECT_EQ(came.source(), (me + size - 1) % size);
  });
}

TEST(ProcessGroup, reads_wait_for_what_is_issued) {
  expect_none(run_ranks(2, [](ProcessGroup& group) {
    const Tensor x = filled(100000, float(group.rank()));
    for (int i = 0; i < 10; ++i)
      group.issue({.kind = Kind::kAllReduce, .outputs = {x}, .async = true});
    const float* data = host_data<const float>(x, "test");
    EXPECT_EQ(data[0], 512);
    EXPECT_EQ(data[8], 512 + 1024);
  }));
}

TEST(ProcessGroup, a_barrier_holds_until_all_have_come) {
  std::atomic<int> came{0};
  expect_none(run_ranks(5, [&](ProcessGroup& group) {
    for (int i = 1; i <= 50; ++i) {
      ++came;
      group.issue({.kind = Kind::kBarrier});
      EXPECT_GE(came.load(), 5 * i);
    }
  }));
}

TEST(ProcessGroup, messages_are_told_apart_by_tag_and_order) {
  expect_none(run_ranks(2, [](ProcessGroup& group) {
    if (group.rank() == 0) {
      for (int i = 0; i < 6; ++i)
        group.issue({.kind = Kind::kSend,
                     .inputs = {filled(3, float(i))},
                     .root = 1,
                     .tag = uint32_t(i % 2)});
      return;
    }
    for (const int i : {1, 3, 0, 2, 5, 4}) {
      const Tensor x = filled(3, -1);
      const int from = i < 4 ? 0 : kAnyRank;
      group.issue({.kind = Kind::kReceive,
                   .outputs = {x},
                   .root = from,
                   .tag = uint32_t(i % 2)});
      EXPECT_TRUE(holds(x, float(i), 1));
    }
  }));
}

class FromAny : public ::testing::TestWithParam<int64_t> {};
INSTANTIATE_TEST_SUITE_P(Lengths, FromAny, ::testing::Values(3, 100000));

TEST_P(FromAny, and_then_from_one) {
  expect_none(run_ranks(3, [](ProcessGroup& group) {
    if (group.rank()) {
      for (int i = 0; i < 2; ++i)
        group.issue(
            {.kind = Kind::kSend,
             .inputs = {filled(GetParam(), float(10 * group.rank() + i))},
             .root = 0});
      return;
    }
    const Tensor x = filled(GetParam(), -1);
    const int first =
        group.issue({.kind = Kind::kReceive, .outputs = {x}, .root = kAnyRank})
            .source();
    EXPECT_TRUE(holds(x, float(10 * first), 1));
    group.issue({.kind = Kind::kReceive, .outputs = {x}, .root = first});
    EXPECT_TRUE(holds(x, float(10 * first + 1), 1));
    const int other = 3 - first;
    for (int i = 0; i < 2; ++i) {
      group.issue({.kind = Kind::kReceive, .outputs = {x}, .root = other});
      EXPECT_TRUE(holds(x, float(10 * other + i), 1));
    }
  }));
}

struct Reduced {
  ReduceKind kind;
  double expected;  // of 3, 1 and 6
};
class Reductions : public ::testing::TestWithParam<Reduced> {};
INSTANTIATE_TEST_SUITE_P(
    Kinds, Reductions,
    ::testing::Values(
        Reduced{ReduceKind::kSum, 10}, Reduced{ReduceKind::kAverage, 3},
        Reduced{ReduceKind::kProduct, 18}, Reduced{ReduceKind::kMin, 1},
        Reduced{ReduceKind::kMax, 6}, Reduced{ReduceKind::kBitAnd, 0},
        Reduced{ReduceKind::kBitOr, 7}, Reduced{ReduceKind::kBitXor, 4},
        Reduced{ReduceKind::kScaledSum, 20}));

TEST_P(Reductions, of_integers) {
  const Reduction reduction{GetParam().kind, 2};
  for (const int64_t length : {int64_t(3), int64_t(50000)})
    expect_none(run_ranks(3, [&](ProcessGroup& group) {
      const Tensor x = allocate(IntSpan(&length, 1), DType::kInt32, Device{});
      std::fill_n(x.data<int32_t>(), length,
                  std::array{3, 1, 6}[size_t(group.rank())]);
      group.issue(
          {.kind = Kind::kAllReduce, .outputs = {x}, .reduction = reduction});
      for (int64_t i = 0; i < length; ++i)
        ASSERT_EQ(x.data<int32_t>()[i], int32_t(GetParam().expected));
    }));
}

// --- what goes wrong ---------------------------------------------------------

void expect_all(const std::vector<std::string>& errors,
                const std::vector<std::string>& parts) {
  for (size_t i = 0; i < errors.size(); ++i)
    for (const std::string& part : parts)
      EXPECT_NE(errors[i].find(part), std::string::npos)
          << "rank " << i << ": " << errors[i];
}

TEST(ProcessGroup, lengths_that_differ_are_an_error_everywhere) {
  expect_all(
      run_ranks(3,
                [](ProcessGroup& group) {
                  const Tensor x = filled(group.rank() == 1 ? 5 : 4, 0);
                  group.issue({.kind = Kind::kAllReduce, .outputs = {x}});
                  group.issue({.kind = Kind::kAllReduce, .outputs = {x}});
                }),
      {"Detected mismatch between collectives on ranks",
       "all_reduce(SUM) of 4 float32", "all_reduce(SUM) of 5 float32"});
}

TEST(ProcessGroup, a_rank_that_says_nothing_more_is_named_all_the_same) {
  const auto errors = run_ranks(2, [](ProcessGroup& group) {
    const Tensor x = filled(4, 0);
    if (group.rank() == 0) {
      // Sent and gone: it is in no operation when the other one asks.
      group.issue({.kind = Kind::kBroadcast, .inputs = {x}, .root = 0});
    } else {
      group.issue({.kind = Kind::kAllReduce, .outputs = {x}});
    }
  });
  EXPECT_EQ(errors[0], "");
  EXPECT_NE(errors[1].find("rank 0 does something else than all_reduce(SUM) "
                           "of 4 float32"),
            std::string::npos)
      << errors[1];
}

TEST(ProcessGroup, collectives_that_wait_for_each_other_are_found) {
  // Neither sends the other anything.
  expect_all(
      run_ranks(2,
                [](ProcessGroup& group) {
                  const Tensor x = filled(4, 0);
                  if (group.rank() == 0)
                    group.issue({.kind = Kind::kGather,
                                 .inputs = {x},
                                 .outputs = one_a_rank(2, 4, 0),
                                 .root = 0});
                  else
                    group.issue(
                        {.kind = Kind::kBroadcast, .outputs = {x}, .root = 0});
                }),
      {"Detected mismatch between collectives on ranks",
       "gather of 4 float32, root 0", "broadcast of 4 float32, root 0"});
}

TEST(ProcessGroup, a_rank_that_does_not_come_is_named) {
  const auto errors = run_ranks(
      3,
      [](ProcessGroup& group) {
        if (group.rank() == 1) return;
        group.issue({.kind = Kind::kBarrier});
      },
      Millis(1500));
  for (const int rank : {0, 2}) {
    EXPECT_NE(errors[size_t(rank)].find("Timed out waiting 1500ms"),
              std::string::npos)
        << errors[size_t(rank)];
    EXPECT_NE(errors[size_t(rank)].find("not heard of: rank 1"),
              std::string::npos)
        << errors[size_t(rank)];
  }
}

TEST(ProcessGroup, after_an_error_nothing_is_begun) {
  expect_all(
      run_ranks(2,
                [](ProcessGroup& group) {
                  const Tensor x = filled(4 + group.rank(), 0);
                  try {
                    group.issue({.kind = Kind::kAllReduce, .outputs = {x}});
                  } catch (const DistBackendError&) {
                  }
                  group.issue({.kind = Kind::kBarrier});
                }),
      {"all_reduce"});
}

/// A mesh of two, the other of which is a plain socket.
struct Stranger {
  Stranger() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    socket = Socket(ends[0]);
    std::vector<Socket> sockets(2);
    sockets[1] = Socket(ends[1]);
    sockets[1].set_non_blocking();
    auto mesh = make_ref<Mesh>(std::move(sockets), 0);
    Ref<Channel> channel = mesh->open("world", {0, 1}, 0);
    group = make_ref<ProcessGroup>(mesh, channel, std::chrono::seconds(20));
  }
  void say(const void* bytes, size_t count) const {
    ASSERT_EQ(::send(socket.descriptor(), bytes, count, 0), ssize_t(count));
  }
  std::string barrier() const {
    try {
      group->issue({.kind = Kind::kBarrier});
    } catch (const DistBackendError& e) {
      return e.what();
    }
    return "";
  }
  Socket socket;
  Ref<ProcessGroup> group;
};

TEST(ProcessGroup, what_is_no_message_is_refused) {
  const Stranger stranger;
  stranger.say(
      "GET / HTTP/1.1\r\nHost: localhost\r\nAccept: text/html, */*\r\n", 56);
  EXPECT_NE(
      stranger.barrier().find("rank 1 is gone: it sent what is no message"),
      std::string::npos);
}

TEST(ProcessGroup, a_length_that_nobody_asked_for_is_refused) {
  const Stranger stranger;
  Frame frame;
  frame.bytes = uint64_t(1) << 60;
  stranger.say(&frame, sizeof frame);
  EXPECT_NE(stranger.barrier().find("a long message that nobody asked for"),
            std::string::npos);
}

TEST(ProcessGroup, a_rank_that_dies_is_named) {
  Stranger stranger;
  stranger.socket = Socket();
  const std::string error = stranger.barrier();
  EXPECT_NE(error.find("barrier, collective 1 of group 'world' on rank 0: rank "
                       "1 is gone: Connection closed by peer"),
            std::string::npos)
      << error;
}

TEST(ProcessGroup, only_who_knows_the_secret_is_taken) {
  auto store = make_ref<HashStore>();
  Ref<ProcessGroup> first;
  std::thread waits(
      [&] { first = world_of(*store, 0, 2, std::chrono::seconds(20)); });
  std::string host, port;
  const std::string where = store->get("rank/0");
  host = where.substr(0, where.find(' '));
  port = where.substr(where.find(' ') + 1);
  // One says nothing, one nonsense, both before the rank comes.
  const auto at = uint16_t(std::stoi(port));
  const Socket silent = Socket::connect(host, at, std::chrono::seconds(5));
  const Socket wrong = Socket::connect(host, at, std::chrono::seconds(5));
  wrong.send(std::string(200, 'x'),
             std::chrono::steady_clock::now() + std::chrono::seconds(5));
  const Ref<ProcessGroup> second =
      world_of(*store, 1, 2, std::chrono::seconds(20));
  waits.join();
  std::thread other([&] { first->issue({.kind = Kind::kBarrier}); });
  second->issue({.kind = Kind::kBarrier});
  other.join();
}

TEST(Meeting, names_who_has_not_come) {
  auto store = make_ref<HashStore>();
  try {
    meet(*store, 0, 3, Millis(200));
    FAIL();
  } catch (const DistBackendError& e) {
    EXPECT_STREQ(e.what(), "rank 0 of 3 waited 200ms for rank 1, 2");
  }
}

}  // namespace
}  // namespace hotaru::comm
