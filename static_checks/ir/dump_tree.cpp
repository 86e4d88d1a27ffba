#include "static_checks/ir/dump_tree.h"

#include <array>

namespace capgate::lint {
namespace {

// In the order of Op.
constexpr std::array kOps = {
    "constant",    "text",          "variable",    "field",    "index",      "deref",
    "address",     "unary",         "step",        "binary",   "assign",     "compound_assign",
    "logical_and", "logical_or",    "conditional", "call",     "launch",     "construct",
    "make",        "destroy",       "lambda",      "list",     "convert",    "this_pointer",
    "comma",       "function",      "statements",  "raise",    "other",      "block",
    "when",        "loop_while",    "loop_do",     "loop_for", "loop_range", "choose",
    "label_case",  "label_default", "give_back",   "leave",    "proceed",    "jump",
    "label",       "declare",       "attempt",     "handler",  "nothing"};
static_assert(kOps.size() == static_cast<size_t>(Op::nothing) + 1);

// What a child is to its parent, where that is not plain from its place; see Node.
const char* role(const Node& n, size_t kid) {
  const auto of = [&](std::initializer_list<const char*> roles) {
    return kid < roles.size() ? roles.begin()[kid] : "";
  };
  switch (n.op) {
    case Op::when:
      if (kid < n.split) return "before: ";
      return kid == n.split ? "condition: " : kid == n.split + 1U ? "then: " : "else: ";
    case Op::loop_while:
    case Op::choose:
      if (kid < n.split) return "before: ";
      return kid == n.split ? "condition: " : "body: ";
    case Op::loop_do:
      return of({"body: ", "condition: "});
    case Op::loop_for:
      return of({"before: ", "condition: ", "step: ", "body: "});
    case Op::loop_range:
      return of({"over: ", "body: "});
    case Op::conditional:
      return of({"condition: ", "yes: ", "no: "});
    case Op::launch:
      return of({"grid: ", "block: ", "shared: ", "stream: "});
    case Op::call:
      return n.has_object && kid == 0 ? "object: " : "";
    default:
      return "";
  }
}

class Dump {
 public:
  explicit Dump(const Program& program) : program_(program) {}

  void node(const Node* n, const char* as, int depth) {
    text_.append(static_cast<size_t>(2 * depth), ' ');
    text_ += as;
    if (!n) {
      text_ += "none\n";
      return;
    }
    text_ += kOps[static_cast<size_t>(n->op)];
    details(*n);
    const Position at = program_.position(n);
    if (n->file) text_ += "  " + std::to_string(at.line) + ":" + std::to_string(at.column);
    text_ += '\n';
    for (size_t i = 0; i < n->kids.size(); ++i) node(n->kids[i], role(*n, i), depth + 1);
  }

  std::string take() { return std::move(text_); }

 private:
  void details(const Node& n) {
    if (n.op == Op::binary || n.op == Op::compound_assign) word(std::string(spelling(n.binary())));
    if (n.op == Op::unary) word(std::string(spelling(n.unary())));
    if (n.function) word(n.function->name + "()");
    if (n.variable) word(n.variable->name);
    if (n.name) word(n.op == Op::text ? '"' + program_.text(n.name) + '"' : program_.text(n.name));
    if (n.record && !n.function) word(n.record->name);
    if (n.has_value) word("= " + std::to_string(n.value));
    if (n.implicit) word("(default argument)");
    if (n.type && !n.type->spelling.empty()) text_ += ": " + n.type->spelling;
  }
  void word(const std::string& text) {
    if (!text.empty()) text_ += ' ' + text;
  }

  const Program& program_;
  std::string text_;
};

}  // namespace

std::string dump_tree(const Program& program, const Function& function) {
  Dump dump(program);
  for (const Variable* p : function.params) {
    Node parameter;
    parameter.op = Op::variable;
    parameter.variable = const_cast<Variable*>(p);
    parameter.type = p->type;
    dump.node(&parameter, "parameter: ", 1);
  }
  for (const auto& [name, init] : function.member_inits) dump.node(init, name ? "member: " : "base: ", 1);
  dump.node(function.body, "", 1);
  return dump.take();
}

}  // namespace capgate::lint
