// What a decode step keeps between tokens, the same for every engine: fixed buffers, addressed by position
// alone, so that a row can be at any position and one restarted at 0 needs nothing cleared.
//
//   window    [rows, sliding_window, head_dim]   key (= value) of position p at slot p mod sliding_window
//   per compressor (CSA and HCA layers, and the indexer of CSA layers):
//   kv, gate  [rows, ring, width]                projections of position p at slot p mod ring; gate with its
//   bias added entries   [rows, max_entries, dim]           entry w, written when token (w + 1) * ratio - 1
//   has been fed
//
// Inputs of a step, both device data in the captured engine: ids [rows] and positions [rows], int32. A padded
// row is fed id 0 at position 0: it touches nothing but its own slots.
#pragma once

#include <cstdint>

#include "engine/config/model_config.h"

namespace dsv4 {

struct CompressorShape {
  int ratio;  // tokens an entry
  int ring;   // slots: one window, or two where windows overlap
  int width;  // of a slot: dim, or 2 * dim where windows overlap (first half for the next window's entry)
  int dim;    // of an entry
  int max_entries;  // for max_positions tokens; at least 1
  bool overlap;     // CSA

  std::int64_t ring_size() const { return std::int64_t{ring} * width; }
  std::int64_t entries_size() const { return std::int64_t{max_entries} * dim; }
};

// `type` is kCsa or kHca; `dim` is head_dim for the compressor and index_head_dim for the indexer's.
CompressorShape compressor_shape(const ModelConfig& config, LayerType type, int dim, int max_positions);

// Values (not bytes) of a whole state.
std::int64_t decode_state_size(const ModelConfig& config, int rows, int max_positions);

// Entries that a query at `position` may see: those whose last token has been fed, itself included.
constexpr int closed_entries(int position, int ratio) {
  return (position + 1) / ratio;
}

}  // namespace dsv4
