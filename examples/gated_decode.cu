// A small decode loop that runs through a captured graph only behind a passing report about this very
// program. Prints the tokens.
//
//   gated_decode --trial                           capture and replay, to be audited
//   gated_decode --gate REPORT                     decode through the graph if the report allows it,
//                                                  else end with 2 and say why
//   gated_decode --gate REPORT --on-dirty eager    … else decode without a graph, and say so
#include <capgate/capgate.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "reports/gate/digests.h"
#include "reports/gate/gate.h"

namespace {

#define CU(call) require((call), #call, __LINE__)

void require(cudaError_t result, const char* call, int line) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "gated_decode: line %d: %s: %s\n", line, call, cudaGetErrorString(result));
  std::exit(1);
}

constexpr int kVocabulary = 256, kTokens = 24;
constexpr const char* kMode = "full";
constexpr const char* kBucket = "bs=1";

// Scores of the next token: any function of the last one that is not quite trivial.
__global__ void score(float* scores, const int* token, const float* weights) {
  const int candidate = threadIdx.x;
  float sum = 0;
  for (int i = 0; i < 8; ++i) sum += weights[(candidate * 31 + *token * 17 + i) % kVocabulary] * (i + 1);
  scores[candidate] = sum;
}

// The best candidate becomes the token: chosen on the device, so that the host need not know it to go on.
__global__ void choose(int* token, const float* scores) {
  int best = 0;
  for (int i = 1; i < kVocabulary; ++i) {
    if (scores[i] > scores[best]) best = i;
  }
  *token = best;
}

struct Decoder {
  cudaStream_t stream = nullptr;
  cudaEvent_t ready = nullptr;
  int* token = nullptr;
  int* pinned = nullptr;  // where the host reads the token
  float *scores = nullptr, *weights = nullptr;

  Decoder() {
    CU(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CU(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CU(cudaMalloc(&token, sizeof(int)));
    CU(cudaMallocHost(&pinned, sizeof(int)));
    CU(cudaMalloc(&scores, kVocabulary * sizeof(float)));
    CU(cudaMalloc(&weights, kVocabulary * sizeof(float)));
    std::vector<float> host(kVocabulary);
    for (int i = 0; i < kVocabulary; ++i) host[i] = static_cast<float>((i * 7919) % 1009) / 1009;
    CU(cudaMemcpy(weights, host.data(), kVocabulary * sizeof(float), cudaMemcpyHostToDevice));
    start();
  }

  // The prompt, before the loop: one token. Also the first run of each kernel, which loads it.
  void start() {
    CU(cudaMemsetAsync(token, 0, sizeof(int), stream));
    step();
    CU(cudaMemsetAsync(token, 0, sizeof(int), stream));
    CU(cudaStreamSynchronize(stream));
  }

  // What one token takes. Whatever stands here is captured: no wait, no allocation, no copy to the host.
  void step() const {
    score<<<1, kVocabulary, 0, stream>>>(scores, token, weights);
    choose<<<1, 1, 0, stream>>>(token, scores);
  }

  // After the step: the one wait a token that reading it needs.
  int read_token() const {
    CU(cudaMemcpyAsync(pinned, token, sizeof(int), cudaMemcpyDeviceToHost, stream));
    CU(cudaEventRecord(ready, stream));
    CU(cudaEventSynchronize(ready));
    return *pinned;
  }

  cudaGraphExec_t capture() const {
    const capgate::bucket bucket(kBucket);
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t exec = nullptr;
    CU(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    step();
    CU(cudaStreamEndCapture(stream, &graph));
    CU(cudaGraphInstantiate(&exec, graph, 0));
    CU(cudaGraphDestroy(graph));
    return exec;
  }
};

void decode(const Decoder& decoder, cudaGraphExec_t graph) {
  for (int i = 0; i < kTokens; ++i) {
    if (graph) {
      CU(cudaGraphLaunch(graph, decoder.stream));
    } else {
      decoder.step();
    }
    std::printf("%d%c", decoder.read_token(), i + 1 < kTokens ? ' ' : '\n');
  }
}

capgate::gate::Subject what_this_is() {
  capgate::gate::Subject self;
  self.build_id = capgate::gate::self_build_id();
  self.source_digest = capgate::gate::self_source_digest();
  self.mode = kMode;
  self.buckets = {kBucket};
  cudaDeviceProp properties;
  // Where this fails the architecture is not compared, and decoding ends at its first CUDA call.
  if (cudaGetDeviceProperties(&properties, 0) == cudaSuccess) {
    self.sm = std::to_string(properties.major * 10 + properties.minor);
  }
  return self;
}

// The trial tells the audit what it is a trial of; the gate compares it.
int trial() {
  if (!capgate_audited()) {
    std::fprintf(stderr, "gated_decode: --trial proves something only under capgate audit\n");
    return 2;
  }
  capgate_subject("mode", kMode);
  capgate_subject("source_digest", capgate::gate::self_source_digest().c_str());
  const Decoder decoder;
  decode(decoder, decoder.capture());
  return 0;
}

int gated(const std::string& report, bool eager_when_closed) {
  capgate::gate::Demands demands;
  demands.static_evidence = false;  // an engine that is linted too leaves this demand in
  demands.make_report = "capgate audit --out " + report + " -- gated_decode --trial";
  const auto answer = capgate::gate::check(report, what_this_is(), demands);
  if (!answer.open()) {
    std::fprintf(stderr, "gated_decode: %s\n", answer.sentence.c_str());
    if (!eager_when_closed) return 2;
    std::fprintf(stderr, "gated_decode: decoding without a graph\n");
  }
  const Decoder decoder;
  decode(decoder, answer.open() ? decoder.capture() : nullptr);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments == std::vector<std::string>{"--trial"}) return trial();
  if (arguments.size() == 2 && arguments[0] == "--gate") return gated(arguments[1], false);
  if (arguments.size() == 4 && arguments[0] == "--gate" && arguments[2] == "--on-dirty" &&
      (arguments[3] == "refuse" || arguments[3] == "eager")) {
    return gated(arguments[1], arguments[3] == "eager");
  }
  std::fprintf(stderr, "usage: gated_decode --trial | --gate REPORT [--on-dirty refuse|eager]\n");
  return 2;
}
