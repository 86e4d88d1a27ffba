// The equations, each against what can be said of it without the code; the whole step is judged by the golden
// data.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "engine/model/choose.h"
#include "engine/reference/attention.h"
#include "engine/reference/compressor.h"
#include "engine/reference/hyper_connection.h"
#include "engine/reference/indexer.h"
#include "engine/reference/model.h"
#include "engine/reference/moe.h"
#include "engine/reference/rope.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_shapes.h"

namespace dsv4::reference {
namespace {

using Vector = std::vector<double>;

std::span<const double> view(const Vector& v) {
  return v;
}

Vector noise(int n, std::uint64_t seed) {
  Vector out;
  for (int i = 0; i < n; ++i)
    out.push_back(normal_sum(element_bits(seed, static_cast<std::uint64_t>(i))) / 40000.0);
  return out;
}

// A float32 matrix that lives as long as its values.
struct Matrix {
  Matrix(int rows, int cols, const Vector& values) : storage(values.begin(), values.end()) {
    weights = {WeightFormat::kF32, rows, cols, reinterpret_cast<const std::byte*>(storage.data()), nullptr};
  }
  std::vector<float> storage;
  WeightMatrix weights;
};

TEST(Dot, TakesEveryElementOnce) {
  for (int n = 0; n < 40; ++n) {
    Vector a(static_cast<std::size_t>(n)), b(a.size(), 1);
    std::iota(a.begin(), a.end(), 1);
    EXPECT_EQ(dot(a.data(), b.data(), n), n * (n + 1) / 2) << n;
  }
}

TEST(Rope, TurnsTrailingPairsAndBackAgain) {
  const Vector frequencies = {1.0, 0.25};
  const Vector x = noise(7, 1);
  Vector y = x;
  rotate(std::span<double>(y), 3, view(frequencies));
  for (int i = 0; i < 3; ++i) EXPECT_EQ(y[i], x[i]);
  EXPECT_NEAR(y[3], x[3] * std::cos(3.0) - x[4] * std::sin(3.0), 1e-15);
  EXPECT_NEAR(y[4], x[4] * std::cos(3.0) + x[3] * std::sin(3.0), 1e-15);
  EXPECT_NEAR(y[5], x[5] * std::cos(0.75) - x[6] * std::sin(0.75), 1e-15);
  rotate(std::span<double>(y), 3, view(frequencies), Rotation::kBackward);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], x[i], 1e-15);
}

// The published models: pairs up to 15 keep their speed, from 25 on they are 16 times slower.
TEST(Rope, YarnRampOfThePublishedModels) {
  const ModelConfig flash = *model_shape("flash");
  const auto plain = rope_frequencies(flash, LayerType::kSliding);
  const auto compress = rope_frequencies(flash, LayerType::kCsa);
  ASSERT_EQ(compress.size(), 32u);
  for (int i = 0; i < 32; ++i) {
    EXPECT_NEAR(plain[i], std::pow(10000.0, -2.0 * i / 64), 1e-15);
    const double f = std::pow(160000.0, -2.0 * i / 64);
    const double ramp = i <= 15 ? 0 : i >= 25 ? 1 : (i - 15) / 10.0;
    EXPECT_NEAR(compress[i], f / 16 * ramp + f * (1 - ramp), 1e-15) << i;
  }
  ModelConfig without = flash;
  without.yarn.reset();
  EXPECT_NEAR(rope_frequencies(without, LayerType::kHca)[31], std::pow(160000.0, -62.0 / 64), 1e-18);
}

TEST(HyperConnection, CombIsDoublyStochasticAndNotItsTranspose) {
  constexpr int kN = 4, kD = 16;
  const Matrix fn((2 + kN) * kN, kN * kD, noise((2 + kN) * kN * kN * kD, 2));
  const HyperConnection<double> hc{fn.weights, noise(24, 3), {0.3, 0.4, 0.2}};
  const Vector streams = noise(kN * kD, 4);
  const auto mix = site_mix(hc, view(streams), kN, 200, 1e-9, 1e-6);
  double asymmetry = 0;
  for (int i = 0; i < kN; ++i) {
    double row = 0, column = 0;
    for (int j = 0; j < kN; ++j) {
      row += mix.comb[i * kN + j];
      column += mix.comb[j * kN + i];
      asymmetry = std::max(asymmetry, std::abs(mix.comb[i * kN + j] - mix.comb[j * kN + i]));
    }
    EXPECT_NEAR(row, 1, 1e-6);
    EXPECT_NEAR(column, 1, 1e-6);
    EXPECT_GT(mix.post[i], 0);
    EXPECT_LT(mix.post[i], 2);
  }
  EXPECT_GT(asymmetry, 0.01);
}

TEST(HyperConnection, ExpandContractsTheFirstIndexOfComb) {
  SiteMix<double> mix{{}, {0.5, 2.0}, {1, 2, 3, 4}};
  Vector streams = {10, 20, 30, 40};  // two streams of two
  expand(std::span<double>(streams), view({100, 200}), mix);
  EXPECT_EQ(streams, (Vector{0.5 * 100 + 1 * 10 + 3 * 30, 0.5 * 200 + 1 * 20 + 3 * 40,  //
                             2.0 * 100 + 2 * 10 + 4 * 30, 2.0 * 200 + 2 * 20 + 4 * 40}));
}

TEST(Attention, SinkTakesItsShareAndHasNoValue) {
  const Vector q = {1, 0, 0, 0}, key = {2, 4, 6, 8};
  const double a = std::exp(1.0);  // <q, key> / sqrt(4)
  const auto out = attend(view(q), {view(key)}, 0.0);
  for (std::size_t i = 0; i < key.size(); ++i) EXPECT_NEAR(out[i], key[i] * a / (a + 1), 1e-14);
  const auto nothing = attend(view(q), {}, -3.0);
  for (const double v : nothing) EXPECT_EQ(v, 0);
  // Large logits do not overflow.
  const auto large = attend(view({1e4, 0, 0, 0}), {view(key)}, 0.0);
  for (std::size_t i = 0; i < key.size(); ++i) EXPECT_NEAR(large[i], key[i], 1e-9);
}

TEST(TopK, TakesTheLargestInAscendingOrder) {
  const Vector values = {3, -1, 5, 3, 4};
  EXPECT_EQ(top_k(view(values), 3), (std::vector{0, 2, 4}));
  EXPECT_EQ(top_k(view(values), 9), (std::vector{0, 1, 2, 3, 4}));
  EXPECT_TRUE(top_k(view(Vector{}), 3).empty());
}

TEST(Indexer, ScoresMayBeNegative) {
  Vector keys = {1, 0, -1, 0};  // two keys of two
  const CompressorRow<double> row{{}, {}, keys};
  const Vector query = {2, 0, -2, 0}, weights = {1, -3};
  const auto scores = index_scores(view(query), view(weights), row, 2, 2);
  EXPECT_NEAR(scores[0], 2 / std::sqrt(2.0), 1e-15);
  EXPECT_NEAR(scores[1], -3 * 2 / std::sqrt(2.0), 1e-15);
}

TEST(FeedForward, GateIsClampedAboveAndUpOnBothSides) {
  const Matrix identity(3, 3, {1, 0, 0, 0, 1, 0, 0, 0, 1});
  const ExpertWeights e{identity.weights, identity.weights, identity.weights};
  const auto y = feed_forward(e, view({5, -5, 0.5}), 1.0);
  const auto silu = [](double x) { return x / (1 + std::exp(-x)); };
  EXPECT_NEAR(y[0], silu(1) * 1, 1e-15);
  EXPECT_NEAR(y[1], silu(-5) * -1, 1e-15);
  EXPECT_NEAR(y[2], silu(0.5) * 0.5, 1e-15);
}

TEST(Router, ScoresAreFiniteForAnyLogit) {
  const Matrix gate(3, 1, {1000, -1000, 0});
  const auto s = router_scores(gate.weights, view({1}));
  EXPECT_NEAR(s[0], std::sqrt(1000.0), 1e-12);
  EXPECT_EQ(s[1], 0);
  EXPECT_NEAR(s[2], std::sqrt(std::log(2.0)), 1e-12);
  const int chosen[] = {2, 2};
  const auto shares = expert_shares(view(s), chosen, 1.5);
  EXPECT_NEAR(shares[0] + shares[1], 1.5, 1e-12);
}

// Pooling with a ring against the windows written out, for both kinds, over several windows.
TEST(Compressor, PoolsItsWindowsFromTheRing) {
  for (const bool overlap : {false, true}) {
    const int ratio = 4, dim = 3, ring = overlap ? 8 : 4, width = overlap ? 6 : 3, inputs = 5;
    const CompressorShape shape{ratio, ring, width, dim, 8, overlap};
    const Matrix kv(width, inputs, noise(width * inputs, 5)), gate(width, inputs, noise(width * inputs, 6));
    const Compressor<double> c{shape, kv.weights, gate.weights, noise(ratio * width, 7), Vector(dim, 1.0)};
    Vector kv_ring(ring * width, 1e30), gate_ring(ring * width, 1e30),
        entries(8 * dim);  // old content must not matter
    const CompressorRow<double> row{kv_ring, gate_ring, entries};
    std::vector<Vector> all_kv, all_gate;
    for (int p = 0; p < 24; ++p) {
      const Vector x = noise(inputs, 100 + p);
      const int closed = compress(c, row, view(x), p, {}, 1e-6);
      all_kv.push_back(project(kv.weights, x));
      all_gate.push_back(project(gate.weights, x));
      for (int i = 0; i < width; ++i) all_gate.back()[i] += c.ape[(p % ratio) * width + i];
      ASSERT_EQ(closed, (p + 1) % ratio == 0 ? p / ratio : -1);
      if (closed < 0) continue;
      Vector expected(dim);
      for (int d = 0; d < dim; ++d) {
        double top = 0, bottom = 0;
        const auto add = [&](int token, int channel) {
          if (token < 0) return;
          top += std::exp(all_gate[token][channel]) * all_kv[token][channel];
          bottom += std::exp(all_gate[token][channel]);
        };
        for (int j = 0; j < ratio; ++j) {
          if (overlap) add(closed * ratio - ratio + j, d);
          add(closed * ratio + j, overlap ? dim + d : d);
        }
        expected[d] = top / bottom;
      }
      rms_norm(std::span<double>(expected), 1e-6);
      for (int d = 0; d < dim; ++d)
        EXPECT_NEAR(row.entry(closed, dim)[d], expected[d], 1e-12) << p << " " << d;
    }
  }
}

// Rows that are at different positions, restarted or padded give what each gives alone, bit for bit.
TEST(Step, RowsAreIndependent) {
  const ModelConfig config = *model_shape("tiny");
  const GeneratedTensors tensors(config, 21, Storage::kCheckpoint);
  const auto weights = bind_weights(config, tensors);
  ASSERT_TRUE(weights) << weights.error();
  const auto vocab = static_cast<std::size_t>(config.vocab_size);
  const auto token = [](int row, int position) { return (row * 37 + position * 11 + 5) % 256; };
  constexpr int kLength = 40;

  std::map<std::pair<int, int>, std::vector<float>> alone;
  for (int row = 0; row < 2; ++row) {
    Model<float> model(config, *weights, 1, kLength);
    for (std::int32_t p = 0; p < kLength; ++p) {
      std::vector<float> logits(vocab);
      const std::int32_t id = token(row, p);
      model.step(std::span(&id, 1), std::span(&p, 1), logits);
      alone[{row, p}] = logits;
    }
  }
  // Row 0 from the start; row 1 padded for 7 steps; row 2 runs something else for 19 steps, then row 1's
  // tokens.
  Model<float> model(config, *weights, 3, kLength);
  std::vector<float> logits(3 * vocab);
  for (int step = 0; step < kLength; ++step) {
    const int late = step - 7, restarted = step - 19;
    const std::int32_t ids[] = {token(0, step), late < 0 ? 0 : token(1, late),
                                restarted < 0 ? token(5, step) : token(1, restarted)};
    const std::int32_t positions[] = {step, late < 0 ? 0 : late, restarted < 0 ? step : restarted};
    model.step(ids, positions, logits);
    const auto same = [&](int row, const std::vector<float>& expected) {
      return std::memcmp(logits.data() + row * vocab, expected.data(), vocab * sizeof(float)) == 0;
    };
    EXPECT_TRUE(same(0, alone[{0, step}])) << step;
    if (late >= 0) {
      EXPECT_TRUE(same(1, alone[{1, late}])) << step;
    }
    if (restarted >= 0) {
      EXPECT_TRUE(same(2, alone[{1, restarted}])) << step;
    }
  }
}

}  // namespace
}  // namespace dsv4::reference
