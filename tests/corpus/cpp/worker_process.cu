// The decode step runs in a worker that the launcher forks and replaces by itself; the launcher uses no
// GPU at all. The worker asks after an event that its own capture has recorded.
// Public fault: the class of NVIDIA/warp#983 in a server with worker processes.
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "corpus.h"

[[maybe_unused]] static void check_progress(cudaEvent_t event) {
  const cudaError_t result = cudaEventQuery(event);  // EXPECT: host-poll error check_progress
  if (result != cudaSuccess) std::printf("the worker's progress: %s\n", cudaGetErrorString(result));
}

static int work() {
  const cudaStream_t stream = corpus::new_stream();
  const cudaEvent_t event = corpus::new_event();
  int* x = corpus::device_ints(1);
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaStreamSynchronize(stream));

  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaEventRecord(event, stream));
#ifndef CLEAN
  check_progress(event);
#endif
  const cudaGraph_t graph = corpus::end_capture(stream);
  if (graph) corpus::replay(graph, stream, 3);
  return corpus::capture_dies(graph, corpus::read_one(x) == 4);
}

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "--worker") == 0) return work();
  const pid_t worker = fork();
  if (worker == 0) {
    execl("/proc/self/exe", argv[0], "--worker", static_cast<char*>(nullptr));
    _exit(127);
  }
  int status = 0;
  if (worker < 0 || waitpid(worker, &status, 0) != worker || !WIFEXITED(status)) return 1;
  return WEXITSTATUS(status);
}
