#include "engine/cuda/capture/piecewise_step.h"

#include <capgate/capgate.h>

#include <map>

#include "engine/cuda/capture/graph.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

namespace {

class PiecewiseStep final : public CapturedStep {
 public:
  explicit PiecewiseStep(Engine& engine) : engine_(engine) {}
  ~PiecewiseStep() override {
    if (attention_stream_ != nullptr) {
      cudaStreamSynchronize(attention_stream_);
      cudaStreamDestroy(attention_stream_);
    }
    for (const Hand& hand : hands_) {
      if (hand.to_attention != nullptr) cudaEventDestroy(hand.to_attention);
      if (hand.from_attention != nullptr) cudaEventDestroy(hand.from_attention);
    }
  }

  // The second stream and every event, for the step's life.
  Result<void> make() {
    if (auto ok = done(cudaStreamCreateWithFlags(&attention_stream_, cudaStreamNonBlocking),
                       "creating the stream of attention");
        !ok)
      return ok;
    hands_.resize(static_cast<std::size_t>(layers()));
    for (Hand& hand : hands_)
      for (cudaEvent_t* event : {&hand.to_attention, &hand.from_attention})
        if (auto ok = done(cudaEventCreateWithFlags(event, cudaEventDisableTiming), "creating an event"); !ok)
          return ok;
    return {};
  }

  Result<void> capture(int bucket) {
    std::vector<Graph>& pieces = pieces_[bucket];
    for (int number = 0; number <= layers(); ++number) {
      auto graph = Graph::capture(engine_.stream(), piece_name(bucket, number), [&] {
        return enqueue_piece(engine_.step(), bucket, number, engine_.stream());
      });
      if (!graph) return Error{graph.error()};
      pieces.push_back(std::move(*graph));
    }
    return {};
  }

  cudaError_t launch(int bucket) const override {
    const std::vector<Graph>& pieces = pieces_.at(bucket);
    for (int layer = 0; layer < layers(); ++layer) {
      const auto at = static_cast<std::size_t>(layer);
      if (const cudaError_t status = pieces[at].launch(engine_.stream()); status != cudaSuccess)
        return status;
      const cudaError_t status = ordering_ == Ordering::kPerLayer ? attend_beside(bucket, layer)
                                                                  : attend(bucket, layer, engine_.stream());
      if (status != cudaSuccess) return status;
    }
    return pieces.back().launch(engine_.stream());
  }

  std::size_t graphs(int bucket) const override { return pieces_.at(bucket).size(); }
  std::size_t nodes(int bucket) const override {
    std::size_t all = 0;
    for (const Graph& piece : pieces_.at(bucket)) all += piece.nodes();
    return all;
  }
  void order_by(Ordering ordering) override { ordering_ = ordering; }

 private:
  // Of one layer: the graph before is done; attention is done.
  struct Hand {
    cudaEvent_t to_attention = nullptr, from_attention = nullptr;
  };

  int layers() const { return engine_.step().config.num_layers(); }

  cudaError_t attend(int bucket, int layer, cudaStream_t stream) const {
    const capgate::eager_break marked("attention");
    return enqueue_attention(engine_.step(), bucket, layer, stream);
  }

  cudaError_t attend_beside(int bucket, int layer) const {
    const Hand& hand = hands_[static_cast<std::size_t>(layer)];
    cudaError_t status = cudaEventRecord(hand.to_attention, engine_.stream());
    if (status == cudaSuccess) status = cudaStreamWaitEvent(attention_stream_, hand.to_attention);
    if (status == cudaSuccess) status = attend(bucket, layer, attention_stream_);
    if (status == cudaSuccess) status = cudaEventRecord(hand.from_attention, attention_stream_);
    if (status == cudaSuccess) status = cudaStreamWaitEvent(engine_.stream(), hand.from_attention);
    return status;
  }

  Engine& engine_;
  cudaStream_t attention_stream_ = nullptr;
  std::vector<Hand> hands_;
  std::map<int, std::vector<Graph>> pieces_;
  Ordering ordering_ = Ordering::kPerStep;
};

}  // namespace

Result<std::unique_ptr<CapturedStep>> capture_pieces(Engine& engine, const std::vector<int>& buckets) {
  auto step = std::make_unique<PiecewiseStep>(engine);
  if (auto ok = step->make(); !ok) return Error{ok.error()};
  for (const int bucket : buckets)
    if (auto ok = step->capture(bucket); !ok) return Error{ok.error()};
  return std::unique_ptr<CapturedStep>(std::move(step));
}

}  // namespace dsv4::cuda
