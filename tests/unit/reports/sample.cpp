#include "tests/unit/reports/sample.h"
#include "reports/verdict/finish.h"

namespace capgate::reports::testing {
namespace {

Frame native(std::string function, std::string module, std::string file = "", int line = 0) {
  return {FrameLanguage::native, std::move(file), line, std::move(function), std::move(module), false};
}
Frame python(std::string function, std::string file, int line) {
  return {FrameLanguage::python, std::move(file), line, std::move(function), "", false};
}

Report base(Component component) {
  Report report;
  report.tool = {"capgate", "0.1.0", component};
  report.subject.program = "build/decode";
  report.subject.source_digest = std::string(64, '5');
  report.subject.config_digest = std::string(64, 'c');
  report.subject.mode = "full";
  return report;
}

Report run() {
  Report report = base(Component::detector);
  report.run = Run{{"build/decode", "--steps", "8"}, 0, std::nullopt, false, 2.25};
  report.subject.build_id = "3f2a91c04b77d0e1";
  report.subject.code_digest = std::string(64, '7');
  report.subject.buckets = {"bs=1", "bs=8"};
  report.subject.sm = "90";
  report.subject.devices = 1;
  report.subject.driver_branch = "580";
  report.environment = {{{0, "NVIDIA H200", "90"}},
                        "580.65.06",
                        "13.0",
                        {"/usr/local/cuda/lib64/libcupti.so.13", "130000"},
                        "gpu-1",
                        "3.12",
                        "2.11.0"};
  report.coverage.kind = CoverageKind::capture;
  report.coverage.cupti = "attached";
  report.coverage.processes = {{4711, std::nullopt, "build/decode", true, 25313, 0}};
  report.coverage.sources_run = {"main.cpp", "model/decode.cpp"};
  return report;
}

Capture capture(std::string id, std::string bucket, std::string result, uint64_t replays) {
  Capture capture;
  capture.id = std::move(id);
  capture.process = "4711";
  capture.bucket = std::move(bucket);
  capture.stream = "s1";
  capture.mode = "global";
  capture.thread = "main";
  capture.result = std::move(result);
  capture.duration_us = 812.5;
  capture.replays = replays;
  if (capture.result == "completed") {
    capture.nodes = {{1, "kernel", "s1", "router"}, {2, "memcpy", "s1", "host to device, 64 B"}};
    capture.edges = {{1, 2}};
    capture.straight_line = true;
  }
  return capture;
}

}  // namespace

Violation violation(std::string rule, std::string file, int line, std::string function, std::string callee,
                    Evidence evidence) {
  Violation violation;
  violation.rule = std::move(rule);
  violation.message = "something happened here";
  violation.evidence = {evidence};
  violation.location.file = std::move(file);
  violation.location.line = line;
  violation.location.function = std::move(function);
  if (!callee.empty()) violation.api = std::move(callee);
  return violation;
}

Report failed_run() {
  Report report = run();
  report.coverage.captures_completed = 1;
  report.coverage.captures_failed = 1;
  report.coverage.sources_run = {"main.cpp", "model/decode.cpp", "model/moe.py", "serve.py"};
  report.coverage.replays = 40;
  report.coverage.not_checked = {"captures of different layers are compared only within one bucket"};
  report.captures = {capture("c1", "bs=1", "completed", 40),
                     capture("c2", "decode bs=8", "failed:cudaErrorStreamCaptureUnsupported", 0)};
  report.metrics = {{"blocked_us_per_step", 12.5}, {"waits_per_step", 1}};
  report.timeline =
      RunTimeline{2,
                  {{"4711",
                    "main",
                    {{BarKind::capture, "bs=1", 0, 812.5, 1, 812.5, "c1", {}, {}},
                     {BarKind::wait, "cudaStreamSynchronize", 900, 912.5, 1, 12.5, {}, "model/moe.py", 212},
                     {BarKind::replay, "bs=1", 1000, 9000, 40, 120.25, "c1", {}, {}}}}}};

  Violation sync = violation("host-sync", "model/moe.py", 212, "MoE.route", "cudaStreamSynchronize");
  sync.message =
      "tensor.item() waits for the device with cudaStreamSynchronize while its stream is being captured; "
      "CUDA refused it with error 900 and the capture is dead";
  sync.result = "cudaErrorStreamCaptureUnsupported";
  sync.capture = "c2";
  sync.stream = "s1";
  sync.thread = "main";
  sync.processes = {4711};
  sync.source = {{211, "    counts = torch.bincount(ids)"},
                 {212, "    if counts.max().item() > self.capacity:"},
                 {213, "        ids = self.drop(ids)"}};
  sync.stacks = {{StackRole::call,
                  {native("cudaStreamSynchronize", "libcudart.so.13"),
                   native("at::native::_local_scalar_dense_cuda(at::Tensor const&)", "libtorch_cuda.so"),
                   native("at::_ops::item::call(at::Tensor const&)", "libtorch_cpu.so"),
                   native("THPVariable_item", "libtorch_python.so"),
                   native("_PyEval_EvalFrameDefault", "libpython3.12.so.1.0"),
                   python("MoE.route", "model/moe.py", 212), python("MoE.forward", "model/moe.py", 88),
                   python("Module._call_impl",
                          "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", 1776),
                   python("Module._wrapped_call_impl",
                          "/opt/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", 1765),
                   python("main", "serve.py", 31)}}};

  Violation copy = violation("pageable-copy", "model/decode.cpp", 74,
                             "void engine::upload<int>(std::vector<int> const&)", "cudaMemcpyAsync");
  copy.nodes = {{"c1", {2}}};
  copy.message =
      "cudaMemcpyAsync of 64 B from heap memory is in the graph: each replay reads that address again";
  copy.capture = "c1";
  copy.bytes = 64;
  copy.count = 2;
  copy.processes = {4711};
  copy.source = {
      {74, "  cudaMemcpyAsync(d_lengths, lengths.data(), bytes, cudaMemcpyHostToDevice, stream);"}};
  copy.stacks = {
      {StackRole::call,
       {native("cudaMemcpyAsync", "decode"),
        native("void engine::upload<int>(std::vector<int> const&)", "decode", "model/decode.cpp", 74),
        native("engine::step(int)", "decode", "model/decode.cpp", 120),
        native("main", "decode", "main.cpp", 12), native("__libc_start_call_main", "libc.so.6")}}};

  Violation allowed =
      violation("host-sync", "model/decode.cpp", 131, "engine::read_token()", "cudaStreamSynchronize");
  allowed.severity = Severity::warning;
  allowed.phase = Phase::step;
  allowed.count = 40;
  allowed.blocked_us = 500;
  allowed.processes = {4711};
  allowed.message = "2 waits a step, 1 is within the budget";
  allowed.suppressed = Suppressed{"the sampler reads the logits of a debug build", "capgate.supp:3"};

  Violation load = violation("lazy-load", "model/decode.cpp", 118, "engine::step(int)", "cuLibraryLoadData");
  load.severity = Severity::note;
  load.phase = Phase::warmup;
  load.processes = {4711};
  load.message = "the kernels of libcublasLt.so.13 were loaded in the first pass";

  report.violations = {load, allowed, copy, sync};
  finish(report);
  return report;
}

Report clean_run() {
  Report report = run();
  report.coverage.captures_completed = 2;
  report.coverage.replays = 160;
  report.coverage.replay = ReplayCoverage{2, 160, MemoryWatched::blocks, {}};
  report.captures = {capture("c1", "bs=1", "completed", 80), capture("c2", "bs=8", "completed", 80)};
  finish(report);
  return report;
}

Report clean_sources() {
  Report report = base(Component::static_checks);
  report.subject.program.clear();
  report.coverage.kind = CoverageKind::source;
  report.coverage.files_parsed = 31;
  report.coverage.files_failed = 0;
  report.coverage.regions = {{"capture at model/decode.cpp:110", RegionSource::lint, 1}};
  report.coverage.sources_read = {"include/decode.h", "main.cpp", "model/decode.cpp"};
  finish(report);
  return report;
}

Report inconclusive_run() {
  Report report = clean_run();
  report.captures.clear();
  report.coverage.captures_completed = report.coverage.replays = 0;
  report.coverage.cupti = "held-by:Nsight Systems";
  report.reasons = {
      {"CUPTI is held by Nsight Systems", "capgate audit -- build/decode, without nsys around it"},
      {"bucket \"bs=8\" was not captured", "capgate audit --expect-bucket bs=8 -- build/decode"}};
  finish(report);
  return report;
}

}  // namespace capgate::reports::testing
