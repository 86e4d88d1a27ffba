// What a region reaches and the analysis cannot judge: calls that leave the unit, callees that are known only
// when they run, functions with errors.
#include <algorithm>
#include <string_view>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {
namespace {

// As it is written, up to the end of its first line; for what the analysis has no words for.
std::string source_of(const Program& program, const Node* n) {
  constexpr size_t kMost = 40;
  if (!program.text_of) return "…";
  std::string_view text = program.text_of(n->file);
  text = text.substr(std::min<size_t>(n->offset, text.size()));
  text = text.substr(0, text.find_first_of("\n;"));
  return text.empty() ? "…" : std::string(text.substr(0, kMost)) + (text.size() > kMost ? "…" : "");
}

}  // namespace

void Interpreter::add_gap(Function& function, const std::string& reason, const std::string& remedy) {
  const bool failed = frame_ && s().flow.failed;
  const std::string key = "gap" + std::to_string(failed) + function.usr + function.name + reason;
  const auto [it, fresh] = core_ids_.try_emplace(key, static_cast<uint32_t>(cores_.size()));
  if (fresh) {
    Core core;
    core.kind = Core::Kind::gap;
    core.gap.function = function.name;
    core.gap.usr = function.usr;
    core.gap.place = function.place;
    core.gap.reason = failed ? reason + kOnlyOnFailure : reason;
    core.gap.remedy = remedy;
    core.gap.aside = failed;
    cores_.push_back(std::move(core));
  }
  if (frame_) add_ref(it->second, s().flow.region, nullptr);
}

// The analysis stopped before it got to `f`.
std::string Interpreter::why_exhausted() const {
  return bodies_ >= options_.budget
             ? "the budget of " + std::to_string(options_.budget) + " function bodies per unit is used up"
             : "the source takes more steps than the " + std::to_string(kMaxNodes) + " of one analysis";
}

const char* Interpreter::remedy_of_exhaustion() const {
  return bodies_ >= options_.budget ? "raise --budget, or lint the file in smaller parts"
                                    : "lint the file in smaller parts";
}

void Interpreter::add_trouble(Function& f) {
  add_gap(f, "the parser found an error at line " + std::to_string(f.trouble_line) + ": " + f.trouble, "");
}

// What the parser did not understand between the last statement and the one at `to` is missing from a region
// that the function itself has begun. (One that was open when it was called has this function's trouble.)
void Interpreter::pass_trouble(uint32_t to) {
  Frame& frame = *frame_;
  const auto& at = frame.function->trouble_at;
  const bool met = std::any_of(at.begin(), at.end(),
                               [&](uint32_t trouble) { return frame.passed <= trouble && trouble < to; });
  frame.passed = to;
  if (met && !s().dead && s().flow.region && s().flow.region != frame.entered.region) {
    add_trouble(*frame.function);
  }
}

// A region calls something that only the running program, or an instantiation, knows: what it does has not
// been judged.
void Interpreter::unknown_target(const Node* n, const std::string& name) {
  // A pointer or a std::function tells no more where the template is instantiated.
  const Type* type = n->function || n->kids.empty() ? nullptr : bare(n->kids[0])->type;
  const bool pattern = frame_->function->is_pattern && !n->function && (!type || type->shape == Shape::other);
  add_open(
      "target", n,
      "the callee of '" + (name.empty() ? source_of(program_, n) : name) + "' at line " +
          std::to_string(program_.position(n).line) +
          (pattern ? " is known only where the template is instantiated" : " is known only when it runs"),
      pattern ? "lint a source that instantiates the template and calls it"
              : "call the function directly, or hand it over as a template parameter");
}

// In the pattern of a template.
void Interpreter::open_constexpr(const Node* when) {
  add_open("constexpr", when,
           "which way the 'if constexpr' at line " + std::to_string(program_.position(when).line) +
               " goes is known only where the template is instantiated",
           "lint a source that instantiates the template and calls it");
}

void Interpreter::add_open(const char* what, const Node* n, const std::string& reason,
                           const std::string& remedy) {
  if (!s().flow.region || !judged() || s().flow.eager_break) return;
  if (frame_->from) return add_foreign(*frame_->function);  // that much is not known of it
  const Place place = program_.place(n);
  const bool failed = s().flow.failed;
  const std::string key = what + std::to_string(failed) + place.file + ':' + std::to_string(place.line) +
                          ':' + std::to_string(place.column);
  const auto [it, fresh] = core_ids_.try_emplace(key, static_cast<uint32_t>(cores_.size()));
  if (fresh) {
    Core core;
    core.kind = Core::Kind::gap;
    core.gap.function = frame_->function->name;
    core.gap.usr = frame_->function->usr;
    core.gap.place = place;
    core.gap.reason = failed ? reason + kOnlyOnFailure : reason;
    core.gap.remedy = remedy;
    core.gap.aside = failed;
    cores_.push_back(std::move(core));
  }
  add_ref(it->second, s().flow.region, nullptr);
}

// A region calls a library that is neither the project's nor the toolkit's: said once, judged never.
void Interpreter::add_foreign(Function& function) {
  if (!s().flow.region || !judged() || s().flow.eager_break || function.name.empty()) return;
  const std::string key = "foreign" + function.name;
  const auto [it, fresh] = core_ids_.try_emplace(key, static_cast<uint32_t>(cores_.size()));
  if (fresh) {
    Core core;
    core.kind = Core::Kind::gap;
    core.gap.function = function.name;
    core.gap.place = function.place;
    core.gap.reason = "a region calls it, and it is another project's";
    core.gap.aside = true;
    cores_.push_back(std::move(core));
  }
  add_ref(it->second, s().flow.region, nullptr);
}

// A call that a region makes to a user's function whose body is in another unit.
void Interpreter::add_call(Function& function, const Node* at, const std::vector<Argument>& arguments) {
  const uint32_t region = s().flow.region;
  if (!region || function.usr.empty() || s().dead) return;
  called_[frame_->function].insert(&function);
  CallSite call;
  call.callee_usr = function.usr;
  call.callee = function.name;
  call.place = program_.place(at);
  call.is_virtual = function.is_virtual;
  call.guards.not_capturing = s().flow.not_capturing;
  call.guards.relaxed_mode = s().flow.relaxed_thread;
  call.guards.eager_break = s().flow.eager_break;
  call.guards.relaxed_capture = s().flow.relaxed_capture;
  call.guards.marked = s().flow.marked;
  call.guards.first_use = s().flow.first_use == FirstUse::once;
  call.guards.failed = s().flow.failed;
  call.guards.pooled = s().flow.pooled;
  const std::string key =
      "call" + call.callee_usr + '\0' + call.place.file + '\0' + std::to_string(call.place.line) + ':' +
      std::to_string(call.place.column) + ':' +
      std::to_string(call.guards.not_capturing + 2 * call.guards.relaxed_mode + 4 * call.guards.eager_break +
                     8 * call.guards.relaxed_capture + 16 * call.guards.marked + 32 * call.guards.first_use +
                     64 * call.guards.failed + 128 * call.guards.pooled);
  const auto [it, fresh] = core_ids_.try_emplace(key, static_cast<uint32_t>(cores_.size()));
  if (fresh) {
    Core core;
    core.kind = Core::Kind::call;
    core.call = std::move(call);
    cores_.push_back(std::move(core));
  }
  add_ref(it->second, region, nullptr, s().flow.tests, given_of(operands_of(arguments)));
}

uint32_t Interpreter::given_of(std::vector<Counts> operands) {
  while (!operands.empty() && !(operands.back() & ~counts::kConstant)) operands.pop_back();
  const auto [known, made] = given_ids_.try_emplace(operands, static_cast<uint32_t>(given_.size()));
  if (made) given_.push_back(std::move(operands));
  return known->second;
}

}  // namespace capgate::lint
