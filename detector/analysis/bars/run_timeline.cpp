#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "detector/analysis/bars.h"

namespace capgate::analysis {
namespace {

size_t count_bars(const std::vector<TimedThread>& threads) {
  size_t count = 0;
  for (const auto& thread : threads) count += thread.bars.size();
  return count;
}

auto key_of(const TimedBar& bar) {
  return std::tie(bar.bar.kind, bar.bar.name, bar.bar.capture, bar.bar.file, bar.bar.line);
}

// Equal bars with no more than `gap` between them become one.
std::vector<TimedBar> joined(const std::vector<TimedBar>& bars, uint64_t gap) {
  std::vector<TimedBar> out;
  std::map<decltype(key_of(bars.front())), size_t> open;  // the last one of each, in `out`
  for (const TimedBar& bar : bars) {
    const auto [at, fresh] = open.try_emplace(key_of(bar), out.size());
    if (!fresh && bar.begin_ns <= out[at->second].end_ns + gap) {
      TimedBar& into = out[at->second];
      into.end_ns = std::max(into.end_ns, bar.end_ns);
      into.busy_ns += bar.busy_ns;
      into.bar.count += bar.bar.count;
      continue;
    }
    at->second = out.size();
    out.push_back(bar);
  }
  return out;
}

// The shortest calls go before a region, a capture or a replay does. Returns how many events went.
uint64_t leave_out_shortest(std::vector<TimedThread>& threads, size_t most) {
  using Weight = std::tuple<bool, uint64_t, uint64_t>;
  const auto weight = [](const TimedBar& bar) {
    return Weight(bar.bar.kind != reports::BarKind::wait, bar.end_ns - bar.begin_ns, ~bar.begin_ns);
  };
  std::vector<Weight> weights;
  for (const auto& thread : threads)
    for (const auto& bar : thread.bars) weights.push_back(weight(bar));
  const auto least = weights.end() - static_cast<std::ptrdiff_t>(most);
  std::nth_element(weights.begin(), least, weights.end());
  uint64_t left_out = 0;
  for (auto& thread : threads)
    std::erase_if(thread.bars, [&](const TimedBar& bar) {
      const bool goes = weight(bar) < *least;
      left_out += goes ? bar.bar.count : 0;
      return goes;
    });
  std::erase_if(threads, [](const TimedThread& thread) { return thread.bars.empty(); });
  return left_out;
}

}  // namespace

std::optional<reports::RunTimeline> run_timeline(std::vector<TimedThread> threads, size_t most) {
  uint64_t first = UINT64_MAX, last = 0;
  for (const auto& thread : threads)
    for (const auto& bar : thread.bars) {
      first = std::min(first, bar.begin_ns);
      last = std::max(last, bar.end_ns);
    }
  if (last == 0 || most == 0) return std::nullopt;

  // From what a screen cannot tell apart to the whole run.
  constexpr uint64_t kApart = 4096;
  const uint64_t span = last - first;
  for (uint64_t gap = span / kApart + 1; count_bars(threads) > most; gap *= 4) {
    for (auto& thread : threads) thread.bars = joined(thread.bars, gap);
    if (gap > span) break;
  }
  reports::RunTimeline out;
  if (count_bars(threads) > most) out.left_out = leave_out_shortest(threads, most);
  const auto us = [](uint64_t ns) { return static_cast<double>(ns) / 1e3; };
  for (auto& thread : threads) {
    auto& to = out.threads.emplace_back();
    to.process = std::move(thread.process);
    to.thread = std::move(thread.thread);
    for (TimedBar& bar : thread.bars) {
      bar.bar.begin_us = us(bar.begin_ns - first);
      bar.bar.end_us = us(bar.end_ns - first);
      bar.bar.busy_us = us(bar.busy_ns);
      to.bars.push_back(std::move(bar.bar));
    }
  }
  return out;
}

}  // namespace capgate::analysis
