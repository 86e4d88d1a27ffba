// What each executable keeps while the run goes on: by the graph that it was made of, by whole updates, and
// by changes of its nodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "detector/analysis/graph_nodes.h"
#include "detector/analysis/memory/graph_uses.h"
#include "detector/analysis/memory/owners.h"
#include "detector/analysis/memory/struct_words.h"
#include "detector/analysis/timeline.h"

namespace capgate::analysis {

// Shared by all executables that hold the same, such as those of one captured graph.
struct HeldGraph {
  size_t number = 0;  // by its making
  GraphUses uses;
  std::vector<BlockId> dead = {};   // since the last launch
  std::vector<size_t> errors = {};  // in MemoryLedger::lost
};

class Executables {
 public:
  Executables(const Timeline& timeline, const Owners& owners);

  // Executables are named by their index in the timeline.
  void captured(size_t capture);
  void made(size_t exec, size_t version);
  void edited(size_t exec, size_t edit);
  HeldGraph* launched(size_t exec);  // null: what it holds is not known
  bool is_first_launch(size_t exec) const { return execs_[exec].launches == 1; }
  void gone(uint64_t handle);

  // The living one with the handle, if it was launched before.
  std::optional<size_t> ran_before(uint64_t handle) const;
  // Of those that were launched and not destroyed, each once, in the order of their making.
  std::vector<HeldGraph*> kept();

  void bury(const std::vector<BlockId>& dead);
  void replace(HeldGraph& graph, BlockId block, BlockId by);  // its uses are the other's
  bool became_the_graphs(HeldGraph& graph, BlockId block);
  // A word that is a pointer, as all that was seen of its kind shows.
  bool is_surely_a_pointer(const Held& held) const;

 private:
  struct Exec {
    HeldGraph* holds = nullptr;
    size_t version = 0;
    bool own = false;  // nobody shares what it holds
    bool gone = false;
    uint64_t launches = 0;
    std::map<uint64_t, std::optional<Held>> off;  // disabled nodes, and what they would use
  };

  HeldGraph* held_by(const ExecVersion& version);
  HeldGraph& add_graph() { return graphs_.emplace_back(HeldGraph{graphs_.size(), {}}); }
  void make_own(size_t exec);
  void set_node(Exec& exec, const ExecEdit& edit);
  void set_child(Exec& exec, const ExecEdit& edit);
  void switch_node(Exec& exec, const ExecEdit& edit);

  std::vector<std::pair<BlockId, Held>> owned(const Held& of);
  void hold(HeldGraph& graph, const Held& of);
  void hold(HeldGraph& graph, const NodeInGraph& node, uint64_t as_of, size_t call);
  void keep(HeldGraph& graph, BlockId block, const Held& held);
  void watch(HeldGraph& graph, BlockId block);

  const Timeline& timeline_;
  const Owners& owners_;
  const GraphNodes nodes_;
  StructWords words_;
  std::deque<HeldGraph> graphs_;
  std::vector<HeldGraph*> of_capture_;
  std::map<std::pair<uint64_t, uint64_t>, HeldGraph*> by_contents_;  // graph, and the record of its contents
  std::vector<Exec> execs_;
  std::unordered_map<uint64_t, size_t> by_handle_;              // that live
  std::unordered_map<BlockId, std::vector<HeldGraph*>> users_;  // of living blocks
};

}  // namespace capgate::analysis
