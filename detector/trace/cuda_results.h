// Answers of CUDA that matter to a capture: cudaError_t and CUresult agree on them.
#pragma once

#include <stdint.h>

namespace capgate::trace {

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

}  // namespace capgate::trace
