// Functions that answer whether the stream captures, in whatever form, and what stands behind their answers.
#include <cuda_runtime.h>

#include <stdexcept>

static bool plain(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamIsCapturing(s, &status);
  return status == cudaStreamCaptureStatusActive;
}
static bool checked(cudaStream_t s) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(s, &status) != cudaSuccess) return false;
  return status != cudaStreamCaptureStatusNone;
}
static bool in_two_returns(cudaStream_t s) {
  if (plain(s)) return true;
  return false;
}
static bool eager(cudaStream_t s) {
  if (plain(s)) return false;
  return true;
}
static cudaStreamCaptureStatus status_of(cudaStream_t s) {
  cudaStreamCaptureStatus status;
  cudaStreamGetCaptureInfo(s, &status);
  return status;
}
// Of two questions: what it says where it is false is not known.
static bool enabled_and_capturing(bool enabled, cudaStream_t s) {
  if (!enabled) return false;
  return plain(s);
}
// Where it is false, nothing captures.
static bool forced_or_capturing(bool forced, cudaStream_t s) {
  if (forced) return true;
  return plain(s);
}
static bool never() { return false; }

static void early_returns(cudaStream_t s, bool flag) {
  if (checked(s)) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
  (void)flag;
}
static void two_returns(cudaStream_t s) {
  if (in_two_returns(s)) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void eagerly(cudaStream_t s) {
  if (eager(s)) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (!eager(s)) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void by_switch(cudaStream_t s) {
  switch (status_of(s)) {
    case cudaStreamCaptureStatusNone:
      cudaStreamSynchronize(s);  // CLEAN: host-sync
      break;
    case cudaStreamCaptureStatusActive:
      cudaStreamSynchronize(s);  // EXPECT: host-sync
      break;
    default:
      break;
  }
}
static void by_exception(cudaStream_t s) {
  if (checked(s)) throw std::runtime_error("captured");
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void wrongly(cudaStream_t s) {
  if (!checked(s)) return;
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void wrongly_in_two_returns(cudaStream_t s) {
  if (!in_two_returns(s)) return;
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void another_question(bool enabled, cudaStream_t s) {
  if (enabled_and_capturing(enabled, s)) return;
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}
static void a_wider_question(bool forced, cudaStream_t s) {
  if (forced_or_capturing(forced, s)) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void no_question(cudaStream_t s) {
  if (never()) return;
  cudaStreamSynchronize(s);  // EXPECT: host-sync
}

void captured(bool flag, cudaStream_t s) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  early_returns(s, flag);
  two_returns(s);
  eagerly(s);
  by_switch(s);
  wrongly(s);
  wrongly_in_two_returns(s);
  another_question(flag, s);
  a_wider_question(flag, s);
  no_question(s);
  by_exception(s);
  cudaStreamSynchronize(s);  // CLEAN: host-sync, what captures has left by the exception
  cudaStreamEndCapture(s, &g);
}
