// Finds speech: runs Silero VAD over a recording, 32 ms at a time, and prints
// for each chunk the second it begins at and the probability of speech.
//
//   silero silero_vad.jit recording.wav
#include <hotaru/hotaru.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <string>
#include <vector>

namespace {

constexpr int64_t kRate = 16000;
constexpr int64_t kChunk = 512;

/// The samples of a 16-bit mono wave file at 16 kHz.
std::vector<int16_t> read_wave(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  struct {
    char riff[4];
    uint32_t size;
    char wave[4], format[4];
    uint32_t format_size;
    uint16_t tag, channels;
    uint32_t rate, bytes_per_second;
    uint16_t block, bits;
    char data[4];
    uint32_t data_size;
  } header;
  static_assert(sizeof(header) == 44);
  if (!in.read(reinterpret_cast<char*>(&header), sizeof(header)) ||
      std::memcmp(header.riff, "RIFF", 4) != 0 ||
      std::memcmp(header.data, "data", 4) != 0)
    throw hotaru::Error(path + ": no plain wave file");
  if (header.channels != 1 || header.bits != 16 || header.rate != kRate)
    throw hotaru::Error(path + ": must be 16-bit mono at 16 kHz");
  std::vector<int16_t> samples;
  for (int16_t sample; in.read(reinterpret_cast<char*>(&sample), 2);)
    samples.push_back(sample);
  samples.resize(std::min<size_t>(samples.size(), header.data_size / 2));
  return samples;
}

void find_speech(const std::string& model_path, const std::string& wave_path) {
  hotaru::script::Module model = hotaru::script::load(model_path);
  model.eval();
  const std::vector<int16_t> samples = read_wave(wave_path);
  const hotaru::autograd::NoGrad no_grad;
  for (size_t begin = 0; begin < samples.size(); begin += kChunk) {
    hotaru::Tensor chunk = hotaru::zeros(hotaru::Dims{1, kChunk});
    const size_t count = std::min<size_t>(kChunk, samples.size() - begin);
    for (size_t i = 0; i < count; ++i)
      chunk.data<float>()[i] = float(samples[begin + i]) / 32768;
    const hotaru::Value probability = model({chunk, kRate});
    std::printf("%.3f %.9g\n", double(begin) / kRate,
                hotaru::item(probability.as_tensor()).to_double());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: silero MODEL.jit RECORDING.wav\n");
    return 2;
  }
  try {
    find_speech(argv[1], argv[2]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "silero: %s\n", error.what());
    return 1;
  }
}
