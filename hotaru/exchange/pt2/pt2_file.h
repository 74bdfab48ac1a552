// Contents of what torch.export.save writes, as plain structs: the graph of a
// program, what its inputs and outputs are, and its tensors.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "hotaru/core/tensor.h"
#include "hotaru/exchange/pt2/graph.h"
#include "hotaru/io/mapped_file.h"

namespace hotaru::exchange::pt2 {

/// Input of a graph. `target`: the name in the module.
struct InputSpec {
  enum class Kind : uint8_t {
    kUser,
    kParameter,
    kBuffer,
    kTensor,
    kConstant,
    kToken,  // orders what has effects
  };
  Kind kind = Kind::kUser;
  Argument argument;
  std::string target;
  bool persistent = true;
};

/// Output of a graph. `target`: what it is written to.
struct OutputSpec {
  enum class Kind : uint8_t {
    kUser,
    kLoss,
    kBuffer,
    kParameter,
    kInput,
    kToken,
  };
  Kind kind = Kind::kUser;
  Argument argument;
  std::string target;
};

/// The containers that arguments or results stand in.
struct TreeSpec {
  enum class Kind : uint8_t { kLeaf, kTuple, kList, kDict, kOther };
  Kind kind = Kind::kLeaf;
  std::string type;               // "collections.namedtuple"
  std::string context;            // JSON
  std::vector<std::string> keys;  // of a dict that has names only
  std::vector<TreeSpec> children;
};

struct Range {
  std::optional<int64_t> min, max;
};

/// A weight or constant of the archive.
struct Payload {
  std::string name;  // "layers.0.weight"
  Tensor tensor;
  bool requires_grad = false;
};

struct File {
  std::string name;  // for errors
  std::string model;
  int64_t schema_major = 0, schema_minor = 0;
  std::string torch_version;
  Graph graph;
  std::vector<InputSpec> inputs;
  std::vector<OutputSpec> outputs;
  TreeSpec in_tree, out_tree;
  std::string in_spec, out_spec;  // JSON
  std::vector<std::string> argument_names;
  std::map<std::string, Range> ranges;
  std::vector<std::string> guards;
  std::map<std::string, Payload> weights, constants;
};

/// Reads the archive's program; of several, the one called "model" or the
/// first. Tensors lie in the mapped file, and their checksums are not computed;
/// those of all else are. Executes nothing. Throws Error naming file, record
/// and place for anything but a valid archive of schema 7 or 8, for tensors
/// that need Python's pickle, and for containers that are classes.
File read_file(const Ref<io::MappedFile>& bytes);

/// True if the bytes are an archive of an exported program.
bool is_pt2(const Ref<io::MappedFile>& bytes);

}  // namespace hotaru::exchange::pt2
