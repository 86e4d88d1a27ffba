// The scenarios of the audited program, and what all of them need.
#pragma once

#include <functional>

#include "tests/unit/preload/fake/fake_runtime.h"

// calls.cpp
void clean_capture();
void broken_capture();
void pageable_copies();
void outside();
void variants();
void lazy_loads();
void several_captures();
void relaxed();
void enters_missed();
void window_closes_in_flight();
void cupti_dies();
void errno_kept();
void steps();
void left_by_longjmp();
void two_devices();
void context_comes_again();

// marks.cpp
void marked_steps();
void steps_between_replays();
void regions_nvtx();
void marks();
void many_threads();
void deep_frames();
void registers_at_every_step();
void odd_names();

// processes.cpp
void forked();
void fork_first();
void killed();
void quick_exit_scenario();
void fills_disk();
void closes_all();
void forks_with_memory();
void marks_in_a_child();
void reuses_stderr();
void clears_its_environment();
void cancels_a_thread();

// speed.cpp
void speed();

// blocks.cpp
void torch_blocks();
void many_torch_blocks();
void too_many_torch_blocks();

// graphs.cpp
void builds_a_graph();
void nests_graphs();
void changes_an_executable();
void changes_a_child();
void refused_graphs();

// host_memory.cpp
void callback_data();
void copies_from_the_heap();

// places.cpp
void wait_at_many_places();

// verifications.cpp
void verifies_a_graph();
void verifies_later();

inline cudaStream_t make_stream(unsigned flags = cudaStreamNonBlocking) {
  cudaStream_t stream = nullptr;
  fake_rt::stream_create(&stream, flags);
  return stream;
}

inline cudaGraph_t capture(cudaStream_t stream, const std::function<void()>& work,
                           cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  cudaGraph_t graph = nullptr;
  fake_rt::begin_capture(stream, mode);
  work();
  fake_rt::end_capture(stream, &graph);
  return graph;
}
