// How far the calls of a run bear a verification out, for each executable that it launched.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/counted.h"
#include "detector/analysis/copy_operands.h"
#include "detector/analysis/verifications.h"
#include "detector/analysis/verify/output_copies.h"
#include "detector/analysis/verify/seen_steps.h"
#include "detector/analysis/verify/step_launches.h"
#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

constexpr uint64_t kFewestSteps = 3;
constexpr size_t kFewestSets = 2;

// The steps that follow each other from one state: those of one input set and one filling, in one round.
using RunKey = std::tuple<int, bool, int>;  // set, refilled, filling

struct Run {
  std::vector<const SeenStep*> replays;
  uint64_t eager_steps = 0;
};

class Examination {
 public:
  Examination(const Timeline& timeline, const GraphNodes& nodes, const Verification& of)
      : timeline_(timeline), nodes_(nodes), of_(of), steps_(seen_steps(timeline, of)) {
    for (const auto& seen : steps_) {
      Run& run = runs_[{seen.step->set, seen.step->refilled, seen.step->filling}];
      if (seen.step->replay)
        run.replays.push_back(&seen);
      else
        ++run.eager_steps;
    }
  }

  void add_to(std::vector<ReplayEvidence>& out) {
    std::set<uint64_t> launched;
    for (const auto& seen : steps_)
      if (seen.step->replay)
        for (const size_t i : seen.launches) launched.insert(timeline_.launches[i].exec);
    for (const uint64_t number : launched) out.push_back(examine(timeline_.executables[number - 1]));
    if (!launched.empty()) return;
    ReplayEvidence& none = out.emplace_back();
    none.of = &of_;
    judge_claim(none);
    if (none.why.empty())
      refuse(none, "the thread that verifies launched no executable graph in it",
             "give verify_replay the program's own launch of the graph (replay=), made on the thread that "
             "calls it");
  }

 private:
  static void refuse(ReplayEvidence& evidence, std::string why, std::string remedy) {
    evidence.why = std::move(why);
    evidence.remedy = std::move(remedy);
  }

  // What the verification says of itself.
  void judge_claim(ReplayEvidence& evidence) const {
    if (of_.end == VerifyEnd::open)
      refuse(evidence, "it did not end", "let verify_replay return before the program ends");
    else if (of_.end == VerifyEnd::nothing)
      refuse(evidence, of_.why, "change the call of verify_replay as this says");
    else if (of_.end == VerifyEnd::raised)
      refuse(evidence, "an exception ended it: " + of_.why, "repair what raised it");
  }

  ReplayEvidence examine(const Executable& exec) {
    ReplayEvidence evidence;
    evidence.of = &of_;
    evidence.exec = &exec;
    const std::set<int> sets = follow(exec, evidence);
    for (const auto& difference : of_.differences) evidence.differs |= launched_in(exec, difference.set);
    if (evidence.differs) {
      evidence.refilled = std::any_of(of_.differences.begin(), of_.differences.end(),
                                      [](const auto& difference) { return difference.refilled; });
      return evidence;
    }
    judge_claim(evidence);
    if (!evidence.why.empty()) return evidence;
    if (!of_.differences.empty())
      refuse(evidence, "the verification found a difference in an input set that launches another graph",
             "repair what differs first");
    else if (eager_launches(timeline_, steps_, exec))
      refuse(evidence, "the eager step launches this graph, too: it was compared with itself",
             "give verify_replay an eager step that launches no graph");
    else if (replays_run_the_eager_step(steps_))
      refuse(
          evidence,
          "its replays run the kernels of the eager step beside the graph: the results are not the graph's",
          "let replay= launch the graph alone");
    else
      judge_runs(exec, sets, evidence);
    return evidence;
  }

  // Fills in which sets launched it, and returns those that did so in enough consecutive steps.
  std::set<int> follow(const Executable& exec, ReplayEvidence& evidence) const {
    std::map<int, uint64_t> in_a_row;
    for (const auto& [key, run] : runs_) {
      uint64_t longest = 0, row = 0;
      for (const SeenStep* seen : run.replays) {
        row = launches(timeline_, *seen, exec) ? row + 1 : 0;
        longest = std::max(longest, row);
        for (const size_t i : seen->launches) {
          if (timeline_.launches[i].exec != exec.number) continue;
          const size_t call = timeline_.launches[i].call;
          if (!evidence.launch) evidence.launch = call;
          evidence.contents.insert(contents_at(exec, timeline_.call(call).r.h.seq));
        }
      }
      const auto [set, fresh] = in_a_row.try_emplace(std::get<0>(key), longest);
      set->second = std::min(set->second, longest);
    }
    std::set<int> sets;
    for (const auto& [set, steps] : in_a_row) {
      if (steps == 0) continue;
      ++evidence.input_sets;
      evidence.steps = evidence.steps == 0 ? steps : std::min(evidence.steps, steps);
      if (steps >= kFewestSteps) sets.insert(set);
    }
    return sets;
  }

  bool launched_in(const Executable& exec, int set) const {
    return std::any_of(steps_.begin(), steps_.end(), [&](const SeenStep& seen) {
      return seen.step->replay && seen.step->set == set && launches(timeline_, seen, exec);
    });
  }

  void judge_runs(const Executable& exec, const std::set<int>& sets, ReplayEvidence& evidence) const {
    if (sets.size() < kFewestSets)
      return refuse(evidence,
                    fmt::format("{} launched it in {} consecutive steps or more: it takes {}",
                                counted(sets.size(), "input set"), kFewestSteps, kFewestSets),
                    "verify each bucket in a call of its own, with two input sets or more of three steps");
    if (!differ(sets))
      return refuse(evidence,
                    "it is not shown that the input sets that launched it give different eager results",
                    "let load() write other values for each input set");
    for (const int set : sets)
      for (const int filling : {0, 1}) {
        const auto run = runs_.find({set, false, filling});
        if (run == runs_.end() || run->second.eager_steps < run->second.replays.size())
          return refuse(evidence, fmt::format("input set {} has not as many eager steps as replays", set),
                        "use the verify_replay that comes with this capgate");
      }
    if (!are_loaded(exec, sets))
      return refuse(evidence, "nothing wrote to the device while its inputs were loaded",
                    "let load() write each input set where the graph reads it");
    if (const std::string output = not_copied(timeline_, of_, steps_, exec, sets);
        !output.empty() && kernels_ran(steps_))
      return refuse(
          evidence,
          fmt::format(
              "no copy of {} follows its launches; kernels ran there, in which the audit sees no address",
              output),
          "name outputs that CUDA's own copies read: dense tensors of PyTorch, or buffers in C++");
    else if (!output.empty())
      return refuse(evidence, fmt::format("no copy of {} follows its launches", output),
                    "name the device memory that the graph writes: outputs=");
    evidence.refilled = of_.refilled_bytes > 0 && std::all_of(sets.begin(), sets.end(), [&](int set) {
                          return runs_.contains({set, true, 0}) && runs_.contains({set, true, 1});
                        });
  }

  // Each set is compared with set 0 alone: two that differ from it may be equal.
  bool differ(const std::set<int>& sets) const {
    const auto varied = static_cast<size_t>(
        std::count_if(sets.begin(), sets.end(), [&](int set) { return of_.varied.contains(set); }));
    return varied > 0 && varied < sets.size();
  }

  bool are_loaded(const Executable& exec, const std::set<int>& sets) const {
    if (reads_the_host(exec)) return true;
    std::set<int> loaded;
    for (const auto& seen : steps_)
      if (seen.loaded && sets.contains(seen.step->set)) loaded.insert(seen.step->set);
    // One of them may have been there from the start.
    return loaded.size() + 1 >= sets.size() && !loaded.empty();
  }

  // Then its inputs may be written without a call.
  bool reads_the_host(const Executable& exec) const {
    if (exec.versions.empty()) return false;
    const auto held = nodes_.in(exec.versions.back());
    return std::any_of(held.begin(), held.end(), [&](const NodeInGraph& in) {
      if (in.node->kind != trace::kCopyNode) return false;
      switch (operand_memory(timeline_, in.node->src, in.node->src_memory)) {
        case trace::Memory::pageable:
        case trace::Memory::pinned:
        case trace::Memory::managed:
        case trace::Memory::registered:
          return true;
        default:
          return false;
      }
    });
  }

  const Timeline& timeline_;
  const GraphNodes& nodes_;
  const Verification& of_;
  std::vector<SeenStep> steps_;
  std::map<RunKey, Run> runs_;
};

}  // namespace

ContentsAt contents_at(const Executable& exec, uint64_t seq) {
  ContentsAt out;
  for (const auto& version : exec.versions) out.versions += version.from_seq <= seq ? 1 : 0;
  for (const auto& edit : exec.edits) out.edits += edit.seq <= seq ? 1 : 0;
  return out;
}

std::vector<ReplayEvidence> replay_evidence(const Timeline& timeline, const GraphNodes& nodes,
                                            const std::vector<Verification>& verifications) {
  std::vector<ReplayEvidence> out;
  for (const auto& verification : verifications) Examination(timeline, nodes, verification).add_to(out);
  return out;
}

}  // namespace capgate::analysis
