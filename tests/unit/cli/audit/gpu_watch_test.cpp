#include "cli/audit/gpu_watch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "detector/trace/format.h"
#include "tests/support/temporary_folder.h"

namespace capgate::cli {
namespace {

using test::TemporaryFolder;

namespace fs = std::filesystem;

constexpr pid_t kRoot = 100;

struct Process {
  pid_t pid;
  pid_t parent;
  std::string argv0 = "prog";
  // GCC wants a member that a designated initialiser leaves out to have one of its own.
  // NOLINTNEXTLINE(readability-redundant-member-init)
  std::vector<std::string> devices{};
  // NOLINTNEXTLINE(readability-redundant-member-init)
  std::string libcuda{};  // where it is mapped, hexadecimal; empty: it is not
  bool detector = false;
  pid_t own_number = 0;
};

// A /proc and a trace folder of the test's own. `lists_children`: whether the kernel keeps lists of children.
class GpuWatchTest : public testing::TestWithParam<bool> {
 protected:
  GpuWatchTest() {
    fs::create_directories(traces());
    add({kRoot, 1, "capgate"});
  }

  fs::path proc() const { return folder_.path() / "proc"; }
  fs::path traces() const { return folder_.path() / "traces"; }

  void add(const Process& process) {
    const std::string pid = std::to_string(process.pid);
    folder_.write("proc/" + pid + "/stat", fmt::format("{} (a) b) S {} 1 1", pid, process.parent));
    folder_.write("proc/" + pid + "/cmdline", process.argv0 + std::string(1, '\0') + "--flag");
    folder_.write(
        "proc/" + pid + "/status",
        fmt::format("Name:\tx\nNSpid:\t{}\n",
                    process.own_number == 0 ? pid : fmt::format("{}\t{}", pid, process.own_number)));
    std::string maps = "55d0-55d1 r--p 00000000 08:01 7 /usr/bin/prog\n";
    if (!process.libcuda.empty()) {
      maps += process.libcuda + "-7fffffffffff r-xp 00000000 08:01 9 /usr/lib/libcuda.so.580.1\n";
    }
    if (process.detector) maps += "7f00-7f01 r-xp 00000000 08:01 8 /opt/lib/libcapgate_preload.so\n";
    folder_.write("proc/" + pid + "/maps", maps);
    const fs::path fds = proc() / pid / "fd";
    fs::create_directories(fds);
    int number = 3;
    for (const auto& device : process.devices) fs::create_symlink(device, fds / std::to_string(number++));
    fs::create_directories(proc() / pid / "task" / pid);
    if (!GetParam()) return;
    folder_.write("proc/" + pid + "/task/" + pid + "/children", "");
    const auto list =
        proc() / std::to_string(process.parent) / "task" / std::to_string(process.parent) / "children";
    if (fs::exists(list)) std::ofstream(list, std::ios::app) << pid << " ";
  }

  void leave_trace(pid_t pid) {
    trace::FileHeader header{};
    std::memcpy(header.magic, trace::kMagic, sizeof header.magic);
    header.pid = static_cast<uint32_t>(pid);
    folder_.write(fmt::format("traces/{}.raw", pid),
                  std::string(reinterpret_cast<const char*>(&header), sizeof header));
  }

  GpuWatch watch() const { return GpuWatch(traces().string(), kRoot, ProcessTree(proc().string())); }

  static std::vector<std::string> cuda() { return {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"}; }

 private:
  TemporaryFolder folder_;
};

TEST_P(GpuWatchTest, NamesAProcessThatUsesCudaWithoutATrace) {
  add({200, kRoot, "sh"});
  add({201, 200, "python3", cuda(), "7f5500000000"});
  GpuWatch watched = watch();
  watched.look();
  EXPECT_EQ(watched.unattached(), (std::vector<UnattachedProcess>{{201, "python3", false}}));
  EXPECT_EQ(watched.running(), std::vector<pid_t>{201});
}

TEST_P(GpuWatchTest, IsSilentOnAProcessThatLeavesItsTraceOnlyLater) {
  add({201, kRoot, "python3", cuda(), "7f5500000000", true});
  GpuWatch watched = watch();
  watched.look();
  leave_trace(201);
  EXPECT_TRUE(watched.unattached().empty());
  watched.look();
  EXPECT_TRUE(watched.unattached().empty());
}

TEST_P(GpuWatchTest, IsSilentOnAParentThatOnlyAsksNvml) {
  add({201, kRoot, "launcher", {"/dev/nvidiactl", "/dev/nvidia0"}, "7f5500000000"});
  add({202, kRoot, "compiler"});
  GpuWatch watched = watch();
  watched.look();
  EXPECT_TRUE(watched.unattached().empty());
}

TEST_P(GpuWatchTest, IsSilentOnAWorkerForkedFromAProcessThatUsesCuda) {
  add({201, kRoot, "train", cuda(), "7f5500000000", true});
  leave_trace(201);
  add({202, 201, "train", cuda(), "7f5500000000",
       true});  // a data loader's worker: same mappings, no program of its own
  GpuWatch watched = watch();
  watched.look();
  EXPECT_TRUE(watched.unattached().empty());
}

TEST_P(GpuWatchTest, NamesADetectorThatGaveUpInAProcess) {
  add({201, kRoot, "train", cuda(), "7f5500000000", true});
  leave_trace(201);
  add({202, 201, "other", cuda(), "7f6600000000", true});
  GpuWatch watched = watch();
  watched.look();
  EXPECT_EQ(watched.unattached(), (std::vector<UnattachedProcess>{{202, "other", true}}));
}

TEST_P(GpuWatchTest, KnowsAProcessByItsNumberInItsOwnNamespace) {
  add({201, kRoot, "boxed", cuda(), "7f5500000000", true, 7});
  leave_trace(7);
  GpuWatch watched = watch();
  watched.look();
  EXPECT_TRUE(watched.unattached().empty());
}

TEST_P(GpuWatchTest, IgnoresProcessesThatAreNotBelowTheRoot) {
  add({300, 1, "someone else's", cuda(), "7f5500000000"});
  GpuWatch watched = watch();
  watched.look();
  EXPECT_TRUE(watched.unattached().empty());
  EXPECT_TRUE(watched.running().empty());
}

INSTANTIATE_TEST_SUITE_P(Kernels, GpuWatchTest, testing::Bool(), [](const auto& kernel) {
  return kernel.param ? "ListsChildren" : "ListsParentsOnly";
});

}  // namespace
}  // namespace capgate::cli
