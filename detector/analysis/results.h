// What CUDA's answers mean to a capture.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace capgate::analysis {

enum CaptureError : int32_t {
  kCaptureUnsupported = 900,
  kCaptureInvalidated = 901,
  kCaptureMerge = 902,
  kCaptureUnmatched = 903,
  kCaptureUnjoined = 904,
  kCaptureIsolation = 905,
  kCaptureImplicit = 906,
  kCapturedEvent = 907,
  kCaptureWrongThread = 908,
};
inline constexpr int32_t kInvalidHandle = 400;
inline constexpr int32_t kNotReady = 600;

// CUDA refused the call because of a capture. 901 is not among them: it is the consequence of an earlier
// refusal.
inline bool is_refusal(int32_t result) {
  return result >= 900 && result <= 908 && result != kCaptureInvalidated;
}

// What the function `api` returned, in its own words: "cudaErrorStreamCaptureUnsupported (900)", of a
// function of the driver "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900)"; "cudaSuccess"; "never returned".
std::string result_text(int32_t result, std::string_view api);

}  // namespace capgate::analysis
