#include "engine/cuda/capture/full_step.h"

#include <map>

#include "engine/cuda/capture/graph.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

namespace {

class FullStep final : public CapturedStep {
 public:
  explicit FullStep(Engine& engine) : engine_(engine) {}

  Result<void> capture(int bucket) {
    auto graph = Graph::capture(engine_.stream(), bucket_name(bucket),
                                [&] { return enqueue_step(engine_.step(), bucket, engine_.stream()); });
    if (!graph) return Error{graph.error()};
    graphs_.emplace(bucket, std::move(*graph));
    return {};
  }

  cudaError_t launch(int bucket) const override { return graphs_.at(bucket).launch(engine_.stream()); }
  std::size_t graphs(int) const override { return 1; }
  std::size_t nodes(int bucket) const override { return graphs_.at(bucket).nodes(); }

 private:
  Engine& engine_;
  std::map<int, Graph> graphs_;
};

}  // namespace

Result<std::unique_ptr<CapturedStep>> capture_whole(Engine& engine, const std::vector<int>& buckets) {
  auto step = std::make_unique<FullStep>(engine);
  for (const int bucket : buckets)
    if (auto ok = step->capture(bucket); !ok) return Error{ok.error()};
  return std::unique_ptr<CapturedStep>(std::move(step));
}

}  // namespace dsv4::cuda
