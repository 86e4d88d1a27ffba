// The abstract interpreter: runs a function's tree over abstract states, follows calls through memoised
// summaries, and tells the rules what it meets. Private to static_checks/interpret and static_checks/models.
//
// A summary is made for a function, the part of the state that it can reach (with objects named by how the
// callee reaches them, so that different callers share it), and whether a region is open. Findings travel up
// with the summaries and get their region and call path where the summary is used.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/domain/store.h"
#include "static_checks/interpret/questions.h"
#include "static_checks/ir/text_of.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

Tag opposite(Tag tag);  // of the negated value

class Interpreter : Questions {
 public:
  Interpreter(Program& program, Lowering& lowering, const Tables& tables, const LintOptions& options,
              const Unit& unit);
  UnitResult run();

 private:
  static constexpr uint32_t kCallers = 1;  // the region of whoever calls: known where a summary is used
  static constexpr int kMaxDepth = 48;
  static constexpr uint64_t kMaxNodes = 40'000'000;  // nodes interpreted a unit

  // analyze.cpp: roots, latent findings, the result
  Exit run_root(Function& function, uint32_t region, std::vector<Ref>& refs);
  void report(const std::vector<Ref>& refs, const Function& root, UnitResult& result);
  void look_at(Function& root, UnitResult& result);
  void summarise(const std::vector<Function*>& all, UnitResult& result);
  void read_patterns(UnitResult& result);
  FunctionSummary latent(Function& function, CaptureEdge& edge);
  CallGraph call_graph();  // call_graph.cpp
  std::vector<FlowStep> path_to(uint32_t region, const Chain* chain) const;

  // eval.cpp
  Value eval(const Node* n);
  Value eval_into(const Node* n, PathId destination);
  std::vector<PathId> places(const Node* n);
  std::vector<PathId> places_of_choice(const Node* n);
  Value binary(const Node* n);
  Value unary(const Node* n);
  Value step(const Node* n);
  Value assign(const Node* n);
  Value assign_with_operation(const Node* n);
  bool sweeps(const Node* target, const std::vector<PathId>& at);
  Value choose(const Node* n);
  Value convert(const Node* n);
  Value make(const Node* n);
  Value construct(const Node* n, PathId destination);
  void construct_default(Record& record, PathId destination, const Node* at);
  Value branch(const Node* condition, State& yes, State& no);
  std::vector<PathId> targets(const Value& value) const { return target_sets_[value.targets]; }
  std::string text_of(const Node* n) const { return lint::text_of(program_, n); }
  // exec.cpp, once.cpp
  void exec(const Node* n);  // with the ends of its temporaries
  void exec_one(const Node* n);
  void exec_block(const Node* n);
  void exec_when(const Node* n);
  void exec_loop(const Node* n);
  void exec_range(const Node* n);
  void exec_choose(const Node* n);
  void exec_declare(const Node* n);
  void exec_return(const Node* n);
  void join_at_label(const State& from);
  void exec_try(const Node* n);
  void end_path();
  void bind(const Node* declaration, PathId from);
  void leave_locals(size_t keep, const Node* at, bool pop);
  void check_once(const Node* when);
  void check_change(const Node* condition, bool wanted, const std::vector<const Node*>& guarded);
  void check_once_return(const Node* block, size_t from, const Node* when);

  FirstUse closes_guard(const Node* condition, bool wanted, const std::vector<const Node*>& guarded);
  bool asks_state(const Node* n, const std::vector<const Node*>& guarded, int depth);
  bool closed_behind(const Node* condition);

  // keyed_captures.cpp
  const Node* looked_up(const Node* n);
  void find_keys(const Node* condition, bool wanted, const std::vector<const Node*>& guarded,
                 std::vector<const Node*>& keys);
  void forget_keys(const Node* condition, bool wanted, const std::vector<const Node*>& guarded, State& state);

  // destructors.cpp
  void run_destructor(Function& destructor, PathId object, const Node* at, bool of_this_class);
  void destroy(Record& record, PathId object, const Node* at, int depth = 0, bool of_this_class = true);
  void destroy_perhaps(Record& record, PathId object, const Node* at, int depth = 0);
  void note_temporary(Record* record, const Node* n);
  void keep_temporary(PathId object);
  void end_temporaries(size_t keep);

  // host_tests.cpp
  bool is_host_test(const Node* condition, const Value& value);
  uint32_t with_test(uint32_t tests, const Node* condition, bool wanted);
  uint32_t both_tests(uint32_t outer, uint32_t inner);
  uint32_t list_of(std::vector<Behind> tests);
  uint32_t resolved_tests(uint32_t tests, const std::vector<Counts>& given);
  std::vector<Behind> without_opposites(const std::vector<uint32_t>& lists);
  std::vector<HostTest> told(const std::vector<Behind>& tests) const;
  HostTest in_words(const Node* condition, bool wanted);
  bool add_terms(const Node* condition, bool wanted, HostTest& test, int depth);
  TestTerm term_of(const Node* value, int depth);
  bool is_switch(const Node* condition);
  bool asks_for_stream(const Node* condition, const Node*& stream, bool& wanted);
  bool captures(const Node* stream);
  void note_begun_if(const Node* condition, const State& yes, const State& no, const Flow& base);
  void leave_where_not_begun(const Node* condition, State& yes, State& no);

  // counts.cpp
  void note_stepped(const Node* n);
  void note_bounds(const Node* n);
  bool is_bound(const Node* n);
  Counts operand_of(const Node* n, const Value& value);
  Counts stored_count(const Node* n, const Value& value);
  Counts stepped_count(const Node* target, Counts calculated);
  Counts count_of_place(const Node* n);
  void set_inputs(Function& f, State& state);
  void note_answer(const Node* condition, const Value& value);
  Counts decides(const Node* condition, bool wanted);
  uint32_t given_of(std::vector<Counts> operands);
  std::vector<Counts> operands_of(const std::vector<Argument>& arguments);

  // returns.cpp
  void note_return(const Cell* result, uint32_t at);
  Tag tag_of_returns() const;
  void note_answer_of_capture(const Cell* result);
  Tag answer_of_capture() const;
  bool leaves_open_on_failure() const;

  // left_open.cpp
  bool is_left_open(const Exit& exit) const;
  void note_left_open(const Function& root, const Exit& exit);
  OpenPlace left_open(const Function& root, uint32_t region) const;
  void report_left_open(UnitResult& result);

  // holders.cpp
  Value choose_into(const Node* n, PathId destination);
  void own_region(const Record& record, uint32_t before, const Node* at);
  std::vector<Region> own_regions(const UnitResult& result);
  bool is_held_elsewhere(PathId object, PathId holder);
  void destroy_held(Record& record, PathId holder, const Node* at, int depth = 0);
  void hold(Record& holder, Function* constructor, std::vector<Argument>& arguments,
            const std::vector<PathId>& objects, const Node* at);

  // foreign.cpp
  bool is_followed(Function& function);
  // call.cpp
  void note_call(const Node* n, bool foreign);
  Value call(const Node* n);
  Value launch(const Node* n);
  Value call_virtual(const Node* n, Function& function, std::vector<Argument>& arguments,
                     const std::vector<PathId>& object);
  void unknown_target(const Node* n, const std::string& name);
  Value apply(Function& function, const Node* at, std::vector<Argument>& arguments,
              const std::vector<PathId>* self);
  Value opaque(const Node* n, Function* function, const std::vector<Argument>& arguments,
               const std::vector<PathId>& object);
  void forget_outputs(const Function& function, const std::vector<Argument>& arguments);
  std::vector<CallablesId> candidates_of(CallablesId callables);
  Value invoke(CallablesId callables, const Node* at, std::vector<Argument>& arguments);
  Value invoke_one(Function& function, const Node* at, std::vector<Argument>& arguments);
  CallablesId callable_of(const Argument& argument);

  // tables_of_functions.cpp
  void seed_table(const Variable& v, const Node* initial);
  void seed_tables(Function& root);
  // apply.cpp, enter_call.cpp, run_body.cpp
  void see_callables(Entering& e, const std::vector<Argument>& arguments);
  void set_entry_flow(Entering& e);
  void bring(Entering& e, PathId to, Cell cell);
  void bring_tree(Entering& e, PathId from, PathId to);
  void bind_arguments(Entering& e, const std::vector<Argument>& arguments);
  void lend(Entering& e);
  static std::string key_of(const Entering& e);
  Summary* summary_of(const Entering& e);
  void restart_traces(Entering& e, const Summary& summary);
  void construct_members(Function& f, const Node* at);
  void run_body(const Entering& e, Summary& summary);
  void close(const Entering& e, Frame& frame, Summary& summary);
  void pass_on_findings(const Entering& e, const Summary& summary);
  void give_back_places(Entering& e, const Summary& summary, bool first_time);
  void give_back_flow(const Entering& e, const Summary& summary);
  void begin_at_call(const Entering& e);
  Value result_of(const Entering& e);

  // canonical.cpp
  PathId canonical(Canon& canon, PathId path);
  TargetsId canonical_set(Canon& canon, TargetsId set);
  PathId original(const Canon& canon, PathId path, const Node* at);
  PathId made_here(PathId heap, const Node* at);
  const Trace* rebound(const Trace* t, const Summary& summary, const State& entry, const Node* at, int depth);
  std::vector<Argument> arguments_of(const Node* n, size_t first, const Function* function);

  // models/: what modelled functions do. One call each, with a handler for each kind.
  struct Effect;
  struct Copy;
  struct Method;
  struct FreeCall;
  struct LibraryObject;
  struct TensorCall;
  Value effect(const Api& api, const Node* n, Function& function, std::vector<Argument>& arguments,
               const std::vector<PathId>& object);
  void copy(const Api& api, const Node* n, std::vector<Argument>& a, CallEvent& event);
  void allocate(const Api& api, const Node* n, std::vector<Argument>& a);
  void touch_by_device(const std::vector<Argument>& a, Function* kernel, const Node* at, size_t first);
  bool fits_an_element(PathId target, const Argument* pointer, const Api& api,
                       const std::vector<Argument>& a);
  std::vector<PathId> fields_of(PathId object, const std::string& name);
  void note_node(const Api& api, const Node* n, const std::vector<Argument>& a, const CallEvent& event,
                 const std::vector<PathId>& host);
  bool outlives_frame(const Node* graph, int depth = 0);
  void begin_region(const Node* at, const char* kind);
  void end_region(const Node* at);
  void push_range(const Node* name, const Node* at, const std::string& domain);
  void pop_range(const Node* at);
  void allow(const Node* rule, const Node* reason);
  CallEvent event_of(const Api& api, std::string callee);
  static StreamUse stream_use(const Argument* stream);
  void judge(const CallEvent& event, const Node* at, const std::vector<Place>& waits_for = {});
  std::vector<Place> follow_read_back(const Api& api, const std::vector<Argument>& a, const CallEvent& event);
  std::string stream_text(const Api& api, const std::vector<Argument>& a) const;
  Operand operand(const Argument& argument, const std::vector<PathId>& paths);
  std::vector<PathId> field_targets(const Argument& parameters, const std::vector<std::string>& fields,
                                    bool of_all);
  void note_scratch(const std::vector<Argument>& a, size_t first, const Node* at,
                    const std::string& receiver);
  void note_host_memory(const std::vector<Argument>& a, size_t first, const Node* at,
                        const std::string& kernel);
  void note_uses(const std::vector<Argument>& a, const Node* at);
  void note_use(PathId memory, const Node* at);
  Value source_value(const Node* at, const std::string& from, const Type* type);

  // models.cpp: the standard library, thrust's containers; tensors.cpp; device_algorithms.cpp
  Value system_call(const Node* n, Function& function, std::vector<Argument>& arguments,
                    const std::vector<PathId>& object, const Node* object_node);
  Value system_construct(const Node* n, PathId destination);
  Value method(const Node* n, Function& function, std::vector<Argument>& arguments,
               const std::vector<PathId>& object, const Node* object_node);
  std::vector<PathId> elements(const std::vector<PathId>& object, const Node* object_node, uint32_t index);
  Value tensor(const Api& api, const Node* n, std::vector<Argument>& a, const std::vector<PathId>& given);
  Value device_algorithm(const Api& api, const Node* n, std::vector<Argument>& arguments, CallEvent event);
  void call_callables(const Node* n, std::vector<Argument>& arguments);
  void start_thread(const Node* n, std::vector<Argument>& arguments);
  static std::vector<Argument> given_to(const Function& constructor, const std::vector<Argument>& arguments);
  bool make_inside(const Node* n, const std::vector<Argument>& arguments, PathId destination);

  // callbacks.cpp, owners.cpp
  void call_back(const Node* n, Function& library, const std::vector<Argument>& arguments);
  Value apply_unknown(Function& f, const Node* at);
  bool is_of_a_handle(PathId place);
  void note_end_of_owner(const Variable& v, const Record& record);
  bool is_given_away(const Variable& v) const;
  const Variable* local_owner_of(PathId memory);

  // emit.cpp
  void sink(Use use, const Trace* taint, const Node* at);
  std::vector<FlowStep> steps_of(const Trace* taint) const;
  void add_finding(const char* rule, const Judgement& judgement, const Node* at, const std::string& callee,
                   const Trace* taint, const std::map<std::string, std::string>& details = {},
                   const std::vector<Place>& waits_for = {});
  void add_ref(uint32_t core, uint32_t region, const Chain* chain, uint32_t tests = 0, uint32_t given = 0);
  std::string why_exhausted() const;
  const char* remedy_of_exhaustion() const;
  void add_gap(Function& function, const std::string& reason, const std::string& remedy);
  void add_trouble(Function& function);
  void pass_trouble(uint32_t to);
  void open_constexpr(const Node* when);
  void add_open(const char* what, const Node* n, const std::string& reason, const std::string& remedy);
  void add_call(Function& function, const Node* at, const std::vector<Argument>& arguments = {});
  void add_foreign(Function& function);
  Value cross_edge(const Function& function, const Node* at);
  bool judged() const;

  // explain.cpp
  bool is_explained(const Node* n) const {
    return options_.explain.line != 0 && program_.position(n).line == options_.explain.line &&
           program_.files[n->file] == options_.explain.file;
  }
  void explain(const Node* at, const std::string& text, const Trace* value = nullptr);
  void explain_reached(const Node* at);
  void explain_call(const Node* at, Function& callee, const Api* model);
  void explain_condition(const Node* condition, const Trace* value);
  std::string callee_in_words(Function& callee, const Api* model) const;
  std::vector<ExplainedFunction> explained_functions();
  std::vector<LoweredTree> trees();

  State& s() { return *cells_.now; }
  PathId root_of(const Variable* v) { return paths_.root(Step::variable, v->id); }
  PathId temporary(const Node* n) { return cells_.temporary(n); }

  const bool default_is_per_thread_;

  Store cells_;
  Paths& paths_ = cells_.paths;
  TargetSets& target_sets_ = cells_.target_sets;
  Traces& traces_ = cells_.traces;
  CellsByRoot by_root_;  // of the state that a call is made in
  Frame* frame_ = nullptr;
  uint32_t summary_count_ = 0;
  uint64_t bodies_ = 0, nodes_ = 0;
  bool exhausted_ = false;
};

}  // namespace capgate::lint
