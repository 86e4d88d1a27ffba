// A cache of graphs is keyed by the address of an object that each request makes anew. No entry is ever found
// again: each request captures and instantiates, and the executables pile up. Public fault:
// ggml-org/llama.cpp#20315.
#include <map>
#include <memory>

#include "corpus.h"

struct Request {
  int batch;
};

struct Backend {
  cudaStream_t stream;
  int* x;
#ifdef CLEAN
  std::map<int, cudaGraphExec_t> graphs;
  static int key(const Request& request) { return request.batch; }
#else
  std::map<const Request*, cudaGraphExec_t> graphs;
  static const Request* key(const Request& request) { return &request; }
#endif
};

static void compute(Backend& backend, const Request& request) {
  cudaGraphExec_t& exec = backend.graphs[Backend::key(request)];
  if (exec == nullptr) {
    cudaGraph_t graph = nullptr;
    CU(cudaStreamBeginCapture(backend.stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 10; ++i) add<<<1, 1, 0, backend.stream>>>(backend.x, 1);
    CU(cudaStreamEndCapture(backend.stream, &graph));
    CU(cudaGraphInstantiate(&exec, graph, 0));  // EXPECT: recapture warning compute
    CU(cudaGraphDestroy(graph));
  }
  CU(cudaGraphLaunch(exec, backend.stream));
}

int main() {
  Backend backend{corpus::new_stream(), corpus::device_ints(1), {}};
  const int kRequests = 24;
  std::vector<std::unique_ptr<Request>> served;  // a log of the requests, which keeps them
  for (int i = 0; i < kRequests; ++i) {
    served.push_back(std::make_unique<Request>(Request{1}));
    compute(backend, *served.back());
  }
  CU(cudaStreamSynchronize(backend.stream));
  const size_t wanted = corpus::kClean ? 1 : kRequests;
  return corpus::saw(backend.graphs.size() == wanted && corpus::read_one(backend.x) == 10 * kRequests,
                     corpus::kClean ? "one graph for all requests" : "one graph for each request");
}
