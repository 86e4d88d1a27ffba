// What tests of host values say, in words and by the places that they ask.
#include "static_checks/interpret/interpreter.h"

namespace capgate::lint {

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

}  // namespace capgate::lint
