// What the host decides about rows, lanes and pages: nobody waits without a reason, nobody shares a page or a
// lane, and a prompt is fed in its order.
#include "engine/model/schedule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

namespace dsv4 {
namespace {

Request request(int prompt, int max_tokens, int first = 100) {
  Request r;
  for (int i = 0; i < prompt; ++i) r.prompt.push_back(first + i);
  r.max_tokens = max_tokens;
  return r;
}

// Lanes and pages as a device has them, and what each request was fed.
struct Device {
  explicit Device(const ScheduleSize& s) : size(s), lanes(static_cast<std::size_t>(s.lanes)) {}

  // Takes a step; every sampled token is `token`.
  void step(const StepPlan& plan, int token) {
    std::set<int> changed;
    for (const LaneTask& task : plan.lanes) {
      EXPECT_TRUE(changed.insert(task.lane).second) << "two orders for lane " << task.lane;
      lanes[static_cast<std::size_t>(task.lane)] = task;
    }
    std::set<std::pair<int, int>> places;
    for (const PageTask& task : plan.pages) {
      EXPECT_TRUE(places.insert({task.row, task.index}).second);
      pages[{task.row, task.index}] = task.page;
    }
    std::map<int, std::set<int>> fed_in_step;
    for (int lane = 0; lane < plan.bucket; ++lane) {
      LaneTask& task = lanes[static_cast<std::size_t>(lane)];
      if (task.row < 0) continue;
      fed_in_step[task.row].insert(task.position);
      fed[task.request][task.position] = task.id;
      if (size.page_tokens > 0) {
        EXPECT_EQ(pages.count({task.row, task.position / size.page_tokens}), 1u) << "no page for a token";
      }
      if (!task.goes_on) continue;
      task.id = token;
      ++task.position;
    }
    for (const auto& [row, positions] : fed_in_step) {
      EXPECT_LE(static_cast<int>(positions.size()), size.chunk);
      EXPECT_EQ(*positions.rbegin() - *positions.begin() + 1, static_cast<int>(positions.size()))
          << "a gap in row " << row;
      most_at_once = std::max(most_at_once, static_cast<int>(positions.size()));
    }
    // No page of two rows at once, among those that the rows' positions need.
    std::set<int> owned;
    for (const auto& [row, positions] : fed_in_step)
      for (int index = 0; size.page_tokens > 0 && index <= *positions.rbegin() / size.page_tokens; ++index)
        EXPECT_TRUE(owned.insert(pages.at({row, index})).second) << "a page of two rows";
  }

  ScheduleSize size;
  std::vector<LaneTask> lanes;
  std::map<std::pair<int, int>, int> pages;
  std::map<int, std::map<int, int>> fed;  // request, position: id
  int most_at_once = 0;
};

constexpr int kToken = 7;

// All of it, with arrivals a step late; {steps, arrivals by request}.
std::pair<int, std::map<int, std::vector<Arrival>>> run(const std::vector<Request>& requests,
                                                        const ScheduleSize& size, Device& device) {
  Schedule schedule(requests, size);
  std::map<int, std::vector<Arrival>> arrivals;
  StepPlan plan, before;
  int steps = 0;
  for (bool more = true; more;) {
    more = schedule.next(plan);
    if (more) {
      device.step(plan, kToken);
      ++steps;
    }
    for (const auto& [lane, number] : before.answers)
      arrivals[number].push_back(schedule.arrived(number, kToken));
    before = plan;
  }
  EXPECT_EQ(schedule.pages_in_use(), 0) << "pages that nobody gave back";
  return {steps, arrivals};
}

void expect_fed(const Device& device, const std::vector<Request>& requests) {
  for (std::size_t number = 0; number < requests.size(); ++number) {
    const Request& r = requests[number];
    const auto& fed = device.fed.at(static_cast<int>(number));
    for (std::size_t i = 0; i < r.prompt.size(); ++i) EXPECT_EQ(fed.at(static_cast<int>(i)), r.prompt[i]);
    for (int i = 1; i < r.max_tokens; ++i)
      EXPECT_EQ(fed.at(static_cast<int>(r.prompt.size()) - 1 + i), kToken);
  }
}

TEST(Schedule, OneRowFeedsThePromptThenWhatIsSampled) {
  const std::vector<Request> requests = {request(3, 4)};
  const ScheduleSize size{1, 1, 1, 0, 0, {}};
  Device device(size);
  const auto [steps, arrivals] = run(requests, size, device);
  EXPECT_EQ(steps, 3 + 4 - 1);
  expect_fed(device, requests);
  EXPECT_EQ(arrivals.at(0), (std::vector{Arrival::kToken, Arrival::kToken, Arrival::kToken, Arrival::kLast}));
}

TEST(Schedule, ARowThatEndsIsTakenUpInTheNextStep) {
  const std::vector<Request> requests = {request(1, 2), request(1, 6), request(2, 3), request(1, 1)};
  const ScheduleSize size{2, 2, 1, 0, 0, {}};
  Device device(size);
  const auto [steps, arrivals] = run(requests, size, device);
  // Row 0: steps 0-1 the first, 2-5 the third; row 1: 0-5 the second; then the fourth.
  EXPECT_EQ(steps, 7);
  expect_fed(device, requests);
  for (const auto& [number, of] : arrivals) {
    EXPECT_EQ(static_cast<int>(of.size()), requests[static_cast<std::size_t>(number)].max_tokens);
    EXPECT_EQ(of.back(), Arrival::kLast);
  }
}

TEST(Schedule, IdleLanesFeedThePromptOfWhoIsThere) {
  const std::vector<Request> requests = {request(10, 2), request(3, 2, 200)};
  const ScheduleSize size{2, 8, 4, 0, 0, {}};
  Device device(size);
  const auto [steps, arrivals] = run(requests, size, device);
  // Eight lanes: the first has four tokens a step, the second three at once.
  EXPECT_EQ(steps, 4);
  EXPECT_EQ(device.most_at_once, 4);
  expect_fed(device, requests);
  // One row alone in the lanes of four.
  const std::vector<Request> alone = {request(9, 1)};
  const ScheduleSize four{4, 4, 4, 0, 0, {}};
  Device another(four);
  EXPECT_EQ(run(alone, four, another).first, 3);
  expect_fed(another, alone);
}

TEST(Schedule, OnlyStepsThatFeedMoreTakeTheWideBucket) {
  const std::vector<Request> requests = {request(5, 3)};
  Schedule schedule(requests, {1, 4, 4, 0, 0, {}});
  std::vector<int> buckets;
  for (StepPlan plan; schedule.next(plan);) buckets.push_back(plan.bucket);
  EXPECT_EQ(buckets, (std::vector{4, 1, 1, 1}));
}

TEST(Schedule, AStopTokenEndsTheAnswerAndFreesTheRow) {
  const std::vector<Request> requests = {request(1, 9), request(1, 9), request(1, 9)};
  const ScheduleSize size{1, 1, 1, 4, 8, {kToken}};
  Device device(size);
  const auto [steps, arrivals] = run(requests, size, device);
  // The step that was under way when the stop token came is the only one too many, each time.
  EXPECT_EQ(steps, 2 * 3);
  for (int number = 0; number < 3; ++number)
    EXPECT_EQ(arrivals.at(number), (std::vector{Arrival::kStop, Arrival::kLate})) << number;
  std::vector<Request> ignoring = requests;
  for (Request& r : ignoring) r.ignore_eos = true;
  Device other(size);
  EXPECT_EQ(run(ignoring, size, other).second.at(0).back(), Arrival::kLast);
}

TEST(Schedule, RequestsWaitForPagesInTheirOrder) {
  // Pages of four tokens; the second wants three of the four that there are.
  const std::vector<Request> requests = {request(4, 5), request(8, 5), request(1, 1)};
  const ScheduleSize size{3, 3, 3, 4, 4, {}};
  EXPECT_EQ(Schedule::pages_of(requests[0], 4), 2);
  EXPECT_EQ(Schedule::pages_of(requests[1], 4), 3);
  Schedule schedule(requests, size);
  StepPlan plan;
  ASSERT_TRUE(schedule.next(plan));
  std::set<int> rows;
  for (const LaneTask& task : plan.lanes) rows.insert(task.request);
  EXPECT_EQ(rows, std::set{0}) << "the third overtook the second";
  Device device(size);
  const auto [steps, arrivals] = run(requests, size, device);
  expect_fed(device, requests);
  EXPECT_EQ(arrivals.size(), 3u);
}

TEST(Schedule, PagesAreTakenAsTokensNeedThem) {
  const std::vector<Request> requests = {request(1, 12)};
  Schedule schedule(requests, {1, 1, 1, 4, 9, {}});
  std::vector<int> in_use;
  StepPlan plan;
  for (int step = 0; step < 12; ++step) {
    ASSERT_TRUE(schedule.next(plan));
    if (step < 11) in_use.push_back(schedule.pages_in_use());
  }
  EXPECT_EQ(in_use, (std::vector{1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3}));
  EXPECT_FALSE(schedule.next(plan));
}

// Many sizes at once, with stops at random: what was fed is right whoever was beside it.
TEST(Schedule, AnythingGoesTogether) {
  std::uint64_t state = 5;
  const auto below = [&](int n) {
    state = mix64(state + 1);
    return static_cast<int>(state % static_cast<std::uint64_t>(n));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<Request> requests;
    for (int i = 1 + below(12); i > 0; --i)
      requests.push_back(request(1 + below(20), 1 + below(15), 1000 * i));
    ScheduleSize size;
    size.rows = 1 + below(5);
    size.lanes = size.rows + below(6);
    size.chunk = 1 + below(size.lanes);
    size.page_tokens = below(2) == 0 ? 0 : 1 + below(9);
    int most = 0;
    for (const Request& r : requests) most = std::max(most, Schedule::pages_of(r, size.page_tokens));
    size.pages = size.page_tokens == 0 ? 0 : most + below(2 * most);
    Device device(size);
    const auto [steps, arrivals] = run(requests, size, device);
    expect_fed(device, requests);
    for (std::size_t number = 0; number < requests.size(); ++number)
      EXPECT_EQ(arrivals.at(static_cast<int>(number)).back(), Arrival::kLast);
  }
}

}  // namespace
}  // namespace dsv4
