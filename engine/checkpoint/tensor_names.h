// The names under which a checkpoint may hold a tensor. The engine asks by upstream name; a file may have
// that name or transformers' name, each with or without a leading "model.".
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace dsv4 {

// All accepted names, the upstream one first.
std::vector<std::string> accepted_names(const std::string& upstream);

// Where transformers' packed expert tensors hold an expert's matrix.
struct PackedExpert {
  std::vector<std::string> names;  // of the packed tensor
  int expert;
  int part;   // which of `parts` equal blocks of rows
  int parts;  // 2 for gate_up_proj (gate rows first), 1 for down_proj
};
// Nothing if `upstream` is not a routed expert's weight.
std::optional<PackedExpert> packed_expert(const std::string& upstream);

}  // namespace dsv4
