// Graphs whose contents are in the trace already, and the bodies of conditional nodes, which only the call
// that adds such a node names.
#pragma once

#include <stdint.h>

namespace capgate::preload {

// The graph's contents are in the trace as they are now.
void graph_written(uint64_t graph, bool has_children);
void graph_changed(uint64_t graph);
// A node changed, and it is not known whose.
void some_graph_changed();
void graph_gone(uint64_t graph);

struct KnownGraph {
  bool written;
  bool has_children;  // nodes that hold other graphs
};
KnownGraph known_graph(uint64_t graph);

void remember_body(uint64_t node, uint32_t index, uint64_t body);
// False: there is no such body, or there was no room for it.
bool body_of(uint64_t node, uint32_t index, uint64_t* body);

}  // namespace capgate::preload
