// The addresses that a node keeps: of a copy, a memset, a host function or a kernel.
#pragma once

#include <vector>

#include "detector/analysis/ledger.h"
#include "detector/trace/process_trace.h"

namespace capgate::analysis {

// `of`: what all uses of the node have in common; the rest is filled in. A kernel's parameter of eight bytes
// is taken for what it may be; so is each word of a structure, which is told apart. A node that the device
// may change keeps nothing that is known.
void add_held(const trace::ProcessTrace& trace, const Held& of, std::vector<Held>& out);

}  // namespace capgate::analysis
