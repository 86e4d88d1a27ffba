// What other units are told of this one: what a region of theirs would find in its functions and templates.
#include <set>
#include <unordered_set>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

// What a region in another unit would find in this function.
FunctionSummary Interpreter::latent(Function& f, CaptureEdge& edge) {
  FunctionSummary summary;
  summary.usr = f.usr;
  summary.name = f.name;
  summary.place = f.place;
  summary.internal = f.internal;
  std::vector<Ref> refs;
  const Exit exit = run_root(f, kCallers, refs);
  edge.usr = f.usr;
  if (!exit.dead && !f.region) {
    edge.ends = exit.flow.region == 0;
    if (exit.flow.region > kCallers && exit.flow.marked != kByRange) {
      regions_[exit.flow.region].opened_by = f.usr;
      edge.begins = 1;
      if (exit.tag == Tag::begun) edge.begins = 2;
      if (exit.tag == Tag::not_begun) edge.begins = 3;
      edge.marked = exit.flow.marked;
      edge.relaxed = exit.flow.relaxed_capture;
      edge.pooled = exit.flow.pooled;
    }
  }
  std::map<uint32_t, std::vector<uint32_t>> ways;
  for (const Ref& ref : refs)
    if (ref.region == kCallers) ways[ref.core].push_back(ref.tests);
  for (const Ref& ref : refs) {
    if (ref.region != kCallers) continue;
    const Core& core = cores_[ref.core];
    switch (core.kind) {
      case Core::Kind::finding: {
        LatentFinding latent;
        latent.finding = core.finding;
        latent.finding.tests = told(without_opposites(ways[ref.core]));
        if (latent.finding.flow.empty()) {
          latent.finding.flow = path_to(0, ref.chain);
          latent.finding.flow.push_back({latent.finding.place, latent.finding.message});
        }
        summary.latent.push_back(std::move(latent));
        break;
      }
      case Core::Kind::call:
        summary.calls.push_back(core.call);
        summary.calls.back().tests = told(without_opposites(ways[ref.core]));
        summary.calls.back().given = given_[ref.given];
        break;
      case Core::Kind::gap:
        summary.open.push_back(
            {core.gap.function, core.gap.place, core.gap.reason, core.gap.remedy, "", core.gap.aside});
        break;
      case Core::Kind::explanation:
        summary.explanations.push_back(core.explanation);
        summary.explanations.back().path = path_to(0, ref.chain);
        break;
    }
  }
  return summary;
}

// Templates in which a region begins: said whether this unit has one of what clang made of them looked into,
// and what is found in the pattern, for when no unit has.
void Interpreter::read_patterns(UnitResult& result) {
  std::set<Place> seen;
  for (const Function* f : interpreted_) seen.insert(f->place);
  for (Function* f : program_.patterns) {
    lowering_.lower(*f);
    if (!reach(*f).begins_region) continue;
    PatternSummary pattern;
    pattern.place = f->place;
    pattern.instantiated = seen.contains(f->place);
    if (!pattern.instantiated) {
      std::vector<Ref> refs;
      UnitResult found;
      const Exit exit = run_root(*f, 0, refs);
      report(refs, *f, found);
      if (is_left_open(exit)) {
        pattern.left_open.push_back(left_open(*f, exit.flow.region));
        if (f->is_constructor)  // a guard's
          pattern.left_open.back().reason =
              "the template " + f->record->name +
              " begins a capture where it is made, and none of the sources makes one";
      }
      std::erase_if(found.findings, [](const Finding& one) { return one.region.empty(); });
      pattern.findings = std::move(found.findings);
      pattern.exits = std::move(found.summary.exits);
      for (const NotAnalysed& gap : found.not_analysed)
        if (!gap.region.empty())
          pattern.open.push_back({gap.function, gap.place, gap.reason, gap.remedy, gap.region});
    }
    result.summary.patterns.push_back(std::move(pattern));
  }
}

// For the other units: what a region of theirs would find in each function here.
void Interpreter::summarise(const std::vector<Function*>& all, UnitResult& result) {
  const bool explains = options_.explain.line != 0;
  std::unordered_set<const Function*> overriders;
  for (const Function* base : program_.overridden)
    overriders.insert(base->overriders.begin(), base->overriders.end());
  for (Function* f : all) {
    if (((f->internal || f->is_instance) && !overriders.contains(f)) || f->usr.empty()) continue;
    const Reach& r = reach(*f);
    if (!explains && !r.calls_api && !r.leaves_unit && !r.begins_region && !r.asks && f->trouble.empty()) {
      result.summary.silent.push_back(f->usr);
      continue;
    }
    CaptureEdge edge;
    FunctionSummary summary = latent(*f, edge);
    summary.internal = false;  // an overrider without linkage is still reached through its base
    if (edge.begins || edge.ends) result.summary.edges.push_back(edge);
    if (!summary.latent.empty() || !summary.calls.empty() || !summary.open.empty() ||
        !summary.explanations.empty())
      result.summary.functions.push_back(std::move(summary));
    else
      result.summary.silent.push_back(f->usr);
  }
  std::set<std::string> outside;
  for (const Function* f : all)
    for (const Function* callee : f->callees)
      if (callee->user && !callee->has_body && !callee->is_defaulted && !callee->device_only)
        outside.insert(callee->usr);
  result.summary.outside.assign(outside.begin(), outside.end());
  // A virtual method that another unit calls leads to the overriders here.
  for (const Function* base : program_.overridden) {
    FunctionSummary summary;
    summary.usr = base->usr;
    summary.dispatch = true;
    summary.name = base->name;
    summary.place = base->place;
    for (const Function* overrider : base->overriders)
      summary.calls.push_back({overrider->usr, overrider->name, overrider->place, {}});
    result.summary.functions.push_back(std::move(summary));
  }
}

}  // namespace capgate::lint
