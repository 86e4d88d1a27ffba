// A worker process computes with CUDA and is killed, as the system does when memory runs out. Its parent does
// not look at how it ended, and ends well itself.
//
// EXPECT-VERDICT: inconclusive
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corpus.h"

static int work() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  const cudaGraph_t graph = corpus::end_capture(stream);
  corpus::replay(graph, stream, 2);
  return corpus::read_one(x) == 2 ? 0 : 1;
}

int main() {
  const pid_t worker = fork();
  if (worker == 0) {
    const int code = work();
#ifdef CLEAN
    _exit(code);  // as a forked worker ends
#else
    if (code == 0) kill(getpid(), SIGKILL);
    _exit(code);
#endif
  }
  int status = 0;
  waitpid(worker, &status, 0);
  const int code = work();
  const bool as_meant = corpus::kClean ? WIFEXITED(status) && WEXITSTATUS(status) == 0 : WIFSIGNALED(status);
  return corpus::saw(as_meant && code == 0, "the worker's end");
}
