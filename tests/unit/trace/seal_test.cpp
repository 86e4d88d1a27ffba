// Sealing: addresses of a real library get their functions, inlined calls and lines; sources, comments and
// relative paths come along; nothing of it needs the machine afterwards.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "detector/seal/python_stack.h"
#include "detector/seal/seal.h"
#include "detector/seal/source_tree.h"
#include "detector/seal/symbols/symboliser.h"
#include "tests/unit/analysis/trace_builder.h"

namespace capgate::test {
namespace {

namespace fs = std::filesystem;

// The sample library as it lies in this process, and an address in it.
struct Loaded {
  explicit Loaded(const char* path) {
    handle = dlopen(path, RTLD_NOW);
    if (!handle) return;
    address = reinterpret_cast<uint64_t (*)()>(dlsym(handle, "sample_outer"))();
    link_map* map = nullptr;
    dlinfo(handle, RTLD_DI_LINKMAP, &map);
    module = {map->l_addr, map->l_addr + (1u << 20), map->l_addr, "", path};
  }
  void* handle = nullptr;
  uint64_t address = 0;
  trace::Module module;
};

// The line of the sample's source that holds the word.
int line_of(const std::string& word) {
  std::ifstream in(SYMBOL_SAMPLE_SOURCE);
  std::string text;
  for (int line = 1; std::getline(in, text); ++line)
    if (text.find("// " + word) != std::string::npos) return line;
  return 0;
}

TEST(Symbols, InlinedFramesWithTheirLines) {
  const Loaded sample(SYMBOL_SAMPLE);
  ASSERT_TRUE(sample.handle) << dlerror();
  seal::Symboliser symboliser;
  const auto& frames = symboliser.frames_at({sample.module}, sample.address);
  ASSERT_EQ(frames.size(), 5u);
  EXPECT_EQ(frames[0].function, "sample::inner");
  EXPECT_EQ(frames[0].line, line_of("INNER"));
  EXPECT_EQ(frames[1].function, "sample::middle");
  EXPECT_EQ(frames[1].line, line_of("MIDDLE"));
  EXPECT_EQ(frames[2].function, "sample::(anonymous namespace)::Asker::ask::{lambda}::operator()");
  EXPECT_EQ(frames[3].function, "sample::(anonymous namespace)::Asker::ask");
  for (size_t i = 0; i < 4; ++i) EXPECT_TRUE(frames[i].inlined);
  EXPECT_EQ(frames[4].function, "sample_outer");
  EXPECT_FALSE(frames[4].inlined);
  EXPECT_EQ(frames[4].line, line_of("OUTER"));
  for (const auto& frame : frames)
    EXPECT_TRUE(frame.file.ends_with("tests/unit/trace/symbol_sample.cpp")) << frame.file;
}

TEST(Symbols, StrippedGivesSymbolAndOffset) {
  const Loaded sample(SYMBOL_SAMPLE_STRIPPED);
  ASSERT_TRUE(sample.handle) << dlerror();
  seal::Symboliser symboliser;
  const auto& frames = symboliser.frames_at({sample.module}, sample.address);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function.rfind("sample_outer+0x", 0), 0u) << frames[0].function;
  EXPECT_EQ(frames[0].line, 0);
}

TEST(Symbols, AFileOfAnotherBuildIsNotUsed) {
  Loaded sample(SYMBOL_SAMPLE);
  ASSERT_TRUE(sample.handle);
  sample.module.build_id = "0123456789abcdef";
  seal::Symboliser symboliser;
  const auto& frames = symboliser.frames_at({sample.module}, sample.address);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function.rfind("+0x", 0), 0u) << frames[0].function;
}

TEST(Symbols, AnAddressNowhereAndAModuleThatIsGone) {
  seal::Symboliser symboliser;
  EXPECT_EQ(symboliser.frames_at({}, 0x1234).size(), 1u);
  const trace::Module gone{0x1000, 0x9000, 0x1000, "", "/nowhere/libgone.so"};
  EXPECT_EQ(symboliser.frames_at({gone}, 0x2001).at(0).function, "+0x1000");
}

TEST(PythonStack, AsTheInterpreterWritesIt) {
  const auto frames = seal::parse_python_stack(
      "Stack (most recent call first):\n"
      "  File \"/home/me/model/moe.py\", line 212 in route\n"
      "  File \"<string>\", line ??? in <module>\n"
      "  ...\n");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].file, "/home/me/model/moe.py");
  EXPECT_EQ(frames[0].line, 212);
  EXPECT_EQ(frames[0].function, "route");
  EXPECT_EQ(frames[0].language, reports::FrameLanguage::python);
  EXPECT_EQ(frames[1].line, 0);
  EXPECT_TRUE(seal::parse_python_stack("nonsense\nFile \"x, line\n").empty());
}

TEST(SourceTree, PathsDoNotNameTheMachine) {
  const fs::path root = fs::path(testing::TempDir()) / "tree";
  fs::create_directories(root / "repo/.git");
  fs::create_directories(root / "repo/model");
  seal::SourceTree tree((root / "work").string());
  EXPECT_EQ(tree.report_path((root / "repo/model/../model/moe.py").string()), "model/moe.py");
  EXPECT_EQ(tree.report_path((root / "work/run.py").string()), "run.py");
  EXPECT_EQ(tree.report_path("/opt/lib/python3.12/site-packages/torch/nn/x.py"), "torch/nn/x.py");
  EXPECT_EQ(tree.report_path((root / "repo/venv/lib/python3.12/site-packages/vllm/y.py").string()),
            "vllm/y.py");
  EXPECT_EQ(tree.report_path("/usr/include/stdio.h"), "/usr/include/stdio.h");
  fs::remove_all(root);
}

template <class T>
void append(std::vector<std::byte>& to, const T& value) {
  const auto* at = reinterpret_cast<const std::byte*>(&value);
  to.insert(to.end(), at, at + sizeof(value));
}

// A raw trace with one call made at the sample's address, in a folder of its own.
TEST(Seal, ARunBecomesOneTraceThatNeedsNothingElse) {
  const Loaded sample(SYMBOL_SAMPLE);
  ASSERT_TRUE(sample.handle);
  const fs::path folder = fs::path(testing::TempDir()) / "traces";
  fs::remove_all(folder);
  fs::create_directories(folder);

  std::vector<std::byte> body;
  uint64_t seq = 0;
  const auto record = [&](auto r, trace::RecordType type, const std::string& tail) {
    const size_t size = (sizeof(r) + tail.size() + 7) / 8 * 8;
    r.h = {static_cast<uint32_t>(size), static_cast<uint16_t>(type), 0, ++seq};
    append(body, r);
    const auto* at = reinterpret_cast<const std::byte*>(tail.data());
    body.insert(body.end(), at, at + tail.size());
    body.resize((body.size() + 7) / 8 * 8);
  };
  trace::ModuleRecord module{};
  module.start = sample.module.start;
  module.end = sample.module.end;
  module.bias = sample.module.bias;
  const std::string path = SYMBOL_SAMPLE;
  module.path_bytes = static_cast<uint32_t>(path.size());
  record(module, trace::RecordType::module, path);
  trace::StackRecord stack{};
  stack.id = 1;
  stack.count = 1;
  record(stack, trace::RecordType::stack,
         std::string(reinterpret_cast<const char*>(&sample.address), sizeof(sample.address)));
  trace::CallRecord call{};
  call.stack = 1;
  call.family = static_cast<uint16_t>(Family::device_sync);
  record(call, trace::RecordType::call, "");

  trace::FileHeader header{};
  std::memcpy(header.magic, trace::kMagic, sizeof(header.magic));
  header.version = trace::kVersion;
  header.header_bytes = sizeof(header);
  header.chunk_bytes = 4096;
  header.pid = 55;
  header.next_chunk = 1;
  header.limit_bytes = 1 << 20;
  std::vector<std::byte> file;
  append(file, header);
  append(file, trace::ChunkHeader{trace::kChunkMagic, 55, 0, 0});
  file.insert(file.end(), body.begin(), body.end());
  file.resize(sizeof(header) + 4096);
  std::ofstream(folder / "55.cgraw", std::ios::binary)
      .write(reinterpret_cast<const char*>(file.data()), static_cast<std::streamsize>(file.size()));
  std::ofstream(folder / "66.cgraw") << "half a trace";
  std::ofstream(folder / "notes.txt") << "not ours";

  seal::SealInput input;
  input.trace_dir = folder.string();
  input.run.argv = {"./program"};
  const auto sealed = seal::seal(input);
  fs::remove_all(folder);
  ASSERT_TRUE(sealed.ok()) << sealed.error();
  ASSERT_EQ(sealed->processes.size(), 1u);
  EXPECT_EQ(sealed->processes[0].trace.pid, 55u);
  ASSERT_EQ(sealed->processes[0].native_stacks.at(1).size(), 5u);
  const auto& outer = sealed->frames.at(sealed->processes[0].native_stacks.at(1)[4]);
  EXPECT_EQ(outer.function, "sample_outer");
  // Relative to the checkout, where there is one; a source package has no .git.
  EXPECT_TRUE(outer.file.ends_with("tests/unit/trace/symbol_sample.cpp")) << outer.file;
  EXPECT_TRUE(outer.file.starts_with("tests/") || !fs::exists(SOURCE_ROOT "/.git")) << outer.file;
  ASSERT_EQ(sealed->unreadable.size(), 1u);
  EXPECT_NE(sealed->unreadable[0].find("66.cgraw"), std::string::npos);
  ASSERT_EQ(sealed->sources.size(), 1u);
  EXPECT_TRUE(sealed->sources[0].lines.contains(line_of("OUTER")));
  ASSERT_EQ(sealed->sources[0].allows.size(), 1u);
  EXPECT_EQ(sealed->sources[0].allows[0].line, line_of("OUTER"));
}

TEST(Seal, AFolderThatIsNotThere) {
  seal::SealInput input;
  input.trace_dir = "/nowhere/at/all";
  const auto sealed = seal::seal(input);
  ASSERT_FALSE(sealed.ok());
  EXPECT_NE(sealed.error().find("/nowhere/at/all"), std::string::npos);
}

}  // namespace
}  // namespace capgate::test
