#include "engine/cuda/captured_step.h"

#include <fmt/format.h>

#include "engine/cuda/full_step.h"
#include "engine/cuda/piecewise_step.h"
#include "engine/cuda/status.h"

namespace dsv4::cuda {

using capgate::Error;
using capgate::Result;

namespace {

// A first step needs inputs: every row padded, at position 0.
Result<void> pad_rows(Engine& engine) {
  const Step& step = engine.step();
  const auto rows = static_cast<std::size_t>(step.rows);
  cudaError_t status = cudaMemsetAsync(step.ids, 0, rows * sizeof(int), engine.stream());
  if (status == cudaSuccess) status = cudaMemsetAsync(step.positions, 0, rows * sizeof(int), engine.stream());
  if (status == cudaSuccess)
    status = cudaMemsetAsync(step.sampling, 0, rows * sizeof(kernels::RowSampling), engine.stream());
  return done(status, "preparing the first step");
}

}  // namespace

Result<std::unique_ptr<CapturedStep>> capture_step(Engine& engine, Mode mode,
                                                   const std::vector<int>& buckets) {
  if (auto ok = pad_rows(engine); !ok) return Error{ok.error()};
  for (const int bucket : buckets) {
    const std::string name = bucket_name(bucket);
    if (bucket < 1 || bucket > engine.step().rows)
      return Error{fmt::format("bucket {} of an engine of {} rows", name, engine.step().rows)};
    cudaError_t status = enqueue_step(engine.step(), bucket, engine.stream());
    if (status == cudaSuccess) status = cudaStreamSynchronize(engine.stream());
    if (auto ok = done(status, fmt::format("the first step of {}", name)); !ok) return Error{ok.error()};
  }
  return mode == Mode::kPiecewise ? capture_pieces(engine, buckets) : capture_whole(engine, buckets);
}

}  // namespace dsv4::cuda
