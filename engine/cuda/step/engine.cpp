#include "engine/cuda/step/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "engine/cuda/memory/status.h"
#include "kernels/attention.h"
#include "kernels/boundary.h"
#include "kernels/hyper_connection.h"
#include "kernels/product.h"
#include "kernels/stream.h"

namespace dsv4::cuda {
namespace {

using capgate::Error;
using capgate::Result;

// Values that a recorded step copies for one row.
std::int64_t recorded_values(const ModelConfig& c, int max_positions) {
  const std::int64_t d = c.hidden_size, n = c.hc_mult, heads = std::int64_t{c.num_heads} * c.head_dim;
  std::int64_t total = n * d + 2 * d + c.vocab_size;
  for (const LayerType type : c.layer_types) {
    total += 2 * (n + n * n + 2 * d + n * d) + c.q_lora_rank + 2 * heads + c.head_dim +
             std::int64_t{c.o_groups} * c.o_lora_rank + d;
    total += 2 * c.num_experts + 2 * c.experts_per_token + (c.experts_per_token + 3) * d;
    if (type != LayerType::kSliding)
      total += compressor_shape(c, type, c.head_dim, max_positions).entries_size();
    if (type == LayerType::kCsa) {
      const auto keys = compressor_shape(c, type, c.index_head_dim, max_positions);
      total += keys.entries_size() + keys.max_entries + std::int64_t{c.index_heads} * (c.index_head_dim + 1) +
               c.index_topk;
    }
  }
  return total;
}

}  // namespace

int page_tokens_for(const ModelConfig& config, int wanted) {
  int least = 1;
  for (const LayerType type : config.layer_types)
    if (type != LayerType::kSliding) least = std::lcm(least, config.ratio(type));
  return (std::max(1, wanted) + least - 1) / least * least;
}

Result<void> device_ready() {
  int count = 0;
  if (auto ok = done(cudaGetDeviceCount(&count), "looking for a CUDA device"); !ok) return ok;
  if (count == 0) return Error{"there is no CUDA device"};
  return {};
}

Result<std::uint64_t> room_for_weights() {
  constexpr std::uint64_t kLeftFree = std::uint64_t{5} << 30;
  if (auto ok = device_ready(); !ok) return Error{ok.error()};
  std::size_t free = 0, total = 0;
  if (auto ok = done(cudaMemGetInfo(&free, &total), "asking for free memory"); !ok) return Error{ok.error()};
  return free > kLeftFree ? free - kLeftFree : 0;
}

Result<std::unique_ptr<Engine>> Engine::create(const ModelConfig& config, const ModelWeights& weights,
                                               const EngineOptions& options) {
  if (auto ok = device_ready(); !ok) return Error{ok.error()};
  if (config.hc_mult > kernels::kMostStreams)
    return Error{fmt::format("the CUDA engine has room for {} residual streams, not {}",
                             kernels::kMostStreams, config.hc_mult)};
  if (config.head_dim > kernels::kMostHeadDim)
    return Error{fmt::format("the CUDA engine has room for heads of {} dimensions, not {}",
                             kernels::kMostHeadDim, config.head_dim)};
  const int lanes = std::max(options.lanes, options.rows);
  if (options.rows < 1 || lanes > kernels::kMostLanes || options.chunk < 1 || options.chunk > lanes)
    return Error{
        fmt::format("{} rows in {} lanes, {} tokens of a row in one step: an engine has 1 to {} lanes",
                    options.rows, lanes, options.chunk, kernels::kMostLanes)};
  if (options.page_tokens != page_tokens_for(config, options.page_tokens) && options.page_tokens != 0)
    return Error{fmt::format("pages of {} tokens: {} fill pages in every layer", options.page_tokens,
                             page_tokens_for(config, options.page_tokens))};
  std::unique_ptr<Engine> engine(new Engine());
  if (auto ok = engine->make(config, weights, options); !ok) return Error{ok.error()};
  return engine;
}

Engine::~Engine() {
  if (stream_ == nullptr) return;
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
  if (step_.ring != nullptr) cudaFreeHost(step_.ring);
}

Result<void> Engine::make(const ModelConfig& config, const ModelWeights& weights,
                          const EngineOptions& options) {
  if (auto ok = done(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "creating a stream"); !ok)
    return ok;
  step_.config = config;
  step_.rows = options.rows;
  step_.lanes = std::max(options.lanes, options.rows);
  step_.chunk = options.chunk;
  step_.max_positions = options.max_positions;
  step_.page_tokens = options.page_tokens;
  step_.pages = options.page_tokens == 0 ? 0 : options.pages;
  auto uploaded = upload_weights(config, weights, options.unmade, weight_memory_, stream_);
  if (!uploaded) return Error{uploaded.error()};
  step_.weights = std::move(*uploaded);
  make_state(options);
  make_activations(options);
  make_product_room();
  if (auto ok = product_memory_.state(); !ok) return ok;
  if (options.recording)
    recording_.emplace(state_memory_, options.rows * recorded_values(config, options.max_positions));
  if (auto ok = state_memory_.state(); !ok) return ok;
  const std::size_t ring = sizeof(int) * Step::kRingSlots * static_cast<std::size_t>(step_.lanes);
  if (auto ok = done(cudaMallocHost(reinterpret_cast<void**>(&step_.ring), ring), "pinning the token ring");
      !ok)
    return ok;

  if (auto ok = done(kernels::prepare_streams(), "room for streamed weights"); !ok) return ok;
  if (auto ok = done(kernels::prepare_attention(config.head_dim),
                     fmt::format("room for attention heads of {}", config.head_dim));
      !ok)
    return ok;
  return done(kernels::prepare_index_scores(config.index_heads, config.index_head_dim),
              fmt::format("room for {} index heads of {}", config.index_heads, config.index_head_dim));
}

void Engine::make_state(const EngineOptions& options) {
  const ModelConfig& c = step_.config;
  DeviceMemory& m = state_memory_;
  const std::int64_t rows = options.rows;
  if (step_.page_tokens != 0) {
    step_.lane.page_stride = (options.max_positions + step_.page_tokens - 1) / step_.page_tokens;
    step_.lane.page_table = m.take<int>(rows * step_.lane.page_stride);
  }
  const auto compressor = [&](LayerType type, int dim) {
    const auto shape = compressor_shape(c, type, dim, options.max_positions);
    // Tokens of a step besides the first would otherwise take slots that it still reads.
    const std::int64_t ring = std::int64_t{shape.ring + step_.chunk - 1} * shape.width;
    CompressorState state{shape, m.take<float>(rows * ring), m.take<float>(rows * ring), nullptr, {}};
    state.pages = {step_.lane.page_table, step_.lane.page_stride,
                   step_.page_tokens == 0 ? shape.max_entries : step_.page_tokens / shape.ratio};
    state.entries =
        m.take<float>((step_.page_tokens == 0 ? rows : step_.pages) * state.pages.per_page * shape.dim);
    return state;
  };
  const auto forced = [&](int k) {
    kernels::ForcedChoice choice;
    if (options.recording) choice = {m.take<int>(rows * k), m.take<int>(rows)};
    return choice;
  };
  for (std::size_t i = 0; i < c.layer_types.size(); ++i) {
    const LayerType type = c.layer_types[i];
    LayerState layer;
    layer.window = m.take<float>(rows * step_.window_slots() * c.head_dim);
    if (type != LayerType::kSliding) layer.compressor = compressor(type, c.head_dim);
    if (type == LayerType::kCsa) {
      layer.index_compressor = compressor(type, c.index_head_dim);
      layer.forced_entries = forced(c.index_topk);
    }
    if (!c.hash_layers[i]) layer.forced_experts = forced(c.experts_per_token);
    step_.state.push_back(layer);
  }
}

void Engine::make_activations(const EngineOptions& options) {
  const ModelConfig& c = step_.config;
  DeviceMemory& m = state_memory_;
  const auto floats = [&](std::int64_t width) { return m.take<float>(step_.lanes * width); };
  const auto ints = [&](std::int64_t width) { return m.take<int>(step_.lanes * width); };
  const std::int64_t n = c.hc_mult, d = c.hidden_size, heads = std::int64_t{c.num_heads} * c.head_dim;
  const std::int64_t slots = c.experts_per_token + 1;
  const int index_entries =
      compressor_shape(c, LayerType::kCsa, c.index_head_dim, options.max_positions).max_entries;
  Activations& a = step_.a;
  a.streams = floats(n * d);
  a.mix = floats((2 + n) * n);
  a.mix_parts = floats(kernels::boundary_parts(c.hidden_size));
  a.inverse = floats(1);
  a.post = floats(n);
  a.comb = floats(n * n);
  a.collapsed = floats(d);
  a.normed = floats(d);
  a.q_residual = floats(c.q_lora_rank);
  a.q_normed = floats(c.q_lora_rank);
  a.q = floats(heads);
  a.q_prepared = floats(heads);
  a.kv = floats(c.head_dim);
  a.compressor_kv = floats(std::int64_t{2} * c.head_dim);
  a.compressor_gate = floats(std::int64_t{2} * c.head_dim);
  a.index_kv = floats(std::int64_t{2} * c.index_head_dim);
  a.index_gate = floats(std::int64_t{2} * c.index_head_dim);
  a.index_query = floats(std::int64_t{c.index_heads} * c.index_head_dim);
  a.index_rotated = floats(std::int64_t{c.index_heads} * c.index_head_dim);
  a.index_weights = floats(c.index_heads);
  a.index_scores = floats(index_entries);
  a.chosen_entries = ints(c.index_topk);
  a.context = floats(heads);
  a.output_a = floats(std::int64_t{c.o_groups} * c.o_lora_rank);
  a.attn_out = floats(d);
  a.router_logits = floats(c.num_experts);
  a.router_scores = floats(c.num_experts);
  a.router_biased = floats(c.num_experts);
  a.shares = floats(c.experts_per_token);
  a.chosen_experts = ints(c.experts_per_token);
  a.expert_inner = floats(slots * c.expert_size);
  a.expert_parts = floats(slots * d);
  a.routed = floats(d);
  a.ffn_out = floats(d);
  a.logits = floats(c.vocab_size);
  step_.lane.rows = ints(1);
  step_.lane.ids = ints(1);
  step_.lane.positions = ints(1);
  step_.lane.sampling = m.take<kernels::RowSampling>(step_.lanes);
  step_.sampled = ints(1);
  step_.ring_step = m.take<unsigned>(step_.lanes);
}

void Engine::make_product_room() {
  if (step_.lanes <= kernels::kFewVectors) return;
  const ModelConfig& c = step_.config;
  // A layer's input is wanted in the limbs of two formats; others in those of one.
  const int widest = std::max({2 * c.hidden_size, c.num_heads * c.head_dim, c.o_groups * c.o_lora_rank,
                               2 * c.q_lora_rank, c.hc_mult * c.hidden_size, c.expert_size});
  kernels::ProductRoom& room = step_.product;
  room = kernels::product_room(widest, step_.lanes);
  DeviceMemory& m = product_memory_;
  room.limbs = m.take<std::byte>(room.limb_bytes);
  room.units = m.take<float>(room.unit_floats);
  room.parts = m.take<float>(room.part_floats);
  room.counts = m.take<unsigned>(room.most_counts);
  m.poison(0, stream_);  // the counts
}

cudaError_t Engine::free_lanes() const {
  kernels::StepOrders orders;
  for (int lane = 0; lane < step_.lanes; ++lane)
    orders.lane[orders.lanes++] = {lane, kernels::kNobody, 0, 0, {}};
  kernels::give_orders(stream_, step_.lane, orders);
  return cudaPeekAtLastError();
}

Result<void> Engine::poison() {
  state_memory_.poison(0xFF, stream_);
  if (auto ok = state_memory_.state(); !ok) return ok;
  return done(cudaStreamSynchronize(stream_), "poisoning buffers");
}

}  // namespace dsv4::cuda
