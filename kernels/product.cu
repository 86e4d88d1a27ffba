#include "kernels/product.h"

#include <algorithm>

#include "kernels/beside.cuh"
#include "kernels/follow.cuh"
#include "kernels/launch.h"
#include "kernels/product_pass.cuh"
#include "kernels/product_plan.h"
#include "kernels/shared_memory.h"

namespace dsv4::kernels {
namespace {

// Half a block for each eight vectors and slice, a warp a vector.
template <Format F>
__device__ void make_limbs(const ProductPlan& plan, const ProductVectors& v, int work) {
  constexpr int kLimbs = Streamed<F>::kLimbs;
  const int lane = threadIdx.x % 32, g = threadIdx.x / 32 % kVectorsTogether;
  const int slice = work / plan.columns, column = work - slice * plan.columns;
  const int row = column * kVectorsTogether + g, col = slice * kSliceCols + 8 * lane;
  float4 x[2] = {};
  if (row < plan.batch) eight_of(v.x + row * v.x_stride, col, v.cols, v.whole, x);
  float* const units = plan.room.units + v.units_at;
  const int rows = plan.columns * kVectorsTogether;
  if (v.norm != nullptr) {
    float4 weight[2];
    eight_of(v.norm, col, v.cols, v.whole, weight);
    const float squares = weigh(x, weight);
    if (lane == 0) units[v.slices * rows + row * v.slices + slice] = squares;
  }
  uint4 limb[kLimbs];
  const float unit = limbs_of<F>(x, limb);
  if (lane == 0) units[slice * rows + row] = unit;
  const int block = lane >> 2, t = lane & 3;
  auto* const to = static_cast<uint4*>(plan.room.limbs) + v.limbs_at +
                   (static_cast<std::int64_t>(slice * 8 + block) * plan.columns + column) * kLimbs * 32 +
                   g * 4 + t;
#pragma unroll
  for (int i = 0; i < kLimbs; ++i) to[i * 32] = limb[i];
}

__global__ void __launch_bounds__(kBesideThreads)
    limbs_kernel(const __grid_constant__ ProductPlan plan, const __grid_constant__ Beside beside, int small) {
  extern __shared__ __align__(128) std::byte memory[];
  let_next_start();
  if (static_cast<int>(blockIdx.x) < small)
    return do_beside(beside, blockIdx.x / plan.batch, blockIdx.x % plan.batch, memory);
  const int work = (blockIdx.x - small) * 2 + threadIdx.x / (kBesideThreads / 2);
  int which = 0;
  while (which + 1 < plan.vector_count && work >= plan.vectors[which + 1].first_work) ++which;
  const ProductVectors& v = plan.vectors[which];
  wait_for_previous();
  if (work >= plan.work) return;
  if (v.format == Format::kFp8Block)
    make_limbs<Format::kFp8Block>(plan, v, work - v.first_work);
  else
    make_limbs<Format::kBf16>(plan, v, work - v.first_work);
}

template <int kColumns>
__global__ void __launch_bounds__(ProductShape<kColumns>::kThreads, ProductShape<kColumns>::kBlocks)
    product_kernel(const __grid_constant__ ProductPlan plan) {
  extern __shared__ __align__(128) std::byte memory[];
  let_next_start();
  int which = 0;
  while (which + 1 < plan.task_count && static_cast<int>(blockIdx.x) >= plan.task[which + 1].first_block)
    ++which;
  const ProductTask& task = plan.task[which];
  if (task.format == Format::kFp8Block)
    ProductPass<Format::kFp8Block, kColumns>(plan, task, memory).run();
  else
    ProductPass<Format::kBf16, kColumns>(plan, task, memory).run();
}

int columns_for(int batch) {
  const int needed = (batch + kVectorsTogether - 1) / kVectorsTogether;
  return needed <= 1 ? 1 : needed <= 2 ? 2 : needed <= 4 ? 4 : 8;
}
int limbs_of_format(Format format) {
  return format == Format::kBf16 ? Streamed<Format::kBf16>::kLimbs : Streamed<Format::kFp8Block>::kLimbs;
}

// Columns of x in the limbs of the task's format, as one of plan.vectors.
int vectors_of(ProductPlan& plan, const StreamTask& task, std::int64_t& limbs, int& units) {
  for (int i = 0; i < plan.vector_count; ++i) {
    const ProductVectors& v = plan.vectors[i];
    if (v.x == task.x && v.x_stride == task.x_stride && v.norm == task.norm && v.cols == task.w.cols &&
        v.format == task.w.format)
      return i;
  }
  const int slices = slices_of(task.w.cols).count(), rows = plan.columns * kVectorsTogether;
  plan.vectors[plan.vector_count] = {
      task.x,      task.norm, task.x_stride, limbs,         units,
      task.w.cols, slices,    plan.work,     task.w.format, task.w.cols % 4 == 0 && task.x_stride % 4 == 0};
  limbs += static_cast<std::int64_t>(slices) * 8 * plan.columns * limbs_of_format(task.w.format) * 32;
  units += (task.norm != nullptr ? 2 : 1) * slices * rows;
  plan.work += slices * plan.columns;
  return plan.vector_count++;
}

template <int kColumns>
void start(cudaStream_t stream, const ProductPlan& plan) {
  bool bf16 = false, fp8 = false;
  for (int i = 0; i < plan.task_count; ++i) (plan.task[i].format == Format::kBf16 ? bf16 : fp8) = true;
  const int bytes = std::max(bf16 ? ProductMemory<Format::kBf16, kColumns>::kBytes : 0,
                             fp8 ? ProductMemory<Format::kFp8Block, kColumns>::kBytes : 0);
  launch(stream, product_kernel<kColumns>, plan.blocks, ProductShape<kColumns>::kThreads, bytes, plan);
}

template <int kColumns>
cudaError_t prepare() {
  return allow_shared_memory(product_kernel<kColumns>,
                             std::max(ProductMemory<Format::kBf16, kColumns>::kBytes,
                                      ProductMemory<Format::kFp8Block, kColumns>::kBytes));
}

}  // namespace

ProductRoom product_room(std::int64_t cols, int batch) {
  const std::int64_t rows = columns_for(batch) * kVectorsTogether;
  ProductRoom room;
  room.limb_bytes = cols * rows * 2 * Streamed<Format::kBf16>::kLimbs;
  room.unit_floats = 2 * (cols / kSliceCols) * rows;
  room.part_floats = kMostPartRows * rows;
  room.most_counts = kMostPartRows / kProductRows;
  return room;
}

bool has_product(const StreamTask& task) {
  return task.chosen == nullptr && (task.w.format == Format::kFp8Block || task.w.format == Format::kBf16);
}

bool multiply(cudaStream_t stream, const StreamTasks& tasks, int batch, const Beside& beside,
              const ProductRoom& room) {
  ProductPlan plan{};
  plan.batch = batch;
  plan.columns = columns_for(batch);
  plan.room = room;
  std::int64_t limbs = 0, parts = 0;
  int units = 0, counts = 0;
  for (int i = 0; i < tasks.count; ++i) {
    const StreamTask& task = tasks.task[i];
    if (!has_product(task)) return false;
    ProductTask& t = plan.task[plan.task_count++];
    t.data = static_cast<const std::byte*>(task.w.data);
    t.y = task.y;
    t.normed = task.normed;
    t.norm = task.norm;
    t.y_stride = task.y_stride;
    t.factor = task.factor;
    t.limit = task.limit;
    t.eps = task.eps;
    t.vectors = vectors_of(plan, task, limbs, units);
    t.rows = task.w.rows;
    t.tiles = (task.w.rows + kTileRows - 1) / kTileRows;
    t.slices = slices_of(task.w.cols).count();
    t.together = slices_together(task.w.rows, task.w.cols);
    t.parts = (t.slices + t.together - 1) / t.together;
    t.format = task.w.format;
    t.pair = task.pair;
    t.first_block = plan.blocks;
    const int blocks = (t.tiles + kProductTiles - 1) / kProductTiles;
    plan.blocks += blocks * t.parts;
    if (t.parts > 1) {
      t.part_at = parts;
      t.count_at = counts;
      parts += static_cast<std::int64_t>(blocks) * t.parts * kProductRows * plan.columns * kVectorsTogether;
      counts += blocks;
    }
  }
  if (limbs * 16 > room.limb_bytes || units > room.unit_floats || parts > room.part_floats ||
      counts > room.most_counts)
    return false;
  const int small = beside.count() * batch;
  int widest = 1;  // floats of shared memory for an entry
  for (int i = 0; i < beside.compressors; ++i) widest = std::max(widest, beside.compressor[i].dim);
  launch(stream, limbs_kernel, small + (plan.work + 1) / 2, kBesideThreads, widest * sizeof(float), plan,
         beside, small);
  switch (plan.columns) {
    case 1:
      start<1>(stream, plan);
      break;
    case 2:
      start<2>(stream, plan);
      break;
    case 4:
      start<4>(stream, plan);
      break;
    default:
      start<8>(stream, plan);
  }
  return true;
}

cudaError_t prepare_products() {
  for (const cudaError_t status : {prepare<1>(), prepare<2>(), prepare<4>(), prepare<8>()})
    if (status != cudaSuccess) return status;
  return cudaSuccess;
}

}  // namespace dsv4::kernels
