#include "detector/analysis/align/pointers.h"

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>

#include "detector/trace/node_kind.h"

namespace capgate::analysis {
namespace {

constexpr size_t kFewestExecutions = 3;  // the capture is one of them

// Somebody hands out parts of what CUDA gave: which part is whose is known only of the blocks that were seen.
bool has_an_allocator(const trace::ProcessTrace& trace) {
  return !trace.pool_blocks.empty() || !trace.fact("torch").empty() ||
         std::any_of(trace.meta.begin(), trace.meta.end(),
                     [](const auto& fact) { return fact.first.starts_with("allocator."); });
}

// Where a pointer of one execution points.
struct Target {
  BlockId block = 0;
  uint64_t offset = 0;
};

class Pointers {
 public:
  Pointers(const Timeline& timeline, const Comparison& of, const AroundLaunches& around, const Blocks& blocks)
      : timeline_(timeline), of_(of), around_(around), blocks_(blocks) {
    pieces_ = !has_an_allocator(*timeline.trace);
    for (const auto& step : of.steps)
      if (!step.step->of) steps_.push_back(&step);
  }

  std::vector<StalePointer> run() {
    if (steps_.size() + 1 < kFewestExecutions || !around_.known) return {};
    for (size_t node = 0; node < of_.nodes.size(); ++node) {
      const auto* record = of_.nodes[node].record;
      if (!record || record->kind != trace::kKernelNode || of_.edited.contains(node)) continue;
      for (const PointerField& field : pointers_of(*timeline_.trace, *record)) judge(node, field);
    }
    return std::move(out_);
  }

 private:
  std::optional<Target> target(uint64_t address, uint64_t seq) const {
    auto block = blocks_.at(Layer::block, address, seq);
    if (!block && pieces_) block = blocks_.at(Layer::piece, address, seq);
    if (!block) return std::nullopt;
    return Target{*block, address - blocks_[*block].start};
  }

  // The address that the step passes in this place; 0 where it is not known.
  uint64_t address_in(const AlignedStep& step, size_t node, const PointerField& field) const {
    const auto* launch = step.launch_of(node);
    const uint64_t module = of_.nodes[node].record->src;
    // Two modules may have kernels of one name.
    if (!launch || (launch->src != 0 && module != 0 && launch->src != module)) return 0;
    for (const PointerField& other : pointers_of(*timeline_.trace, *launch))
      if (other.parameter == field.parameter && other.offset == field.offset) return other.address;
    return 0;
  }

  void judge(size_t node, const PointerField& field) {
    const auto kept = target(field.address, of_.made_seq);
    if (!kept || is_written(kept->block)) return;
    std::vector<std::optional<Target>> targets;
    for (const AlignedStep* step : steps_) {
      const uint64_t address = address_in(*step, node, field);
      if (address == 0) return;
      targets.push_back(
          target(address, timeline_.call(*step->step->work[*step->eager_of[node]].call).r.h.seq));
    }
    StalePointer stale{node, field, PointerChange::offset, kept->offset, {}, steps_.back()->step};
    if (moves_within(*kept, targets)) {
      for (const auto& one : targets) stale.offsets.push_back(one->offset);
      out_.push_back(std::move(stale));
    } else if (follows_the_step_before(*kept, targets)) {
      stale.change = PointerChange::previous;
      out_.push_back(std::move(stale));
    }
  }

  // By copies around the launches or in the graph, or by the host; kernels there may write what they point
  // to.
  bool is_written(BlockId block) const {
    const Block& of = blocks_[block];
    if (of.owner == Owner::pinned || of.owner == Owner::registered) return true;
    if (std::any_of(around_.addresses.begin(), around_.addresses.end(),
                    [&](uint64_t address) { return of.holds(address); }))
      return true;
    return std::any_of(of_.nodes.begin(), of_.nodes.end(), [&](const Work& node) {
      return node.record && node.record->kind != trace::kKernelNode && of.holds(node.record->dst);
    });
  }

  // In one block, and in three different places: two make no series.
  bool moves_within(const Target& kept, const std::vector<std::optional<Target>>& targets) const {
    std::set<uint64_t> places{kept.offset};
    uint64_t least = UINT64_MAX, most = 0;
    for (const auto& one : targets) {
      if (!one || one->block != kept.block) return false;
      places.insert(one->offset);
      least = std::min(least, one->offset);
      most = std::max(most, one->offset);
    }
    const uint64_t span = most - least;
    return places.size() >= kFewestExecutions && span > 0 && kept.offset + span >= least &&
           kept.offset <= most + span && blocks_[kept.block].birth.seq < steps_.front()->step->begin_seq;
  }

  // When the marked pass before began.
  uint64_t begin_before(uint32_t tid, uint64_t seq) const {
    uint64_t begin = 0;
    for (const auto& pass : timeline_.regions)
      if (pass.tid == tid && pass.end_seq <= seq) begin = std::max(begin, pass.begin_seq);
    return begin;
  }

  bool is_of_the_step_before(BlockId block, uint64_t begin) const {
    const uint64_t before = begin_before(steps_.back()->step->tid, begin);
    const uint64_t born = blocks_[block].birth.seq;
    return before != 0 && born >= before && born < begin;
  }

  bool follows_the_step_before(const Target& kept, const std::vector<std::optional<Target>>& targets) const {
    if (!targets.back() || !is_of_the_step_before(kept.block, of_.made_seq)) return false;
    for (size_t i = 1; i < targets.size(); ++i)
      if (targets[i] && !is_of_the_step_before(targets[i]->block, steps_[i]->step->begin_seq)) return false;
    // What the graph itself points to elsewhere may be written there.
    size_t uses = 0;
    for (const Work& node : of_.nodes)
      if (node.record && node.record->kind == trace::kKernelNode)
        for (const PointerField& field : pointers_of(*timeline_.trace, *node.record))
          uses += blocks_[kept.block].holds(field.address) ? 1 : 0;
    return uses == 1;
  }

  const Timeline& timeline_;
  const Comparison& of_;
  const AroundLaunches& around_;
  const Blocks& blocks_;
  bool pieces_ = false;
  std::vector<const AlignedStep*> steps_;  // marked ones
  std::vector<StalePointer> out_;
};

}  // namespace

std::vector<StalePointer> stale_pointers(const Timeline& timeline, const Comparison& comparison,
                                         const AroundLaunches& around, const Blocks& blocks) {
  if (!comparison.exec) return {};
  return Pointers(timeline, comparison, around, blocks).run();
}

}  // namespace capgate::analysis
