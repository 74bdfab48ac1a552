#include <hotaru/hotaru.h>

#include <cstdio>

int main() {
  const hotaru::Tensor x =
      hotaru::allocate({2, 3}, hotaru::DType::kFloat32, hotaru::Device());
  std::printf("%s of %d numbers\n", hotaru::dtype_name(x.dtype()),
              int(x.numel()));
  return x.numel() == 6 ? 0 : 1;
}
