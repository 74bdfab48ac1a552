// Measures the peak of fused multiply-adds whenever bench/products.py asks for
// it: a worker as bench/worker.py is one. Arguments: anything, threads. Answers
// each line of input with {"flops": a second}.
#include <cstdlib>
#include <iostream>
#include <string>

#include "bench/cpp/peak.h"

int main(int argc, char** argv) {
  const int threads = argc > 2 ? std::atoi(argv[2]) : 1;
  hotaru::set_num_threads(threads);
  std::cout << R"({"version": "peak", "tasks": ["peak"]})" << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << "{\"flops\": " << hotaru::bench::peak_flops(threads, 0.005)
              << "}" << std::endl;
}
