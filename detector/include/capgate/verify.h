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
 * C++17, header-only, with CUDA's runtime library. Everything runs on the current device, between waits for
 * the whole device. Whole numbers must be equal; halves are numbers where their element type is named.
 */
#ifndef CAPGATE_VERIFY_H
#define CAPGATE_VERIFY_H

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace capgate {

enum class element { bits, float16, bfloat16, float32, float64 };

/* A buffer on the current device. `size` is that of one element in bytes. */
struct buffer {
  std::string name;
  void* data;
  std::size_t count;
  std::size_t size;
  element type;
};

/* `count` elements at `data`. Halves need their type named: of("x", p, n, element::float16). */
template <class T>
buffer of(std::string name, T* data, std::size_t count,
          element type = std::is_same<T, float>::value    ? element::float32
                         : std::is_same<T, double>::value ? element::float64
                                                          : element::bits) {
  return {std::move(name), const_cast<std::remove_const_t<T>*>(data), count, sizeof(T), type};
}

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

struct replay_mismatch {
  std::string what;  // name of the buffer
  int set = 0, step = 0;
  bool refilled = false;  // after free memory was filled
  std::size_t index = 0;  // the first element that differs
  double eager = 0, replay = 0;
  std::size_t elements = 0, of = 0;
  double largest = 0;  // difference; NaN where one of the two is no number
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

using bytes = std::vector<unsigned char>;
using step_values = std::vector<bytes>;       // a buffer each
using run_values = std::vector<step_values>;  // a step each

inline double half_value(std::uint16_t h, int exponent_bits) {
  const int mantissa_bits = 15 - exponent_bits, bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (h >> mantissa_bits) & ((1 << exponent_bits) - 1),
            mantissa = h & ((1 << mantissa_bits) - 1);
  double value;
  if (exponent == (1 << exponent_bits) - 1)
    value = mantissa ? NAN : INFINITY;
  else if (exponent == 0)
    value = std::ldexp(mantissa, 1 - bias - mantissa_bits);
  else
    value = std::ldexp(mantissa + (1 << mantissa_bits), exponent - bias - mantissa_bits);
  return h & 0x8000 ? -value : value;
}

template <class T>
T at(const bytes& values, std::size_t i) {
  T value;
  std::memcpy(&value, values.data() + i * sizeof(T), sizeof(T));
  return value;
}

inline double value_of(const buffer& b, const bytes& values, std::size_t i) {
  switch (b.type) {
    case element::float16:
      return half_value(at<std::uint16_t>(values, i), 5);
    case element::bfloat16:
      return half_value(at<std::uint16_t>(values, i), 8);
    case element::float32:
      return at<float>(values, i);
    case element::float64:
      return at<double>(values, i);
    case element::bits:
      break;
  }
  switch (b.size) {
    case 1:
      return at<std::int8_t>(values, i);
    case 2:
      return at<std::int16_t>(values, i);
    case 4:
      return at<std::int32_t>(values, i);
    case 8:
      return static_cast<double>(at<std::int64_t>(values, i));
    default:
      return values[i * b.size];
  }
}

/* PyTorch's own comparison has the same figures. */
inline std::pair<double, double> tolerance(const replay_check& check, element type) {
  std::pair<double, double> of_type{0, 0};
  if (type == element::float16) of_type = {1e-3, 1e-5};
  if (type == element::bfloat16) of_type = {1.6e-2, 1e-5};
  if (type == element::float32) of_type = {1.3e-6, 1e-5};
  if (type == element::float64) of_type = {1e-7, 1e-7};
  return {check.relative < 0 ? of_type.first : check.relative,
          check.absolute < 0 ? of_type.second : check.absolute};
}

/* The largest finite difference of two eager runs. */
inline double noise(const buffer& b, const bytes& one, const bytes& other) {
  if (b.type == element::bits || one == other) return 0;
  double most = 0;
  for (std::size_t i = 0; i < b.count; ++i) {
    const double difference = std::fabs(value_of(b, one, i) - value_of(b, other, i));
    if (std::isfinite(difference)) most = std::max(most, difference);
  }
  return most;
}

inline replay_mismatch compare(const buffer& b, const bytes& eager, const bytes& replay, double relative,
                               double absolute) {
  replay_mismatch found;
  found.of = b.count;
  if (eager == replay) return found;
  for (std::size_t i = 0; i < b.count; ++i) {
    if (std::memcmp(eager.data() + i * b.size, replay.data() + i * b.size, b.size) == 0) continue;
    const double x = value_of(b, eager, i), y = value_of(b, replay, i), difference = std::fabs(x - y);
    if (b.type != element::bits) {
      if (x == y || (std::isnan(x) && std::isnan(y))) continue;
      if (std::isfinite(x) && difference <= absolute + relative * std::fabs(x)) continue;
    }
    if (found.elements++ == 0) {
      found.index = i;
      found.eager = x;
      found.replay = y;
    }
    found.largest =
        std::isnan(difference) || std::isnan(found.largest) ? NAN : std::max(found.largest, difference);
  }
  return found;
}

class trial {
 public:
  explicit trial(const replay_check& check) : check_(check), buffers_(check.outputs) {
    buffers_.insert(buffers_.end(), check.state.begin(), check.state.end());
    result_.name = check.name;
    result_.inputs = check.inputs;
    result_.steps = check.steps;
  }

  replay_result run() {
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

 private:
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

  /* Bytes of 0xff are NaN in every type of float, of 0x46 a plain number in each. */
  void poison(int way) {
    for (const buffer& b : check_.outputs)
      if (!is_state(b))
        must(cudaMemset(b.data, way == 0 ? 0xff : 0x46, b.count * b.size), "filling " + b.name);
  }

  run_values steps_of(const std::function<void()>& launch, const char* what, int set, int way) {
    run_values values;
    restore();
    for (int step = 0; step < check_.steps && result_.nothing.empty(); ++step) {
      check_.load(set, step);
      poison(way);
      wait("load");
      launch();
      wait(what);
      values.push_back(copies());
    }
    return values;
  }

  void round(bool refilled) {
    run_values first;
    std::vector<bool> varied(buffers_.size());
    for (int set = 0; set < check_.inputs; ++set)
      for (int way = 0; way < 2; ++way) {
        const run_values eager = steps_of(check_.eager, "the eager step", set, way);
        const run_values again = steps_of(check_.eager, "the eager step", set, way);
        const run_values replay = steps_of(check_.replay, "the replay", set, way);
        if (!result_.nothing.empty()) return;
        compare_runs(eager, again, replay, set, refilled);
        if (way != 0) continue;
        if (set == 0) first = eager;
        for (std::size_t i = 0; i < buffers_.size(); ++i)
          for (int step = 0; step < check_.steps; ++step)
            if (eager[step][i] != first[step][i]) varied[i] = true;
      }
    result_.unvaried.clear();
    for (std::size_t i = 0; i < buffers_.size(); ++i)
      if (!varied[i]) result_.unvaried.push_back(buffers_[i].name);
    if (result_.unvaried.size() == buffers_.size())
      nothing("all input sets give the same eager outputs; let load() write other values for each set");
  }

  void compare_runs(const run_values& eager, const run_values& again, const run_values& replay, int set,
                    bool refilled) {
    for (std::size_t i = 0; i < buffers_.size(); ++i) {
      const buffer& b = buffers_[i];
      if (std::any_of(result_.mismatches.begin(), result_.mismatches.end(),
                      [&](const replay_mismatch& m) { return m.what == b.name && m.set == set; }))
        continue;
      const auto [relative, absolute] = tolerance(check_, b.type);
      for (int step = 0; step < check_.steps; ++step) {
        replay_mismatch found = compare(b, eager[step][i], replay[step][i], relative,
                                        absolute + 2 * noise(b, eager[step][i], again[step][i]));
        if (found.elements == 0) continue;
        found.what = b.name;
        found.set = set;
        found.step = step;
        found.refilled = refilled;
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

  const replay_check& check_;
  std::vector<buffer> buffers_;  // outputs, then state
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
