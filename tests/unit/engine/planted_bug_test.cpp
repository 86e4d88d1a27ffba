// Each mistake that ports of this model make, planted in the reference: comparing its steps with golden data
// must name the component that computes it.
#include "engine/reference/planted_bug.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "engine/verify/verify_case.h"

namespace dsv4 {
namespace {

using reference::Bug;

struct Planted {
  const char* what;
  Bug bug;
  const char* golden_case;
  const char* component;  // empty: none is apart
};
void PrintTo(const Planted& it, std::ostream* out) {
  *out << it.what;
}

class PlantedBug : public testing::TestWithParam<Planted> {
 protected:
  ~PlantedBug() override { reference::planted_bug = Bug::kNone; }
};

TEST_P(PlantedBug, IsNamedByItsComponent) {
  const auto golden = GoldenFile::open(SECOND_OPINION);
  ASSERT_TRUE(golden) << golden.error();
  const auto one = std::ranges::find(golden->cases(), GetParam().golden_case, &GoldenCase::name);
  ASSERT_NE(one, golden->cases().end());
  reference::planted_bug = GetParam().bug;
  const auto report = verify_case(*golden, *one, Precision::kFloat);
  ASSERT_TRUE(report) << report.error();
  const auto apart = std::ranges::find_if(report->components,
                                          [](const auto& c) { return !(c.difference <= kComponentBound); });
  EXPECT_EQ(apart == report->components.end() ? "" : apart->name, GetParam().component);
  EXPECT_EQ(report->ok(), GetParam().bug == Bug::kNone);
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedBug,
    testing::Values(
        Planted{"none", Bug::kNone, "clamps", ""},
        // At the first site all streams are equal, and rows and columns sum to one: it does not show yet.
        Planted{"comb_transposed", Bug::kCombTransposed, "clamps", "layers.0.streams"},
        Planted{"no_inverse_rope", Bug::kNoInverseRope, "clamps", "layers.0.attn.context"},
        Planted{"rope_on_first_dims", Bug::kRopeOnFirstDims, "clamps", "layers.0.attn.q"},
        Planted{"half_split_rope", Bug::kHalfSplitRope, "clamps", "layers.0.attn.q"},
        Planted{"plain_table", Bug::kPlainTableForWindowKeys, "clamps", "layers.0.attn.kv"},
        Planted{"halves_swapped", Bug::kOverlapHalvesSwapped, "clamps", "layers.0.attn.compressor.entry"},
        Planted{"bias_of_next_slot", Bug::kBiasOfNextSlot, "clamps", "layers.0.attn.compressor.entry"},
        Planted{"entry_late", Bug::kEntryOneStepLate, "clamps", "layers.0.attn.context"},
        Planted{"hc_eps_in_mixer", Bug::kHcEpsInMixer, "eps", "layers.0.attn_hc.post"},
        Planted{"no_shared_clamp", Bug::kNoClampInSharedExpert, "clamps", "layers.0.ffn.shared"},
        Planted{"bias_in_weights", Bug::kBiasInExpertWeights, "clamps", "layers.1.ffn.expert_weights"}),
    [](const auto& planted) { return planted.param.what; });

}  // namespace
}  // namespace dsv4
