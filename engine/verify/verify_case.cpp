#include "engine/verify/verify_case.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/reference/model.h"
#include "engine/verify/differences.h"
#include "engine/verify/reference_engine.h"
#include "engine/weights/generated_tensors.h"
#include "engine/weights/model_weights.h"

namespace dsv4 {
namespace {

using capgate::Error;
using capgate::Result;
using reference::ChoiceSite;
using reference::Model;
using reference::Probe;

constexpr int kStagger = 5;  // steps between the starts of two rows

// The golden choices of one run: for each kind and layer [rows * positions, k], -1 padded.
class GoldenChoices {
 public:
  static Result<GoldenChoices> load(const GoldenFile& golden, const GoldenCase& c, const std::string& prefix,
                                    int positions) {
    GoldenChoices out;
    out.positions_ = positions;
    for (int layer = 0; layer < c.config.num_layers(); ++layer) {
      const auto take = [&](ChoiceSite::Kind kind, const char* stem) -> Result<void> {
        auto array = golden.integers(c, fmt::format("{}{}/{}", prefix, stem, layer));
        if (!array) return Error{array.error()};
        out.arrays_.emplace(std::pair(kind, layer), std::move(*array));
        return {};
      };
      if (c.config.layer_types[layer] == LayerType::kCsa)
        if (auto ok = take(ChoiceSite::kIndex, "index"); !ok) return Error{ok.error()};
      if (!c.config.hash_layers[layer])
        if (auto ok = take(ChoiceSite::kExperts, "experts"); !ok) return Error{ok.error()};
    }
    return out;
  }

  std::vector<int> at(const ChoiceSite& site) const {
    std::vector<int> chosen;
    const auto& array = arrays_.at({site.kind, site.layer});
    const auto line =
        static_cast<std::size_t>(site.row) * static_cast<std::size_t>(positions_) + site.position;
    if ((line + 1) * static_cast<std::size_t>(array.shape.back()) > array.values.size()) return chosen;
    for (const int i : array.line(line))
      if (i >= 0) chosen.push_back(i);
    return chosen;
  }

 private:
  int positions_ = 0;
  std::map<std::pair<ChoiceSite::Kind, int>, GoldenArray<std::int32_t>> arrays_;
};

// The model under test in T and the judge in double, fed alike and made to take the golden choices. A row
// whose golden data is not to be asked (padding) chooses for itself.
template <class T>
class Pair {
 public:
  Pair(const ModelConfig& config, const ModelWeights& weights, int rows, int positions,
       const GoldenChoices& choices, std::unique_ptr<TestedEngine<T>> tested)
      : choices_(choices),
        tested_(std::move(tested)),
        exact_(config, weights, rows, positions),
        exact_logits_(static_cast<std::size_t>(rows) * config.vocab_size),
        live_(static_cast<std::size_t>(rows)) {
    exact_probe_.choice = [this](const ChoiceSite& site, std::span<const double> scores,
                                 std::vector<int>& chosen) {
      if (!live_[site.row]) return;
      judge_.keep(site, scores);
      chosen = choices_.at(site);
    };
    probe.choice = [this](const ChoiceSite& site, std::span<const T>, std::vector<int>& chosen) {
      if (!live_[site.row]) return;
      const auto golden = choices_.at(site);
      judge_.judge(site, chosen, golden);
      chosen = golden;
    };
  }

  Result<void> step(std::span<const std::int32_t> ids, std::span<const std::int32_t> positions,
                    const std::vector<bool>& live, std::span<T> logits) {
    live_ = live;
    judge_.next_step();
    exact_.step(ids, positions, exact_logits_, &exact_probe_);
    return tested_->step(ids, positions, logits, &probe);
  }

  std::span<const double> exact_logits() const { return exact_logits_; }
  const ChoiceTally& tally() const { return judge_.tally(); }
  Probe<T> probe;  // its activation is the caller's

 private:
  const GoldenChoices& choices_;
  std::unique_ptr<TestedEngine<T>> tested_;
  Model<double> exact_;
  Probe<double> exact_probe_;
  std::vector<double> exact_logits_;
  std::vector<bool> live_;
  ChoiceJudge judge_;
};

double standard_deviation(std::span<const float> values) {
  double sum = 0, squares = 0;
  for (const float v : values) sum += v;
  const double mean = sum / static_cast<double>(values.size());
  for (const float v : values) squares += (v - mean) * (v - mean);
  return std::sqrt(squares / static_cast<double>(values.size()));
}

template <class T>
Result<void> teacher_forced(const GoldenFile& golden, const GoldenCase& c, const ModelWeights& weights,
                            const EngineFactory<T>& factory, CaseReport& report) {
  auto tokens = golden.integers(c, "tokens");
  auto logits = golden.floats(c, "logits");
  auto choices = GoldenChoices::load(golden, c, "", c.length);
  if (!tokens) return Error{tokens.error()};
  if (!logits) return Error{logits.error()};
  if (!choices) return Error{choices.error()};
  const auto vocab = static_cast<std::size_t>(c.config.vocab_size);
  const std::size_t count = static_cast<std::size_t>(c.rows) * static_cast<std::size_t>(c.length);
  if (tokens->values.size() != count || logits->values.size() != count * vocab)
    return Error{fmt::format("golden case {}: tokens or logits have another shape", c.name)};
  for (const int id : tokens->values)
    if (id < 0 || id >= c.config.vocab_size)
      return Error{fmt::format("golden case {}: token {}", c.name, id)};

  const double spread = standard_deviation(logits->values);
  auto tested = factory(c.config, weights, c.rows, c.length);
  if (!tested) return Error{tested.error()};
  Pair<T> pair(c.config, weights, c.rows, c.length, *choices, std::move(*tested));
  int observed_position = -1;
  pair.probe.activation = [&](std::string_view name, int row, std::span<const T> values) {
    if (row != c.rows - 1 || observed_position < 0) return;
    const auto expected = golden.floats(c, fmt::format("act/{}/{}", name, observed_position));
    if (!expected) return;
    const double difference = largest_difference(values, std::span<const float>(expected->values));
    report.components.push_back(
        {std::string(name), observed_position, difference / root_mean_square(expected->values)});
  };
  std::vector<T> out(static_cast<std::size_t>(c.rows) * vocab);
  for (int step = 0; step < c.length + kStagger * (c.rows - 1); ++step) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(c.rows)), positions(ids.size());
    std::vector<bool> live(ids.size());
    for (int row = 0; row < c.rows; ++row) {
      const int position = step - kStagger * row;
      live[row] = position >= 0 && position < c.length;
      if (!live[row]) continue;
      positions[row] = position;
      ids[row] = tokens->values[static_cast<std::size_t>(row) * c.length + position];
    }
    const int last = step - kStagger * (c.rows - 1);
    observed_position = std::ranges::count(c.observed, last) ? last : -1;
    if (auto ok = pair.step(ids, positions, live, out); !ok) return ok;
    for (int row = 0; row < c.rows; ++row) {
      if (!live[row]) continue;
      ++report.tokens;
      const auto own = std::span<const T>(out).subspan(row * vocab, vocab);
      const auto expected = logits->line(static_cast<std::size_t>(row) * c.length + positions[row]);
      const double difference = largest_difference(own, expected) / spread;
      if (difference <= report.logit_difference) continue;
      report.logit_difference = difference;
      report.worst_row = row;
      report.worst_position = positions[row];
    }
  }
  for (const int position : c.observed)
    for (const auto& name : golden.components(c, position))
      if (std::ranges::none_of(report.components, [&](const auto& seen) {
            return seen.name == name && seen.position == position;
          }))
        report.components.push_back({name, position, INFINITY});
  const ChoiceTally& tally = pair.tally();
  report.choices.made += tally.made;
  report.choices.forced += tally.forced;
  report.choices.wrong += tally.wrong;
  report.choices.largest_distance = std::max(report.choices.largest_distance, tally.largest_distance);
  return {};
}

// A greedy continuation, fed by the same step as the prompt; its choices are free where the golden data has
// none.
template <class T>
Result<void> greedy(const GoldenFile& golden, const GoldenCase& c, const ModelWeights& weights,
                    int prompt_length, const std::string& tokens_name, bool with_choices,
                    const EngineFactory<T>& factory, CaseReport& report) {
  auto prompt = golden.integers(c, "tokens");
  auto expected = golden.integers(c, tokens_name);
  if (!prompt) return Error{prompt.error()};
  if (!expected) return Error{expected.error()};
  if (prompt_length < 1 || prompt_length > c.length)
    return Error{fmt::format("golden case {}: a prompt of {} tokens", c.name, prompt_length)};
  const int count = static_cast<int>(expected->values.size()), positions = prompt_length + count;
  GoldenChoices choices;
  Result<GoldenArray<float>> checkpoints = GoldenArray<float>{};
  if (with_choices) {
    auto loaded = GoldenChoices::load(golden, c, "long/", positions - 1);
    if (!loaded) return Error{loaded.error()};
    choices = std::move(*loaded);
    checkpoints = golden.floats(c, "long/logits");
    if (!checkpoints) return Error{checkpoints.error()};
  }
  auto tested = factory(c.config, weights, 1, positions);
  if (!tested) return Error{tested.error()};
  Pair<T> pair(c.config, weights, 1, positions, choices, std::move(*tested));
  std::vector<T> logits(static_cast<std::size_t>(c.config.vocab_size));
  for (int position = 0; position < positions - 1; ++position) {
    const int made = position - prompt_length;  // index of the golden token that is fed now
    const std::int32_t id = made < 0 ? prompt->values[position] : expected->values[made];
    if (id < 0 || id >= c.config.vocab_size)
      return Error{fmt::format("golden case {}: token {}", c.name, id)};
    const std::int32_t at = position;
    if (auto ok = pair.step(std::span(&id, 1), std::span(&at, 1), {with_choices}, logits); !ok) return ok;
    if (made + 1 < 0) continue;
    const auto best = static_cast<int>(std::max_element(logits.begin(), logits.end()) - logits.begin());
    const int golden_best = expected->values[made + 1];
    ++report.greedy_tokens;
    if (best != golden_best) {
      const int a = std::min(best, golden_best), b = std::max(best, golden_best);
      const int one[] = {best}, other[] = {golden_best};
      const bool tie =
          a >= 0 && b < c.config.vocab_size && swapped_distance(pair.exact_logits(), one, other) < kTieBound;
      ++(tie ? report.greedy_forced : report.greedy_wrong);
    }
    if (with_choices && (made + 2) % 256 == 0) {
      const auto line = static_cast<std::size_t>((made + 2) / 256 - 1);
      const double spread = standard_deviation(checkpoints->line(line));
      const double difference =
          largest_difference(std::span<const T>(logits), checkpoints->line(line)) / spread;
      report.logit_difference = std::max(report.logit_difference, difference);
    }
  }
  const ChoiceTally& tally = pair.tally();
  report.choices.made += tally.made;
  report.choices.forced += tally.forced;
  report.choices.wrong += tally.wrong;
  report.choices.largest_distance = std::max(report.choices.largest_distance, tally.largest_distance);
  return {};
}

template <class T>
Result<CaseReport> run(const GoldenFile& golden, const GoldenCase& c, const EngineFactory<T>& factory) {
  const GeneratedTensors tensors(c.config, c.seed, c.storage);
  auto weights = bind_weights(c.config, tensors);
  if (!weights) return Error{weights.error()};
  CaseReport report;
  report.name = c.name;
  if (auto ok = teacher_forced<T>(golden, c, *weights, factory, report); !ok) return Error{ok.error()};
  for (const int length : c.prompts)
    if (auto ok =
            greedy<T>(golden, c, *weights, length, fmt::format("greedy/{}", length), false, factory, report);
        !ok)
      return Error{ok.error()};
  if (c.long_prompt > 0)
    if (auto ok = greedy<T>(golden, c, *weights, c.long_prompt, "long/tokens", true, factory, report); !ok)
      return Error{ok.error()};
  return report;
}

}  // namespace

bool CaseReport::components_agree() const {
  return std::ranges::all_of(components, [](const auto& c) { return c.difference <= kComponentBound; });
}

Result<CaseReport> verify_case(const GoldenFile& golden, const GoldenCase& c, Precision precision) {
  return precision == Precision::kFloat ? run<float>(golden, c, reference_engine<float>())
                                        : run<double>(golden, c, reference_engine<double>());
}

Result<CaseReport> verify_case(const GoldenFile& golden, const GoldenCase& c,
                               const EngineFactory<float>& engine) {
  return run<float>(golden, c, engine);
}

}  // namespace dsv4
