/* Runs the eager step and the graph, and compares what both wrote. Part of verify.h. */
#ifndef CAPGATE_VERIFY_TRIAL_H
#define CAPGATE_VERIFY_TRIAL_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "verify_evidence.h"
#include "verify_memory.h"
#include "verify_numbers.h"
#include "verify_result.h"

namespace capgate {

namespace verify_detail {

class trial {
 public:
  explicit trial(const replay_check& check)
      : check_(check), buffers_(check.outputs), told_(check.name, check.inputs, check.steps) {
    buffers_.insert(buffers_.end(), check.state.begin(), check.state.end());
    noise_.resize(buffers_.size());
    set_varied_.resize(static_cast<std::size_t>(std::max(check.inputs, 0)));
    result_.name = check.name;
    result_.inputs = check.inputs;
    result_.steps = check.steps;
  }

  replay_result run() {
    const replay_result result = verify();
    tell_result();
    return result;
  }

 private:
  replay_result verify() {
    if (!check_.eager || !check_.replay || !check_.load)
      return nothing("eager, replay and load must all be given");
    if (check_.inputs < 2)
      return nothing("a value that the graph has frozen is right for one input set; give 2 or more");
    if (check_.steps < 3)
      return nothing("what a step leaves for the next one shows from the third on; give 3 steps or more");
    if (buffers_.empty()) return nothing("no output is known; name the buffers that the step writes");
    begin_ = copies();
    round(false);
    if (check_.refill && result_.ok()) {
      const free_memory filled(check_.most_refilled);
      result_.refilled = filled.bytes();
      if (result_.nothing.empty()) result_.nothing = filled.error();
      wait("filling free memory");
      if (result_.refilled) round(true);
    }
    restore();
    return result_;
  }
  replay_result nothing(const char* why) {
    result_.nothing = why;
    return result_;
  }
  void must(cudaError_t error, const std::string& what) {
    if (error != cudaSuccess && result_.nothing.empty()) result_.nothing = failed_call(what, error);
  }
  void wait(const char* after) { must(cudaDeviceSynchronize(), std::string("after ") + after); }

  step_values copies() {
    step_values values;
    for (const buffer& b : buffers_) {
      values.emplace_back(b.count * b.size);
      must(cudaMemcpy(values.back().data(), b.data, values.back().size(), cudaMemcpyDeviceToHost),
           "copying " + b.name + " to the host");
    }
    return values;
  }

  void restore() {
    for (std::size_t i = check_.outputs.size(); i < buffers_.size(); ++i)
      must(cudaMemcpy(buffers_[i].data, begin_[i].data(), begin_[i].size(), cudaMemcpyHostToDevice),
           "putting " + buffers_[i].name + " back");
  }

  bool is_state(const buffer& output) const {
    const auto begin = reinterpret_cast<std::uintptr_t>(output.data),
               end = begin + output.count * output.size;
    return std::any_of(check_.state.begin(), check_.state.end(), [&](const buffer& s) {
      const auto other = reinterpret_cast<std::uintptr_t>(s.data);
      return begin < other + s.count * s.size && other < end;
    });
  }

  void poison(int way) {
    for (const buffer& b : check_.outputs)
      if (!is_state(b)) must(cudaMemset(b.data, kFillings[way], b.count * b.size), "filling " + b.name);
  }

  run_values steps_of(bool replay, int set, int way, bool refilled) {
    run_values values;
    restore();
    for (int step = 0; step < check_.steps && result_.nothing.empty(); ++step) {
      told_.load(replay ? "replay" : "eager", set, step, way, refilled);
      check_.load(set, step);
      told_.enter("fill");
      poison(way);
      wait("load");
      told_.enter("launch");
      (replay ? check_.replay : check_.eager)();
      wait(replay ? "the replay" : "the eager step");
      told_.enter("read");
      values.push_back(copies());
    }
    return values;
  }

  void round(bool refilled) {
    run_values first;
    std::vector<bool> varied(buffers_.size());
    for (std::size_t i = 0; i < buffers_.size() && !refilled; ++i)
      told_.output(buffers_[i].name, buffers_[i].data, buffers_[i].count * buffers_[i].size,
                   i >= check_.outputs.size());
    for (int set = 0; set < check_.inputs; ++set)
      for (int way = 0; way < 2; ++way) {
        const run_values eager = steps_of(false, set, way, refilled);
        const run_values again = steps_of(false, set, way, refilled);
        const run_values replay = steps_of(true, set, way, refilled);
        if (!result_.nothing.empty()) return;
        compare_runs(eager, again, replay, set, way, refilled);
        if (way != 0) continue;
        if (set == 0) first = eager;
        for (std::size_t i = 0; i < buffers_.size(); ++i)
          for (int step = 0; step < check_.steps; ++step)
            // Noise is no other input.
            if (compare(buffers_[i], first[step][i], eager[step][i], 0, 2 * noise_[i]).elements > 0)
              varied[i] = set_varied_[static_cast<std::size_t>(set)] = true;
      }
    result_.unvaried.clear();
    for (std::size_t i = 0; i < buffers_.size() && !refilled; ++i)
      told_.compared(buffers_[i].name, noise_[i], varied[i]);
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (!varied[i]) result_.unvaried.push_back(buffers_[i].name);
    if (result_.unvaried.size() == buffers_.size())
      nothing("all input sets give the same eager outputs; let load() write other values for each set");
  }

  void compare_runs(const run_values& eager, const run_values& again, const run_values& replay, int set,
                    int way, bool refilled) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const buffer& b = buffers_[i];
      for (int step = 0; step < check_.steps; ++step)
        noise_[i] = std::max(noise_[i], noise(b, eager[step][i], again[step][i]));
      if (std::any_of(result_.mismatches.begin(), result_.mismatches.end(),
                      [&](const replay_mismatch& m) { return m.what == b.name && m.set == set; }))
        continue;
      const auto [relative, absolute] = tolerance(check_.relative, check_.absolute, b.type);
      for (int step = 0; step < check_.steps; ++step) {
        replay_mismatch found = compare(b, eager[step][i], replay[step][i], relative,
                                        absolute + 2 * noise(b, eager[step][i], again[step][i]));
        if (found.elements == 0) continue;
        found.what = b.name;
        found.set = set;
        found.step = step;
        found.refilled = refilled;
        const auto* const bytes_of_it = replay[step][i].data() + found.index * b.size;
        found.kept = std::all_of(bytes_of_it, bytes_of_it + b.size,
                                 [&](unsigned char byte) { return byte == kFillings[way]; });
        tell_difference(found, way, i >= check_.outputs.size());
        result_.mismatches.push_back(std::move(found));
        break;
      }
    }
    // The earliest step is what a reader needs first.
    std::stable_sort(result_.mismatches.begin(), result_.mismatches.end(),
                     [](const replay_mismatch& a, const replay_mismatch& b) {
                       return std::pair(a.set, a.step) < std::pair(b.set, b.step);
                     });
  }

  void tell_difference(const replay_mismatch& m, int way, bool state) {
    told_.differs(m.what, facts()
                              .add("set", m.set)
                              .add("step", m.step)
                              .add("filling", way)
                              .add("refilled", m.refilled ? 1 : 0)
                              .add("index", m.index)
                              .add("eager", m.eager)
                              .add("replay", m.replay)
                              .add("elements", m.elements)
                              .add("of", m.of)
                              .add("largest", m.largest)
                              .add("allowed", m.allowed)
                              .add("kept", m.kept ? 1 : 0)
                              .add("state", state ? 1 : 0));
  }

  void tell_result() {
    std::string varied;
    for (std::size_t set = 0; set < set_varied_.size(); ++set)
      if (set_varied_[set]) varied += (varied.empty() ? "" : ",") + std::to_string(set);
    facts how;
    how.add("refilled", result_.refilled).add("varied", varied);
    if (!result_.nothing.empty()) how.add("why", result_.nothing);
    told_.end(result_.ok() ? "equal" : result_.nothing.empty() ? "differs" : "nothing", how);
  }

  /* The bytes of each way of filling: NaN in every type of float, and a plain number. */
  static constexpr unsigned char kFillings[2] = {0xff, 0x46};

  const replay_check& check_;
  std::vector<buffer> buffers_;  // outputs, then state
  evidence told_;
  std::vector<double> noise_;     // of each buffer, between two eager runs
  std::vector<bool> set_varied_;  // whether a set's eager outputs differ from the first one's
  step_values begin_;
  replay_result result_;
};

}  // namespace verify_detail

}  // namespace capgate

#endif
