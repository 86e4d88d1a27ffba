// What the interpreter keeps while it runs: frames, calls on their way to a summary, summaries, and what
// these carry.
#pragma once

#include <array>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "static_checks/analysis.h"
#include "static_checks/domain/state.h"

namespace capgate::lint {

struct Parts {
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
  // What the returns say of whether the stream captures.
  struct Answers {
    bool falsehood_tells = true, truth_tells = true;  // where it is false, or true, nothing captures
    bool falsehood = false, truth = false;            // some return says so
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
    const Node* from = nullptr;  // of another project's code: the user's call that leads to it
    State out;                   // what the returns give
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
    Answers of_capture;
    Returns with_region, without_region;  // that it began and left open
    bool ended = false;                   // a region that it had begun, on some path
    uint32_t last_return = 0;             // where the last one stands in the source
    bool last_is_open = false;            // with a region that it began, every time it got there
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
         leaves_unit = false, asks = false, ends_region = false, adds_nodes = false, ready = false;
    std::vector<uint32_t> visible;  // ids of outer variables, ascending
  };

  // One call of a function, on its way to a summary.
  struct Entering {
    Function& f;
    const Node* at;
    const std::vector<PathId>* self;
    const Reach& reached;
    const Node* from = nullptr;  // of another project's code: the user's call that leads to it
    bool annotated = false;      // a region of its own
    State entry = {};
    Canon canon = {};
    std::vector<Counts> inputs = {};  // what its parameters and members are, as counts of the caller
  };

  struct Exit {
    Flow flow;
    Tag tag = Tag::none;
    bool dead = false;
    bool ended = false;  // a region that it had begun, on some path
  };
};

}  // namespace capgate::lint
