// recapture: one and the same graph is instantiated again and again, and the executables are never launched
// once the next one is there.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "base/counted.h"
#include "detector/analysis/judge.h"
#include "detector/analysis/launched_nodes.h"
#include "detector/trace/node_params.h"

namespace capgate::analysis {
namespace {

// A start makes one graph for each bucket, layer or device, and a few more while it warms up.
constexpr size_t kManyEqual = 8;    // with equal parameters, addresses included
constexpr size_t kManyAlike = 128;  // of the same kernels and sizes
constexpr double kLaunchesThatPay = 8;

void mix(uint64_t& hash, uint64_t value) {
  hash = (hash ^ value) * 0x100000001b3u;
  hash ^= hash >> 29;
}

struct Fingerprint {
  uint64_t shape = 0xcbf29ce484222325u, all = 0;
};

Fingerprint fingerprint(const trace::ProcessTrace& trace, const std::vector<NodeInGraph>& nodes) {
  Fingerprint out;
  for (const auto& in : nodes) {
    const auto& node = *in.node;
    for (const uint64_t value : {uint64_t{node.kind}, uint64_t{node.name}, uint64_t{node.grid[0]},
                                 uint64_t{node.grid[1]}, uint64_t{node.grid[2]}, uint64_t{node.block[0]},
                                 uint64_t{node.block[1]}, uint64_t{node.block[2]}, node.bytes})
      mix(out.shape, value);
  }
  out.all = out.shape;
  for (const auto& in : nodes) {
    mix(out.all, in.node->dst);
    mix(out.all, in.node->src);
    for (const auto& param : trace::node_params(trace, *in.node))
      for (const std::byte byte : param.bytes) mix(out.all, std::to_integer<uint64_t>(byte));
  }
  return out;
}

struct Group {
  std::vector<const Executable*> executables;
};

class Growth {
 public:
  Growth(Judge& judge, const GraphNodes& nodes) : judge_(judge), timeline_(judge.timeline()), nodes_(nodes) {}

  void run() {
    using Key = std::pair<std::string, uint64_t>;  // place and bucket, fingerprint
    std::map<Key, Group> equal, alike;
    for (const auto& exec : timeline_.executables) {
      if (exec.made_seq == 0 || exec.versions.empty() || exec.launches.empty()) continue;
      const auto& made = exec.versions.front();
      if (!nodes_.holds(made.graph, made.as_of)) continue;
      const auto nodes = nodes_.in(made);
      if (nodes.empty()) continue;
      std::string place = judge_.place(made.call).site;
      if (!made.captures.empty())
        place += '|' + timeline_.captures[static_cast<size_t>(made.captures.front())].bucket;
      const Fingerprint print = fingerprint(*timeline_.trace, nodes);
      equal[{place, print.all}].executables.push_back(&exec);
      alike[{place, print.shape}].executables.push_back(&exec);
    }
    for (const auto& [key, group] : equal) judge(group, kManyEqual);
    for (const auto& [key, group] : alike)
      if (!reported_.contains(group.executables.front())) judge(group, kManyAlike);
  }

 private:
  uint64_t seq_of(size_t launch) const { return timeline_.call(timeline_.launches[launch].call).r.h.seq; }

  void judge(const Group& group, size_t many) {
    const auto& executables = group.executables;
    if (executables.size() < many) return;
    size_t abandoned = 0, alive = 0, launches = 0;
    const uint64_t last_made = executables.back()->made_seq;
    for (size_t i = 0; i < executables.size(); ++i) {
      launches += executables[i]->launches.size();
      if (executables[i]->destroyed_seq > last_made) ++alive;
      if (i + 1 < executables.size() &&
          seq_of(executables[i]->launches.back()) < executables[i + 1]->made_seq)
        ++abandoned;
    }
    const double each = static_cast<double>(launches) / static_cast<double>(executables.size());
    // The last one is still in use.
    if (abandoned * 10 < (executables.size() - 1) * 9 || each >= kLaunchesThatPay) return;
    for (const auto* exec : executables) reported_.insert(exec);
    for (size_t i = 1; i < executables.size(); ++i) {
      Finding finding;
      finding.rule = "recapture";
      finding.phase = reports::Phase::step;
      finding.call = executables[i]->versions.front().call;
      // A library that makes its graphs anew, as XLA does, is not the user's to change.
      const Place& made = judge_.place(finding.call);
      finding.severity =
          made.known && !made.user_called ? reports::Severity::note : reports::Severity::warning;
      if (!executables[i]->versions.front().captures.empty())
        finding.more_stacks.emplace_back(
            reports::StackRole::captured,
            timeline_.captures[static_cast<size_t>(executables[i]->versions.front().captures.front())].begin);
      finding.details["recorded by"] = "the program";
      finding.details["executables"] = std::to_string(executables.size());
      finding.details["alive together"] = std::to_string(alive);
      finding.details["launches"] = std::to_string(launches);
      finding.details["executables per launch"] = fmt::format("{:.2f}", 1 / each);
      finding.message = fmt::format(
          "{} equal graphs were instantiated here for {} ({:.2f} per launch): an executable graph is never "
          "launched again once the next one exists",
          executables.size(), counted(launches, "launch", "launches"), 1 / each);
      if (alive > 2) finding.message += fmt::format(", and {} of them existed at the same time", alive);
      judge_.report(finding);
    }
  }

  Judge& judge_;
  const Timeline& timeline_;
  const GraphNodes& nodes_;
  std::set<const Executable*> reported_;
};

}  // namespace

void judge_recaptures(Judge& judge, const GraphNodes& nodes) {
  Growth(judge, nodes).run();
}

}  // namespace capgate::analysis
