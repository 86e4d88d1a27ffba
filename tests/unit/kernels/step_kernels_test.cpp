// The other kernels of the step, each alone, against the reference's equations in double.
#include <algorithm>

#include "engine/model/choose.h"
#include "engine/model/decode_state.h"
#include "engine/model/sampling.h"
#include "engine/reference/attention.h"
#include "engine/reference/compressor.h"
#include "engine/reference/hyper_connection.h"
#include "engine/reference/indexer.h"
#include "engine/reference/moe.h"
#include "kernels/attention.h"
#include "kernels/compressor.h"
#include "kernels/experts.h"
#include "kernels/hyper_connection.h"
#include "kernels/indexer.h"
#include "kernels/next_token.h"
#include "kernels/norm_rope.h"
#include "kernels/router.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {
namespace {

using Vector = std::vector<double>;

std::span<const double> values_of(const Vector& v) {
  return v;
}

Vector part(const std::vector<float>& v, std::int64_t index, std::int64_t width) {
  return doubles(
      std::span(v).subspan(static_cast<std::size_t>(index * width), static_cast<std::size_t>(width)));
}

void append(Vector& to, const Vector& from) {
  to.insert(to.end(), from.begin(), from.end());
}

class StepKernels : public DeviceTest {
 protected:
  void router_case(int experts);
  void attention_case(int dim);
  void index_scores_case(int dim, bool rotated);

  // The mixer beside some attention, and beside some experts.
  void attend_beside(const kernels::HyperConnectionMix& mix, int batch) {
    constexpr int kDim = 32;
    kernels::Attention args{};
    args.q = upload(std::vector<float>(static_cast<std::size_t>(batch * kDim), 1));
    args.sink = upload(std::vector<float>(1));
    args.window = upload(std::vector<float>(static_cast<std::size_t>(batch * kDim), 2));
    args.window_slots = args.window_tokens = args.heads = 1;
    args.out = poisoned<float>(batch * kDim);
    args.dim = kDim;
    args.positions = upload(std::vector<int>(static_cast<std::size_t>(batch)));
    check(kernels::prepare_attention(kDim));
    kernels::attend(stream_, args, batch, mix);
  }
  void experts_beside(const kernels::HyperConnectionMix& mix, int batch) {
    constexpr int kSize = 32, kInner = 72;
    Noise noise(3);
    kernels::ExpertsUp args{};
    const HostMatrix w = random_matrix(WeightFormat::kF32, kInner, kSize, noise);
    args.w1.first = args.w3.first = upload(w);
    args.x = upload(noise.values(batch * kSize));
    args.out = poisoned<float>(batch * kInner);
    args.slots = args.out_slots = 1;
    args.limit = 1;
    kernels::experts_up(stream_, args, batch, mix);
  }
};

TEST_F(StepKernels, HyperConnectionSiteAndExpand) {
  for (const int n : {1, 2, 3, 4, 8}) {
    for (const bool head : {false, true}) {
      constexpr int kBatch = 3;
      const int d = n == 2   ? 201
                    : n == 8 ? 2100
                             : 200,
                logits_width = head ? n : (2 + n) * n, iterations = 20;
      Noise noise(static_cast<std::uint64_t>(100 + n));
      const auto streams = noise.values(kBatch * n * d, 0.7);
      HostMatrix fn = random_matrix(WeightFormat::kF32, logits_width, n * d, noise);
      const auto base = noise.values(logits_width), scale = noise.values(3, 0.2), norm = noise.values(d);
      // The mixer's logits are the GEMV's; here they come from the reference.
      std::vector<float> logits;
      for (int b = 0; b < kBatch; ++b)
        for (const double v : reference::project(fn.view, part(streams, b, n * d)))
          logits.push_back(static_cast<float>(v));
      kernels::HyperConnectionSite site{};
      site.streams = upload(streams);
      site.logits = upload(logits);
      site.base = upload(base);
      site.scale = upload(scale);
      site.norm = upload(norm);
      auto *post = poisoned<float>(kBatch * n), *comb = poisoned<float>(kBatch * n * n);
      site.inverse = poisoned<float>(kBatch);
      site.head = head;
      site.collapsed = poisoned<float>(kBatch * d);
      site.normed = poisoned<float>(kBatch * d);
      site.n = n;
      site.d = d;
      site.hc_eps = 1e-3f;
      site.rms_eps = 1e-2f;
      kernels::hyper_connection_site(stream_, site, kBatch);

      const reference::HyperConnection<double> hc{fn.view, doubles(base), doubles(scale)};
      Vector wanted_post, wanted_comb, wanted_x, wanted_norm, wanted_streams;
      const auto y = noise.values(kBatch * d);
      for (int b = 0; b < kBatch; ++b) {
        Vector x = part(streams, b, n * d);
        reference::SiteMix<double> mix;
        if (head)
          mix.pre = reference::head_mix(hc, values_of(x), n, double{1e-3f}, double{1e-2f});
        else
          mix = reference::site_mix(hc, values_of(x), n, iterations, double{1e-3f}, double{1e-2f});
        append(wanted_post, mix.post);
        append(wanted_comb, mix.comb);
        Vector collapsed = reference::collapse(values_of(x), values_of(mix.pre));
        append(wanted_x, collapsed);
        const Vector weight = doubles(norm);
        reference::rms_norm(std::span<double>(collapsed), values_of(weight), double{1e-2f});
        append(wanted_norm, collapsed);
        if (head) continue;
        const Vector sub = part(y, b, d);
        reference::expand(std::span<double>(x), values_of(sub), mix);
        append(wanted_streams, x);
      }
      EXPECT_LT(distance(read(site.collapsed, kBatch * d), wanted_x), 1e-5) << n;
      EXPECT_LT(distance(read(site.normed, kBatch * d), wanted_norm), 1e-5) << n;
      if (head) continue;
      const kernels::HyperConnectionMix mix{site.logits, site.base, site.scale, site.inverse, post,
                                            comb,        n,         iterations, 1e-3f};
      attend_beside(mix, kBatch);
      EXPECT_LT(distance(read(post, kBatch * n), wanted_post), 1e-5) << n;
      EXPECT_LT(distance(read(comb, kBatch * n * n), wanted_comb), 1e-5) << n;
      kernels::HyperConnectionMix other = mix;
      other.post = poisoned<float>(kBatch * n);
      other.comb = poisoned<float>(kBatch * n * n);
      experts_beside(other, kBatch);
      EXPECT_EQ(read(other.post, kBatch * n), read(post, kBatch * n)) << n;
      EXPECT_EQ(read(other.comb, kBatch * n * n), read(comb, kBatch * n * n)) << n;
      float* mixed = upload(streams);
      kernels::hyper_connection_expand(stream_, mixed, upload(y), post, comb, n, d, kBatch);
      EXPECT_LT(distance(read(mixed, kBatch * n * d), wanted_streams), 1e-5) << n;
    }
  }
}

TEST_F(StepKernels, NormAndRotation) {
  constexpr int kBatch = 3, kHeads = 5, kDim = 70, kPairs = 8, kWindow = 16;
  Noise noise(7);
  const std::vector<int> positions = {0, 37, 1000};
  std::vector<float> frequencies;
  for (int i = 0; i < kPairs; ++i) frequencies.push_back(std::pow(10000.0f, -2.0f * i / (2 * kPairs)));
  const auto x = noise.values(kBatch * kHeads * kDim), weight = noise.values(kDim);
  for (int variant = 0; variant < 8; ++variant) {
    const bool normalise = variant & 1, weighted = variant & 2, rotated = variant & 4;
    kernels::NormRope args{};
    args.in = upload(x);
    args.out = poisoned<float>(kBatch * kHeads * kDim);
    args.heads = kHeads;
    args.dim = kDim;
    args.normalise = normalise;
    args.weight = weighted ? upload(weight) : nullptr;
    args.frequencies = rotated ? upload(frequencies) : nullptr;
    args.pairs = kPairs;
    args.positions = upload(positions);
    args.eps = 1e-3f;
    kernels::norm_rope(stream_, args, kBatch);
    Vector wanted;
    const Vector exact = doubles(frequencies);
    for (int b = 0; b < kBatch; ++b)
      for (int h = 0; h < kHeads; ++h) {
        Vector head = part(x, b * kHeads + h, kDim);
        if (normalise) reference::rms_norm(std::span<double>(head), double{1e-3f});
        if (weighted)
          for (int i = 0; i < kDim; ++i) head[i] *= weight[i];
        if (rotated) reference::rotate(std::span<double>(head), positions[b], values_of(exact));
        append(wanted, head);
      }
    EXPECT_LT(distance(read(args.out, kBatch * kHeads * kDim), wanted), 1e-5) << variant;
  }

  // One head into its slot of the ring, in place; the other slots are left alone.
  kernels::NormRope args{};
  float* in_place = upload(noise.values(kBatch * kDim));
  args.in = args.out = in_place;
  args.heads = 1;
  args.dim = kDim;
  args.normalise = true;
  args.frequencies = upload(frequencies);
  args.pairs = kPairs;
  args.positions = upload(positions);
  args.eps = 1e-6f;
  args.window = poisoned<float>(kBatch * kWindow * kDim);
  args.window_slots = kWindow;
  kernels::norm_rope(stream_, args, kBatch);
  const auto out = read(in_place, kBatch * kDim), window = read(args.window, kBatch * kWindow * kDim);
  for (int b = 0; b < kBatch; ++b)
    for (int slot = 0; slot < kWindow; ++slot)
      for (int i = 0; i < kDim; ++i) {
        const float v = window[static_cast<std::size_t>((b * kWindow + slot) * kDim + i)];
        if (slot == positions[b] % kWindow)
          ASSERT_EQ(v, out[static_cast<std::size_t>(b * kDim + i)]);
        else
          ASSERT_TRUE(std::isnan(v));
      }
}

// Several in one launch: each as if alone.
TEST_F(StepKernels, NormsAndRotationsAtOnce) {
  constexpr int kBatch = 2, kPairs = 4;
  Noise noise(17);
  const std::vector<int> positions = {5, 90};
  const auto* at = upload(positions);
  const auto* frequencies = upload(std::vector<float>{1.0f, 0.1f, 0.01f, 0.001f});
  const auto* weight = upload(noise.values(48));
  const int heads[] = {3, 1, 5}, dims[] = {32, 48, 20};
  kernels::NormRopes all{};
  for (int t = 0; t < 3; ++t) {
    kernels::NormRope args{};
    args.in = upload(noise.values(kBatch * heads[t] * dims[t]));
    args.out = poisoned<float>(kBatch * heads[t] * dims[t]);
    args.heads = heads[t];
    args.dim = dims[t];
    args.normalise = t < 2;
    args.weight = t == 1 ? weight : nullptr;
    args.frequencies = frequencies;
    args.pairs = kPairs;
    args.positions = at;
    args.eps = 1e-4f;
    all.add(args);
  }
  kernels::norm_rope(stream_, all, kBatch);
  for (int t = 0; t < 3; ++t) {
    kernels::NormRope alone = all.task[t];
    alone.out = poisoned<float>(kBatch * heads[t] * dims[t]);
    kernels::norm_rope(stream_, alone, kBatch);
    const auto wanted = read(alone.out, kBatch * heads[t] * dims[t]);
    EXPECT_EQ(read(all.task[t].out, kBatch * heads[t] * dims[t]), wanted) << t;
    for (const float v : wanted) ASSERT_FALSE(std::isnan(v));
  }
}

// Rows at different positions through several windows, over poisoned state.
TEST_F(StepKernels, CompressorsWithTheirState) {
  constexpr int kBatch = 2, kDim = 40, kPairs = 6, kMaxPositions = 64;
  for (const bool overlap : {false, true}) {
    for (const int ratio : {4, 16}) {
      const int series = overlap ? 2 : 1;
      const CompressorShape shape{ratio, series * ratio, series * kDim, kDim, kMaxPositions / ratio, overlap};
      Noise noise(static_cast<std::uint64_t>(8 + ratio + overlap));
      // Identity projections: the test feeds kv and gate themselves.
      const auto ape = noise.values(ratio * shape.width, 0.5), norm = noise.values(kDim);
      std::vector<float> frequencies = {1.0f, 0.3f, 0.1f, 0.03f, 0.01f, 0.003f};
      kernels::Compressor args{};
      args.ape = upload(ape);
      args.norm = upload(norm);
      args.kv_ring = poisoned<float>(kBatch * shape.ring_size());
      args.gate_ring = poisoned<float>(kBatch * shape.ring_size());
      args.entries = poisoned<float>(kBatch * shape.entries_size());
      args.ratio = ratio;
      args.ring = args.slots = shape.ring;
      args.pages.per_page = shape.max_entries;
      args.width = shape.width;
      args.dim = kDim;
      args.max_entries = shape.max_entries;
      args.overlap = overlap;
      args.frequencies = upload(frequencies);
      args.pairs = kPairs;
      args.eps = 1e-3f;
      std::vector<Vector> kv(kBatch), gate(kBatch), entries(kBatch);
      for (int b = 0; b < kBatch; ++b) {
        kv[b].resize(static_cast<std::size_t>(shape.ring_size()));
        gate[b].resize(kv[b].size());
        entries[b].resize(static_cast<std::size_t>(shape.entries_size()));
      }
      const Vector exact = doubles(frequencies), weight = doubles(norm);
      for (int step = 0; step < kMaxPositions + 5; ++step) {
        std::vector<int> positions = {std::min(step, kMaxPositions - 1), std::max(0, step - 5)};
        const auto new_kv = noise.values(kBatch * shape.width), new_gate = noise.values(kBatch * shape.width);
        args.kv = upload(new_kv);
        args.gate = upload(new_gate);
        args.positions = upload(positions);
        kernels::compress(stream_, args, kBatch);
        for (int b = 0; b < kBatch; ++b) {
          const int p = positions[b], slot = p % shape.ring * shape.width;
          for (int i = 0; i < shape.width; ++i) {
            kv[b][slot + i] = new_kv[b * shape.width + i];
            gate[b][slot + i] =
                static_cast<double>(new_gate[b * shape.width + i]) + ape[p % ratio * shape.width + i];
          }
          if ((p + 1) % ratio != 0) continue;
          const reference::CompressorRow<double> row{kv[b], gate[b], entries[b]};
          Vector entry = reference::pool_window(shape, row, p);
          reference::rms_norm(std::span<double>(entry), values_of(weight), double{1e-3f});
          reference::rotate(std::span<double>(entry), p / ratio * ratio, values_of(exact));
          std::copy(entry.begin(), entry.end(), entries[b].begin() + p / ratio * kDim);
        }
      }
      const auto got = read(args.entries, kBatch * shape.entries_size());
      for (int b = 0; b < kBatch; ++b)
        EXPECT_LT(distance(std::span(got).subspan(b * entries[b].size(), entries[b].size()), entries[b]),
                  1e-5)
            << "ratio " << ratio << ", overlap " << overlap << ", row " << b;
    }
  }
}

// Two in one launch: each as if alone, though they differ in everything.
TEST_F(StepKernels, TwoCompressorsAtOnce) {
  constexpr int kBatch = 2, kPairs = 3;
  Noise noise(18);
  const std::vector<int> positions = {7, 15};  // windows of 4 close
  const auto* at = upload(positions);
  const auto* frequencies = upload(std::vector<float>{1.0f, 0.1f, 0.01f});
  const CompressorShape shapes[] = {{4, 8, 80, 40, 16, true}, {4, 4, 24, 24, 16, false}};
  kernels::Compressor both[2];
  float *kv_rings[2], *gate_rings[2];
  for (int t = 0; t < 2; ++t) {
    const CompressorShape& shape = shapes[t];
    kernels::Compressor& args = both[t];
    args = {};
    args.kv = upload(noise.values(kBatch * shape.width));
    args.gate = upload(noise.values(kBatch * shape.width));
    args.ape = upload(noise.values(shape.ratio * shape.width));
    args.norm = upload(noise.values(shape.dim));
    const auto kv = noise.values(kBatch * shape.ring_size()), gate = noise.values(kBatch * shape.ring_size());
    args.kv_ring = upload(kv);
    args.gate_ring = upload(gate);
    kv_rings[t] = upload(kv);
    gate_rings[t] = upload(gate);
    args.entries = poisoned<float>(kBatch * shape.entries_size());
    args.ratio = shape.ratio;
    args.ring = args.slots = shape.ring;
    args.pages.per_page = shape.max_entries;
    args.width = shape.width;
    args.dim = shape.dim;
    args.max_entries = shape.max_entries;
    args.overlap = shape.overlap;
    args.frequencies = frequencies;
    args.pairs = kPairs;
    args.positions = at;
    args.eps = 1e-4f;
  }
  kernels::compress(stream_, both[0], both[1], kBatch);
  for (int t = 0; t < 2; ++t) {
    kernels::Compressor alone = both[t];
    alone.kv_ring = kv_rings[t];
    alone.gate_ring = gate_rings[t];
    alone.entries = poisoned<float>(kBatch * shapes[t].entries_size());
    kernels::compress(stream_, alone, kBatch);
    const auto same = [&](const float* a, const float* b, std::int64_t size) {
      const auto x = read(a, size), y = read(b, size);
      return std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
    };
    EXPECT_TRUE(same(both[t].kv_ring, alone.kv_ring, kBatch * shapes[t].ring_size())) << t;
    EXPECT_TRUE(same(both[t].gate_ring, alone.gate_ring, kBatch * shapes[t].ring_size())) << t;
    EXPECT_TRUE(same(both[t].entries, alone.entries, kBatch * shapes[t].entries_size())) << t;
    EXPECT_FALSE(std::isnan(read(alone.entries, kBatch * shapes[t].entries_size())[shapes[t].dim])) << t;
  }
}

TEST_F(StepKernels, IndexScores) {
  for (const int dim : {33, 128})
    for (const bool rotated : {false, true}) index_scores_case(dim, rotated);
}

void StepKernels::index_scores_case(int dim, bool rotated) {
  constexpr int kBatch = 3, kHeads = 40, kMax = 70, kRatio = 4, kPairs = 8;
  Noise noise(9);
  const std::vector<int> positions = {2, 4 * 33, 4 * kMax};
  const auto query = noise.values(kBatch * kHeads * dim), keys = noise.values(kBatch * kMax * dim);
  const auto weights = noise.values(kBatch * kHeads);
  const Vector frequencies = {1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125};
  check(kernels::prepare_index_scores(kHeads, dim));
  auto* scores = poisoned<float>(kBatch * kMax);
  kernels::IndexScores args{upload(query), upload(weights), upload(keys),     scores, kHeads, dim,
                            kMax,          kRatio,          upload(positions)};
  if (rotated) {
    args.frequencies = upload(std::vector<float>(frequencies.begin(), frequencies.end()));
    args.pairs = kPairs;
    args.rotated = poisoned<float>(kBatch * kHeads * dim);
  }
  args.pages.per_page = kMax;
  kernels::index_scores(stream_, args, kBatch);
  const auto got = read(scores, kBatch * kMax);
  Vector wanted_query;
  for (int b = 0; b < kBatch; ++b) {
    const int closed = std::min(kMax, closed_entries(positions[b], kRatio));
    Vector own = part(keys, b, kMax * dim), q = part(query, b, kHeads * dim);
    for (int h = 0; rotated && h < kHeads; ++h)
      reference::rotate(std::span<double>(q).subspan(h * dim, dim), positions[b], values_of(frequencies));
    append(wanted_query, q);
    const Vector w = part(weights, b, kHeads);
    const Vector wanted =
        reference::index_scores<double>(values_of(q), values_of(w), {{}, {}, own}, dim, closed);
    EXPECT_LT(distance(std::span(got).subspan(b * kMax, closed), wanted), 1e-5) << b << ", " << dim;
    for (int i = closed; i < kMax; ++i) EXPECT_EQ(got[b * kMax + i], -INFINITY);
  }
  if (rotated) {
    EXPECT_LT(distance(read(args.rotated, kBatch * kHeads * dim), wanted_query), 1e-5) << dim;
  }
}

// Ties at every rank, both zeros, fewer than k, and long lists; the choice must be the reference's exactly.
TEST_F(StepKernels, FixedWidthTopK) {
  Noise noise(10);
  for (const int max : {1, 7, 33, 128, 129, 300, 5000}) {
    for (const int k : {1, 4, 64, 512}) {
      constexpr int kBatch = 4, kRatio = 4;
      std::vector<float> scores;
      for (int i = 0; i < kBatch * max; ++i) {
        const bool coarse = i / max % 2 == 0;
        const float v = coarse ? static_cast<float>(noise.below(7) - 3) : noise.value(100);
        scores.push_back(v == 0 && noise.below(2) ? -0.0f : v);
      }
      const std::vector<int> positions = {4 * max, 4 * max - 1, std::max(0, 2 * max), 1};
      int* chosen = poisoned<int>(kBatch * k);
      kernels::choose_entries(stream_, upload(scores), max, kRatio, upload(positions), k, chosen, {}, kBatch);
      const auto got = read(chosen, kBatch * k);
      for (int b = 0; b < kBatch; ++b) {
        const int closed = std::min(max, closed_entries(positions[b], kRatio));
        auto wanted = top_k(std::span<const float>(scores).subspan(b * max, closed), k);
        wanted.resize(static_cast<std::size_t>(k), -1);
        EXPECT_EQ(std::vector<int>(got.begin() + b * k, got.begin() + (b + 1) * k), wanted)
            << max << " scores, k " << k << ", row " << b;
      }
    }
  }
}

TEST_F(StepKernels, ForcedChoices) {
  const std::vector<float> scores = {1, 2, 3, 4, 4, 3, 2, 1};
  const std::vector<int> positions = {15, 15}, forced = {0, 3, -1, 9, 9, 9}, count = {2, -1};
  int* chosen = poisoned<int>(6);
  kernels::choose_entries(stream_, upload(scores), 4, 4, upload(positions), 3, chosen,
                          {upload(forced), upload(count)}, 2);
  EXPECT_EQ(read(chosen, 6), (std::vector<int>{0, 3, -1, 0, 1, 2}));
}

TEST_F(StepKernels, AttentionOverWindowAndEntries) {
  for (const int dim : {72, 200, 640, 45}) attention_case(dim);
}

void StepKernels::attention_case(int dim) {
  constexpr int kBatch = 4, kHeads = 3, kPairs = 8, kWindow = 16, kMax = 40, kRatio = 4, kTopK = 6;
  Noise noise(11);
  const std::vector<int> positions = {0, 9, 40, 159};
  const auto q = noise.values(kBatch * kHeads * dim), sink = noise.values(kHeads);
  auto window = noise.values(kBatch * kWindow * dim), entries = noise.values(kBatch * kMax * dim);
  const Vector frequencies = {1.0, 0.5, 0.25, 0.125, 0.0625, 0.03125, 0.015625, 0.0078125};
  std::vector<int> chosen(kBatch * kTopK, -1);
  for (int b = 0; b < kBatch; ++b) {
    const int closed = closed_entries(positions[b], kRatio);
    for (int i = 0; i < std::min(kTopK, closed); ++i)
      chosen[b * kTopK + i] = closed - std::min(kTopK, closed) + i;
    // What no query may see is NaN.
    for (int slot = positions[b] + 1; slot < kWindow; ++slot)
      for (int d = 0; d < dim; ++d) window[(b * kWindow + slot) * dim + d] = NAN;
    for (int e = closed; e < kMax; ++e)
      for (int d = 0; d < dim; ++d) entries[(b * kMax + e) * dim + d] = NAN;
  }
  check(kernels::prepare_attention(dim));
  // Window alone; every entry; chosen ones; and each with q as the projection gave it.
  for (const int which : {0, 1, 2, 3, 4, 5}) {
    const int kind = which % 3;
    const bool raw = which >= 3;
    if (raw && !kernels::attention_prepares(dim)) continue;
    kernels::Attention args{};
    args.q = upload(q);
    args.prepares_q = raw;
    if (raw) args.prepared_q = poisoned<float>(kBatch * kHeads * dim);
    args.eps = 1e-3f;
    args.sink = upload(sink);
    args.window = upload(window);
    args.window_slots = args.window_tokens = kWindow;
    args.pages.per_page = kMax;
    if (kind > 0) args.entries = upload(entries);
    args.max_entries = kMax;
    args.ratio = kRatio;
    if (kind == 2) args.chosen = upload(chosen);
    args.width = kTopK;
    args.out = poisoned<float>(kBatch * kHeads * dim);
    args.heads = kHeads;
    args.dim = dim;
    args.frequencies = upload(std::vector<float>(frequencies.begin(), frequencies.end()));
    args.pairs = kPairs;
    args.positions = upload(positions);
    kernels::attend(stream_, args, kBatch);
    Vector wanted, prepared;
    for (int b = 0; b < kBatch; ++b) {
      const Vector own = part(window, b, kWindow * dim), more = part(entries, b, kMax * dim);
      std::vector<std::span<const double>> keys;
      for (int slot = 0; slot < std::min(positions[b] + 1, kWindow); ++slot)
        keys.push_back(values_of(own).subspan(slot * dim, dim));
      for (int e = 0; kind == 1 && e < closed_entries(positions[b], kRatio); ++e)
        keys.push_back(values_of(more).subspan(e * dim, dim));
      for (int i = 0; kind == 2 && i < kTopK; ++i)
        if (chosen[b * kTopK + i] >= 0)
          keys.push_back(values_of(more).subspan(chosen[b * kTopK + i] * dim, dim));
      for (int h = 0; h < kHeads; ++h) {
        Vector head = part(q, b * kHeads + h, dim);
        if (raw) {
          reference::rms_norm(std::span<double>(head), double{1e-3f});
          reference::rotate(std::span<double>(head), positions[b], values_of(frequencies));
          append(prepared, head);
        }
        Vector out = reference::attend<double>(values_of(head), keys, sink[h]);
        reference::rotate(std::span<double>(out), positions[b], values_of(frequencies),
                          reference::Rotation::kBackward);
        append(wanted, out);
      }
    }
    EXPECT_LT(distance(read(args.out, kBatch * kHeads * dim), wanted), 1e-5) << which;
    if (raw) {
      EXPECT_LT(distance(read(args.prepared_q, kBatch * kHeads * dim), prepared), 1e-5) << which;
    }
  }
}

TEST_F(StepKernels, RouterByScoreAndByTable) {
  for (const int experts : {8, 40, 256, 300, 600}) router_case(experts);
}

void StepKernels::router_case(int experts) {
  constexpr int kBatch = 3, kK = 6, kVocab = 10;
  Noise noise(12);
  auto logits = noise.values(kBatch * experts, 4);
  logits[5] = 25;  // softplus is the identity there
  const auto bias = noise.values(experts, 0.5);
  std::vector<int> table;
  for (int i = 0; i < kVocab * kK; ++i) table.push_back(noise.below(experts));
  table[6 * kK + 5] = table[6 * kK];  // an expert twice
  const std::vector<int> ids = {0, 6, 9};
  for (const bool hash : {false, true}) {
    kernels::Router args{};
    args.logits = upload(logits);
    args.bias = hash ? nullptr : upload(bias);
    args.table = hash ? upload(table) : nullptr;
    args.ids = upload(ids);
    args.scores = poisoned<float>(kBatch * experts);
    args.biased = poisoned<float>(kBatch * experts);
    args.chosen = poisoned<int>(kBatch * kK);
    args.shares = poisoned<float>(kBatch * kK);
    args.experts = experts;
    args.k = kK;
    args.scaling = 1.5f;
    kernels::route(stream_, args, kBatch);
    const auto chosen = read(args.chosen, kBatch * kK);
    Vector wanted_scores, wanted_shares;
    for (int b = 0; b < kBatch; ++b) {
      Vector scores = part(logits, b, experts);
      for (double& s : scores) s = std::sqrt(s > 20 ? s : std::log1p(std::exp(s)));
      append(wanted_scores, scores);
      std::vector<int> wanted;
      Vector biased = scores;
      for (int e = 0; e < experts; ++e) biased[e] += bias[e];
      if (hash)
        wanted.assign(table.begin() + ids[b] * kK, table.begin() + (ids[b] + 1) * kK);
      else
        wanted = top_k(values_of(biased), kK);
      EXPECT_EQ(std::vector<int>(chosen.begin() + b * kK, chosen.begin() + (b + 1) * kK), wanted) << b;
      append(wanted_shares, reference::expert_shares<double>(values_of(scores), wanted, 1.5));
    }
    EXPECT_LT(distance(read(args.scores, kBatch * experts), wanted_scores), 1e-5);
    EXPECT_LT(distance(read(args.shares, kBatch * kK), wanted_shares), 1e-5);
  }
}

TEST_F(StepKernels, NextTokenAndAdvance) {
  constexpr int kBatch = 6, kVocab = 3001, kMaxPositions = 50;
  Noise noise(13);
  for (int round = 0; round < 5; ++round) {
    auto logits = noise.values(kBatch * kVocab, 3);
    logits[2900] = logits[17] = 1000;  // a tie: the lowest id wins
    const std::vector<Sampling> sampling = {{0, 0, 0},  {0.7, 0, 11}, {1.3, 40, 12},
                                            {1, 1, 13}, {0, 0, 0},    {2, 5, 9}};
    const std::vector<int> positions = {3, 7, 20, 1, 0, 49};
    std::vector<int> ids = {1, 2, 3, 4, 0, 5};
    std::vector<kernels::RowSampling> rows;
    for (const Sampling& s : sampling)
      rows.push_back({s.temperature, tensor_key(s.seed, "sampling"), s.top_k, 1});
    rows[4].active = 0;
    kernels::NextToken args{};
    args.logits = upload(logits);
    args.sampling = upload(rows);
    args.vocab = kVocab;
    args.max_positions = kMaxPositions;
    args.ids = upload(ids);
    args.positions = upload(positions);
    args.sampled = poisoned<int>(kBatch);
    // The ring: each row at a step of its own, with one row more than there are here.
    const std::vector<unsigned> steps = {0, 1, 2, 3, 4294967295u, 6};
    args.ring = poisoned<int>(4 * (kBatch + 1));
    args.ring_step = upload(steps);
    args.ring_slots = 4;
    args.ring_rows = kBatch + 1;
    kernels::next_token(stream_, args, kBatch);
    const auto sampled = read(args.sampled, kBatch), next = read(args.ids, kBatch);
    const auto ring = read(args.ring, 4 * (kBatch + 1));
    const auto counted = read(args.ring_step, kBatch);
    for (std::size_t b = 0; b < kBatch; ++b) {
      EXPECT_EQ(ring[steps[b] % 4 * (kBatch + 1) + b], sampled[b]) << b;
      EXPECT_EQ(counted[b], steps[b] + 1) << b;
    }
    EXPECT_EQ(std::ranges::count(ring, -1), 4 * (kBatch + 1) - kBatch);
    const auto at = read(args.positions, kBatch);
    for (int b = 0; b < kBatch; ++b) {
      const int wanted =
          next_token(std::span<const float>(logits).subspan(b * kVocab, kVocab), sampling[b], positions[b]);
      EXPECT_EQ(sampled[b], wanted) << b;
      if (b == 4) {
        EXPECT_EQ(next[b], 0);
        EXPECT_EQ(at[b], 0);
        continue;
      }
      EXPECT_EQ(at[b], std::min(positions[b] + 1, kMaxPositions - 1));
      EXPECT_EQ(next[b], wanted) << b;
    }
  }
}

}  // namespace
}  // namespace dsv4
