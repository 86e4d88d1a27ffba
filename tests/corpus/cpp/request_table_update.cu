// Each request gives the executable's copy node its own table; the table is a temporary of the function that
// does it. Public kind: per-node updates of an executable (cudaGraphExecMemcpyNodeSetParams1D).
#include "corpus.h"  // EXPECT-VERDICT: inconclusive

static const int kEntries = 512;

struct Step {
  cudaGraphExec_t exec;
  cudaGraphNode_t copy;
  int* table;
};

static void use_table(const Step& step, const int* pinned, int request) {
#ifdef CLEAN
  const int* entries = pinned + request * kEntries;
#else
  const std::vector<int> own(pinned + request * kEntries, pinned + (request + 1) * kEntries);
  const int* entries = own.data();
#endif
  // EXPECT: host-pointer warning use_table
  CU(cudaGraphExecMemcpyNodeSetParams1D(step.exec, step.copy, step.table, entries, kEntries * sizeof(int),
                                        cudaMemcpyHostToDevice));
}

int main() {
  const cudaStream_t stream = corpus::new_stream();
  const int kRequests = 3;
  int* pinned = nullptr;
  CU(cudaMallocHost(&pinned, kRequests * kEntries * sizeof(int)));
  for (int i = 0; i < kRequests * kEntries; ++i) pinned[i] = i / kEntries;
  Step step{nullptr, nullptr, corpus::device_ints(kEntries)};
  cudaGraph_t graph = nullptr;
  CU(cudaGraphCreate(&graph, 0));
  CU(cudaGraphAddMemcpyNode1D(&step.copy, graph, nullptr, 0, step.table, pinned, kEntries * sizeof(int),
                              cudaMemcpyHostToDevice));
  step.exec = corpus::instantiate(graph);
  int* got = corpus::device_ints(kRequests);
  for (int request = 0; request < kRequests; ++request) {
    use_table(step, pinned, request);
    const std::vector<int> log(kEntries, -1);  // takes the block that the table had
    CU(cudaGraphLaunch(step.exec, stream));
    copy_value<<<1, 1, 0, stream>>>(got + request, step.table + kEntries - 1);
    CU(cudaStreamSynchronize(stream));
    if (log[0] != -1) return corpus::saw(false, "the log is written over");
  }
  const bool right = corpus::read_back(got, kRequests) == std::vector<int>({0, 1, 2});
  return corpus::saw(right == corpus::kClean, corpus::kClean ? "each request's own table"
                                                             : "a replay reads what came after the table");
}
