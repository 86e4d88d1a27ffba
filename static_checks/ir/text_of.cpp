#include "static_checks/ir/text_of.h"

#include <cctype>
#include <string_view>

namespace capgate::lint {
namespace {

// "==" of `operator==`; empty: no operator with a sign of its own.
std::string_view sign_of(const Node* n) {
  constexpr std::string_view kOperator = "operator";
  if (n->op != Op::call || !n->function || !n->function->spelled.starts_with(kOperator)) return {};
  const std::string_view sign = std::string_view(n->function->spelled).substr(kOperator.size());
  return sign.empty() || std::isalnum(static_cast<unsigned char>(sign.front())) || sign.front() == ' '
             ? std::string_view()
             : sign;
}

// `a.` or `a->`, in front of a member's name.
std::string object_text(const Program& program, const Node* object) {
  object = bare(object);
  if (object->op != Op::deref) {
    const std::string text = text_of(program, object);
    return text.empty() ? text : text + ".";
  }
  const Node* pointer = bare(object->kids[0]);
  if (pointer->op == Op::this_pointer) return "";
  const std::string text = text_of(program, pointer);
  return text.empty() ? text : text + "->";
}

}  // namespace

std::string text_of(const Program& program, const Node* n) {
  n = bare(n);
  if (!n) return "";
  switch (n->op) {
    case Op::variable:
      return n->variable->name;
    case Op::field: {
      const Node* object = bare(n->kids[0]);
      if (object->op == Op::deref) {
        const Node* pointer = bare(object->kids[0]);
        if (pointer->op == Op::this_pointer) return program.text(n->name);
        return text_of(program, pointer) + "->" + program.text(n->name);
      }
      return text_of(program, object) + "." + program.text(n->name);
    }
    case Op::index:
      return text_of(program, n->kids[0]) + "[]";
    case Op::deref:
      return "*" + text_of(program, n->kids[0]);
    case Op::address:
      return "&" + text_of(program, n->kids[0]);
    case Op::this_pointer:
      return "this";
    case Op::binary:
      return text_of(program, n->kids[0]);
    case Op::construct:
      return n->record ? n->record->name : "";
    case Op::call:
      if (n->function && n->has_object && n->function->is_conversion) return text_of(program, n->kids[0]);
      if (const std::string_view sign = sign_of(n); !sign.empty() && !n->kids.empty()) {
        const std::string object = text_of(program, n->kids[0]);
        if (sign == "->") return object;
        if (sign == "[]" || sign == "()") return object + std::string(sign);
        if (n->kids.size() == 1) return std::string(sign) + object;
      }
      if (n->function && n->has_object) return object_text(program, n->kids[0]) + n->function->spelled + "()";
      return n->function ? n->function->spelled + "()" : "";
    case Op::other:  // a name that the pattern of a template leaves open
      return program.text(n->name);
    default:
      return "";
  }
}

namespace {

std::string operand_text(const Program& program, const Node* n) {
  n = bare(n);
  while (n->op == Op::construct && n->kids.size() == 1) n = bare(n->kids[0]);  // `kind == Kind::add`
  if (n->has_value && n->op != Op::variable) {
    if (n->name) return program.text(n->name);
    if (n->type && n->type->shape == Shape::boolean) return n->value ? "true" : "false";
    if (n->type && n->type->shape == Shape::pointer) return "nullptr";
    return std::to_string(n->value);
  }
  return condition_text(program, n);
}

}  // namespace

std::string condition_text(const Program& program, const Node* n) {
  n = bare(n);
  if (!n) return "";
  switch (n->op) {
    case Op::logical_and:
    case Op::logical_or:
      return condition_text(program, n->kids[0]) + (n->op == Op::logical_and ? " && " : " || ") +
             condition_text(program, n->kids[1]);
    case Op::unary:
      return std::string(spelling(n->unary())) + condition_text(program, n->kids[0]);
    case Op::binary:
      return operand_text(program, n->kids[0]) + ' ' + std::string(spelling(n->binary())) + ' ' +
             operand_text(program, n->kids[1]);
    case Op::call:
      if (const std::string_view sign = sign_of(n);
          n->kids.size() == 2 &&
          (sign.starts_with('=') || sign.starts_with('!') || sign.starts_with('<') || sign.starts_with('>')))
        return operand_text(program, n->kids[0]) + ' ' + std::string(sign) + ' ' +
               operand_text(program, n->kids[1]);
      return text_of(program, n).empty() ? "…" : text_of(program, n);
    case Op::step:
      return condition_text(program, n->kids[0]) + std::string(spelling(n->unary()));
    default: {
      const std::string text = text_of(program, n);
      return text.empty() ? "…" : text;
    }
  }
}

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

}  // namespace capgate::lint
