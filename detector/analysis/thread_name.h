// What a thread is called in a report.
#pragma once

#include <cstdint>
#include <string>

#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// "main", "loader (4712)", or the number alone.
std::string thread_name(const Timeline& timeline, uint32_t tid);

}  // namespace capgate::analysis
