// Matrices in tiles: each output against double on the dequantised weights, in parts of |w| |x|; a row's bits
// in any company.
#include <algorithm>
#include <limits>

#include "engine/reference/linear.h"
#include "engine/reference/moe.h"
#include "kernels/experts.h"
#include "kernels/gemv.h"
#include "kernels/product.h"
#include "kernels/stream.h"
#include "kernels/tiles.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {
namespace {

constexpr double kAlmost = 1e-6;

struct StreamKind {
  WeightFormat format;
  bool scale_is_f32;
};
constexpr StreamKind kStreamKinds[] = {{WeightFormat::kBf16, false},
                                       {WeightFormat::kFp8Block, false},
                                       {WeightFormat::kFp8Block, true},
                                       {WeightFormat::kFp4Row, false}};

class StreamKernels : public DeviceTest {
 protected:
  void SetUp() override {
    DeviceTest::SetUp();
    if (!kernels::can_be_tiled({nullptr, nullptr, 16, 256, kernels::Format::kFp4Row}))
      GTEST_SKIP() << "no streaming kernels on this device";
    check(kernels::prepare_streams());
  }

  kernels::Matrix tiled(const HostMatrix& w) {
    const kernels::Matrix by_rows = upload(w);
    EXPECT_TRUE(kernels::can_be_tiled(by_rows));
    return kernels::lay_out(
        stream_, by_rows,
        poisoned<std::byte>(kernels::tiled_bytes(by_rows.format, by_rows.rows, by_rows.cols)));
  }

  // For all that a test multiplies.
  const kernels::ProductRoom* room() {
    if (room_.limbs != nullptr) return &room_;
    room_ = kernels::product_room(1 << 15, 64);
    room_.limbs = poisoned<std::byte>(room_.limb_bytes);
    room_.units = poisoned<float>(room_.unit_floats);
    room_.parts = poisoned<float>(room_.part_floats);
    room_.counts = upload(std::vector<unsigned>(static_cast<std::size_t>(room_.most_counts)));
    return &room_;
  }

  std::vector<float> product(const kernels::Matrix& w, const float* x, int width, int batch, int groups,
                             float factor, bool with_room = true) {
    kernels::GemvTasks tasks;
    tasks.room = with_room ? room() : nullptr;
    kernels::GemvTask task;
    task.w = w;
    task.x = x;
    task.x_stride = width;
    task.y = poisoned<float>(std::int64_t{batch} * w.rows);
    task.y_stride = w.rows;
    task.rows_per_group = groups > 0 ? w.rows / groups : 0;
    task.factor = factor;
    tasks.add(task);
    kernels::gemv(stream_, tasks, batch);
    return read(task.y, std::int64_t{batch} * w.rows);
  }

  // The largest |y - w x| / (|w| |x|); `rows` of the output alone, if there are many.
  static double worst(const WeightMatrix& w, std::span<const float> x, std::span<const float> y, int group,
                      int rows_per_group) {
    double worst = 0;
    std::vector<double> row(static_cast<std::size_t>(w.cols));
    double xx = 0;
    for (const float v : x) xx += double{v} * v;
    const int step = std::max(1, rows_per_group / 150);
    for (int r = 0; r < rows_per_group; r += step) {
      w.decode_row(group * rows_per_group + r, row.data());
      double sum = 0, ww = 0;
      for (int c = 0; c < w.cols; ++c) {
        sum += row[c] * x[c];
        ww += row[c] * row[c];
      }
      const double size = std::sqrt(ww * xx), difference = std::abs(y[r] - sum);
      const double part = size > 0 ? difference / size : difference;
      if (!(part <= worst)) worst = std::isnan(part) ? INFINITY : part;
    }
    return worst;
  }

  void case_of(StreamKind kind, int rows, int cols, int groups, std::vector<int> batches, bool heavy,
               Noise& noise) {
    const HostMatrix w = random_matrix(kind.format, rows, cols, noise, kind.scale_is_f32);
    const kernels::Matrix device = tiled(w);
    const int width = groups > 0 ? groups * cols : cols, parts = std::max(1, groups), count = rows / parts;
    const int most = *std::ranges::max_element(batches);
    auto x = noise.values(std::int64_t{most} * width);
    if (heavy)
      for (float& v : x) v *= std::exp(2 * noise.value());
    const float* in = upload(x);
    std::vector<float> alone;
    for (int b = 0; b < most; ++b) {
      const auto y = product(device, in + b * width, width, 1, groups, 0.5f);
      alone.insert(alone.end(), y.begin(), y.end());
      for (int g = 0; g < parts; ++g) {
        std::vector<float> twice(y.begin() + g * count, y.begin() + (g + 1) * count);
        for (float& v : twice) v *= 2;
        const auto from = std::span(x).subspan(static_cast<std::size_t>(b * width + g * cols), cols);
        EXPECT_LT(worst(w.view, from, twice, g, count), kAlmost)
            << "format " << static_cast<int>(kind.format) << ", " << rows << " x " << cols << ", group " << g;
      }
    }
    for (const bool with_room : {true, false})  // as a product, and in passes
      for (const int batch : batches) {
        const auto y = product(device, in, width, batch, groups, 0.5f, with_room);
        EXPECT_EQ(std::memcmp(y.data(), alone.data(), y.size() * sizeof(float)), 0)
            << "format " << static_cast<int>(kind.format) << ", " << rows << " x " << cols << ", batch "
            << batch << ", room " << with_room;
      }
  }

 private:
  kernels::ProductRoom room_;
};

TEST_F(StreamKernels, EveryFormatAndShape) {
  Noise noise(41);
  for (const StreamKind kind : kStreamKinds) {
    case_of(kind, 70, 256, 0, {1, 2, 3, 4, 5, 8, 11}, false, noise);
    case_of(kind, 300, 4096, 0, {1, 2, 6}, false, noise);
    case_of(kind, 4096, 1024, 0, {1, 3}, false, noise);   // four tiles side by side, several turns
    case_of(kind, 5000, 96, 0, {1, 4}, false, noise);     // less than a slice
    case_of(kind, 64, 8192, 0, {1, 4, 7}, false, noise);  // two chunks
    case_of(kind, 48, 7168, 0, {1, 5}, false, noise);
    case_of(kind, 80, 1536, 0, {1, 2}, false, noise);  // two tiles side by side, four warps without one
    case_of(kind, 17, 16384, 0, {1, 4}, false, noise);
    case_of(kind, 256, 4096, 8, {1, 3}, false, noise);
    case_of(kind, 5000, 4384, 0, {1}, true, noise);  // more turns than have room at once
    case_of(kind, 512, 2048, 0, {1, 4}, true, noise);
  }
  for (const StreamKind kind : kStreamKinds)
    if (kind.format != WeightFormat::kFp4Row) {
      case_of(kind, 33, 130, 0, {1, 3}, false, noise);
      case_of(kind, 16, 7, 0, {1, 2}, false, noise);
      case_of(kind, 129, 1031, 0, {1, 5}, false, noise);
    }
}

TEST_F(StreamKernels, SixtyFourRows) {
  Noise noise(42);
  std::vector<int> batches = {64, 32, 16};
  for (const StreamKind kind : kStreamKinds) {
    case_of(kind, 256, 1024, 0, batches, false, noise);
    case_of(kind, 130, 8192, 0, {64, 33, 17, 9, 5}, true, noise);  // in parts, rows beside the last tile
    case_of(kind, 512, 4096, 4, {64, 24}, false, noise);
    case_of(kind, 20000, 512, 0, {12}, false, noise);
  }
}

// Rows of a matrix, x picks one column: each code in each place, alone.
TEST_F(StreamKernels, EveryCodeIsDecodedExactly) {
  for (const auto format : {WeightFormat::kFp8Block, WeightFormat::kFp4Row}) {
    const bool fp4 = format == WeightFormat::kFp4Row;
    constexpr int kRows = 256, kCols = 512;
    Noise noise(43);
    HostMatrix w = random_matrix(format, kRows, kCols, noise);
    const std::size_t row_bytes = fp4 ? kCols / 2 : kCols;
    for (std::size_t i = 0; i < w.data.size(); ++i) {
      auto code = static_cast<unsigned>(i / row_bytes);
      if (!fp4 && (code & 0x7F) == 0x7F) code = 0;  // NaN
      w.data[i] = static_cast<std::byte>(code);
    }
    const kernels::Matrix device = tiled(w);
    for (int col = 0; col < kCols; col += col < 40 ? 1 : 29) {
      std::vector<float> x(kCols);
      x[static_cast<std::size_t>(col)] = 1;
      const auto y = product(device, upload(x), kCols, 1, 0, 1);
      std::vector<float> row(kCols);
      for (int r = 0; r < kRows; ++r) {
        w.view.decode_row(r, row.data());
        ASSERT_EQ(y[static_cast<std::size_t>(r)], row[static_cast<std::size_t>(col)])
            << "code " << r << ", column " << col << ", fp4 " << fp4;
      }
    }
  }
}

// Vectors of zeros, of the smallest and of large values; a NaN stays with its row.
TEST_F(StreamKernels, UnusualVectors) {
  Noise noise(44);
  constexpr int kRows = 40, kCols = 512, kBatch = 5;
  for (const StreamKind kind : kStreamKinds) {
    const HostMatrix w = random_matrix(kind.format, kRows, kCols, noise, kind.scale_is_f32);
    auto x = noise.values(kBatch * kCols);
    for (int c = 0; c < kCols; ++c) {
      x[c] = 0;
      x[kCols + c] *= 1e-30f;
      x[2 * kCols + c] *= 1e25f;
    }
    x[3 * kCols + 300] = std::numeric_limits<float>::quiet_NaN();
    const auto y = product(tiled(w), upload(x), kCols, kBatch, 0, 1);
    for (int b = 0; b < kBatch; ++b) {
      const auto out = std::span(y).subspan(static_cast<std::size_t>(b * kRows), kRows);
      const auto from = std::span(x).subspan(static_cast<std::size_t>(b * kCols), kCols);
      if (b == 3) {
        EXPECT_TRUE(std::ranges::all_of(out, [](float v) { return std::isnan(v); }));
      } else {
        EXPECT_LT(worst(w.view, from, out, 0, kRows), kAlmost) << b;
      }
    }
  }
}

TEST_F(StreamKernels, SeveralMatricesInOneLaunch) {
  Noise noise(45);
  std::vector<HostMatrix> all;
  kernels::GemvTasks tasks;
  constexpr int kBatch = 3, kCols = 1024;
  const auto x = noise.values(kBatch * kCols);
  float* in = upload(x);
  for (const int rows : {48, 512, 1, 9, 64, 300, 2000, 17})
    all.push_back(random_matrix(kStreamKinds[all.size() % 4].format, rows, kCols, noise));
  for (const HostMatrix& w : all) {
    kernels::GemvTask task;
    task.w = &w == &all[2] ? upload(w) : tiled(w);  // one by rows
    task.x = in;
    task.x_stride = kCols;
    task.y = poisoned<float>(kBatch * w.view.rows);
    task.y_stride = w.view.rows;
    tasks.add(task);
  }
  kernels::gemv(stream_, tasks, kBatch);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int rows = all[i].view.rows;
    const auto y = read(tasks.task[i].y, kBatch * rows);
    for (int b = 0; b < kBatch; ++b)
      EXPECT_LT(
          worst(all[i].view, std::span(x).subspan(static_cast<std::size_t>(b * kCols), kCols),
                std::span(y).subspan(static_cast<std::size_t>(b * rows), static_cast<std::size_t>(rows)), 0,
                rows),
          kAlmost)
          << i;
  }
}

// Vectors that are normalised on the way: in tiles and by rows, with the small work beside.
TEST_F(StreamKernels, NormalisedVectorsAndWorkBeside) {
  Noise noise(47);
  constexpr int kRows = 300, kBatch = 6, kDim = 64, kSlots = 4;
  for (const int cols : {96, 1024, 1536, 8192}) {
    const HostMatrix w = random_matrix(WeightFormat::kFp8Block, kRows, cols, noise);
    const auto x = noise.values(kBatch * cols, 3), norm = noise.values(cols);
    const auto kv = noise.values(kBatch * kDim), kv_norm = noise.values(kDim);
    std::vector<float> alone;
    for (const bool tiles : {true, false})
      for (const int batch : {1, kBatch}) {
        kernels::GemvTasks tasks;
        tasks.room = room();
        kernels::GemvTask task;
        task.w = tiles ? tiled(w) : upload(w);
        task.x = upload(x);
        task.x_stride = cols;
        task.y = poisoned<float>(batch * kRows);
        task.y_stride = kRows;
        task.norm = upload(norm);
        task.normed = poisoned<float>(batch * cols);
        task.keeps_normed = true;
        task.eps = 1e-3f;
        tasks.add(task);
        kernels::Beside beside;
        beside.norm_rope = {};
        beside.norm_rope.in = upload(kv);
        beside.norm_rope.out = poisoned<float>(batch * kDim);
        beside.norm_rope.heads = 1;
        beside.norm_rope.dim = kDim;
        beside.norm_rope.normalise = true;
        beside.norm_rope.weight = upload(kv_norm);
        beside.norm_rope.positions = upload(std::vector<int>(kBatch, 6));
        beside.norm_rope.eps = 1e-3f;
        beside.norm_rope.window = poisoned<float>(batch * kSlots * kDim);
        beside.norm_rope.window_slots = kSlots;
        beside.has_norm_rope = true;
        kernels::gemv(stream_, tasks, batch, beside);
        const auto y = read(task.y, batch * kRows);
        if (tiles && batch == 1) alone = y;
        if (tiles && batch > 1) {
          EXPECT_EQ(std::memcmp(alone.data(), y.data(), alone.size() * sizeof(float)), 0) << cols;
        }
        std::vector<double> wanted, wanted_normed, wanted_key;
        const auto normalised = [&](std::span<const float> v, std::span<const float> weight) {
          std::vector<double> out = doubles(v);
          double squares = 0;
          for (const double e : out) squares += e * e;
          const double scale = 1 / std::sqrt(squares / static_cast<double>(out.size()) + double{1e-3f});
          for (std::size_t i = 0; i < out.size(); ++i) out[i] *= scale * weight[i];
          return out;
        };
        for (int b = 0; b < batch; ++b) {
          const auto one = normalised(
              std::span(x).subspan(static_cast<std::size_t>(b * cols), static_cast<std::size_t>(cols)), norm);
          wanted_normed.insert(wanted_normed.end(), one.begin(), one.end());
          const auto products = reference::project(w.view, one);
          wanted.insert(wanted.end(), products.begin(), products.end());
          const auto key =
              normalised(std::span(kv).subspan(static_cast<std::size_t>(b * kDim), kDim), kv_norm);
          wanted_key.insert(wanted_key.end(), key.begin(), key.end());
        }
        EXPECT_LT(distance(y, wanted), 3e-6) << cols << ", tiles " << tiles << ", batch " << batch;
        EXPECT_LT(distance(read(task.normed, batch * cols), wanted_normed), 1e-6) << cols << ", " << tiles;
        EXPECT_LT(distance(read(beside.norm_rope.out, batch * kDim), wanted_key), 1e-6) << cols;
        const auto window = read(beside.norm_rope.window, batch * kSlots * kDim);
        EXPECT_EQ(std::vector<float>(window.begin() + 2 * kDim, window.begin() + 3 * kDim),
                  read(beside.norm_rope.out, kDim));
      }
  }
}

// Experts of the given sizes: up and down against double, and each row's bits alone and in company, where
// several rows choose one expert.
TEST_F(StreamKernels, ExpertsOfEveryFormat) {
  struct Size {
    int d, inner, experts, slots, batch;
  };
  for (const StreamKind kind : kStreamKinds)
    for (const Size size : {Size{160, 96, 5, 3, 7}, Size{1056, 520, 3, 2, 11}, Size{4096, 256, 4, 6, 3}}) {
      Noise noise(46);
      std::vector<HostMatrix> w1, w3, w2;  // the last is the shared one
      const auto matrix = [&](int rows, int cols) {
        return random_matrix(kind.format, rows, cols, noise, kind.scale_is_f32);
      };
      if (kind.format == WeightFormat::kFp4Row && (size.d % 32 != 0 || size.inner % 32 != 0)) continue;
      for (int e = 0; e <= size.experts; ++e) {
        w1.push_back(matrix(size.inner, size.d));
        w3.push_back(matrix(size.inner, size.d));
        w2.push_back(matrix(size.d, size.inner));
      }
      const auto format = static_cast<kernels::Format>(kind.format);
      const std::int64_t pair = kernels::tiled_pair_bytes(format, size.inner, size.d),
                         one = kernels::tiled_bytes(format, size.d, size.inner);
      auto* const up_data = poisoned<std::byte>(pair * (size.experts + 1));
      auto* const down_data = poisoned<std::byte>(one * (size.experts + 1));
      kernels::ExpertMatrices both, down;
      kernels::Matrix shared_both, shared_down;
      for (int e = size.experts; e >= 0; --e) {
        const auto b = kernels::lay_out_pair(stream_, upload(w1[e]), upload(w3[e]), up_data + e * pair);
        const auto d = kernels::lay_out(stream_, upload(w2[e]), down_data + e * one);
        (e == size.experts ? shared_both : both.first) = b;
        (e == size.experts ? shared_down : down.first) = d;
      }
      both.data_stride = pair;
      down.data_stride = one;
      const auto x = noise.values(size.batch * size.d, 0.02);
      std::vector<int> chosen;
      for (int i = 0; i < size.batch * size.slots; ++i) chosen.push_back(noise.below(size.experts));
      constexpr float kLimit = 4;
      const int out_slots = size.slots + 1;
      const auto run = [&](int first, int batch) {
        auto* inner = poisoned<float>(batch * out_slots * size.inner);
        auto* parts = poisoned<float>(batch * out_slots * size.d);
        const float* in = upload(x) + first * size.d;
        const int* ids = upload(chosen) + first * size.slots;
        kernels::ExpertsUp up{};
        up.x = in;
        up.chosen = ids;
        up.out = inner;
        up.slots = size.slots;
        up.out_slots = out_slots;
        up.limit = kLimit;
        up.both = both;
        up.shared_both = shared_both;
        kernels::experts_up(stream_, up, batch);
        kernels::experts_down(
            stream_, {down, inner, ids, parts, size.slots, out_slots, out_slots, shared_down, room()}, batch);
        return read(parts, batch * out_slots * size.d);
      };
      const auto together = run(0, size.batch);
      const std::size_t row = static_cast<std::size_t>(out_slots) * size.d;
      std::vector<double> wanted;
      for (int b = 0; b < size.batch; ++b) {
        const auto alone = run(b, 1);
        EXPECT_EQ(std::memcmp(alone.data(), together.data() + b * row, row * sizeof(float)), 0)
            << "format " << static_cast<int>(kind.format) << ", row " << b << " of " << size.d;
        const auto token = doubles(std::span(x).subspan(static_cast<std::size_t>(b * size.d), size.d));
        for (int s = 0; s <= size.slots; ++s) {
          const int e = s == size.slots ? size.experts : chosen[b * size.slots + s];
          ExpertWeights w;
          w.w1 = w1[e].view;
          w.w3 = w3[e].view;
          w.w2 = w2[e].view;
          const auto y = reference::feed_forward<double>(w, token, kLimit);
          wanted.insert(wanted.end(), y.begin(), y.end());
        }
      }
      EXPECT_LT(distance(together, wanted), 3e-6) << static_cast<int>(kind.format) << ", " << size.d;
    }
}

}  // namespace
}  // namespace dsv4
