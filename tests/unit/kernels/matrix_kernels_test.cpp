// Embedding, GEMV and experts in every weight format, against double on the dequantised weights.
#include <array>
#include <limits>
#include <set>

#include "engine/reference/linear.h"
#include "engine/reference/moe.h"
#include "engine/weights/generator.h"
#include "engine/weights/model_shapes.h"
#include "kernels/embedding.h"
#include "kernels/experts.h"
#include "kernels/gemv.h"
#include "kernels/generate_elements.h"
#include "kernels/hyper_connection.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {
namespace {

struct Kind {
  WeightFormat format;
  bool scale_is_f32;
};
constexpr Kind kKinds[] = {{WeightFormat::kF32, false},     {WeightFormat::kBf16, false},
                           {WeightFormat::kF16, false},     {WeightFormat::kFp8Block, false},
                           {WeightFormat::kFp8Block, true}, {WeightFormat::kFp4Row, false}};

class MatrixKernels : public DeviceTest {
 protected:
  void experts_case(Kind kind, int size, int inner_size);
  void gemv_case(Kind kind, int rows, int cols, int batch, int groups, Noise& noise) {
    const HostMatrix w = random_matrix(kind.format, rows, cols, noise, kind.scale_is_f32);
    const int width = groups > 0 ? groups * cols : cols;
    const auto x = noise.values(std::int64_t{batch} * width);
    kernels::GemvTasks tasks;
    kernels::GemvTask task;
    task.w = upload(w);
    task.x = upload(x);
    task.x_stride = width;
    task.y = poisoned<float>(std::int64_t{batch} * rows);
    task.y_stride = rows;
    task.rows_per_group = groups > 0 ? rows / groups : 0;
    task.factor = 0.5f;
    tasks.add(task);
    kernels::gemv(stream_, tasks, batch);
    const auto y = read(task.y, std::int64_t{batch} * rows);
    std::vector<double> wanted;
    for (int b = 0; b < batch; ++b)
      for (int g = 0; g < std::max(1, groups); ++g) {
        const auto in = doubles(std::span(x).subspan(static_cast<std::size_t>(b * width + g * cols), cols));
        const int count = rows / std::max(1, groups);
        for (const double v : reference::project_rows(w.view, std::span<const double>(in), g * count, count))
          wanted.push_back(v * 0.5);
      }
    EXPECT_LT(distance(y, wanted), kExact)
        << "format " << static_cast<int>(kind.format) << ", " << rows << " x " << cols << ", batch " << batch;
  }
};

TEST_F(MatrixKernels, GemvOfEveryFormat) {
  Noise noise(1);
  for (const Kind kind : kKinds) {
    for (const int batch : {1, 2, 3, 5, 8, 11}) gemv_case(kind, 70, 256, batch, 0, noise);
    gemv_case(kind, 300, 4096, 1, 0, noise);  // several warps a row
    gemv_case(kind, 256, 128, 2, 4, noise);
    gemv_case(kind, 5000, 64, 1, 0, noise);  // from here on four rows share what is read of x
    gemv_case(kind, 4224, 4224, 1, 0, noise);
    gemv_case(kind, 4224, 128, 1, 4, noise);
  }
}

TEST_F(MatrixKernels, GemvOfRowsThatAreNoWholeChunks) {
  Noise noise(2);
  for (const Kind kind : kKinds) {
    if (kind.format == WeightFormat::kFp4Row) continue;  // its rows are whole groups of 32
    gemv_case(kind, 33, 130, 3, 0, noise);
    gemv_case(kind, 16, 7, 1, 0, noise);
    gemv_case(kind, 129, 1031, 2, 0, noise);
    gemv_case(kind, 4224, 131, 1, 0, noise);
  }
  gemv_case({WeightFormat::kFp4Row, false}, 33, 96, 3, 0, noise);
}

TEST_F(MatrixKernels, SeveralMatricesInOneLaunch) {
  Noise noise(3);
  std::vector<HostMatrix> all;
  kernels::GemvTasks tasks;
  constexpr int kBatch = 2;
  const auto x = noise.values(kBatch * 512);
  float* in = upload(x);
  for (const int rows : {48, 512, 1, 9, 64, 300, 8, 17})
    all.push_back(random_matrix(kKinds[all.size() % 6].format, rows, 512, noise));
  for (const HostMatrix& w : all) {
    kernels::GemvTask task;
    task.w = upload(w);
    task.x = in;
    task.x_stride = 512;
    task.y = poisoned<float>(kBatch * w.view.rows);
    task.y_stride = w.view.rows;
    tasks.add(task);
  }
  kernels::gemv(stream_, tasks, kBatch);
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::vector<double> wanted;
    for (int b = 0; b < kBatch; ++b)
      for (const double v : reference::project(all[i].view, doubles(std::span(x).subspan(b * 512, 512))))
        wanted.push_back(v);
    EXPECT_LT(distance(read(tasks.task[i].y, kBatch * all[i].view.rows), wanted), kExact) << i;
  }
}

// Each code alone: row r is code r in every column, x picks one column.
TEST_F(MatrixKernels, EveryCodeIsDecodedExactly) {
  for (const auto format : {WeightFormat::kFp8Block, WeightFormat::kFp4Row}) {
    const bool fp4 = format == WeightFormat::kFp4Row;
    constexpr int kRows = 256, kCols = 64;
    Noise noise(4);
    HostMatrix w = random_matrix(format, kRows, kCols, noise);
    const std::size_t row_bytes = fp4 ? kCols / 2 : kCols;
    for (std::size_t i = 0; i < w.data.size(); ++i) {
      auto code = static_cast<unsigned>(i / row_bytes);
      if (!fp4 && (code & 0x7F) == 0x7F) code = 0;  // NaN
      w.data[i] = static_cast<std::byte>(code);
    }
    const kernels::Matrix device = upload(w);
    for (const int col : {0, 1, 2, 3, 17, 31, 32, 63}) {
      std::vector<float> x(kCols);
      x[static_cast<std::size_t>(col)] = 1;
      kernels::GemvTasks tasks;
      kernels::GemvTask task;
      task.w = device;
      task.x = upload(x);
      task.x_stride = kCols;
      task.y = poisoned<float>(kRows);
      task.y_stride = kRows;
      tasks.add(task);
      kernels::gemv(stream_, tasks, 1);
      const auto y = read(task.y, kRows);
      std::vector<float> row(kCols);
      for (int r = 0; r < kRows; ++r) {
        w.view.decode_row(r, row.data());
        ASSERT_EQ(y[static_cast<std::size_t>(r)], row[static_cast<std::size_t>(col)])
            << "code " << r << ", column " << col << ", fp4 " << fp4;
      }
    }
  }
}

TEST_F(MatrixKernels, EmbeddingGoesToEveryStream) {
  Noise noise(5);
  constexpr int kVocab = 50, kD = 96, kN = 4, kBatch = 3;
  for (const Kind kind : kKinds) {
    const HostMatrix table = random_matrix(kind.format, kVocab, kD, noise, kind.scale_is_f32);
    const std::vector<int> ids = {0, 49, 17};
    auto* out = poisoned<float>(kBatch * kN * kD);
    kernels::embed(stream_, upload(table), upload(ids), out, kN, kBatch);
    const auto streams = read(out, kBatch * kN * kD);
    std::vector<float> row(kD);
    for (int b = 0; b < kBatch; ++b) {
      table.view.decode_row(ids[static_cast<std::size_t>(b)], row.data());
      for (int i = 0; i < kN * kD; ++i)
        ASSERT_FLOAT_EQ(streams[static_cast<std::size_t>(b * kN * kD + i)],
                        row[static_cast<std::size_t>(i % kD)]);
    }
  }
}

TEST_F(MatrixKernels, ExpertsOfEveryFormat) {
  for (const Kind kind : kKinds) experts_case(kind, 160, 96);
}

TEST_F(MatrixKernels, ExpertsLargeEnoughForRowsToShare) {
  for (const Kind kind : {Kind{WeightFormat::kF32, false}, Kind{WeightFormat::kFp8Block, false},
                          Kind{WeightFormat::kFp4Row, false}})
    experts_case(kind, 1056, 1088);
}

void MatrixKernels::experts_case(Kind kind, int size, int inner_size) {
  constexpr int kExperts = 5, kSlots = 3, kBatch = 2;
  Noise noise(6);
  std::vector<ExpertWeights> host;
  std::vector<HostMatrix> keep;
  const auto packed = [&](int rows, int cols, auto member) {
    std::vector<std::byte> data, scale;
    kernels::ExpertMatrices out;
    for (int e = 0; e < kExperts; ++e) {
      keep.push_back(random_matrix(kind.format, rows, cols, noise, kind.scale_is_f32));
      const HostMatrix& m = keep.back();
      host[static_cast<std::size_t>(e)].*member = m.view;
      data.insert(data.end(), m.data.begin(), m.data.end());
      scale.insert(scale.end(), m.scale.begin(), m.scale.end());
    }
    out.first = {upload(data), scale.empty() ? nullptr : upload(scale),   rows,
                 cols,         static_cast<kernels::Format>(kind.format), kind.scale_is_f32};
    out.data_stride = static_cast<std::int64_t>(data.size()) / kExperts;
    out.scale_stride = static_cast<std::int64_t>(scale.size()) / kExperts;
    return out;
  };
  host.resize(kExperts);
  keep.reserve(3 * kExperts);
  const auto w1 = packed(inner_size, size, &ExpertWeights::w1),
             w3 = packed(inner_size, size, &ExpertWeights::w3);
  const auto w2 = packed(size, inner_size, &ExpertWeights::w2);
  const auto x = noise.values(kBatch * size, 0.2);
  const auto shares = noise.values(kBatch * kSlots);
  const std::vector<int> chosen = {4, 0, 4, 2, 1, 3};
  constexpr float kLimit = 4;
  auto* inner = poisoned<float>(kBatch * (kSlots + 1) * inner_size);
  auto* parts = poisoned<float>(kBatch * (kSlots + 1) * size);
  auto *routed = poisoned<float>(kBatch * size), *out = poisoned<float>(kBatch * size);
  float* in = upload(x);
  int* ids = upload(chosen);
  kernels::experts_up(stream_, {w1, w3, in, ids, inner, kSlots, kSlots + 1, kLimit}, kBatch);
  // The shared expert is expert 0 here.
  kernels::experts_up(stream_, {w1, w3, in, nullptr, inner + kSlots * inner_size, 1, kSlots + 1, kLimit},
                      kBatch);
  kernels::experts_down(stream_, {w2, inner, ids, parts, kSlots, kSlots + 1, kSlots + 1}, kBatch);
  kernels::experts_down(
      stream_, {w2, inner + kSlots * inner_size, nullptr, parts + kSlots * size, 1, kSlots + 1, kSlots + 1},
      kBatch);
  // Both at once: the same bits.
  auto* inner_at_once = poisoned<float>(kBatch * (kSlots + 1) * inner_size);
  auto* parts_at_once = poisoned<float>(kBatch * (kSlots + 1) * size);
  kernels::experts_up(
      stream_, {w1, w3, in, ids, inner_at_once, kSlots, kSlots + 1, kLimit, w1.first, w3.first}, kBatch);
  kernels::experts_down(
      stream_, {w2, inner_at_once, ids, parts_at_once, kSlots, kSlots + 1, kSlots + 1, w2.first}, kBatch);
  EXPECT_EQ(read(inner, kBatch * (kSlots + 1) * inner_size),
            read(inner_at_once, kBatch * (kSlots + 1) * inner_size));
  EXPECT_EQ(read(parts, kBatch * (kSlots + 1) * size), read(parts_at_once, kBatch * (kSlots + 1) * size));
  // Into one stream whose old value counts three times, with the sum alone as the new one.
  const auto old = noise.values(kBatch * size);
  float* streams = upload(old);
  kernels::hyper_connection_expand(stream_, streams, {parts, upload(shares), routed, out, kSlots},
                                   upload(std::vector<float>(kBatch, 1)),
                                   upload(std::vector<float>(kBatch, 3)), 1, size, kBatch);
  std::vector<double> wanted_routed, wanted;
  for (int b = 0; b < kBatch; ++b) {
    const auto token = doubles(std::span(x).subspan(static_cast<std::size_t>(b * size), size));
    std::vector<double> sum(size);
    for (int s = 0; s < kSlots; ++s) {
      const auto at = static_cast<std::size_t>(b * kSlots + s);
      const auto y =
          reference::feed_forward<double>(host[static_cast<std::size_t>(chosen[at])], token, kLimit);
      for (std::size_t d = 0; d < sum.size(); ++d) sum[d] += shares[at] * y[d];
    }
    const auto shared = reference::feed_forward<double>(host[0], token, kLimit);
    for (std::size_t d = 0; d < sum.size(); ++d) {
      wanted_routed.push_back(sum[d]);
      wanted.push_back(sum[d] + shared[d]);
    }
  }
  EXPECT_LT(distance(read(routed, kBatch * size), wanted_routed), 1e-5) << static_cast<int>(kind.format);
  EXPECT_LT(distance(read(out, kBatch * size), wanted), 1e-5) << static_cast<int>(kind.format);
  for (std::size_t i = 0; i < wanted.size(); ++i) wanted[i] += 3.0 * old[i];
  EXPECT_LT(distance(read(streams, kBatch * size), wanted), 1e-5) << static_cast<int>(kind.format);
}

TEST_F(MatrixKernels, GeneratedElementsAreTheHostsBitForBit) {
  const ModelConfig config = *model_shape("tiny");
  std::set<DType> seen;
  for (const Storage storage : {Storage::kF32, Storage::kCheckpoint})
    for (const auto& tensor : stored_tensors(config, storage)) {
      if (tensor.of.role == TensorRole::kHashTable || tensor.shape.size() < 2) continue;
      seen.insert(tensor.dtype);
      std::vector<std::byte> wanted(tensor.bytes());
      generate_rows(config, 5, tensor, 0, tensor.shape[0], wanted);
      const auto size = static_cast<std::int64_t>(dtype_size(tensor.dtype));
      const std::int64_t count = static_cast<std::int64_t>(wanted.size()) / size - 1;
      auto* device = poisoned<std::byte>(static_cast<std::int64_t>(wanted.size()));
      kernels::generate_elements(stream_, element_rule(5, tensor), tensor.dtype, count, device);
      const auto got = read(device, static_cast<std::int64_t>(wanted.size()));
      const auto made = static_cast<std::size_t>(count * size);
      ASSERT_EQ(std::memcmp(got.data(), wanted.data(), made), 0) << tensor.name;
      for (std::size_t i = made; i < got.size(); ++i) ASSERT_EQ(got[i], std::byte{0xFF}) << tensor.name;
    }
  EXPECT_EQ(seen.size(), 5u);
}

}  // namespace
}  // namespace dsv4
