#include "detector/preload/cuda/known_graphs.h"

#include "detector/preload/system/at_fork.h"
#include "detector/preload/system/sys.h"

namespace capgate::preload {
namespace {

constexpr uint32_t kGraphs = 4096, kBodies = 4096, kProbes = 16;

struct GraphSlot {
  uint64_t graph, epoch;
  bool written, has_children;
};
struct BodySlot {
  uint64_t node, body;
  uint32_t index;
};

SpinLock g_lock;
GraphSlot g_graphs[kGraphs];
BodySlot g_bodies[kBodies];
uint64_t g_epoch = 1;

uint32_t place_of(uint64_t handle, uint32_t slots) {
  return uint32_t(handle >> 4 ^ handle >> 16) % slots;
}

// A graph that finds no slot counts as changed: it is written again.
GraphSlot* slot_of(uint64_t graph, bool make) {
  GraphSlot* free = nullptr;
  uint32_t at = place_of(graph, kGraphs);
  for (uint32_t i = 0; i < kProbes; ++i, at = (at + 1) % kGraphs) {
    GraphSlot& slot = g_graphs[at];
    if (slot.graph == graph) return &slot;
    if (slot.graph == 0 && free == nullptr) free = &slot;
  }
  if (!make || free == nullptr) return nullptr;
  free->graph = graph;
  return free;
}

}  // namespace

void graph_written(uint64_t graph, bool has_children) {
  Locked locked(g_lock);
  if (GraphSlot* slot = slot_of(graph, true)) {
    slot->epoch = g_epoch;
    slot->written = true;
    slot->has_children = has_children;
  }
}

void graph_changed(uint64_t graph) {
  Locked locked(g_lock);
  if (GraphSlot* slot = slot_of(graph, false)) slot->written = false;
}

void some_graph_changed() {
  Locked locked(g_lock);
  ++g_epoch;
}

void graph_gone(uint64_t graph) {
  Locked locked(g_lock);
  if (GraphSlot* slot = slot_of(graph, false)) *slot = {};
}

KnownGraph known_graph(uint64_t graph) {
  Locked locked(g_lock);
  const GraphSlot* slot = slot_of(graph, false);
  if (slot == nullptr) return {false, true};
  return {slot->written && slot->epoch == g_epoch, slot->has_children};
}

void remember_body(uint64_t node, uint32_t index, uint64_t body) {
  Locked locked(g_lock);
  BodySlot* free = nullptr;
  uint32_t at = place_of(node + index * 64, kBodies);
  for (uint32_t i = 0; i < kProbes; ++i, at = (at + 1) % kBodies) {
    BodySlot& slot = g_bodies[at];
    // The node's handle may have been another one's before.
    if (slot.node == node && slot.index == index) free = &slot;
    if (slot.node == 0 && free == nullptr) free = &slot;
  }
  if (free != nullptr) *free = {node, body, index};
}

bool body_of(uint64_t node, uint32_t index, uint64_t* body) {
  Locked locked(g_lock);
  uint32_t at = place_of(node + index * 64, kBodies);
  for (uint32_t i = 0; i < kProbes; ++i, at = (at + 1) % kBodies) {
    if (g_bodies[at].node != node || g_bodies[at].index != index) continue;
    *body = g_bodies[at].body;
    return true;
  }
  return false;
}

namespace {
void forget_in_child() {
  g_lock.reset();
  memset(g_graphs, 0, sizeof(g_graphs));
  memset(g_bodies, 0, sizeof(g_bodies));
}
}  // namespace
CAPGATE_AFTER_FORK(forget_in_child)

}  // namespace capgate::preload
