// What CUDA answered, in the words of the function that was asked.
#include <gtest/gtest.h>

#include "detector/analysis/results.h"
#include "detector/trace/format.h"

namespace capgate::analysis {
namespace {

TEST(Results, EachInterfaceHasItsOwnNames) {
  EXPECT_EQ(result_text(400, "cudaEventRecord"), "cudaErrorInvalidResourceHandle (400)");
  EXPECT_EQ(result_text(400, "cuLaunchKernel"), "CUDA_ERROR_INVALID_HANDLE (400)");
  EXPECT_EQ(result_text(900, "cuMemFree_v2"), "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED (900)");
  EXPECT_EQ(result_text(0, "cudaMalloc"), "cudaSuccess");
  EXPECT_EQ(result_text(0, "cuMemAlloc_v2"), "CUDA_SUCCESS");
}

TEST(Results, WhatHasNoNameIsANumber) {
  EXPECT_EQ(result_text(12345, "cuLaunchKernel"), "error 12345");
  EXPECT_EQ(result_text(trace::kPending, "cudaStreamSynchronize"), "never returned");
}

}  // namespace
}  // namespace capgate::analysis
