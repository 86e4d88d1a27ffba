#include "detector/seal/seal.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <tuple>
#include <unordered_map>

#include "detector/seal/native_program.h"
#include "detector/seal/python_program.h"
#include "detector/seal/python_stack.h"
#include "detector/seal/source_tree.h"
#include "detector/seal/symbols/symboliser.h"
#include "detector/trace/reader.h"
#include "reports/model/names.h"
#include "reports/settings/frames.h"
#include "reports/settings/settings.h"

namespace capgate::seal {
namespace {

namespace fs = std::filesystem;

bool is_raw_trace(const fs::path& path) {
  if (path.extension() == ".cgraw") return true;
  char magic[sizeof(trace::kMagic)] = {};
  std::ifstream in(path, std::ios::binary);
  in.read(magic, sizeof(magic));
  return in && std::memcmp(magic, trace::kMagic, sizeof(magic)) == 0;
}

// Frames of all processes, each once, files named as reports name them.
class FrameTable {
 public:
  FrameTable(SealedTrace& trace, SourceTree& sources, reports::FrameSettings settings)
      : trace_(trace), sources_(sources), settings_(std::move(settings)) {}

  uint32_t add(reports::Frame frame) {
    const std::string here = frame.file;
    frame.file = sources_.report_path(here);
    const std::string loaded_from = frame.module;
    const bool installed = reports::in_package(frame.module);
    frame.module = fs::path(frame.module).filename().string();
    if (installed) trace_.package_modules.insert(frame.module);
    const auto key = std::string(name(frame.language)) + '\0' + frame.file + '\0' +
                     std::to_string(frame.line) + '\0' + frame.function + '\0' + frame.module + '\0' +
                     (frame.inlined ? '1' : '0');
    const auto [at, fresh] = index_.try_emplace(key, static_cast<uint32_t>(trace_.frames.size()));
    if (fresh) {
      if (reports::is_user_frame(frame, settings_)) {
        sources_.want(here, frame.line);
        if (frame.language == reports::FrameLanguage::native && here.starts_with('/')) {
          ModuleSources& module = modules_[loaded_from];
          module.all.insert(here);
          if (frame.function == "main") module.main = here;
        }
      }
      trace_.frames.push_back(std::move(frame));
    }
    return at->second;
  }

  // By the path that the module was loaded from.
  const std::map<std::string, ModuleSources>& modules() const { return modules_; }

 private:
  SealedTrace& trace_;
  SourceTree& sources_;
  reports::FrameSettings settings_;
  std::map<std::string, ModuleSources> modules_;
  std::unordered_map<std::string, uint32_t> index_;
};

// In order of their ids, so that the same run gives the same file.
template <class T>
std::vector<uint32_t> sorted_ids(const std::unordered_map<uint32_t, T>& map) {
  std::vector<uint32_t> ids;
  ids.reserve(map.size());
  for (const auto& [id, value] : map) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

void name_stacks(Process& process, Symboliser& symboliser, FrameTable& frames) {
  auto& trace = process.trace;
  for (const uint32_t id : sorted_ids(trace.stacks)) {
    auto& out = process.native_stacks[id];
    for (const uint64_t ip : trace.stacks[id])
      for (const auto& frame : symboliser.frames_at(trace.modules, ip)) out.push_back(frames.add(frame));
  }
  for (const uint32_t id : sorted_ids(trace.python_stacks)) {
    auto& out = process.python_stacks[id];
    for (auto& frame : parse_python_stack(trace.python_stacks[id]))
      out.push_back(frames.add(std::move(frame)));
  }
}

// "… Found from : \n File "x.py", line 3, in f": outermost first, unlike stacks.
void name_blamed(Process& process, FrameTable& frames) {
  for (const auto& notice : process.trace.notices) {
    auto blamed = parse_python_stack(process.trace.text(notice.r.text));
    if (blamed.empty()) continue;
    auto& out = process.python_stacks[blamed_stack(notice.r.text)];
    if (!out.empty()) continue;
    for (auto frame = blamed.rbegin(); frame != blamed.rend(); ++frame) out.push_back(frames.add(*frame));
  }
}

// What is named now leaves: raw addresses and module maps differ from run to run and say nothing elsewhere.
bool is_kept(trace::RecordType type) {
  return type != trace::RecordType::stack && type != trace::RecordType::python_stack &&
         type != trace::RecordType::module;
}

std::vector<std::byte> kept_records(trace::RawFile& file) {
  std::erase_if(file.records, [&](const trace::RawRecord& record) {
    trace::RecordHeader header;
    std::memcpy(&header, file.bytes.data() + record.offset, sizeof(header));
    return !is_kept(static_cast<trace::RecordType>(header.type));
  });
  return trace::packed_records(file);
}

std::string executable_build_id(const trace::ProcessTrace& trace) {
  const std::string_view exe = trace.fact("exe");
  for (const auto& module : trace.modules)
    if (module.path == exe) return module.build_id;
  return {};
}

// Of the process that names the program, unless one ran Python: the script is the program then.
std::map<std::string, std::string> native_program(const SealedTrace& sealed, const FrameTable& frames) {
  const Process* program = nullptr;
  for (const Process& process : sealed.processes) {
    if (!process.trace.fact("python").empty()) return {};
    if (!program && !process.build_id.empty()) program = &process;
  }
  if (!program) return {};
  const std::string executable(program->trace.fact("exe"));
  const auto sources = frames.modules().find(executable);
  return sources == frames.modules().end() ? std::map<std::string, std::string>()
                                           : native_program_facts(executable, sources->second);
}

}  // namespace

Result<SealedTrace> seal(const SealInput& input) {
  std::error_code failed;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(input.trace_dir, failed))
    if (entry.is_regular_file() && is_raw_trace(entry.path())) files.push_back(entry.path());
  if (failed) return Error{input.trace_dir + ": cannot be read: " + failed.message()};
  std::sort(files.begin(), files.end());

  SealedTrace sealed;
  sealed.tool_version = input.tool_version;
  sealed.run = input.run;
  sealed.expected = input.expected;
  sealed.unseen = input.unseen;
  sealed.reasons = input.reasons;

  reports::FrameSettings frame_settings;
  if (!input.expected.settings.text.empty()) {
    auto settings = reports::parse_settings(input.expected.settings.text, input.expected.settings.name,
                                            fs::path(input.expected.settings.name).parent_path().string());
    if (!settings) return Error{settings.error()};
    frame_settings = settings->frames;
  }

  std::vector<trace::RawFile> raw;
  for (const auto& path : files) {
    auto file = trace::read_raw(path.string());
    if (!file) {
      sealed.unreadable.push_back(file.error());
      continue;
    }
    raw.push_back(std::move(*file));
  }
  std::sort(raw.begin(), raw.end(), [](const trace::RawFile& a, const trace::RawFile& b) {
    return std::tie(a.header.start_realtime_ns, a.header.pid) <
           std::tie(b.header.start_realtime_ns, b.header.pid);
  });

  std::string working_dir;
  for (auto& file : raw) {
    Process process;
    process.trace = trace::read_process(file);
    process.build_id = executable_build_id(process.trace);
    if (working_dir.empty()) working_dir = process.trace.fact("cwd");
    sealed.processes.push_back(std::move(process));
  }
  SourceTree sources(working_dir);
  FrameTable frames(sealed, sources, frame_settings);
  Symboliser symboliser;
  for (size_t i = 0; i < sealed.processes.size(); ++i) {
    Process& process = sealed.processes[i];
    name_stacks(process, symboliser, frames);
    name_blamed(process, frames);
    if (sealed.program.empty()) sealed.program = python_program_facts(process.trace);
    process.records = kept_records(raw[i]);
    raw[i] = {};
    process.trace.stacks.clear();
    process.trace.python_stacks.clear();
    process.trace.modules.clear();
  }
  if (sealed.program.empty()) sealed.program = native_program(sealed, frames);
  sealed.sources = sources.gather();
  return sealed;
}

}  // namespace capgate::seal
