// The abstract interpreter: runs a function's tree over abstract states, follows calls through memoised
// summaries, and tells the rules what it meets. Private to static_checks/interpret and static_checks/models.
//
// A summary is made for a function, the part of the state that it can reach (with objects named by how the
// callee reaches them, so that different callers share it), and whether a region is open. Findings travel up
// with the summaries and get their region and call path where the summary is used.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/domain/store.h"
#include "static_checks/ir/text_of.h"
#include "static_checks/lowering/lower.h"
#include "static_checks/models/tables.h"
#include "static_checks/rules/rule.h"

namespace capgate::lint {

// nvtx3's objects whose life is a range.
bool is_range(const Record* record);

Tag opposite(Tag tag);  // of the negated value

// Of an array, however many dimensions it has; else the type itself.
const Type* element_type(const Type* type);

class Interpreter {
 public:
  Interpreter(Program& program, Lowering& lowering, const Tables& tables, const LintOptions& options,
              const Unit& unit);
  UnitResult run();

 private:
  static constexpr uint32_t kCallers = 1;  // the region of whoever calls: known where a summary is used
  static constexpr int kMaxDepth = 48;
  static constexpr uint64_t kMaxNodes = 40'000'000;  // nodes interpreted a unit

  // The calls between the start of a region or of a root and a finding.
  struct Chain {
    const Node* call;
    const Function* callee;
    const Chain* next;  // towards the finding
    int length;
  };
  // Something to report that a summary carries: a finding, a call that leaves the unit, or a gap.
  struct Core {
    enum class Kind : uint8_t { finding, call, gap, explanation } kind = Kind::finding;
    Finding finding;
    CallSite call;
    NotAnalysed gap;
    Explanation explanation;
  };
  struct Ref {
    uint32_t core = 0;
    uint32_t region = 0;
    const Chain* chain = nullptr;
    uint32_t tests = 0;  // of host values on the way, as in Flow
    uint32_t given = 0;  // of a call that leaves the unit: its operands, index into given_
  };
  // A condition on host values that holds, or does not, where code runs.
  struct Test {
    const Node* condition = nullptr;
    bool wanted = true;
    HostTest told;
  };
  // A test on the way, and what decides it in terms of the inputs of the function at hand.
  struct Behind {
    uint32_t test = 0;
    Counts decided = 0;
    auto operator<=>(const Behind&) const = default;
  };
  // Of a variable, a member of a class or a function.
  using Identity = std::pair<const void*, uint32_t>;
  using Identities = std::set<Identity>;
  struct Parameters {  // of a function, by number
    uint64_t recursed = 0, tested = 0;
  };
  struct Summary {
    uint32_t id = 0;
    State exit;
    bool ready = false;  // false while it is being made: recursion
    bool ended = false;  // a region that it had begun, on some path
    std::vector<Ref> refs;
  };
  struct Loop {
    State* breaks;
    State* continues;
    size_t locals;
    Flow base;  // before the loop
  };
  struct Local {
    Variable* variable;
    bool owns;  // has something to destroy
  };
  // What returns give, where it is known.
  struct Returns {
    bool truth = false, falsehood = false, unknown = false;
    bool any() const { return truth || falsehood || unknown; }
    bool only_true() const { return truth && !falsehood && !unknown; }
    bool only_false() const { return falsehood && !truth && !unknown; }
  };
  struct ReadBack {
    const Node* copy;
    std::string stream;  // as the user wrote it
  };
  struct Temporary {
    Record* record;
    PathId object;
    const Node* at;
  };
  struct Frame {
    Function* function = nullptr;
    Frame* up = nullptr;
    State out;  // what the returns give
    std::vector<Ref> refs;
    std::map<std::array<uint32_t, 3>, std::vector<uint32_t>>
        seen;                                                   // core, region, operands: behind which tests
    std::unordered_map<const Variable*, const Node*> initials;  // of locals, as they were declared
    std::vector<Local> locals;
    std::vector<Temporary> temporaries;
    std::vector<Loop> loops;
    std::vector<State*> handlers;  // of the enclosing try blocks: what may hold when they are entered
    std::unordered_map<uint32_t, State> labels;
    std::vector<const Variable*> counters;            // of the enclosing for loops
    std::vector<const Variable*> elements;            // of the enclosing loops over ranges
    int rounds = 0;                                   // enclosing loops
    std::unordered_map<const Node*, Counts> answers;  // what decided a condition when it was last asked
    std::vector<PathId> swept;                        // arrays that the current loop's counter runs over
    Flow entered;                                     // with
    Returns with_region, without_region;              // that it began and left open
    bool ended = false;                               // a region that it had begun, on some path
    uint32_t last_return = 0;                         // where the last one stands in the source
    bool last_is_open = false;                        // with a region that it began, every time it got there
    int depth = 0;
    uint32_t passed = 0;  // where the last statement stands; asked in functions with parse trouble
    std::vector<ReadBack> read_backs;  // copies to the host that nothing was queued behind yet
  };
  struct Argument {
    const Node* node = nullptr;
    Value value;
    std::vector<PathId> places;  // where it lies, when it has a place
  };
  struct Canon {
    std::vector<PathId> roots;
    std::unordered_map<PathId, PathId> symbols;
    std::unordered_map<PathId, PathId> made;  // heap objects of the callee, by what they are for this call
    const std::vector<uint32_t>* visible = nullptr;
    std::vector<uint32_t> more_visible;
  };
  struct Reach {  // what a function does directly or through calls
    bool begins_region = false, calls_api = false, launches = false, frees = false, frees_async = false,
         leaves_unit = false, asks = false, ends_region = false, ready = false;
    std::vector<uint32_t> visible;  // ids of outer variables, ascending
  };

  // analyze.cpp: roots, latent findings, the result
  struct Exit {
    Flow flow;
    Tag tag = Tag::none;
    bool dead = false;
    bool ended = false;  // a region that it had begun, on some path
  };
  Exit run_root(Function& function, uint32_t region, std::vector<Ref>& refs);
  void report(const std::vector<Ref>& refs, const Function& root, UnitResult& result);
  void look_at(Function& root, UnitResult& result);
  void read_patterns(UnitResult& result);
  FunctionSummary latent(Function& function, CaptureEdge& edge);
  CallGraph call_graph();  // call_graph.cpp
  std::vector<FlowStep> path_to(uint32_t region, const Chain* chain) const;
  const Reach& reach(Function& function);
  void scan(Function& function, Reach& reach, std::unordered_set<Function*>& seen);

  // eval.cpp
  Value eval(const Node* n);
  Value eval_into(const Node* n, PathId destination);
  std::vector<PathId> places(const Node* n);
  std::vector<PathId> places_of_choice(const Node* n);
  Value binary(const Node* n);
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
  bool frees_surely(Function& f, int depth = 0);
  bool frees_surely(const Node* n, int depth);
  void leave_locals(size_t keep, const Node* at, bool pop);
  void check_once(const Node* when);
  void check_once_return(const Node* block, size_t from, const Node* when);
  const Node* find_launch(const Node* n, int depth = 0);
  const Node* find_assignment(const Node* n, const Node* flag, bool to_zero = false);
  static const Node* once_flag(const Node* condition, bool& negated);

  FirstUse closes_guard(const Node* condition, bool wanted, const std::vector<const Node*>& guarded);
  bool writes_state(const Node* n, const Node* state, int depth);
  bool asks_state(const Node* n, const std::vector<const Node*>& guarded, int depth);
  bool closed_behind(const Node* condition);
  const Node* find_count(const Node* n, const Node* counter);

  // destructors.cpp
  bool is_destroyed(Record& record);
  bool end_matters(Record& record, int depth = 0);
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
  std::vector<std::string> set_here();

  // counts.cpp
  static const Node* stepped(const Node* n);
  void note_stepped(const Node* n);
  static Identity identity_of(const Node* n);
  void note_bounds(const Node* n);
  bool is_bound(const Node* n);
  Counts operand_of(const Node* n, const Value& value);
  Counts stored_count(const Node* n, const Value& value);
  Counts stepped_count(const Node* target, Counts calculated);
  Counts count_of_place(const Node* n);
  const Identities& counters_of(Function& root);
  const Parameters& parameters_of(Function& f);
  void set_inputs(Function& f, State& state);
  void note_answer(const Node* condition, const Value& value);
  Counts decides(const Node* condition, bool wanted);
  uint32_t given_of(std::vector<Counts> operands);
  std::vector<Counts> operands_of(const std::vector<Argument>& arguments);

  // returns.cpp
  void note_return(const Cell* result, uint32_t at);
  Tag tag_of_returns() const;
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
  bool ends_region(Record& record, int depth = 0);
  bool is_held_elsewhere(PathId object, PathId holder);
  void destroy_held(Record& record, PathId holder, const Node* at, int depth = 0);
  void hold(Record& holder, Function* constructor, std::vector<Argument>& arguments,
            const std::vector<PathId>& objects, const Node* at);

  // call.cpp
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
  Value invoke(CallablesId callables, const Node* at, std::vector<Argument>& arguments);
  Value invoke_one(Function& function, const Node* at, std::vector<Argument>& arguments);
  CallablesId callable_of(const Argument& argument);

  // tables_of_functions.cpp
  const Node* table_of(const Variable& v);
  static std::vector<Function*> functions_in(const Node* n);
  void seed_table(const Variable& v, const Node* initial);
  void seed_tables(Function& root);
  PathId canonical(Canon& canon, PathId path);
  TargetsId canonical_set(Canon& canon, TargetsId set);
  PathId original(const Canon& canon, PathId path, const Node* at);
  PathId made_here(PathId heap, const Node* at);
  const Trace* rebound(const Trace* t, const Summary& summary, const State& entry, const Node* at, int depth);
  std::vector<Argument> arguments_of(const Node* n, size_t first, const Function* function);
  const Api* api_of(Function& function);

  // effects.cpp: what modelled functions do
  Value effect(const Api& api, const Node* n, Function& function, std::vector<Argument>& arguments,
               const std::vector<PathId>& object);
  void copy(const Api& api, const Node* n, std::vector<Argument>& a, CallEvent& event);
  void allocate(const Api& api, const Node* n, std::vector<Argument>& a);
  void touch_by_device(const std::vector<Argument>& a, Function* kernel, const Node* at, size_t first);
  bool writes_through(Function& function, size_t param, int depth = 0);
  bool may_write(const Node* n, const Variable* v, int depth);
  bool fits_an_element(PathId target, const Argument* pointer, const Api& api,
                       const std::vector<Argument>& a);
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
  Value source_value(const Node* at, const std::string& from, const Type* type);

  // models.cpp: the standard library, thrust's containers; tensors.cpp; device_algorithms.cpp
  Value system_call(const Node* n, Function& function, std::vector<Argument>& arguments,
                    const std::vector<PathId>& object, const Node* object_node);
  Value system_construct(const Node* n, PathId destination);
  Value method(const Node* n, Function& function, std::vector<Argument>& arguments,
               const std::vector<PathId>& object, const Node* object_node);
  std::vector<PathId> elements(const std::vector<PathId>& object, const Node* object_node, uint32_t index);
  static bool makes_tensors(const Function& function);
  bool is_mask(const std::vector<PathId>& tensors);
  bool selects(const Node* index);
  Value tensor(const Api& api, const Node* n, std::vector<Argument>& a, const std::vector<PathId>& given);
  Value device_algorithm(const Api& api, const Node* n, std::vector<Argument>& arguments, CallEvent event);
  void call_callables(const Node* n, std::vector<Argument>& arguments);
  void start_thread(const Node* n, std::vector<Argument>& arguments);
  Function* made_by(Function& function);
  static std::vector<Argument> given_to(const Function& constructor, const std::vector<Argument>& arguments);
  bool make_inside(const Node* n, const std::vector<Argument>& arguments, PathId destination);

  // callbacks.cpp, owners.cpp
  const std::vector<Function*>& callbacks_of(Function& library);
  void call_back(const Node* n, Function& library, const std::vector<Argument>& arguments);
  Value apply_unknown(Function& f, const Node* at);
  bool is_of_a_handle(PathId place);
  Memory kind_behind(uint32_t field);
  void note_end_of_owner(const Variable& v, Record& record, const Node* at);

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

  Program& program_;
  Lowering& lowering_;
  const Tables& tables_;
  const LintOptions& options_;
  const bool default_is_per_thread_;
  const std::string root_;

  Store cells_;
  Paths& paths_ = cells_.paths;
  TargetSets& target_sets_ = cells_.target_sets;
  Traces& traces_ = cells_.traces;
  CellsByRoot by_root_;  // of the state that a call is made in
  std::deque<Chain> chains_;
  std::vector<Core> cores_;
  std::unordered_map<std::string, uint32_t> core_ids_;
  std::vector<Region> regions_;                        // 0: none, 1: the caller's
  std::unordered_set<std::string> begun_for_objects_;  // functions of guards: where they begin is no region
  std::unordered_map<std::string, uint32_t> region_ids_;
  std::vector<std::pair<std::string, std::string>> allows_{{}};  // rule, reason
  std::vector<Test> tests_;
  std::vector<std::vector<Behind>> test_lists_{{}};  // from the outside in
  std::map<std::vector<Behind>, uint32_t> test_list_ids_;
  std::vector<std::vector<Counts>> given_{{}};  // operands of calls
  std::map<std::vector<Counts>, uint32_t> given_ids_;
  Identities bounds_;    // how far loops run
  Counts compared_ = 0;  // what decides the last comparison
  std::unordered_map<const Function*, Identities> counters_, steps_;
  std::unordered_map<const Function*, Parameters> parameters_;
  const Identities* root_counters_ = nullptr;  // of the root that is looked at
  std::map<std::pair<const Node*, bool>, uint32_t> test_ids_;
  std::unordered_map<uint32_t, std::pair<std::string, bool>> begun_if_;  // by region
  std::unordered_map<const Node*, const Node*> choices_;                 // what a switch asks, by its labels
  std::unordered_map<std::string, std::unique_ptr<Summary>> summaries_;
  std::unordered_map<std::string, const CaptureEdge*> edges_;
  std::unordered_map<Function*, Reach> reaches_;
  std::map<std::pair<uint32_t, uint32_t>, bool> writes_;     // function and parameter
  std::map<std::pair<uint32_t, PathId>, PathId> made_here_;  // by call and inner object
  std::unordered_map<PathId, int> wrappers_;                 // calls around an object's allocation
  std::unordered_map<const Function*, Function*> made_by_;
  std::unordered_map<const Function*, std::vector<Function*>> callbacks_;
  std::unordered_map<uint32_t, Memory> kinds_behind_;  // by member; filled when first asked
  bool knows_kinds_ = false;
  std::unordered_map<const Function*, int> active_;
  std::unordered_set<const Function*> interpreted_;
  // Who called whom, implicit calls such as those of destructors included.
  std::unordered_map<const Function*, std::unordered_set<Function*>> called_;
  std::unordered_set<Function*> in_region_;  // code of them, or a call to them, is in a region of this unit
  std::vector<std::pair<const Function*, uint32_t>> left_open_;  // functions that nobody called, and regions
  std::unordered_set<const Function*> continued_;  // callers go on with the region that it begins
  std::unordered_set<uint32_t> partly_ended_;      // regions: by what begins them, on some path
  bool ended_ = false;                             // Summary::ended of the function that was applied last
  Frame* frame_ = nullptr;
  uint32_t summary_count_ = 0;
  uint64_t bodies_ = 0, nodes_ = 0;
  bool exhausted_ = false;
};

}  // namespace capgate::lint
