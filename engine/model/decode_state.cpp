#include "engine/model/decode_state.h"

#include <algorithm>

namespace dsv4 {

CompressorShape compressor_shape(const ModelConfig& config, LayerType type, int dim, int max_positions) {
  const bool overlap = type == LayerType::kCsa;
  const int ratio = config.ratio(type), series = overlap ? 2 : 1;
  return {ratio, series * ratio, series * dim, dim, std::max(1, max_positions / ratio), overlap};
}

std::int64_t decode_state_size(const ModelConfig& config, int rows, int max_positions) {
  std::int64_t size = 0;
  for (const LayerType type : config.layer_types) {
    size += std::int64_t{config.sliding_window} * config.head_dim;
    const auto add = [&](int dim) {
      const auto shape = compressor_shape(config, type, dim, max_positions);
      size += 2 * shape.ring_size() + shape.entries_size();
    };
    if (type != LayerType::kSliding) add(config.head_dim);
    if (type == LayerType::kCsa) add(config.index_head_dim);
  }
  return size * rows;
}

}  // namespace dsv4
