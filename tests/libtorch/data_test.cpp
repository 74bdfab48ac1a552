// Datasets in chunks, and samplers that share examples among processes.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <set>
#include <sstream>

#include "torch/torch.h"

namespace {

namespace data = torch::data;
namespace samplers = torch::data::samplers;
using Indices = std::vector<size_t>;

/// Three chunks of 10, 5 and 20 numbers: 0 to 34.
struct Reader : data::datasets::ChunkDataReader<int> {
  ChunkType read_chunk(size_t index) override {
    if (index == bad) throw std::runtime_error("chunk 1 is gone");
    ChunkType out(kSizes[index]);
    std::iota(out.begin(), out.end(), kFirst[index]);
    return out;
  }
  size_t chunk_count() override { return 3; }
  void reset() override {}

  static constexpr size_t kSizes[] = {10, 5, 20};
  static constexpr int kFirst[] = {0, 10, 15};
  size_t bad = 3;
};

using Chunks = data::datasets::ChunkDataset<Reader, samplers::SequentialSampler,
                                            samplers::SequentialSampler>;

data::datasets::SharedBatchDataset<Chunks> chunks(
    data::datasets::ChunkDatasetOptions options, Reader reader = {},
    Chunks::Policy policy = {}) {
  return data::datasets::make_shared_dataset<Chunks>(
      std::move(reader), samplers::SequentialSampler(0),
      samplers::SequentialSampler(0), std::move(options), std::move(policy));
}

TEST(ChunkDataset, EveryExampleOnceInEachEpoch) {
  for (const size_t preloaders : {1, 3})
    for (const size_t workers : {0, 2}) {
      auto loader =
          data::make_data_loader(chunks({preloaders, 4, /*cache_size=*/8}),
                                 data::DataLoaderOptions(4).workers(workers));
      for (int epoch = 0; epoch < 2; ++epoch) {
        std::multiset<int> seen;
        for (auto& batch : *loader) seen.insert(batch.begin(), batch.end());
        std::multiset<int> expected;
        for (int i = 0; i < 35; ++i) expected.insert(i);
        EXPECT_EQ(seen, expected) << preloaders << ' ' << workers;
      }
    }
}

TEST(ChunkDataset, OnePreloaderKeepsTheOrder) {
  auto loader = data::make_data_loader(chunks({1, 6}), 6);
  std::vector<int> seen;
  for (auto& batch : *loader) {
    EXPECT_LE(batch.size(), 6u);
    seen.insert(seen.end(), batch.begin(), batch.end());
  }
  std::vector<int> expected(35);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(seen, expected);
}

TEST(ChunkDataset, PolicyChangesChunks) {
  auto loader = data::make_data_loader(
      chunks({1, 35}, {}, [](std::vector<int>& c) { std::ranges::reverse(c); }),
      35);
  const std::vector<int> batch = *loader->begin();
  EXPECT_EQ(batch[0], 9);
  EXPECT_EQ(batch[10], 14);
}

TEST(ChunkDataset, ErrorsOfReadersArrive) {
  Reader reader;
  reader.bad = 1;
  auto loader = data::make_data_loader(chunks({2, 5}, reader), 5);
  const auto all = [&] {
    for (auto& batch : *loader) (void)batch;
  };
  EXPECT_THROW(all(), data::WorkerException);
}

/// The first batch is asked for when it is looked at.
TEST(Loader, ErrorsOfWorkersArriveAtTheBatch) {
  struct Bad : data::datasets::Dataset<Bad, int> {
    int get(size_t) override { throw std::invalid_argument("badness"); }
    std::optional<size_t> size() const override { return 10; }
  };
  auto loader = data::make_data_loader(Bad(), samplers::SequentialSampler(10),
                                       data::DataLoaderOptions().workers(2));
  auto batch = loader->begin();
  EXPECT_THROW(*batch, data::WorkerException);
}

TEST(ChunkDataset, GoesOnWhereItWasSaved) {
  auto dataset = chunks({1, 5});
  std::stringstream file;
  {
    samplers::SequentialSampler sampler(0);
    sampler.reset(3);
    sampler.next(2);
    torch::save(sampler, file);
  }
  torch::load(*dataset, file);
  auto loader = data::make_data_loader(dataset, 5);
  EXPECT_EQ((*loader->begin())[0], 15);
}

TEST(ChunkDataset, RefusesWhatMakesNoSense) {
  EXPECT_THROW(data::datasets::ChunkDatasetOptions(0, 1), c10::Error);
  EXPECT_THROW(data::datasets::ChunkDatasetOptions(1, 10, 5), c10::Error);
  auto dataset = chunks({1, 5});
  EXPECT_THROW(dataset->get_batch(5), c10::Error);  // no reset() before
  dataset.reset();
  EXPECT_THROW(dataset->get_batch(6), c10::Error);
}

template <class Sampler>
std::vector<Indices> shares(size_t replicas, bool twice, size_t epoch = 0) {
  std::vector<Indices> out;
  for (size_t rank = 0; rank < replicas; ++rank) {
    Sampler sampler(10, replicas, rank, twice);
    sampler.set_epoch(epoch);
    sampler.reset();
    Indices all;
    while (const auto next = sampler.next(3))
      all.insert(all.end(), next->begin(), next->end());
    out.push_back(all);
  }
  return out;
}

TEST(DistributedSampler, SharesAreAsLargeAndCoverAll) {
  for (const bool twice : {true, false}) {
    for (const auto& parts :
         {shares<samplers::DistributedRandomSampler>(3, twice),
          shares<samplers::DistributedSequentialSampler>(3, twice)}) {
      std::multiset<size_t> all;
      for (const Indices& part : parts) {
        EXPECT_EQ(part.size(), twice ? 4u : 3u);
        all.insert(part.begin(), part.end());
      }
      const std::set<size_t> once(all.begin(), all.end());
      EXPECT_EQ(once.size(), twice ? 10u : 9u);
      // The example that the shares have no room for is the last one.
      EXPECT_EQ(*once.rbegin(), twice ? 9u : 8u);
    }
  }
}

TEST(DistributedSampler, EpochsDifferAndProcessesAgree) {
  using Random = samplers::DistributedRandomSampler;
  EXPECT_EQ(shares<Random>(2, true, 1), shares<Random>(2, true, 1));
  EXPECT_NE(shares<Random>(2, true, 1), shares<Random>(2, true, 2));
}

TEST(DistributedSampler, GoesOnInTheOrderThatItHad) {
  samplers::DistributedRandomSampler a(10), b(10);
  a.set_epoch(7);
  a.reset();
  a.next(4);
  std::stringstream file;
  torch::save(a, file);
  torch::load(b, file);
  EXPECT_EQ(b.epoch(), 7u);
  EXPECT_EQ(b.next(6), a.next(6));
}

/// Names that torch::data has of its own.
struct Powers : torch::data::Dataset<Powers> {
  torch::data::Example<> get(size_t i) override {
    return {torch::full({1}, int64_t(i * i)), torch::zeros({1})};
  }
  std::optional<size_t> size() const override { return 4; }
};

TEST(Data, DatasetsOfTheShortName) {
  auto loader = torch::data::make_data_loader(
      Powers().map(torch::data::transforms::Stack<>()), 2);
  int64_t sum = 0;
  for (auto& batch : *loader) sum += batch.data.sum().item<int64_t>();
  EXPECT_EQ(sum, 14);
}

}  // namespace
