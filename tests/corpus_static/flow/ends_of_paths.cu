// Functions that do not return, by what their declaration says: the path ends there, wherever their body is.
#include <cuda_runtime.h>

#define DIES [[noreturn]]

[[noreturn]] void plain(const char* why);
DIES void behind_a_macro(const char* why);
__attribute__((noreturn)) void of_gnu(const char* why);
extern "C" _Noreturn void of_c(const char* why);
void returns(const char* why);
struct check {
  [[noreturn]] static void fail(const char* why);
  [[noreturn]] void give_up() const;
};
template <class T>
[[noreturn]] void generic(T why);

void ends(cudaStream_t stream, int* d, int kind) {
  cudaGraph_t graph;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if (kind == 1) {
    plain("1");
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 2) {
    behind_a_macro("2");
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 3) {
    of_gnu("3");
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 4) {
    of_c("4");
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 5) {
    check::fail("5");
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 6) {
    check().give_up();
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 7) {
    generic("7");
    cudaStreamSynchronize(stream);  // CLEAN: host-sync
  }
  if (kind == 8) {
    returns("8");                   // EXPECT: not-analysed
    cudaStreamSynchronize(stream);  // EXPECT: host-sync:warning
  }
  cudaMemsetAsync(d, 0, 4, stream);
  cudaStreamEndCapture(stream, &graph);
}

// What a path that ends has brought goes no further; what an exception carries is met by its handler.
void values(cudaStream_t stream, int* pinned, const int* device, int kind) {
  cudaGraph_t graph;
  int seen = 0;
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  if (kind == 1) {
    cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream);
    seen = *pinned;
    plain("no");
  }
  if (seen) seen = 0;  // CLEAN: host-branch
  try {
    if (kind == 2) {
      cudaMemcpyAsync(pinned, device, 4, cudaMemcpyDeviceToHost, stream);
      seen = *pinned;
      check::fail("thrown");
    }
    if (seen) seen = 0;  // CLEAN: host-branch
  } catch (...) {
    if (seen) seen = 0;  // EXPECT: host-branch
  }
  cudaStreamEndCapture(stream, &graph);
}

void checked(cudaStream_t stream, int* d) {
  cudaGraph_t graph;
  if (cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) != cudaSuccess) behind_a_macro("begin");  // CLEAN: host-branch
  cudaMemsetAsync(d, 0, 4, stream);
  if (cudaStreamEndCapture(stream, &graph) != cudaSuccess) of_gnu("end");  // CLEAN: host-branch
  cudaStreamSynchronize(stream);  // CLEAN: host-sync
}
