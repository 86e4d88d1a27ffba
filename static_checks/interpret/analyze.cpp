// Roots, and the unit's result.
#include <algorithm>
#include <set>
#include <tuple>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

Interpreter::Interpreter(Program& program, Lowering& lowering, const Tables& tables,
                         const LintOptions& options, const Unit& unit)
    : Questions(program, lowering, tables, options, unit.root),
      default_is_per_thread_(unit.per_thread_default_stream),
      cells_(program) {
  for (const CaptureEdge& edge : options.edges) edges_[edge.usr] = &edge;
  cells_.kind_behind = [this](uint32_t field) { return kind_behind(field); };
}

Interpreter::Exit Interpreter::run_root(Function& f, uint32_t region, std::vector<Ref>& refs) {
  Frame frame;
  frame.function = &f;
  frame.out.dead = true;
  State state;
  state.flow.region = region;
  frame_ = &frame;
  cells_.now = &state;
  Node& at = *program_.node(Op::call);
  at.id = 0xfffffff0;
  at.function = &f;
  at.file = f.file;
  at.offset = f.offset;
  seed_tables(f);
  root_now_ = &f;
  // What the caller would give: pointers and references to what nobody knows.
  const Value result = apply_unknown(f, &at);
  refs = std::move(frame.refs);
  // The call that stands for the unknown caller is no step of any path.
  for (Ref& ref : refs)
    if (ref.chain) ref.chain = ref.chain->next;
  frame_ = nullptr;
  cells_.now = nullptr;
  return {state.flow, result.tag, state.dead, ended_};
}

std::vector<FlowStep> Interpreter::path_to(uint32_t region, const Chain* chain) const {
  std::vector<FlowStep> path;
  if (region > kCallers) {
    const Region& r = regions_[region];
    const char* what = r.kind == "annotated" ? "' is marked as a region" : "' begins";
    path.push_back({r.begin, "'" + r.name + what});
  }
  for (const Chain* c = chain; c; c = c->next)
    path.push_back({program_.place(c->call), "calls " + c->callee->name + "()"});
  return path;
}

void Interpreter::report(const std::vector<Ref>& refs, const Function& root, UnitResult& result) {
  (void)root;
  std::map<std::pair<uint32_t, uint32_t>, std::vector<uint32_t>> ways;
  for (const Ref& ref : refs) ways[{ref.core, ref.region}].push_back(ref.tests);
  for (const Ref& ref : refs) {
    const Core& core = cores_[ref.core];
    const std::string region = ref.region > kCallers ? regions_[ref.region].name : std::string();
    switch (core.kind) {
      case Core::Kind::finding: {
        if (ref.region == kCallers) break;
        Finding f = core.finding;
        f.region = region;
        if (ref.region) f.tests = told(without_opposites(ways[{ref.core, ref.region}]));
        f.severity = severity_behind(f.tests, f.severity);
        if (f.flow.empty()) {
          f.flow = path_to(ref.region, ref.chain);
          f.flow.push_back({f.place, f.message});
        }
        result.findings.push_back(std::move(f));
        break;
      }
      case Core::Kind::call:
        if (ref.region > kCallers) {
          result.summary.exits.push_back({region, path_to(ref.region, ref.chain), core.call});
          result.summary.exits.back().call.tests = told(without_opposites(ways[{ref.core, ref.region}]));
          result.summary.exits.back().call.given = given_[ref.given];
        }
        break;
      case Core::Kind::gap: {
        NotAnalysed gap = core.gap;
        if (ref.region == kCallers) break;
        if (!gap.aside) gap.region = region;
        result.not_analysed.push_back(std::move(gap));
        break;
      }
      case Core::Kind::explanation: {
        if (ref.region == kCallers) break;
        Explanation& e = result.explanations.emplace_back(core.explanation);
        e.region = region;
        e.path = path_to(ref.region, ref.chain);
        break;
      }
    }
  }
}

// As nobody's callee.
void Interpreter::look_at(Function& root, UnitResult& result) {
  std::vector<Ref> refs;
  note_left_open(root, run_root(root, 0, refs));
  report(refs, root, result);
  // What no region was open for is in no region's gaps.
  if (exhausted_ && reach(root).begins_region && (!interpreted_.contains(&root) || nodes_ >= kMaxNodes)) {
    result.not_analysed.push_back({root.name, root.usr, root.place, why_exhausted(), remedy_of_exhaustion(),
                                   "the region that it begins"});
  }
}

namespace {

void keep_one_each(UnitResult& result) {
  // One finding a place: in a region beats outside, an error beats a note.
  std::stable_sort(result.findings.begin(), result.findings.end(), [](const Finding& a, const Finding& b) {
    if (a.place != b.place) return a.place < b.place;
    if (a.rule != b.rule) return a.rule < b.rule;
    if (a.callee != b.callee) return a.callee < b.callee;
    if (a.region.empty() != b.region.empty()) return b.region.empty();
    if (a.severity != b.severity) return a.severity < b.severity;
    if (a.flow.size() != b.flow.size()) return a.flow.size() < b.flow.size();
    return a.region < b.region;
  });
  const auto same = [](const Finding& a, const Finding& b) {
    return a.place == b.place && a.rule == b.rule && a.callee == b.callee;
  };
  result.findings.erase(std::unique(result.findings.begin(), result.findings.end(), same),
                        result.findings.end());
  // One value that decides several things on one line is one fault.
  std::set<std::tuple<std::string, int, std::string, Place>> causes;
  std::erase_if(result.findings, [&](const Finding& f) {
    if (!f.callee.empty() || f.flow.empty()) return false;
    return !causes.emplace(f.place.file, f.place.line, f.rule, f.flow.front().place).second;
  });
  std::stable_sort(result.not_analysed.begin(), result.not_analysed.end(), [](const auto& a, const auto& b) {
    if (a.place != b.place) return a.place < b.place;
    if (a.function != b.function) return a.function < b.function;
    if (a.reason != b.reason) return a.reason < b.reason;
    return a.region > b.region;
  });
  result.not_analysed.erase(std::unique(result.not_analysed.begin(), result.not_analysed.end(),
                                        [](const auto& a, const auto& b) {
                                          return a.function == b.function && a.reason == b.reason;
                                        }),
                            result.not_analysed.end());
}

}  // namespace

UnitResult Interpreter::run() {
  UnitResult result;
  std::vector<Function*>& all = program_.user_functions;
  std::stable_sort(all.begin(), all.end(),
                   [](const Function* a, const Function* b) { return a->place < b->place; });
  // However many were made of one template.
  for (size_t i = 0; i < all.size(); ++i)
    if (i == 0 || all[i]->place != all[i - 1]->place) ++result.functions_analysed;
  std::unordered_set<const Function*> called;
  for (Function* f : all) {
    lowering_.lower(*f);
    for (const Function* callee : f->callees)
      if (callee != f) called.insert(callee);
  }
  const auto wanted = [&](Function* f) {
    return options_.whole_file || reach(*f).begins_region || reach(*f).adds_nodes;
  };
  // Functions that nobody here calls first: what they call is then seen as they call it. Who is left (called
  // only from where the analysis does not get to) comes after, on its own.
  for (Function* f : all)
    if (wanted(f) && (!called.contains(f) || f->region)) look_at(*f, result);
  for (Function* f : all)
    if (wanted(f) && !interpreted_.contains(f)) look_at(*f, result);
  // What only a template of a library calls is in no list of the unit's own functions. The list grows
  // meanwhile.
  for (size_t i = 0; i < program_.functions.size(); ++i) {  // NOLINT(modernize-loop-convert): as it grows
    Function& f = program_.functions[i];
    if (!f.user || !f.has_body || f.is_pattern || f.device_only || !f.lowered || interpreted_.contains(&f) ||
        !wanted(&f))
      continue;
    look_at(f, result);
  }
  read_patterns(result);
  if (!options_.dump_tree.empty()) result.trees = trees();
  if (options_.explain.line != 0) result.explained = explained_functions();
  summarise(all, result);
  result.summary.graph = call_graph();
  result.summary.set = set_here();
  for (const Function* f : all) result.summary.has_main = result.summary.has_main || f->name == "main";
  report_left_open(result);
  result.regions = own_regions(result);
  // A function with parse trouble that nothing reaches is still worth naming.
  std::unordered_set<std::string> named;
  for (const NotAnalysed& gap : result.not_analysed) named.insert(gap.usr + gap.function);
  for (const Function* f : all)
    if (!f->trouble.empty() && named.insert(f->usr + f->name).second)
      result.not_analysed.push_back(
          {f->name, f->usr, f->place,
           "the parser found an error at line " + std::to_string(f->trouble_line) + ": " + f->trouble, "",
           ""});

  keep_one_each(result);
  return result;
}

}  // namespace capgate::lint
