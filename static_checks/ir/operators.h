// Operators of the source language, as a tree's nodes name them.
#pragma once

#include <cstdint>
#include <string_view>

namespace capgate::lint {

// In clang's own order, with one value in front: a front end converts by number and checks the order.
enum class BinaryOp : uint8_t {
  none,
  pointer_to_member,
  pointer_to_member_through,
  mul,
  div,
  rem,
  add,
  sub,
  shl,
  shr,
  three_way,
  lt,
  gt,
  le,
  ge,
  eq,
  ne,
  bit_and,
  bit_xor,
  bit_or,
  logical_and,
  logical_or,
  assign,
  mul_assign,
  div_assign,
  rem_assign,
  add_assign,
  sub_assign,
  shl_assign,
  shr_assign,
  and_assign,
  xor_assign,
  or_assign,
  comma
};

enum class UnaryOp : uint8_t {
  none,
  post_increment,
  post_decrement,
  pre_increment,
  pre_decrement,
  address,
  deref,
  plus,
  minus,
  bit_not,
  logical_not,
  real,
  imaginary,
  extension,
  await
};

// As the source spells it: "<=".
std::string_view spelling(BinaryOp op);
std::string_view spelling(UnaryOp op);

}  // namespace capgate::lint
