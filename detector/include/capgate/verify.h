/* verify.h - shows that a captured graph computes what the eager step computes, in one call that fits a unit
 * test.
 *
 *   capgate::replay_check check;
 *   check.eager = [&] { step(stream); };                          // one step, eagerly
 *   check.replay = [&] { cudaGraphLaunch(exec, stream); };        // the program's own launch
 *   check.load = [&](int set, int step) { upload(set, step); };   // puts input set `set` where the step
 * reads it check.outputs = {capgate::of("logits", logits, n)};           // what the step writes, on the
 * device check.state = {capgate::of("cache", cache, m)};               // what a step leaves for the next one
 *   const capgate::replay_result result = capgate::verify_replay(check);
 *   ASSERT_TRUE(result.ok()) << result.text();
 *
 * Every input set is run for `steps` consecutive steps, eagerly and by replay, from the same state. Outputs
 * are filled before each step, in two ways, so that a value that nobody wrote is not taken for a result.
 * Eager steps are run twice to measure their noise. Then free device memory is filled, and all of it runs
 * again: a graph that lives on freed memory shows it there. A pass is this and no more: this graph gave the
 * eager results for these inputs over these steps.
 *
 * Under `capgate audit` all this is evidence: docs/verify.md.
 *
 * C++17, header-only, with CUDA's runtime library; copy the whole folder. Everything runs on the current
 * device, between waits for the whole device. Whole numbers must be equal; halves are numbers where their
 * element type is named.
 */
#ifndef CAPGATE_VERIFY_H
#define CAPGATE_VERIFY_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "verify_evidence.h"
#include "verify_numbers.h"

namespace capgate {

struct replay_check {
  std::string name = "the step";
  std::function<void()> eager;
  std::function<void()> replay;
  std::function<void(int set, int step)> load;  // before every step
  std::vector<buffer> outputs;                  // filled before every step
  std::vector<buffer> state;                    // put back before every run, and compared as outputs are
  int inputs = 2;
  int steps = 3;
  double relative = -1, absolute = -1;  // what rounding may change; below 0: by the element's type
  bool refill = true;                   // whether to do it all again with free device memory filled
  std::size_t most_refilled = std::size_t{1} << 30;  // bytes
};

struct replay_result {
  std::string name;
  int inputs = 0, steps = 0;
  std::string nothing;  // why the call can prove nothing, or which CUDA call failed
  std::vector<replay_mismatch> mismatches;
  std::vector<std::string> unvaried;  // buffers that no input set changed: nothing is proved about them
  std::size_t refilled = 0;           // bytes

  bool ok() const { return nothing.empty() && mismatches.empty(); }

  std::string text() const {
    if (!nothing.empty()) return name + ": nothing is verified: " + nothing;
    if (mismatches.empty()) {
      std::string said = name + ": replays gave the eager results for " + std::to_string(inputs) +
                         " input sets over " + std::to_string(steps) + " consecutive steps";
      if (refilled) said += ", again after " + std::to_string(refilled) + " bytes of free memory were filled";
      for (std::size_t i = 0; i < unvaried.size(); ++i)
        said += (i ? ", " : "; no input set changed ") + unvaried[i];
      return said;
    }
    const replay_mismatch& first = mismatches.front();
    char numbers[160];
    std::snprintf(numbers, sizeof numbers, "element %zu is %.9g, eagerly %.9g (%zu of %zu elements differ",
                  first.index, first.replay, first.eager, first.elements, first.of);
    std::string said = "replay-mismatch in " + name + ": " + first.what + " differs in step " +
                       std::to_string(first.step + 1) + ", input set " + std::to_string(first.set);
    if (first.refilled) said += ", after free memory was filled";
    said += std::string(": ") + numbers;
    std::snprintf(numbers, sizeof numbers,
                  std::isnan(first.largest) ? ", some by no finite number)" : ", by %.3g at most)",
                  first.largest);
    said += numbers;
    if (mismatches.size() > 1) said += "; " + std::to_string(mismatches.size() - 1) + " more";
    return said;
  }
};

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
      const std::vector<void*> blocks = fill_free_memory();
      if (result_.refilled) round(true);
      for (void* block : blocks) cudaFree(block);
    }
    restore();
    return result_;
  }
  replay_result nothing(const char* why) {
    result_.nothing = why;
    return result_;
  }
  void must(cudaError_t error, const std::string& what) {
    if (error != cudaSuccess && result_.nothing.empty())
      result_.nothing = what + ": " + cudaGetErrorName(error) + ", " + cudaGetErrorString(error);
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

  /* The default memory pool's free part, and blocks of cudaMalloc, which takes first what was freed last. */
  std::vector<void*> fill_free_memory() {
    std::vector<void*> blocks;
    std::size_t free = 0, total = 0;
    must(cudaMemGetInfo(&free, &total), "asking for free memory");
    std::size_t left = std::min(free / 4, check_.most_refilled);
    // Of every size: cudaMalloc keeps small blocks and large ones in places of their own.
    for (std::size_t size = std::size_t{64} << 20; size >= 512; size /= 2)
      for (int i = 0; i < 4 && left >= size; ++i, left -= size) {
        void* block = nullptr;
        if (cudaMalloc(&block, size) != cudaSuccess) {
          cudaGetLastError();
          break;
        }
        must(cudaMemset(block, 0xff, size), "filling free memory");
        blocks.push_back(block);
        result_.refilled += size;
      }
    fill_pool();
    wait("filling free memory");
    return blocks;
  }

  void fill_pool() {
    int device = 0;
    cudaMemPool_t pool = nullptr;
    std::uint64_t reserved = 0, used = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetDefaultMemPool(&pool, device) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved) != cudaSuccess ||
        cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used) != cudaSuccess ||
        reserved <= used) {
      cudaGetLastError();
      return;
    }
    // Taken on the default stream and given back there at once: the bytes stay filled.
    void* block = nullptr;
    std::size_t size = std::min<std::size_t>(reserved - used, check_.most_refilled);
    while (size >= 512) {
      if (cudaMallocAsync(&block, size, nullptr) == cudaSuccess) {
        must(cudaMemsetAsync(block, 0xff, size, nullptr), "filling the pool");
        must(cudaFreeAsync(block, nullptr), "giving the pool its memory back");
        result_.refilled += size;
        return;
      }
      cudaGetLastError();
      size /= 2;
    }
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

/* Compares eager steps with replays. An exception of the program's own functions passes through. */
inline replay_result verify_replay(const replay_check& check) {
  return verify_detail::trial(check).run();
}

}  // namespace capgate

#endif
