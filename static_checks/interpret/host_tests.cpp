// Tests of host values on the way to a finding: what they say, and how they decide its severity.
#include <algorithm>

#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {
namespace {

constexpr size_t kMaxTests = 4;  // of one finding, from the outside in

// What is compared, without negations: "ready" of `!ready`, and whether it is negated.
std::pair<std::string, bool> without_negation(const Program& program, const Node* condition) {
  bool wanted = true;
  const Node* n = bare(condition);
  for (;;) {
    if (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
      wanted = !wanted;
      n = bare(n->kids[0]);
    } else if (n->op == Op::binary && (n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne) &&
               bare(n->kids[1])->has_value && bare(n->kids[1])->value == 0) {
      if (n->binary() == BinaryOp::eq) wanted = !wanted;
      n = bare(n->kids[0]);
    } else {
      return {condition_text(program, n), wanted};
    }
  }
}

bool mentions_status(const Node* n, int depth = 0) {
  if (!n || depth > 6) return false;
  const Type* type = value_type(n);
  if (type && type->status) return true;
  return std::any_of(n->kids.begin(), n->kids.end(),
                     [&](const Node* kid) { return mentions_status(kid, depth + 1); });
}

bool is_stream(const Node* n) {
  const Type* type = value_type(n);
  if (!type || type->shape != Shape::pointer || !type->inner) return false;
  if (type->inner->spelling.find("CUstream_st") != std::string::npos) return true;
  const Node* named = bare(n);
  if (type->inner->shape == Shape::record || named->op != Op::variable) return false;
  return named->variable->name.find("stream") != std::string::npos;
}

}  // namespace

// Not an error check, nor what the analysis decides by itself.
bool Interpreter::is_host_test(const Node* condition, const Value& value) {
  return s().flow.region && !value.taint && value.tag == Tag::none && !value.has_constant &&
         !mentions_status(condition);
}

uint32_t Interpreter::list_of(std::vector<Behind> tests) {
  const auto [known, made] = test_list_ids_.try_emplace(tests, static_cast<uint32_t>(test_lists_.size()));
  if (made) test_lists_.push_back(std::move(tests));
  return known->second;
}

// A test of a count rules nothing out.
uint32_t Interpreter::with_test(uint32_t tests, const Node* condition, bool wanted) {
  const Counts decided = decides(condition, wanted);
  if (counts::is_count(decided)) return tests;
  const auto [it, fresh] = test_ids_.try_emplace({condition, wanted}, static_cast<uint32_t>(tests_.size()));
  if (fresh) {
    const Node* stream = nullptr;
    bool not_null = true;
    HostTest words = in_words(condition, wanted);
    words.in_no_capture =
        !s().flow.marked && asks_for_stream(condition, stream, not_null) && wanted != not_null;
    tests_.push_back({condition, wanted, std::move(words)});
  }
  std::vector<Behind> list = test_lists_[tests];
  const Behind behind{it->second, decided};
  if (list.size() >= kMaxTests || std::find(list.begin(), list.end(), behind) != list.end()) return tests;
  list.push_back(behind);
  return list_of(std::move(list));
}

// Of a function's tests, as its caller has them: those of what it counts itself are gone.
uint32_t Interpreter::resolved_tests(uint32_t tests, const std::vector<Counts>& given) {
  std::vector<Behind> list = test_lists_[tests];
  for (Behind& one : list) one.decided = counts::resolved(one.decided, given);
  std::erase_if(list, [](const Behind& one) { return counts::is_count(one.decided); });
  return list_of(std::move(list));
}

uint32_t Interpreter::both_tests(uint32_t outer, uint32_t inner) {
  if (!inner || !outer) return outer ? outer : inner;
  std::vector<Behind> list = test_lists_[outer];
  for (const Behind& test : test_lists_[inner])
    if (list.size() < kMaxTests && std::find(list.begin(), list.end(), test) == list.end())
      list.push_back(test);
  return list_of(std::move(list));
}

// Of the ways to one finding: where it lies in both arms of a test, the test decides nothing.
std::vector<Interpreter::Behind> Interpreter::without_opposites(const std::vector<uint32_t>& lists) {
  std::vector<std::vector<Behind>> all;
  all.reserve(lists.size());
  for (const uint32_t list : lists) all.push_back(test_lists_[list]);
  const auto opposite = [&](const Behind& a, const Behind& b) {
    const Node* one = tests_[a.test].condition;
    const Node* other = tests_[b.test].condition;
    if (one == other) return tests_[a.test].wanted != tests_[b.test].wanted;
    const auto choice = choices_.find(one);  // two cases of one switch
    const auto same = choices_.find(other);
    return choice != choices_.end() && same != choices_.end() && choice->second == same->second;
  };
  for (bool again = true; again;) {
    again = false;
    for (size_t i = 0; i < all.size() && !again; ++i)
      for (size_t k = i + 1; k < all.size() && !again; ++k)
        if (!all[i].empty() && all[i].size() == all[k].size() && opposite(all[i].back(), all[k].back()) &&
            std::equal(all[i].begin(), all[i].end() - 1, all[k].begin())) {
          all[i].pop_back();
          all.erase(all.begin() + static_cast<long>(k));
          again = true;
        }
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return all.empty() ? std::vector<Behind>() : all.front();
}

std::vector<HostTest> Interpreter::told(const std::vector<Behind>& tests) const {
  std::vector<HostTest> list;
  list.reserve(tests.size());
  for (const Behind& one : tests) {
    list.push_back(tests_[one.test].told);
    list.back().decided = one.decided;
  }
  return list;
}

// ---- in words ---------------------------------------------------------------------------------------------

HostTest Interpreter::in_words(const Node* condition, bool wanted) {
  HostTest test;
  test.place = program_.place(condition);
  if (const auto choice = choices_.find(condition); choice != choices_.end()) {
    TestTerm term = term_of(choice->second, 0);
    if (term.text.empty()) term.text = condition_text(program_, choice->second);
    term.relation = "==";
    term.value = condition->value;
    test.text = term.text + " == " + std::to_string(condition->value);
    if (condition->has_value) test.terms.push_back(std::move(term));
    return test;
  }
  const auto [text, plain] = without_negation(program_, condition);
  if (plain == wanted)
    test.text = text;
  else
    test.text = text.find(' ') == std::string::npos ? "!" + text : "!(" + text + ")";
  const Node* n = bare(condition);
  while (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
    wanted = !wanted;
    n = bare(n->kids[0]);
  }
  test.all = wanted != (n->op == Op::logical_or);
  if (n->op != Op::logical_and && n->op != Op::logical_or) test.all = true;
  if (!add_terms(n, wanted, test, 0)) test.terms.clear();
  return test;
}

// False where the terms are joined in more ways than one.
bool Interpreter::add_terms(const Node* condition, bool wanted, HostTest& test, int depth) {
  const Node* n = bare(condition);
  if (depth > 6) return false;
  if (n->op == Op::unary && n->unary() == UnaryOp::logical_not)
    return add_terms(n->kids[0], !wanted, test, depth + 1);
  if (n->op == Op::logical_and || n->op == Op::logical_or) {
    if ((wanted == (n->op == Op::logical_and)) != test.all) return false;
    return add_terms(n->kids[0], wanted, test, depth + 1) && add_terms(n->kids[1], wanted, test, depth + 1);
  }
  static constexpr BinaryOp kOpposites[6][2] = {{BinaryOp::lt, BinaryOp::ge}, {BinaryOp::gt, BinaryOp::le},
                                                {BinaryOp::le, BinaryOp::gt}, {BinaryOp::ge, BinaryOp::lt},
                                                {BinaryOp::eq, BinaryOp::ne}, {BinaryOp::ne, BinaryOp::eq}};
  TestTerm term;
  if (n->op == Op::binary && n->binary() >= BinaryOp::lt && n->binary() <= BinaryOp::ne &&
      bare(n->kids[1])->has_value) {
    term = term_of(n->kids[0], 0);
    for (const auto& [op, otherwise] : kOpposites)
      if (op == n->binary()) term.relation = spelling(wanted ? op : otherwise);
    term.value = bare(n->kids[1])->value;
    if (term.text.empty()) term.text = condition_text(program_, n->kids[0]);
  } else {
    term = term_of(n, 0);
    term.relation = wanted ? "!=" : "==";
  }
  test.terms.push_back(std::move(term));
  return true;
}

// What is stored, or asked, as far as one name says it.
TestTerm Interpreter::term_of(const Node* value, int depth) {
  TestTerm term;
  const Node* n = bare(value);
  if (!n || depth > 3) return term;
  const auto initial = [&](const Node* given) {
    if (given && bare(given)->has_value) {
      term.has_initial = true;
      term.initial = bare(given)->value;
    }
  };
  switch (n->op) {
    case Op::variable: {
      const Variable& v = *n->variable;
      if (v.scope == Variable::Scope::local) {
        const auto declared = frame_->initials.find(&v);
        if (declared != frame_->initials.end()) {
          term = term_of(declared->second, depth + 1);
          if (!term.key.empty()) {
            term.text = v.name;
            return term;
          }
        }
        term.text = v.name;
        return term;
      }
      term.text = term.key = v.name;
      if (v.scope == Variable::Scope::parameter) return term;
      if (const Node* made = lowering_.initial_of(v)) {
        if (const TestTerm from = term_of(made, depth + 1); from.key.starts_with("getenv(")) {
          term = from;
          term.text = v.name;
          return term;
        }
        initial(made);
      } else {
        term.has_initial = true;  // static storage begins as zero
      }
      term.id = v.place.file + ':' + std::to_string(v.place.line) + ':' + std::to_string(v.place.column);
      return term;
    }
    case Op::field: {
      const Type* owner = n->kids[0]->type;
      while (owner && (owner->shape == Shape::reference)) owner = owner->inner;
      term.text = text_of(n);
      if (!owner || !owner->record) return term;
      term.key = owner->record->name + "::" + program_.text(n->name);
      if (!owner->record->user) return term;
      term.id = term.key;
      lowering_.complete(*owner->record);
      for (const Field& f : owner->record->fields)
        if (f.name == n->name) initial(f.initial);
      return term;
    }
    case Op::call: {
      if (!n->function) return term;
      term.text = text_of(n);
      if (n->function->spelled == "getenv" && !n->kids.empty() && bare(n->kids.back())->op == Op::text) {
        term.key = term.text = "getenv(" + program_.text(bare(n->kids.back())->name) + ")";
        return term;
      }
      // Of what an environment variable says, that it is there decides.
      for (const Node* kid : n->kids)
        if (const TestTerm inner = term_of(kid, depth + 1); inner.key.starts_with("getenv(")) return inner;
      term.key = n->function->name + "()";
      return term;
    }
    case Op::binary:
    case Op::conditional:
      for (const Node* kid : n->kids)
        if (const TestTerm inner = term_of(kid, depth + 1); inner.key.starts_with("getenv(")) return inner;
      return term;
    default:
      return term;
  }
}

// A setting that is on or off, as the early return of `if (!debug) return;` asks for: of how much there is to
// do, or whether something was given, no more is said than that the rest runs in most steps.
bool Interpreter::is_switch(const Node* condition) {
  const Node* n = bare(condition);
  while (n->op == Op::unary && n->unary() == UnaryOp::logical_not) n = bare(n->kids[0]);
  const TestTerm term = term_of(n, 0);
  if (term.key.starts_with("getenv(")) return true;
  return !term.id.empty() && n->type && n->type->shape == Shape::boolean;
}

// ---- the capture's own stream and condition --------------------------------------------------------------

// `condition` asks whether a stream is null; it is not where the condition is `wanted`.
bool Interpreter::asks_for_stream(const Node* condition, const Node*& stream, bool& wanted) {
  const Node* n = bare(condition);
  wanted = true;
  while (n->op == Op::unary && n->unary() == UnaryOp::logical_not) {
    wanted = !wanted;
    n = bare(n->kids[0]);
  }
  if (n->op == Op::binary && (n->binary() == BinaryOp::eq || n->binary() == BinaryOp::ne)) {
    if (!bare(n->kids[1])->has_value || bare(n->kids[1])->value != 0) return false;
    if (n->binary() == BinaryOp::eq) wanted = !wanted;
    n = bare(n->kids[0]);
  }
  stream = n;
  return is_stream(n);
}

bool Interpreter::captures(const Node* stream) {
  const Node* n = bare(stream);
  if (n->op != Op::variable && n->op != Op::field && n->op != Op::deref && n->op != Op::index) return false;
  for (const PathId p : targets(eval(n)))
    if (const Cell* cell = s().find(p); cell && cell->captured) return true;
  return false;
}

// Where a region was begun in one arm of a test, the same test says later whether it is open.
void Interpreter::note_begun_if(const Node* condition, const State& yes, const State& no, const Flow& base) {
  if (base.region || yes.dead || no.dead || (yes.flow.region != 0) == (no.flow.region != 0)) return;
  const auto [text, plain] = without_negation(program_, condition);
  if (text.find("…") != std::string::npos) return;
  begun_if_[yes.flow.region ? yes.flow.region : no.flow.region] = {text, plain == (yes.flow.region != 0)};
}

void Interpreter::leave_where_not_begun(const Node* condition, State& yes, State& no) {
  const auto known = begun_if_.find(s().flow.region);
  if (known == begun_if_.end()) return;
  const auto [text, plain] = without_negation(program_, condition);
  if (text != known->second.first) return;
  Flow& flow = (plain == known->second.second ? no : yes).flow;
  flow.region = 0;
  flow.marked = 0;
  flow.relaxed_capture = 0;
}

// ---- what nothing sets ------------------------------------------------------------------------------------

namespace {

struct Sets {
  Program& program;
  std::vector<std::string> ids;

  // The variable or member that an expression denotes, or that it is an element of.
  void denoted(const Node* n) {
    for (int depth = 0; n && depth < 8; ++depth) {
      n = bare(n);
      if (n->op == Op::variable && n->variable->scope != Variable::Scope::local &&
          n->variable->scope != Variable::Scope::parameter) {
        const Place& at = n->variable->place;
        ids.push_back(at.file + ':' + std::to_string(at.line) + ':' + std::to_string(at.column));
      }
      const Type* type = n->kids.empty() ? nullptr : value_type(n->kids[0]);
      if (n->op == Op::field && type && type->record)
        ids.push_back(type->record->name + "::" + program.text(n->name));
      if (n->kids.empty() || (n->op != Op::field && n->op != Op::index)) return;
      n = n->kids[0];
    }
  }
  void object(const Type* type) {  // all of it
    while (type &&
           (type->shape == Shape::pointer || type->shape == Shape::reference || type->shape == Shape::array))
      type = type->inner;
    if (type && type->record && type->record->user) ids.push_back(type->record->name + "::*");
  }
  void visit(const Node* n) {
    if (!n) return;
    switch (n->op) {
      case Op::assign:
      case Op::compound_assign:
      case Op::step:
      case Op::address:
        denoted(n->kids[0]);
        break;
      case Op::list:
        object(n->type);
        break;
      case Op::call:
      case Op::construct: {
        const size_t first = n->has_object ? 1 : 0;
        for (size_t i = first; i < n->kids.size(); ++i) {
          const bool known = n->function && i - first < n->function->params.size();
          const Type* type = known ? n->function->params[i - first]->type : nullptr;
          const bool writes = !type || ((type->shape == Shape::reference || type->shape == Shape::pointer) &&
                                        type->inner && !type->inner->is_const);
          if (!writes) continue;
          if (!type || type->shape == Shape::reference) denoted(n->kids[i]);
          if (!n->function || !n->function->user || !n->function->has_body)
            object(n->kids[i] ? n->kids[i]->type : nullptr);
        }
        break;
      }
      default:
        break;
    }
    for (const Node* kid : n->kids) visit(kid);
  }
};

}  // namespace

std::vector<std::string> Interpreter::set_here() {
  Sets sets{program_, {}};
  for (Function* f : program_.user_functions) {
    lowering_.lower(*f);
    sets.visit(f->body);
    for (const auto& [name, init] : f->member_inits) {
      sets.visit(init);
      if (name && f->record && !bare(init)->has_value)
        sets.ids.push_back(f->record->name + "::" + program_.text(name));
    }
  }
  std::sort(sets.ids.begin(), sets.ids.end());
  sets.ids.erase(std::unique(sets.ids.begin(), sets.ids.end()), sets.ids.end());
  return std::move(sets.ids);
}

}  // namespace capgate::lint
