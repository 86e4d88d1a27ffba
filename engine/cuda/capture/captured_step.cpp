#include "engine/cuda/capture/captured_step.h"

#include <fmt/format.h>

#include "engine/cuda/capture/full_step.h"
#include "engine/cuda/capture/piecewise_step.h"
#include "engine/cuda/memory/status.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

Result<std::unique_ptr<CapturedStep>> capture_step(Engine& engine, Mode mode,
                                                   const std::vector<int>& buckets) {
  if (auto ok = done(engine.free_lanes(), "preparing the first step"); !ok) return Error{ok.error()};
  for (const int bucket : buckets) {
    const std::string name = bucket_name(bucket);
    if (bucket < 1 || bucket > engine.step().lanes)
      return Error{fmt::format("bucket {} of an engine of {} lanes", name, engine.step().lanes)};
    cudaError_t status = enqueue_step(engine.step(), bucket, engine.stream());
    if (status == cudaSuccess) status = cudaStreamSynchronize(engine.stream());
    if (auto ok = done(status, fmt::format("the first step of {}", name)); !ok) return Error{ok.error()};
  }
  return mode == Mode::kPiecewise ? capture_pieces(engine, buckets) : capture_whole(engine, buckets);
}

}  // namespace dsv4::cuda
