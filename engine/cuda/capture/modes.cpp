#include "engine/cuda/capture/modes.h"

#include <fmt/format.h>

namespace dsv4::cuda {

Mode mode_of(std::string_view name) {
  return name == "full" ? Mode::kFull : name == "piecewise" ? Mode::kPiecewise : Mode::kEager;
}

const char* name_of(Mode mode) {
  switch (mode) {
    case Mode::kEager:
      return "eager";
    case Mode::kFull:
      return "full";
    case Mode::kPiecewise:
      return "piecewise";
  }
  return "";
}

std::string bucket_name(int bucket) {
  return fmt::format("bs={}", bucket);
}

std::string piece_name(int bucket, int piece) {
  return fmt::format("bs={} piece {}", bucket, piece);
}

std::vector<std::string> capture_names(Mode mode, const ModelConfig& config,
                                       const std::vector<int>& buckets) {
  std::vector<std::string> names;
  for (const int bucket : buckets) {
    if (mode == Mode::kFull) names.push_back(bucket_name(bucket));
    for (int piece = 0; mode == Mode::kPiecewise && piece <= config.num_layers(); ++piece)
      names.push_back(piece_name(bucket, piece));
  }
  return names;
}

}  // namespace dsv4::cuda
