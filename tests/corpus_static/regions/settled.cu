// Tests that the region settles by itself: by a constant that it passes or holds, a template's argument, or what
// the capture implies. The way that is not taken is clean.
#include <cuda_runtime.h>

enum class Mode { eager, captured, traced };
enum Level { kNone, kSome, kAll };

static void wait(cudaStream_t s) {
  cudaStreamSynchronize(s);
}

// ---- constants that calls pass ----------------------------------------------------------------------------

static void by_number(int mode, cudaStream_t s) {
  if (mode == 0) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (mode == 2) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (mode != 1) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (mode > 1) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (mode >= 2) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (mode < 1) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (!mode) cudaStreamSynchronize(s);      // CLEAN: host-sync
  if (0 == mode) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (2 < mode) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (mode - 1) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (mode == 3 || mode == 4) cudaStreamSynchronize(s);  // CLEAN: host-sync
  switch (mode) {
    case 0:
      cudaStreamSynchronize(s);  // CLEAN: host-sync
      break;
    case 1:
      break;
    case 2:
      cudaStreamSynchronize(s);  // CLEAN: host-sync
      break;
    default:
      cudaStreamSynchronize(s);  // CLEAN: host-sync
      break;
  }
  if (mode == 1) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void by_flag(bool waits, bool quiet, cudaStream_t s) {
  if (waits) cudaStreamSynchronize(s);            // CLEAN: host-sync
  if (!quiet) cudaStreamSynchronize(s);           // CLEAN: host-sync
  if (waits && !quiet) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (waits || !quiet) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (quiet == false) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (quiet != true) cudaStreamSynchronize(s);    // CLEAN: host-sync
  if (waits && quiet) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (waits == true) cudaStreamSynchronize(s);    // CLEAN: host-sync
  if (quiet) return;
  cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void by_kind(Mode mode, Level level, cudaStream_t s) {
  if (mode == Mode::eager) cudaStreamSynchronize(s);     // CLEAN: host-sync
  if (mode != Mode::captured) cudaStreamSynchronize(s);  // CLEAN: host-sync
  if (level != kNone) cudaStreamSynchronize(s);          // CLEAN: host-sync
  if (level) cudaStreamSynchronize(s);                   // CLEAN: host-sync
  switch (mode) {
    case Mode::eager:
      cudaStreamSynchronize(s);  // CLEAN: host-sync
      break;
    case Mode::traced:
      cudaDeviceSynchronize();  // CLEAN: host-sync
      break;
    default:
      break;
  }
}
static void by_default(cudaStream_t s, bool waits = false, int level = 0, cudaEvent_t done = nullptr) {
  if (waits) cudaStreamSynchronize(s);       // CLEAN: host-sync
  if (level > 0) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (done) cudaEventSynchronize(done);      // CLEAN: host-sync
  if (level == 3) cudaStreamSynchronize(s);  // CLEAN: host-sync
}
static void further(int mode, cudaStream_t s) {
  by_number(mode, s);
}

// ---- constants that the region holds ----------------------------------------------------------------------

struct Step {
  bool waits = false;
  int level = 0;
  Mode mode = Mode::captured;
  cudaEvent_t done = nullptr;
  void run(cudaStream_t s) const {
    if (waits) cudaStreamSynchronize(s);                // CLEAN: host-sync
    if (level > 1) cudaStreamSynchronize(s);            // CLEAN: host-sync
    if (mode == Mode::eager) cudaStreamSynchronize(s);  // CLEAN: host-sync
    if (done) cudaEventSynchronize(done);               // CLEAN: host-sync
  }
};
static constexpr bool kWaits = false;
static const int kLevel = 0;

template <bool B, int N>
static void by_argument(cudaStream_t s) {
  if (B) cudaStreamSynchronize(s);             // CLEAN: host-sync
  if (N > 1) cudaStreamSynchronize(s);         // CLEAN: host-sync
  if constexpr (B) cudaStreamSynchronize(s);   // CLEAN: host-sync
  if (sizeof(int) == N) cudaStreamSynchronize(s);  // CLEAN: host-sync
}

void captured(cudaStream_t s) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  by_number(1, s);
  further(1, s);
  by_flag(false, true, s);
  by_kind(Mode::captured, kNone, s);
  by_default(s);
  Step step;
  step.run(s);
  by_argument<false, 1>(s);
  if (kWaits) cudaStreamSynchronize(s);      // CLEAN: host-sync
  if (kLevel > 1) cudaStreamSynchronize(s);  // CLEAN: host-sync
  const bool never = false;
  int level = 2;
  if (never) cudaStreamSynchronize(s);  // CLEAN: host-sync
  level = 0;
  if (level) cudaStreamSynchronize(s);  // CLEAN: host-sync
  for (int i = 0; i < 4; ++i)
    if (never && i == 2) cudaStreamSynchronize(s);  // CLEAN: host-sync
  cudaStreamEndCapture(s, &graph);
  wait(s);
}
