#pragma once

#include <stdint.h>

namespace capgate::preload {

// CUPTI's callback ids of one domain are below this. It sizes the tables that are indexed by id.
inline constexpr uint32_t kMaxIds = 2048;

}  // namespace capgate::preload
