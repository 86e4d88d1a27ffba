// Dumps of a step's components: written, read, compared, and refused where they are no dump.
#include "engine/verify/component_dump.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <numeric>

#include "engine/verify/component_run.h"
#include "engine/verify/differences.h"
#include "engine/verify/reference_engine.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_shapes.h"
#include "tests/support/temporary_folder.h"

namespace dsv4 {
namespace {

struct Model {
  ModelConfig config = truncated(*model_shape("tiny"), 3);
  GeneratedTensors tensors{config, 4, Storage::kF32};
  ModelWeights weights = *bind_weights(config, tensors);
  std::vector<std::int32_t> tokens = [] {
    std::vector<std::int32_t> ids(20);
    std::iota(ids.begin(), ids.end(), 7);
    return ids;
  }();

  ComponentDump run(const std::vector<int>& positions) {
    auto dump = run_components<float>(config, weights, reference_engine<float>(), tokens, positions, nullptr,
                                      nullptr);
    EXPECT_TRUE(dump.ok()) << dump.error();
    return std::move(*dump);
  }
};

TEST(ComponentDump, ComesBackAsItWasWritten) {
  const capgate::test::TemporaryFolder dir;
  Model model;
  const ComponentDump dump = model.run({3, 15, 19});
  ASSERT_TRUE(write_dump(dump, dir.string() + "/dump").ok());
  const auto read = read_dump(dir.string() + "/dump");
  ASSERT_TRUE(read.ok()) << read.error();
  EXPECT_EQ(read->tokens, model.tokens);
  EXPECT_EQ(read->positions(), (std::vector<int>{3, 15, 19}));
  EXPECT_EQ(read->components.size(), dump.components.size());
  for (const auto& it : component_differences(dump, *read)) EXPECT_EQ(it.difference, 0) << it.name;
}

TEST(ComponentDump, NamesTheFirstComponentThatDiffers) {
  Model model;
  const ComponentDump own = model.run({19});
  for (const char* name : {"embed", "layers.1.attn.q", "layers.2.ffn.routed", "logits"}) {
    ComponentDump other = own;
    for (Component& c : other.components)
      if (c.name == name || c.name == "logits") c.values.back() += 1;
    const auto differences = component_differences(own, other);
    const auto first =
        std::ranges::find_if(differences, [](const auto& d) { return d.difference > kComponentBound; });
    ASSERT_NE(first, differences.end());
    EXPECT_EQ(first->name, name);
  }
  ComponentDump other = own;
  other.components.push_back({"layers.0.attn.k", 19, {1}});  // there is no such component
  other.components.front().values.pop_back();
  other.components[1].values.front() = NAN;
  const auto differences = component_differences(own, other);
  EXPECT_TRUE(std::isinf(differences.front().difference));
  EXPECT_FALSE(differences[1].difference <= kComponentBound);
  EXPECT_EQ(differences.back().name, "layers.0.attn.k");
  EXPECT_TRUE(std::isinf(differences.back().difference));
}

TEST(Differences, ANanIsApartWhereverItStands) {
  const std::vector<float> zeros(5);
  for (std::size_t i = 0; i < zeros.size(); ++i) {
    std::vector<float> other = zeros;
    other[i] = NAN;
    EXPECT_TRUE(std::isinf(largest_difference(std::span<const float>(other), std::span<const float>(zeros))))
        << i;
    EXPECT_TRUE(std::isinf(largest_difference(std::span<const float>(zeros), std::span<const float>(other))))
        << i;
    EXPECT_EQ(root_mean_square(other), 1);
    other[i] = 2;
    EXPECT_EQ(largest_difference(std::span<const float>(other), std::span<const float>(zeros)), 2);
  }
}

TEST(ComponentDump, ImposedChoicesAreTaken) {
  Model model;
  ChoicesMade made, taken;
  const auto run = [&](const ChoicesMade* impose, ChoicesMade* out) {
    return run_components<float>(model.config, model.weights, reference_engine<float>(), model.tokens,
                                 std::vector<int>{19}, impose, out);
  };
  const auto free = run(nullptr, &made);
  ASSERT_TRUE(free.ok());
  ASSERT_FALSE(made.empty());
  ChoicesMade other = made;
  for (auto& [site, chosen] : other)
    if (std::get<0>(site) == reference::ChoiceSite::kExperts) chosen = {0, 1};
  const auto forced = run(&other, &taken);
  ASSERT_TRUE(forced.ok());
  EXPECT_EQ(taken, other);
  EXPECT_NE(free->components.back().values, forced->components.back().values);
}

TEST(ComponentDump, RefusesWhatIsNoDump) {
  const capgate::test::TemporaryFolder dir;
  const std::string path = dir.string() + "/dump";
  const auto refused = [&](const ComponentDump& dump, const char* why) {
    ASSERT_TRUE(write_dump(dump, path).ok());
    const auto read = read_dump(path);
    ASSERT_FALSE(read.ok()) << why;
    EXPECT_TRUE(read.error().starts_with(path)) << read.error();
    EXPECT_NE(read.error().find(why), std::string::npos) << read.error();
  };
  refused({{1, 2}, {}}, "holds no component");
  refused({{1, 2}, {{"embed", 2, {1}}}}, "is at a position that none of the 2 tokens has");
  std::ofstream(path) << "not a dump";
  EXPECT_FALSE(read_dump(path).ok());
  // And leaves it as it is.
  EXPECT_NE(write_dump({{1}, {{"embed", 0, {1}}}}, path).error().find("is there already, and is no dump"),
            std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path), 10);
  EXPECT_FALSE(read_dump(dir.string() + "/none").ok());
  EXPECT_FALSE(write_dump({}, dir.string() + "/none/dump").ok());
  Model model;
  model.tokens.front() = model.config.vocab_size;
  EXPECT_FALSE(run_components<float>(model.config, model.weights, reference_engine<float>(), model.tokens,
                                     std::vector<int>{0}, nullptr, nullptr)
                   .ok());
}

}  // namespace
}  // namespace dsv4
