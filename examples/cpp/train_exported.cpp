// Trains an exported program: loads a .pt2 of torch.export (or a TorchScript
// archive, or an ONNX model), takes steps of plain SGD on the mean squared
// error, prints each step's loss, and saves what came out as an archive that
// torch.jit.load and hotaru::script::load read.
//
//   train_exported MODEL.pt2 INPUTS.npy TARGETS.npy STEPS RATE TRAINED.pt
#include <hotaru/engine/engine.h>
#include <hotaru/exchange/load_program.h>
#include <hotaru/hotaru.h>
#include <hotaru/ops/loss/loss.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>

namespace {

using hotaru::Tensor;

/// One step: every parameter less `rate` times its gradient.
void step(const hotaru::script::Module& model, double rate) {
  const hotaru::autograd::NoGrad no_grad;
  for (const auto& [name, parameter] : model.named_parameters()) {
    hotaru::autograd::Meta* meta = hotaru::autograd::meta(parameter);
    if (!meta || !meta->grad.defined()) continue;  // frozen, or not in use
    hotaru::sub_(parameter, meta->grad, rate);
    meta->grad = {};
  }
}

void train(const std::string& path, const Tensor& inputs, const Tensor& targets,
           int steps, double rate, const std::string& trained) {
  hotaru::script::Module model = hotaru::load(path);
  model.train();
  for (int i = 0; i < steps; ++i) {
    const Tensor found = model({inputs}).as_tensor();
    const Tensor loss = hotaru::mse_loss(found, targets);
    hotaru::autograd::backward({loss}, {Tensor()});
    step(model, rate);
    std::printf("%d %.9g\n", i, hotaru::item(loss).to_double());
  }
  model.eval();
  model.save(trained);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: train_exported MODEL.pt2 INPUTS.npy TARGETS.npy STEPS "
                 "RATE TRAINED.pt\n");
    return 2;
  }
  try {
    train(argv[1], hotaru::io::read_npy(argv[2]), hotaru::io::read_npy(argv[3]),
          std::atoi(argv[4]), std::atof(argv[5]), argv[6]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train_exported: %s\n", error.what());
    return 1;
  }
}
