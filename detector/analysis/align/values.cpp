#include "detector/analysis/align/values.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

using Steps = std::vector<const AlignedStep*>;

constexpr size_t kFewestExecutions = 3;  // the capture is one of them

// Of one step; nothing where it is not known.
struct Execution {
  const EagerStep* step = nullptr;
  std::optional<Field> field;
};

std::optional<Field> find(const std::vector<Field>& fields, const Field& wanted) {
  const auto at =
      std::find_if(fields.begin(), fields.end(), [&](const Field& field) { return field.is_same(wanted); });
  return at == fields.end() ? std::nullopt : std::optional(*at);
}

// Each value once, in the order in which they come.
std::vector<Field> distinct(const std::vector<Execution>& executions) {
  std::vector<Field> out;
  for (const auto& one : executions)
    if (std::none_of(out.begin(), out.end(),
                     [&](const Field& known) { return known.value == one.field->value; }))
      out.push_back(*one.field);
  return out;
}

class Comparing {
 public:
  Comparing(const Timeline& timeline, const Comparison& comparison,
            const std::vector<ReplayEvidence>& evidence)
      : timeline_(timeline), trace_(*timeline.trace), of_(comparison), evidence_(evidence) {
    for (const auto& step : comparison.steps) groups_[step.step->of].push_back(&step);
  }

  ComparedValues run() {
    for (size_t node = 0; node < of_.nodes.size(); ++node)
      if (is_known(node))
        for (const Field& field : fields(node)) compare(node, field);
    return std::move(out_);
  }

 private:
  bool is_known(size_t node) const {
    const auto* record = of_.nodes[node].record;
    if (of_.edited.contains(node)) return false;
    if (!record) return of_.capture == kNone && of_.nodes[node].call;
    return (record->param_layout & trace::kDeviceUpdatable) == 0;
  }

  // Of a node, or of the call that stands for one.
  std::vector<Field> fields_of_work(const Work& work) const {
    if (work.record && work.record->kind == trace::kKernelNode) return fields_of(trace_, *work.record);
    uint64_t bytes = 0;
    if (work.record)
      bytes = work.record->bytes;
    else if (work.call)
      bytes = timeline_.call(*work.call).r.bytes;
    if (bytes == 0) return {};
    return {{FieldKind::bytes, 0, 0, 8, bytes, "", true}};
  }

  const std::vector<Field>& fields(const Work& work) {
    const auto [at, fresh] = known_.try_emplace(&work);
    if (fresh) at->second = fields_of_work(work);
    return at->second;
  }
  const std::vector<Field>& fields(size_t node) { return fields(of_.nodes[node]); }

  // Two modules may have kernels of one name.
  bool is_another_kernel(size_t node, const Work& work) const {
    const auto* ours = of_.nodes[node].record;
    return ours && work.record && ours->kind == trace::kKernelNode && ours->src != 0 &&
           work.record->src != 0 && ours->src != work.record->src;
  }

  // Empty where one of the steps does not show the value.
  std::vector<Execution> executions(const Steps& steps, size_t node, const Field& field) {
    std::vector<Execution> out;
    for (const AlignedStep* step : steps) {
      if (!step->eager_of[node]) return {};
      const Work& work = step->step->work[*step->eager_of[node]];
      if (is_another_kernel(node, work)) return {};
      auto value = find(fields(work), field);
      if (!value) return {};
      out.push_back({step->step, std::move(value)});
    }
    return out;
  }

  void compare(size_t node, const Field& field) {
    bool seen = false, varied = false, answered = false;
    std::optional<StaleValue> stale;
    for (const auto& [of, steps] : groups_) {
      const auto all = executions(steps, node, field);
      if (all.empty()) continue;
      const ReplayEvidence* evidence = of ? evidence_of(*of) : nullptr;
      const bool proven_wrong = evidence && evidence->differs;
      if (!field.scalar && !(proven_wrong && is_repeatable(all, true))) continue;
      if (of && !is_repeatable(all, false)) continue;
      seen |= field.scalar;
      const auto values = distinct(all);
      const bool changes = of ? values.size() >= 2 && all.size() >= kFewestExecutions : varies(all, field);
      varied |= field.scalar && values.size() >= 2;
      if (changes && evidence && evidence->counts()) answered = true;
      const bool other_value =
          proven_wrong && field.scalar && values.size() == 1 && values.front().value != field.value;
      if (changes || other_value) stale = StaleValue{node, field, values, all.back().step, of, changes};
    }
    out_.compared += seen ? 1 : 0;
    out_.varied += varied ? 1 : 0;
    if (stale && !answered) out_.stale.push_back(std::move(*stale));
  }

  const ReplayEvidence* evidence_of(const Verification& of) const {
    const auto at = std::find_if(evidence_.begin(), evidence_.end(), [&](const ReplayEvidence& one) {
      return one.of == &of && one.exec == of_.exec;
    });
    return at == evidence_.end() ? nullptr : &*at;
  }

  // The steps of equal inputs pass equal values; `each_twice`: and all of them ran twice.
  static bool is_repeatable(const std::vector<Execution>& all, bool each_twice) {
    std::map<std::pair<int, int>, std::vector<uint64_t>> values;
    for (const auto& one : all) values[{one.step->set, one.step->step}].push_back(one.field->value);
    return std::all_of(values.begin(), values.end(), [&](const auto& same) {
      const auto& of = same.second;
      return std::equal(of.begin() + 1, of.end(), of.begin()) && (!each_twice || of.size() >= 2);
    });
  }

  // Over the marked steps and the capture, in their order. A value that changes once tells a first pass from
  // the rest, or one size from another.
  bool varies(const std::vector<Execution>& all, const Field& kept) const {
    std::vector<std::pair<uint64_t, uint64_t>> values{{of_.made_seq, kept.value}};  // by seq
    for (const auto& one : all) values.emplace_back(one.step->begin_seq, one.field->value);
    std::sort(values.begin(), values.end());
    std::set<uint64_t> known;
    size_t changes = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      known.insert(values[i].second);
      changes += i > 0 && values[i].second != values[i - 1].second ? 1 : 0;
    }
    // Of three it takes three different ones: two make no series.
    return values.size() >= kFewestExecutions && changes >= 2 &&
           (values.size() > kFewestExecutions || known.size() == values.size()) && is_in_reach(all, kept);
  }

  // A graph that is made for the longest length passes a value far from those of the eager steps.
  static bool is_in_reach(const std::vector<Execution>& all, const Field& kept) {
    double least = number_of(*all.front().field), most = least;
    for (const auto& one : all) {
      least = std::min(least, number_of(*one.field));
      most = std::max(most, number_of(*one.field));
    }
    const double span = most - least, value = number_of(kept);
    return value >= least - span && value <= most + span;
  }

  const Timeline& timeline_;
  const trace::ProcessTrace& trace_;
  const Comparison& of_;
  const std::vector<ReplayEvidence>& evidence_;
  std::map<const Verification*, Steps> groups_;  // null: marked steps
  std::map<const Work*, std::vector<Field>> known_;
  ComparedValues out_;
};

}  // namespace

ComparedValues compare_values(const Timeline& timeline, const Comparison& comparison,
                              const std::vector<ReplayEvidence>& evidence) {
  return Comparing(timeline, comparison, evidence).run();
}

}  // namespace capgate::analysis
