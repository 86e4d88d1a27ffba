// Lanes, pages and rings with room for several tokens of a row: each kernel gives the bits that it gives
// where every row has a lane and one piece of memory of its own.
#include <algorithm>
#include <functional>

#include "engine/model/decode_state.h"
#include "kernels/attention.h"
#include "kernels/compressor.h"
#include "kernels/indexer.h"
#include "kernels/lanes.h"
#include "kernels/norm_rope.h"
#include "tests/unit/kernels/device_fixture.h"

namespace dsv4 {
namespace {

constexpr int kLaneRows = 3;

// The same vector whenever it is asked for.
std::vector<float> vector_of(int kind, int row, int at, int size) {
  Noise noise(static_cast<std::uint64_t>(kind) << 40 | static_cast<std::uint64_t>(row) << 20 |
              static_cast<std::uint64_t>(at));
  return noise.values(size);
}

class LaneKernels : public DeviceTest {
 protected:
  // Memory of `places` vectors, all NaN but those that `put` fills.
  class Filled {
   public:
    Filled(std::int64_t places, int size)
        : size_(size), values_(static_cast<std::size_t>(places * size), NAN) {}
    void put(std::int64_t place, const std::vector<float>& v) {
      std::copy(v.begin(), v.end(), values_.begin() + static_cast<std::ptrdiff_t>(place * size_));
    }
    const std::vector<float>& values() const { return values_; }

   private:
    int size_;
    std::vector<float> values_;
  };

  // Pages of each row in no order, with some that nobody has in between.
  static std::vector<int> shuffled_table(int pages_of_a_row) {
    std::vector<int> table;
    for (int i = 0; i < kLaneRows * pages_of_a_row; ++i)
      table.push_back((7 * i + 3) % (2 * kLaneRows * pages_of_a_row));
    EXPECT_EQ(std::ranges::count(table, table.front()), 1);
    return table;
  }

  bool same_bits(std::span<const float> a, std::span<const float> b) {
    return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
  }
};

struct Lane {
  int row, position;
};

TEST_F(LaneKernels, AttentionInPagesAndLanes) {
  constexpr int kHeads = 3, kDim = 72, kPairs = 8, kWindow = 16, kSlots = kWindow + 3, kRatio = 4, kMax = 40;
  constexpr int kPerPage = 8, kPages = kMax / kPerPage, kTopK = 6;
  // Row 1 feeds three tokens at once; a lane is nobody's; row 0 has few tokens yet.
  const std::vector<Lane> lanes = {{1, 92}, {2, 159}, {-1, 0}, {1, 91}, {0, 5}, {1, 93}};
  const int batch = static_cast<int>(lanes.size());
  const std::vector<int> last = {5, 93, 159}, table = shuffled_table(kPages);
  Filled plain(std::int64_t{batch} * kWindow, kDim), rings(std::int64_t{kLaneRows} * kSlots, kDim);
  Filled plain_entries(std::int64_t{batch} * kMax, kDim), pool(2 * kLaneRows * kPages * kPerPage, kDim);
  std::vector<float> q;
  std::vector<int> rows, positions, chosen(static_cast<std::size_t>(batch * kTopK), -1);
  for (int b = 0; b < batch; ++b) {
    const auto [row, position] = lanes[static_cast<std::size_t>(b)];
    rows.push_back(row);
    positions.push_back(position);
    for (const float v : vector_of(1, b, 0, kHeads * kDim)) q.push_back(v);
    if (row < 0) continue;
    for (int p = std::max(0, position - kWindow + 1); p <= position; ++p)
      plain.put(b * kWindow + p % kWindow, vector_of(2, row, p, kDim));
    const int closed = closed_entries(position, kRatio);
    for (int e = 0; e < closed; ++e) plain_entries.put(b * kMax + e, vector_of(3, row, e, kDim));
    for (int i = 0; i < std::min(kTopK, closed); ++i) chosen[b * kTopK + i] = i * closed / kTopK;
  }
  for (int row = 0; row < kLaneRows; ++row) {
    for (int p = std::max(0, last[row] - kSlots + 1); p <= last[row]; ++p)
      rings.put(row * kSlots + p % kSlots, vector_of(2, row, p, kDim));
    for (int e = 0; e < closed_entries(last[row], kRatio); ++e)
      pool.put(table[row * kPages + e / kPerPage] * kPerPage + e % kPerPage, vector_of(3, row, e, kDim));
  }
  check(kernels::prepare_attention(kDim));
  const auto* frequencies = upload(std::vector<float>{1, 0.5, 0.25, 0.1, 0.05, 0.02, 0.01, 0.005});
  for (const int kind : {0, 1, 2}) {  // the window alone; every entry; chosen ones
    kernels::Attention args{};
    args.q = upload(q);
    args.prepares_q = true;
    args.eps = 1e-5f;
    args.sink = upload(vector_of(4, 0, 0, kHeads));
    args.window = upload(plain.values());
    args.window_slots = args.window_tokens = kWindow;
    args.entries = kind > 0 ? upload(plain_entries.values()) : nullptr;
    args.pages.per_page = kMax;
    args.max_entries = kMax;
    args.ratio = kRatio;
    args.chosen = kind == 2 ? upload(chosen) : nullptr;
    args.width = kTopK;
    args.out = poisoned<float>(batch * kHeads * kDim);
    args.heads = kHeads;
    args.dim = kDim;
    args.frequencies = frequencies;
    args.pairs = kPairs;
    args.positions = upload(positions);
    kernels::attend(stream_, args, batch);
    const auto wanted = read(args.out, batch * kHeads * kDim);
    args.window = upload(rings.values());
    args.window_slots = kSlots;
    args.entries = kind > 0 ? upload(pool.values()) : nullptr;
    args.pages = {upload(table), kPages, kPerPage};
    args.rows = upload(rows);
    args.out = poisoned<float>(batch * kHeads * kDim);
    kernels::attend(stream_, args, batch);
    const auto got = read(args.out, batch * kHeads * kDim);
    for (int b = 0; b < batch; ++b) {
      const auto of = [&](const std::vector<float>& v) {
        return std::span(v).subspan(static_cast<std::size_t>(b * kHeads * kDim), kHeads * kDim);
      };
      if (rows[b] < 0) {
        EXPECT_TRUE(std::ranges::all_of(of(got), [](float v) { return v == 0; })) << kind;
        continue;
      }
      EXPECT_TRUE(same_bits(of(got), of(wanted))) << "kind " << kind << ", lane " << b;
      EXPECT_TRUE(std::ranges::all_of(of(got), [](float v) { return std::isfinite(v); }));
    }
  }
}

TEST_F(LaneKernels, IndexScoresInPagesAndLanes) {
  constexpr int kHeads = 40, kDim = 128, kRatio = 4, kMax = 40, kPerPage = 8, kPages = kMax / kPerPage;
  const std::vector<Lane> lanes = {{1, 92}, {2, 159}, {-1, 0}, {1, 91}, {0, 5}};
  const int batch = static_cast<int>(lanes.size());
  const std::vector<int> table = shuffled_table(kPages);
  Filled plain(std::int64_t{batch} * kMax, kDim), pool(2 * kLaneRows * kPages * kPerPage, kDim);
  std::vector<int> rows, positions;
  std::vector<float> query;
  for (int b = 0; b < batch; ++b) {
    const auto [row, position] = lanes[static_cast<std::size_t>(b)];
    rows.push_back(row);
    positions.push_back(position);
    for (const float v : vector_of(5, b, 0, kHeads * kDim)) query.push_back(v);
    for (int e = 0; row >= 0 && e < closed_entries(position, kRatio); ++e) {
      plain.put(b * kMax + e, vector_of(6, row, e, kDim));
      pool.put(table[row * kPages + e / kPerPage] * kPerPage + e % kPerPage, vector_of(6, row, e, kDim));
    }
  }
  check(kernels::prepare_index_scores(kHeads, kDim));
  kernels::IndexScores args{upload(query),
                            upload(vector_of(7, 0, 0, batch * kHeads)),
                            upload(plain.values()),
                            poisoned<float>(batch * kMax),
                            kHeads,
                            kDim,
                            kMax,
                            kRatio,
                            upload(positions)};
  args.pages.per_page = kMax;
  kernels::index_scores(stream_, args, batch);
  const auto wanted = read(args.scores, batch * kMax);
  args.keys = upload(pool.values());
  args.scores = poisoned<float>(batch * kMax);
  args.pages = {upload(table), kPages, kPerPage};
  args.rows = upload(rows);
  kernels::index_scores(stream_, args, batch);
  EXPECT_TRUE(same_bits(read(args.scores, batch * kMax), wanted));

  // Where all are chosen anyway no score is made, and the choice is the same.
  const int k = closed_entries(91, kRatio);
  const auto chosen_of = [&](const float* scores) {
    int* chosen = poisoned<int>(batch * k);
    kernels::choose_entries(stream_, scores, kMax, kRatio, args.positions, k, chosen, {}, batch);
    return read(chosen, batch * k);
  };
  const auto all_scored = chosen_of(args.scores);
  args.scores = poisoned<float>(batch * kMax);
  args.unscored = k;
  kernels::index_scores(stream_, args, batch);
  EXPECT_EQ(chosen_of(args.scores), all_scored);
  const auto got = read(args.scores, batch * kMax);
  for (int b = 0; b < batch; ++b)
    for (int e = 0; e < kMax; ++e) {
      const auto at = static_cast<std::size_t>(b * kMax + e);
      if (rows[b] < 0 || closed_entries(positions[b], kRatio) <= k)
        ASSERT_TRUE(std::isnan(got[at])) << b;
      else
        ASSERT_EQ(got[at], wanted[at]) << b;
    }
}

// Tokens of two rows in steps of up to five lanes against a token a step: the same entries.
TEST_F(LaneKernels, CompressorFedInChunks) {
  constexpr int kDim = 40, kPairs = 6, kTokens = 83, kChunk = 5, kLanes = 8;
  for (const bool overlap : {false, true}) {
    for (const int ratio : {4, 16, 24}) {
      const int series = overlap ? 2 : 1, most = kTokens / ratio + 1, per_page = 2;
      const CompressorShape shape{ratio, series * ratio, series * kDim, kDim, most, overlap};
      const int pages = (most + per_page - 1) / per_page;
      kernels::Compressor args{};
      args.ape = upload(vector_of(8, ratio, 0, ratio * shape.width));
      args.norm = upload(vector_of(9, 0, 0, kDim));
      args.ratio = ratio;
      args.ring = args.slots = shape.ring;
      args.width = shape.width;
      args.dim = kDim;
      args.max_entries = most;
      args.overlap = overlap;
      args.frequencies = upload(std::vector<float>{1.0f, 0.3f, 0.1f, 0.03f, 0.01f, 0.003f});
      args.pairs = kPairs;
      args.eps = 1e-4f;
      const auto feed = [&](const std::vector<Lane>& lanes) {
        std::vector<float> kv, gate;
        std::vector<int> rows, positions;
        for (const auto& [row, position] : lanes) {
          rows.push_back(row);
          positions.push_back(position);
          for (const float v : vector_of(10, std::max(row, 0), position, shape.width)) kv.push_back(v);
          for (const float v : vector_of(11, std::max(row, 0), position, shape.width)) gate.push_back(v);
        }
        args.kv = upload(kv);
        args.gate = upload(gate);
        args.positions = upload(positions);
        args.rows = upload(rows);
        kernels::compress(stream_, args, static_cast<int>(lanes.size()));
      };
      args.kv_ring = poisoned<float>(kLaneRows * shape.ring_size());
      args.gate_ring = poisoned<float>(kLaneRows * shape.ring_size());
      args.entries = poisoned<float>(kLaneRows * shape.entries_size());
      args.pages.per_page = most;
      for (int p = 0; p < kTokens; ++p) feed({{0, p}, {2, p}});
      const auto wanted = read(args.entries, kLaneRows * shape.entries_size());

      const std::vector<int> table = shuffled_table(pages);
      args.slots = shape.ring + kChunk - 1;
      args.kv_ring = poisoned<float>(std::int64_t{kLaneRows} * args.slots * shape.width);
      args.gate_ring = poisoned<float>(std::int64_t{kLaneRows} * args.slots * shape.width);
      args.entries = poisoned<float>(std::int64_t{2} * kLaneRows * pages * per_page * kDim);
      args.pages = {upload(table), pages, per_page};
      args.lanes = kLanes;
      Noise noise(static_cast<std::uint64_t>(ratio));
      int fed[kLaneRows] = {};
      while (fed[0] < kTokens || fed[2] < kTokens) {
        std::vector<Lane> lanes;
        for (const int row : {2, 0})
          for (int more = 1 + noise.below(row == 0 ? kChunk : 3);
               more > 0 && fed[row] < kTokens && lanes.size() < kLanes; --more)
            lanes.push_back({row, fed[row]++});
        while (lanes.size() < kLanes) lanes.push_back({kernels::kNobody, 0});
        std::rotate(lanes.begin(), lanes.begin() + noise.below(kLanes), lanes.end());
        feed(lanes);
      }
      const auto got = read(args.entries, std::int64_t{2} * kLaneRows * pages * per_page * kDim);
      for (const int row : {0, 2})
        for (int e = 0; e < kTokens / ratio; ++e) {
          const auto at =
              static_cast<std::size_t>((table[row * pages + e / per_page] * per_page + e % per_page) * kDim);
          const auto plain = static_cast<std::size_t>(row * shape.entries_size() + e * kDim);
          ASSERT_TRUE(same_bits(std::span(got).subspan(at, kDim), std::span(wanted).subspan(plain, kDim)))
              << "ratio " << ratio << ", overlap " << overlap << ", row " << row << ", entry " << e;
          ASSERT_TRUE(std::isfinite(got[at]));
        }
      for (int e = 0; e < most; ++e) {  // nobody's tokens went nowhere
        const int page = table[pages + e / per_page];
        ASSERT_TRUE(std::isnan(got[static_cast<std::size_t>((page * per_page + e % per_page) * kDim)]));
      }
    }
  }
}

TEST_F(LaneKernels, AKeyGoesToItsRowsRingAndNobodysNowhere) {
  constexpr int kDim = 24, kSlots = 7;
  const std::vector<int> rows = {2, -1, 0, 2}, positions = {8, 0, 3, 9};
  kernels::NormRope args{};
  args.in = args.out = upload(vector_of(12, 0, 0, 4 * kDim));
  args.heads = 1;
  args.dim = kDim;
  args.normalise = true;
  args.positions = upload(positions);
  args.rows = upload(rows);
  args.eps = 1e-6f;
  args.window = poisoned<float>(kLaneRows * kSlots * kDim);
  args.window_slots = kSlots;
  kernels::norm_rope(stream_, args, 4);
  const auto out = read(args.out, 4 * kDim), window = read(args.window, kLaneRows * kSlots * kDim);
  std::size_t filled = 0;
  for (int b : {0, 2, 3}) {
    const int slot = rows[b] * kSlots + positions[b] % kSlots;
    EXPECT_TRUE(same_bits(std::span(window).subspan(static_cast<std::size_t>(slot * kDim), kDim),
                          std::span(out).subspan(static_cast<std::size_t>(b * kDim), kDim)));
    filled += kDim;
  }
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count_if(window, [](float v) { return !std::isnan(v); })),
            filled);
}

TEST_F(LaneKernels, OrdersChangeWhatTheyNameAndNothingElse) {
  constexpr int kLanes = 6, kStride = 4;
  kernels::Lanes lanes{poisoned<int>(kLanes),
                       poisoned<int>(kLanes),
                       poisoned<int>(kLanes),
                       poisoned<kernels::RowSampling>(kLanes),
                       poisoned<int>(kLaneRows * kStride),
                       kStride};
  kernels::StepOrders orders;
  orders.lane[orders.lanes++] = {4, 2, 77, 13, {0.5, 9, 3, 1}};
  orders.lane[orders.lanes++] = {1, kernels::kNobody, 0, 0, {}};
  orders.page[orders.pages++] = {2, 3, 41};
  orders.page[orders.pages++] = {0, 1, 40};
  kernels::give_orders(stream_, lanes, orders);
  EXPECT_EQ(read(lanes.rows, kLanes), (std::vector{-1, -1, -1, -1, 2, -1}));
  EXPECT_EQ(read(lanes.ids, kLanes), (std::vector{-1, 0, -1, -1, 77, -1}));
  EXPECT_EQ(read(lanes.positions, kLanes), (std::vector{-1, 0, -1, -1, 13, -1}));
  const auto sampling = read(lanes.sampling, kLanes);
  EXPECT_EQ(sampling[4].temperature, 0.5);
  EXPECT_EQ(sampling[4].key, 9u);
  EXPECT_EQ(sampling[4].top_k, 3);
  EXPECT_EQ(sampling[4].active, 1);
  EXPECT_EQ(sampling[1].active, 0);
  EXPECT_EQ(sampling[3].active, -1);
  std::vector<int> table(kLaneRows * kStride, -1);
  table[2 * kStride + 3] = 41;
  table[1] = 40;
  EXPECT_EQ(read(lanes.page_table, kLaneRows * kStride), table);
  // Every lane and as many pages at once.
  kernels::StepOrders all;
  for (int i = 0; i < kernels::kMostLanes; ++i) {
    all.lane[all.lanes++] = {i, i, i, i, {}};
    all.page[all.pages++] = {0, i, 2 * i};
  }
  kernels::Lanes many{poisoned<int>(64), poisoned<int>(64),
                      poisoned<int>(64), poisoned<kernels::RowSampling>(64),
                      poisoned<int>(64), 64};
  kernels::give_orders(stream_, many, all);
  for (int i = 0; i < kernels::kMostLanes; ++i) {
    EXPECT_EQ(read(many.rows, 64)[static_cast<std::size_t>(i)], i);
    EXPECT_EQ(read(many.page_table, 64)[static_cast<std::size_t>(i)], 2 * i);
  }
}

}  // namespace
}  // namespace dsv4
