// The audited program of the tests: program SCENARIO. Exit code 0 unless the scenario itself fails.
#include <map>
#include <string>

#include "tests/unit/preload/programs/scenarios.h"

int main(int argc, char** argv) {
  static const std::map<std::string, void (*)()> kScenarios = {
      {"clean", clean_capture},
      {"broken", broken_capture},
      {"pageable", pageable_copies},
      {"outside", outside},
      {"variants", variants},
      {"lazy_loads", lazy_loads},
      {"marked_steps", marked_steps},
      {"steps_between_replays", steps_between_replays},
      {"many_places", wait_at_many_places},
      {"nvtx", regions_nvtx},
      {"marks", marks},
      {"threads", many_threads},
      {"captures", several_captures},
      {"relaxed", relaxed},
      {"forked", forked},
      {"fork_first", fork_first},
      {"killed", killed},
      {"_exit", quick_exit_scenario},
      {"fills_disk", fills_disk},
      {"closes_all", closes_all},
      {"enters_missed", enters_missed},
      {"in_flight", window_closes_in_flight},
      {"cupti_dies", cupti_dies},
      {"errno", errno_kept},
      {"steps", steps},
      {"speed", speed},
      {"longjmp", left_by_longjmp},
      {"deep", deep_frames},
      {"forks_with_memory", forks_with_memory},
      {"marks_in_a_child", marks_in_a_child},
      {"reuses_stderr", reuses_stderr},
      {"clears_env", clears_its_environment},
      {"cancels", cancels_a_thread},
      {"registers", registers_at_every_step},
      {"odd_names", odd_names},
      {"two_devices", two_devices},
      {"context_comes_again", context_comes_again},
      {"torch_blocks", torch_blocks},
      {"many_torch_blocks", many_torch_blocks},
      {"too_many_torch_blocks", too_many_torch_blocks},
      {"builds_a_graph", builds_a_graph},
      {"nests_graphs", nests_graphs},
      {"changes_an_executable", changes_an_executable},
      {"changes_a_child", changes_a_child},
      {"callback_data", callback_data},
      {"copies_from_the_heap", copies_from_the_heap},
      {"refused_graphs", refused_graphs},
      {"verifies_a_graph", verifies_a_graph},
      {"verifies_later", verifies_later},
      {"nothing", [] {}},
      {"only_starts_cuda", [] { cuInit(0); }},
  };
  const auto scenario = kScenarios.find(argc > 1 ? argv[1] : "");
  if (scenario == kScenarios.end()) return 2;
  scenario->second();
  return 0;
}
