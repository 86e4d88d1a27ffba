#include "tests/fuzz/seeds.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "detector/seal/sealed_file.h"
#include "reports/json/json.h"
#include "static_checks/worker/job.h"
#include "tests/unit/analysis/trace_builder.h"
#include "tests/unit/reports/sample.h"

namespace capgate::fuzz {
namespace {

using namespace test;

// A run with something of everything: a healthy capture, a killed one, a marked step, a second thread.
void fill(TraceBuilder& trace) {
  trace.regions = {"decode*"};
  trace.buckets = {"bs=8"};
  trace.suppressions = "host-sync:route  because\n";
  trace.settings = "step_waits = 2\n";
  auto& p = trace.process();
  p.mark(trace::MarkOp::bucket_push, "bs=8");
  p.at("a.cpp", 1, "f");
  p.begin_capture();
  const uint64_t seq = p.launch(kStream).h.seq;
  p.end_capture(kStream, 2);
  p.node(kGraph, 1, 0, seq, "k");
  p.node(kGraph, 2, 1, seq, "");
  p.node(kGraph, 3, 0, seq, "_ZN2at6native6kernelILi4EfEEvT0_Pf");
  p.malloc_async(kStream, 0x70000000, 4096);
  p.copy_node(kGraph, 4, seq, 0x70000000, Memory::device, 0x7ffc0000, Memory::pageable, HostPlace::stack, 32);
  p.edge(kGraph, 1, 2);
  p.instantiate();
  p.replay();
  p.sync(kStream);
  p.replay();
  p.in_python("model.py", 7, "route");
  p.begin_capture(kSide);
  p.record(7, kSide);
  p.wait(0x3000, 7);
  p.item();
  p.end_capture(kSide, 0, 904);
  for (int pass = 0; pass < 2; ++pass) {
    p.push("decode");
    p.item();
    p.copy(Memory::pageable, Memory::device, 4);
    p.pop();
  }
  p.thread(200);
  p.malloc(64, 900);
  p.thread(100);
  p.object(trace::RecordType::module_load, trace::ObjectOp::loaded, 1, 0, seq);
  p.end();
}

// The same with small chunks: most of a chunk is empty, and bytes that no reader looks at are wasted on
// mutation.
std::string compact(const std::vector<std::byte>& file) {
  trace::FileHeader header;
  std::memcpy(&header, file.data(), sizeof(header));
  std::string out(reinterpret_cast<const char*>(file.data()), file.size());
  size_t used = 0;
  for (size_t chunk = 0; chunk < header.next_chunk; ++chunk) {
    const size_t begin = header.header_bytes + chunk * header.chunk_bytes;
    size_t end = begin + sizeof(trace::ChunkHeader);
    for (uint32_t bytes = 0; end + sizeof(bytes) <= begin + header.chunk_bytes; end += bytes) {
      std::memcpy(&bytes, out.data() + end, sizeof(bytes));
      if (bytes == 0) break;
    }
    used = std::max(used, end - begin + 8);
  }
  std::string packed = out.substr(0, header.header_bytes);
  for (size_t chunk = 0; chunk < header.next_chunk; ++chunk)
    packed += out.substr(header.header_bytes + chunk * header.chunk_bytes, used);
  header.chunk_bytes = static_cast<uint32_t>(used);
  std::memcpy(packed.data(), &header, sizeof(header));
  return packed;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace

std::vector<std::string> raw_seeds() {
  TraceBuilder full;
  fill(full);
  ProcessBuilder tiny;
  tiny.launch(kStream);
  return {compact(full.process().file()), compact(tiny.file())};
}

std::vector<std::string> section_seeds() {
  TraceBuilder full, none;
  fill(full);
  return {text_of(seal::encode_sections(full.sealed())), text_of(seal::encode_sections(none.sealed()))};
}

std::vector<std::string> sealed_seeds() {
  TraceBuilder full;
  fill(full);
  const auto path =
      std::filesystem::temp_directory_path() / ("fuzz-seed-" + std::to_string(::getpid()) + ".cgtrace");
  if (!seal::write_sealed(full.sealed(), path.string())) return {""};
  std::ifstream in(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  std::filesystem::remove(path);
  return {bytes};
}

std::vector<std::string> report_seeds() {
  reports::Report small;
  small.tool.component = reports::Component::detector;
  small.reasons.push_back({"nothing ran", "run it"});
  reports::Report fault = small;
  fault.run = reports::Run{{"./decode"}, 1, {}, false, 0.5};
  reports::Violation violation;
  violation.rule = "host-sync";
  violation.message = "killed capture \"a\"";
  violation.evidence = {reports::Evidence::runtime};
  violation.location = {"a.cpp", 7, {}, "f"};
  violation.stacks.push_back(
      {reports::StackRole::call, {{reports::FrameLanguage::native, "a.cpp", 7, "f", "decode", true}}});
  violation.source.push_back({7, "sync();"});
  violation.details["k"] = "v";
  fault.violations.push_back(violation);
  fault.captures.push_back({});
  fault.captures[0].nodes.push_back({0, "kernel", "s1", "k"});
  return {reports::to_json(small), reports::to_json(fault), reports::to_json(reports::testing::failed_run()),
          reports::to_json(reports::testing::clean_run()),
          reports::to_json(reports::testing::clean_sources())};
}

std::vector<std::string> reply_seeds() {
  lint::Reply reply;
  reply.incomplete.push_back({});
  reply.functions.push_back({});
  reply.inputs.files.push_back({"/a.cu", true, {}, "digest"});
  reply.inputs.earlier.push_back({"/usr/include", {}, 0});
  reply.inputs.names = {{"a.h", "b.h"}};
  lint::Finding finding;
  finding.rule = "host-sync";
  finding.place = {"/a.cu", 3, 4};
  finding.flow.push_back({finding.place, "waits"});
  finding.details["k"] = "v";
  reply.result.findings.push_back(finding);
  return {lint::to_bytes(reply), lint::to_bytes(lint::Reply{})};
}

std::vector<std::string> launch_seeds() {
  return {"void f() { kernel<<<grid, {32, y, 1}, 0, s>>>(a, b); g<<<{}, 1>>>(); }\n",
          "// <<<{}\n#define L(k) k << <1, {2} >> >(x)\nauto s = R\"(<<<{})\"; int v = a << 3 >> 1; "
          "f<g<h<1>>>(2);\n"};
}

std::vector<std::string> diff_seeds() {
  return {
      "diff --git a/x.cu b/x.cu\n--- a/x.cu\n+++ b/x.cu\n@@ -1,2 +3,4 @@ void f()\n+a\n+b\n@@ -9 +11 "
      "@@\n-c\n+d\n",
      "diff --git \"a/\\303\\244 x\" \"b/\\303\\244 x\"\n--- /dev/null\n+++ \"b/\\303\\244 x\"\n@@ -0,0 +1,3 "
      "@@\n+1\n"};
}

std::vector<std::string> command_seeds() {
  return {
      "/usr/bin/nvcc -DX=\"a b\" '-Iinc dir' -gencode=arch=compute_90a,code=[compute_90a,sm_90a] -o a\\ b.o "
      "a.cu",
      R"(ccache g++ "-DQ=\"x\"" @file --options-file r.rsp,\, a.cpp)"};
}

std::vector<std::string> suppression_seeds() {
  return {"# a comment\nhost-sync:route*  measured, and fine\n*:libfoo.so!*  not ours\n",
          "x(); // capgate-allow(host-sync): a reason\n# capgate-allow(sync-copy): another\n"};
}

std::vector<std::string> settings_seeds() {
  return {
      "repository = \".\"\nregions = [\"decode*\", \"a@b\"]\nstep_waits = 1\nsuppressions = "
      "\"x.supp\"\n[frames]\n"
      "not_user = [\"*/third_party/*\"]\nuser = []\n",
      "step_waits = 0x10\n"};
}

}  // namespace capgate::fuzz
