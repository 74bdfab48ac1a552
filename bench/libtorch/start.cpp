// From the start of the process to a first result.
#include <torch/torch.h>

#include <iostream>

int main() {
  const torch::Tensor x = torch::ones({2, 3});
  std::cout << torch::relu(x.matmul(x.t()) - 1).sum().item<float>() << "\n";
}
