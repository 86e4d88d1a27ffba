// What CUDA's answers mean to a capture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "detector/trace/cuda_results.h"

namespace capgate::analysis {

using enum trace::CaptureError;
using trace::CaptureError;
using trace::kInvalidHandle;
using trace::kNotReady;

// CUDA refused the call because of a capture. 901 is not among them: it is the consequence of an earlier
// refusal.
inline bool is_refusal(int32_t result) {
  return result >= 900 && result <= 908 && result != kCaptureInvalidated;
}

// What the function `api` returned, in its own words: "cudaErrorStreamCaptureUnsupported (900)", of a
// function of the driver "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900)"; "cudaSuccess"; "never returned".
std::string result_text(int32_t result, std::string_view api);

}  // namespace capgate::analysis
