// Measures a TorchScript archive's forward; the same source over libtorch and
// over hotaru:
//
//   forward ARCHIVE THREADS
//
// For each line "SECONDS" on the standard input it prints the median time of a
// call in microseconds, and over hotaru of a replay of the captured module. The
// archive's method `example` gives the inputs.
#include <ATen/Parallel.h>
#include <torch/script.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <vector>

#if __has_include(<torch/graphs.h>)
#include <torch/graphs.h>
#define GRAPHS 1
#endif

template <class F>
double median_us(double seconds, const F& call) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::vector<double> times;
  while (times.size() < 3 || Clock::now() < end) {
    const auto begin = Clock::now();
    call();
    const std::chrono::duration<double, std::micro> time = Clock::now() - begin;
    times.push_back(time.count());
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

int main(int, char** words) {
  at::set_num_threads(std::stoi(words[2]));
  torch::NoGradGuard no_grad;
  torch::jit::Module model = torch::jit::load(words[1]);
  model.eval();
  std::vector<torch::jit::IValue> inputs;
  std::vector<at::Tensor> tensors;
  for (const at::Tensor& input : model.run_method("example").toTensorVector()) {
    inputs.push_back(input);
    tensors.push_back(input);
  }
  const auto eager = [&] { model.forward(inputs); };
  for (int i = 0; i < 20; ++i) eager();
#ifdef GRAPHS
  auto graphed = torch::make_graphed(model, tensors);
  const auto replay = [&] { graphed(tensors); };
  for (int i = 0; i < 20; ++i) replay();
#endif
  std::cout << "ready" << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    const double seconds = std::stod(line);
    std::cout << median_us(seconds, eager);
#ifdef GRAPHS
    std::cout << " " << median_us(seconds, replay);
#endif
    std::cout << std::endl;
  }
}
