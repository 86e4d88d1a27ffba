#include "detector/analysis/watched_memory.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace capgate::analysis {
namespace {

using reports::MemoryWatched;
using reports::ReplayCoverage;

constexpr std::string_view kPyTorch = "PyTorch";

// The names of the facts "allocator.NAME", and Python's packages that bring these allocators: a trace of
// version 1 has the frames alone.
constexpr std::pair<std::string_view, std::string_view> kPackages[] = {
    {"cupy/", "CuPy"}, {"rmm/", "RMM"}, {"jax/", "JAX"}, {"tensorflow/", "TensorFlow"}};

using Names = std::map<std::string, std::string>;  // and what the trace has of its blocks

void add_by_frames(const seal::SealedTrace& trace, const seal::Process& process, Names& names) {
  for (const auto& [id, stack] : process.python_stacks)
    for (const uint32_t frame : stack)
      for (const auto& [package, name] : kPackages)
        if (trace.frames[frame].file.starts_with(package)) names.emplace(name, "");
}

// The allocators of a process whose blocks were not seen.
Names not_seen(const seal::SealedTrace& trace, const seal::Process& process, const reports::Report& report) {
  constexpr std::string_view kFact = "allocator.", kFollowed = "followed";
  const auto& facts = process.trace;
  Names names;
  for (const auto& [key, value] : facts.meta)
    if (key.starts_with(kFact)) names.emplace(key.substr(kFact.size()), "");
  add_by_frames(trace, process, names);
  if (report.environment.torch && !facts.fact("python").empty()) names.emplace(kPyTorch, "");
  if (const auto torch = names.find(std::string(kPyTorch)); torch != names.end()) {
    torch->second = facts.fact("torch.blocks");
    if (torch->second == kFollowed) names.erase(torch);
  }
  return names;
}

void add(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

}  // namespace

void describe_watch(const seal::SealedTrace& trace, const std::vector<Timeline>& timelines,
                    const std::vector<Watch>& watches, reports::Report& report) {
  for (size_t i = 0; i < timelines.size(); ++i) {
    if (timelines[i].launches.empty()) continue;
    const Watch& watch = watches[i];
    const Names names = not_seen(trace, trace.processes[i], report);
    auto watched = names.empty() ? MemoryWatched::blocks : MemoryWatched::segments;
    if (watch.thinned || watch.graphs == 0) watched = MemoryWatched::no;
    if (!report.coverage.replay) report.coverage.replay = ReplayCoverage{0, 0, watched, {}};
    ReplayCoverage& replay = *report.coverage.replay;
    replay.graphs += watch.graphs;
    replay.launches += watch.launches;
    replay.memory_watched = std::min(replay.memory_watched, watched);
    if (watch.thinned)
      add(report.coverage.not_checked,
          "memory that graphs refer to: some allocations or frees found no room in the trace");
    for (const auto& [name, state] : names) {
      add(replay.allocators_not_seen, name);
      add(report.coverage.not_checked,
          "memory that " + name + "'s allocator takes back while a graph refers to it: " +
              (state.empty() ? "the trace has no blocks of it" : "its blocks are " + state));
    }
  }
  if (report.coverage.replay) {
    auto& names = report.coverage.replay->allocators_not_seen;
    std::sort(names.begin(), names.end());
  }
}

}  // namespace capgate::analysis
