// What conditions ask: states that outlive the call, and comparisons with what there was before.
#pragma once

#include <vector>

#include "static_checks/ir/program.h"

namespace capgate::lint {

// A member, or a variable that lives on.
bool outlives_call(const Node* n);

// What outlives the call and the expression is a part of; null: nothing does.
const Node* part_of_lasting(const Node* n);

// The state that is asked, or that it is an element of; null: it ends with the call.
const Node* lasting_state(const Node* n);

// What differs where `condition` is `wanted`: the sides of `a != b`, `!(a == b)`, `memcmp(a, b, n) != 0`;
// empty where it is another kind of condition.
std::vector<const Node*> differing_sides(const Node* condition, bool wanted);

// `n` denotes the very variable or member of that name.
bool denotes(const Node* n, const Node* flag);
// `n` denotes the state or a part of it.
bool is_part_of(const Node* n, const Node* state);

}  // namespace capgate::lint
