#include "detector/analysis/results.h"

#include "detector/trace/format.h"

namespace capgate::analysis {
namespace {

const char* name_of(int32_t result) {
  switch (result) {
    case 1:
      return "cudaErrorInvalidValue";
    case 2:
      return "cudaErrorMemoryAllocation";
    case 400:
      return "cudaErrorInvalidResourceHandle";
    case 401:
      return "cudaErrorIllegalState";
    case 600:
      return "cudaErrorNotReady";
    case 700:
      return "cudaErrorIllegalAddress";
    case 719:
      return "cudaErrorLaunchFailure";
    case 800:
      return "cudaErrorNotPermitted";
    case 801:
      return "cudaErrorNotSupported";
    case 900:
      return "cudaErrorStreamCaptureUnsupported";
    case 901:
      return "cudaErrorStreamCaptureInvalidated";
    case 902:
      return "cudaErrorStreamCaptureMerge";
    case 903:
      return "cudaErrorStreamCaptureUnmatched";
    case 904:
      return "cudaErrorStreamCaptureUnjoined";
    case 905:
      return "cudaErrorStreamCaptureIsolation";
    case 906:
      return "cudaErrorStreamCaptureImplicit";
    case 907:
      return "cudaErrorCapturedEvent";
    case 908:
      return "cudaErrorStreamCaptureWrongThread";
    default:
      return nullptr;
  }
}

}  // namespace

std::string result_text(int32_t result) {
  if (result == 0) return "cudaSuccess";
  if (result == trace::kPending) return "never returned";
  const char* name = name_of(result);
  return name ? std::string(name) + " (" + std::to_string(result) + ")" : "error " + std::to_string(result);
}

}  // namespace capgate::analysis
