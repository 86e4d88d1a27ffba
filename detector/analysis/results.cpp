#include "detector/analysis/results.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "detector/trace/format.h"

namespace capgate::analysis {
namespace {

// One number has two names: the runtime's and the driver's.
struct Result {
  int32_t number;
  const char* runtime;
  const char* driver;
};

constexpr Result kResults[] = {
    {1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE"},
    {2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY"},
    {400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE"},
    {401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE"},
    {600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY"},
    {700, "cudaErrorIllegalAddress", "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {719, "cudaErrorLaunchFailure", "CUDA_ERROR_LAUNCH_FAILED"},
    {800, "cudaErrorNotPermitted", "CUDA_ERROR_NOT_PERMITTED"},
    {801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED"},
    {900, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED"},
    {901, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED"},
    {902, "cudaErrorStreamCaptureMerge", "CUDA_ERROR_STREAM_CAPTURE_MERGE"},
    {903, "cudaErrorStreamCaptureUnmatched", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED"},
    {904, "cudaErrorStreamCaptureUnjoined", "CUDA_ERROR_STREAM_CAPTURE_UNJOINED"},
    {905, "cudaErrorStreamCaptureIsolation", "CUDA_ERROR_STREAM_CAPTURE_ISOLATION"},
    {906, "cudaErrorStreamCaptureImplicit", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT"},
    {907, "cudaErrorCapturedEvent", "CUDA_ERROR_CAPTURED_EVENT"},
    {908, "cudaErrorStreamCaptureWrongThread", "CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD"},
};

bool is_drivers(std::string_view api) {
  return api.starts_with("cu") && !api.starts_with("cuda");
}

}  // namespace

std::string result_text(int32_t result, std::string_view api) {
  if (result == trace::kPending) return "never returned";
  if (result == 0) return is_drivers(api) ? "CUDA_SUCCESS" : "cudaSuccess";
  const auto* at = std::find_if(std::begin(kResults), std::end(kResults),
                                [&](const Result& known) { return known.number == result; });
  if (at == std::end(kResults)) return "error " + std::to_string(result);
  return std::string(is_drivers(api) ? at->driver : at->runtime) + " (" + std::to_string(result) + ")";
}

}  // namespace capgate::analysis
