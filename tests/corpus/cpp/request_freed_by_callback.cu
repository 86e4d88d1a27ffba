// A completion callback was written for eager streams: the request that it completes is deleted once it
// has run. In a graph it runs at each launch, on memory that by then belongs to somebody else. Public
// fault: cupy/cupy#9274.
// CORPUS-AUDIT: --watch-host
#include "corpus.h"

struct Request {
  long done;
  long padding[7];
};

static void complete(void* data) {
  ++static_cast<Request*>(data)->done;
}

static cudaGraphExec_t capture_request(int* x, Request* request, cudaStream_t stream) {
  CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  add<<<1, 1, 0, stream>>>(x, 1);
  CU(cudaLaunchHostFunc(stream, complete, request));  // capgate-allow(host-node): the host counts completions
  return corpus::instantiate(corpus::end_capture(stream));
}

static void finish(Request* request) {
  delete request;  // EXPECT: freed-memory error finish
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  int* x = corpus::device_ints(1);
  auto* request = new Request{};
  const cudaGraphExec_t exec = capture_request(x, request, stream);
  CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
#ifndef CLEAN
  finish(request);
#endif
  auto* account = new Request{};  // as large as the request
  for (int i = 0; i < 2; ++i) CU(cudaGraphLaunch(exec, stream));
  CU(cudaStreamSynchronize(stream));
  const bool hurt = account->done != 0;
  std::printf("three completions, %s\n", hurt ? "two of them in an account" : "none of them elsewhere");
#ifdef CLEAN
  CU(cudaGraphExecDestroy(exec));
  finish(request);
#endif
  delete account;
  return corpus::saw(corpus::kClean ? !hurt : true, "the callback ran three times");
}
