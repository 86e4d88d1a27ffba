// Operators that the pattern of a template leaves open: `p != nullptr` with a T* that some class' operator!=
// might also take. They are taken for the built-in ones.
#include <string_view>
#include <utility>

#include "static_checks/lowering/lower_impl.h"

namespace capgate::lint {
namespace {

// Nodes keep libclang's numbers: the two orders must agree.
static_assert(static_cast<int>(BinaryOp::add) == CXBinaryOperator_Add &&
              static_cast<int>(BinaryOp::ne) == CXBinaryOperator_NE &&
              static_cast<int>(BinaryOp::or_assign) == CXBinaryOperator_OrAssign &&
              static_cast<int>(BinaryOp::comma) == CXBinaryOperator_Comma);
static_assert(static_cast<int>(UnaryOp::pre_increment) == CXUnaryOperator_PreInc &&
              static_cast<int>(UnaryOp::minus) == CXUnaryOperator_Minus &&
              static_cast<int>(UnaryOp::logical_not) == CXUnaryOperator_LNot &&
              static_cast<int>(UnaryOp::await) == CXUnaryOperator_Coawait);

using Binary = std::pair<std::string_view, CXBinaryOperatorKind>;
constexpr Binary kBinary[] = {
    {"*", CXBinaryOperator_Mul},  {"/", CXBinaryOperator_Div},    {"%", CXBinaryOperator_Rem},
    {"+", CXBinaryOperator_Add},  {"-", CXBinaryOperator_Sub},    {"<<", CXBinaryOperator_Shl},
    {">>", CXBinaryOperator_Shr}, {"<=>", CXBinaryOperator_Cmp},  {"<", CXBinaryOperator_LT},
    {">", CXBinaryOperator_GT},   {"<=", CXBinaryOperator_LE},    {">=", CXBinaryOperator_GE},
    {"==", CXBinaryOperator_EQ},  {"!=", CXBinaryOperator_NE},    {"&", CXBinaryOperator_And},
    {"^", CXBinaryOperator_Xor},  {"|", CXBinaryOperator_Or},     {"&&", CXBinaryOperator_LAnd},
    {"||", CXBinaryOperator_LOr}, {"=", CXBinaryOperator_Assign}, {",", CXBinaryOperator_Comma}};
constexpr Binary kCompound[] = {{"*=", CXBinaryOperator_MulAssign},  {"/=", CXBinaryOperator_DivAssign},
                                {"%=", CXBinaryOperator_RemAssign},  {"+=", CXBinaryOperator_AddAssign},
                                {"-=", CXBinaryOperator_SubAssign},  {"<<=", CXBinaryOperator_ShlAssign},
                                {">>=", CXBinaryOperator_ShrAssign}, {"&=", CXBinaryOperator_AndAssign},
                                {"^=", CXBinaryOperator_XorAssign},  {"|=", CXBinaryOperator_OrAssign}};
constexpr std::pair<std::string_view, CXUnaryOperatorKind> kUnary[] = {
    {"!", CXUnaryOperator_LNot},    {"~", CXUnaryOperator_Not},    {"-", CXUnaryOperator_Minus},
    {"+", CXUnaryOperator_Plus},    {"*", CXUnaryOperator_Deref},  {"&", CXUnaryOperator_AddrOf},
    {"++", CXUnaryOperator_PreInc}, {"--", CXUnaryOperator_PreDec}};

Op op_of(CXBinaryOperatorKind kind) {
  switch (kind) {
    case CXBinaryOperator_Assign:
      return Op::assign;
    case CXBinaryOperator_LAnd:
      return Op::logical_and;
    case CXBinaryOperator_LOr:
      return Op::logical_or;
    case CXBinaryOperator_Comma:
      return Op::comma;
    default:
      return Op::binary;
  }
}

Op op_of(CXUnaryOperatorKind kind) {
  switch (kind) {
    case CXUnaryOperator_Deref:
      return Op::deref;
    case CXUnaryOperator_AddrOf:
      return Op::address;
    case CXUnaryOperator_PreInc:
    case CXUnaryOperator_PreDec:
      return Op::step;
    default:
      return Op::unary;
  }
}

// The operator that `cursor` names, where several functions may be meant: "!="; else nothing.
std::string open_operator_word(CXCursor cursor) {
  cursor = stripped(cursor);
  if (cursor.kind != CXCursor_DeclRefExpr) return "";
  for (const CXCursor& part : children_of(cursor))
    if (part.kind == CXCursor_OverloadedDeclRef)
      if (const std::string name = spelling_of(part); is_operator(name)) return name.substr(8);
  return "";
}

}  // namespace

Node* Lowering::Impl::open_operator(CXCursor cursor, const Cursors& kids) {
  Cursors operands;
  std::string word;
  for (const CXCursor& kid : kids) {
    std::string named = word.empty() ? open_operator_word(kid) : "";
    if (named.empty())
      operands.push_back(kid);
    else
      word = std::move(named);
  }
  if (word.empty()) return nullptr;
  if (operands.size() == 1 || word == "++" || word == "--") {  // `x++` has a second operand, a 0
    if (operands.empty()) return nullptr;
    for (const auto& [text, kind] : kUnary)
      if (word == text) {
        Node* n = make(op_of(kind), cursor);
        n->sub = static_cast<uint8_t>(kind);
        n->kids.push_back(expr(operands[0]));
        return n;
      }
  }
  if (operands.size() != 2) return nullptr;
  const auto of_two = [&](Op op, CXBinaryOperatorKind kind) {
    Node* n = make(op, cursor);
    n->sub = static_cast<uint8_t>(kind);
    n->kids = {expr(operands[0]), expr(operands[1])};
    return n;
  };
  for (const auto& [text, kind] : kBinary)
    if (word == text) return of_two(op_of(kind), kind);
  for (const auto& [text, kind] : kCompound)
    if (word == text) return of_two(Op::compound_assign, kind);
  return nullptr;
}

}  // namespace capgate::lint
