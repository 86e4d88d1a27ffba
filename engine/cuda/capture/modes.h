// The ways in which a step gets to the device.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/config/model_config.h"

namespace dsv4::cuda {

enum class Mode {
  kEager,     // kernel by kernel
  kFull,      // one graph
  kPiecewise  // graphs up to and after each attention, which runs eagerly between them
};

// "full": as options and reports name a mode. The name must be one of the three.
Mode mode_of(std::string_view name);
const char* name_of(Mode mode);

// "bs=4": how reports name a bucket.
std::string bucket_name(int bucket);
// "bs=4 piece 0" … "bs=4 piece 43", a graph each: layers + 1.
std::string piece_name(int bucket, int piece);
// Every name under which a mode captures for these buckets; none in eager mode.
std::vector<std::string> capture_names(Mode mode, const ModelConfig& config, const std::vector<int>& buckets);

}  // namespace dsv4::cuda
