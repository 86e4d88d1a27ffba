#include <algorithm>

#include "detector/seal/codec.h"
#include "detector/seal/sealed_file.h"
#include "detector/trace/reader.h"
#include "reports/model/names.h"

// Found by the codec through the arguments' namespaces.
namespace capgate::reports {
template <class Codec>
void describe(Codec& codec, Frame& f) {
  std::string language(name(f.language));  // a word in the file
  codec(language);
  if (const auto read = named<FrameLanguage>(language); read && *read != f.language) f.language = *read;
  codec(f.file, f.line, f.function, f.module, f.inlined);
}
template <class Codec>
void describe(Codec& codec, Reason& r) {
  codec(r.text, r.remedy);
}
template <class Codec>
void describe(Codec& codec, Run& r) {
  codec(r.argv, r.exit_code, r.signal, r.stopped_by_user, r.wall_s);
}
}  // namespace capgate::reports

namespace capgate::seal {

template <class Codec>
void describe(Codec& codec, InputText& t) {
  codec(t.name, t.text);
}
template <class Codec>
void describe(Codec& codec, Expectations& e) {
  codec(e.buckets, e.regions, e.settings, e.suppressions);
}
template <class Codec>
void describe(Codec& codec, UnseenProcess& p) {
  codec(p.pid, p.argv0, p.why);
}
template <class Codec>
void describe(Codec& codec, Comment& c) {
  codec(c.line, c.text);
}
template <class Codec>
void describe(Codec& codec, SourceFile& s) {
  codec(s.path, s.lines, s.allows);
}

namespace {

template <class Codec>
void describe_process(Codec& codec, Process& p) {
  auto& t = p.trace;
  codec(t.pid, t.ppid, t.state, t.start_realtime_ns, t.start_monotonic_ns, t.events, t.dropped, p.build_id,
        p.native_stacks, p.python_stacks, p.records);
}

void section(Encoder& out, const std::string& name, Encoder& body) {
  out(name, body.bytes());
}

bool frames_exist(const std::map<uint32_t, std::vector<uint32_t>>& stacks, size_t frames) {
  return std::all_of(stacks.begin(), stacks.end(), [&](const auto& stack) {
    return std::all_of(stack.second.begin(), stack.second.end(), [&](uint32_t i) { return i < frames; });
  });
}

}  // namespace

std::vector<std::byte> encode_sections(const SealedTrace& trace) {
  Encoder out;
  const auto add = [&](const std::string& name, const auto&... values) {
    Encoder body;
    body(values...);
    section(out, name, body);
  };
  add("tool", trace.tool_version);
  add("run", trace.run);
  add("expected", trace.expected);
  add("unseen", trace.unseen, trace.unreadable, trace.reasons);
  add("frames", trace.frames);
  add("sources", trace.sources);
  if (!trace.program.empty()) add("program", trace.program);
  if (!trace.package_modules.empty())
    add("packages", std::vector<std::string>(trace.package_modules.begin(), trace.package_modules.end()));
  for (const auto& process : trace.processes) {
    Encoder body;
    describe_process(body, const_cast<Process&>(process));
    section(out, "process", body);
  }
  return out.take();
}

Result<SealedTrace> decode_sections(std::span<const std::byte> sections, const std::string& name) {
  SealedTrace trace;
  Decoder in(sections);
  while (!in.at_end()) {
    const size_t start = in.offset();
    std::string title;
    uint64_t length = 0;
    in(title, length);
    const auto body = in.view(length);
    const auto fault = [&](const std::string& what) {
      return Error{name + ": unpacked byte " + std::to_string(start) + ": " + what};
    };
    if (!in.ok()) return fault("a section passes the end of the trace");
    Decoder part(body);
    if (title == "tool") part(trace.tool_version);
    if (title == "run") part(trace.run);
    if (title == "expected") part(trace.expected);
    if (title == "unseen") part(trace.unseen, trace.unreadable, trace.reasons);
    if (title == "frames") {
      part(trace.frames);
      for (const auto& frame : trace.frames)
        if (frame.line < 0) return fault("a frame is at line " + std::to_string(frame.line));
    }
    if (title == "sources") part(trace.sources);
    if (title == "program") part(trace.program);
    if (title == "packages") {
      std::vector<std::string> modules;
      part(modules);
      trace.package_modules.insert(modules.begin(), modules.end());
    }
    if (title == "process") {
      Process process;
      describe_process(part, process);
      if (part.ok()) {
        auto records =
            trace::parse_packed(process.records, name + ": process " + std::to_string(process.trace.pid));
        if (!records) return Error{records.error()};
        trace::ProcessTrace header = std::move(process.trace);
        process.trace = std::move(*records);
        process.trace.pid = header.pid;
        process.trace.ppid = header.ppid;
        process.trace.state = header.state;
        process.trace.start_realtime_ns = header.start_realtime_ns;
        process.trace.start_monotonic_ns = header.start_monotonic_ns;
        process.trace.events = header.events;
        process.trace.dropped = header.dropped;
        process.records = {};
        trace.processes.push_back(std::move(process));
      }
    }
    if (!part.ok()) return fault("the section \"" + title.substr(0, 32) + "\" does not add up");
  }
  for (const auto& process : trace.processes)
    if (!frames_exist(process.native_stacks, trace.frames.size()) ||
        !frames_exist(process.python_stacks, trace.frames.size()))
      return Error{name + ": process " + std::to_string(process.trace.pid) +
                   ": a stack names a frame that is not there"};
  return trace;
}

}  // namespace capgate::seal
