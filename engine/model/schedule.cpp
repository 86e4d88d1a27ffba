#include "engine/model/schedule.h"

#include <algorithm>
#include <numeric>

namespace dsv4 {
namespace {

int fed_in_all(const Request& request) {
  return static_cast<int>(request.prompt.size()) - 1 + request.max_tokens;
}

}  // namespace

int Schedule::pages_of(const Request& request, int page_tokens) {
  return page_tokens == 0 ? 0 : (fed_in_all(request) + page_tokens - 1) / page_tokens;
}

Schedule::Schedule(const std::vector<Request>& requests, ScheduleSize size)
    : requests_(requests),
      size_(std::move(size)),
      rows_(static_cast<std::size_t>(size_.rows)),
      lanes_(static_cast<std::size_t>(size_.lanes)),
      answers_(requests.size()),
      free_pages_(static_cast<std::size_t>(size_.pages)) {
  // Taken from the end: the lowest first.
  std::iota(free_pages_.rbegin(), free_pages_.rend(), 0);
}

int Schedule::to_feed(const Row& row) const {
  return row.request < 0 ? 0 : static_cast<int>(request(row).prompt.size()) - row.fed;
}

// In the requests' order: none overtakes one that waits for pages.
void Schedule::admit() {
  for (Row& row : rows_) {
    if (waiting_ == requests_.size()) return;
    if (row.request >= 0) continue;
    const int pages = pages_of(requests_[waiting_], size_.page_tokens);
    if (reserved_ + pages > size_.pages) return;
    reserved_ += pages;
    row.request = static_cast<int>(waiting_++);
    row.fed = 0;
  }
}

void Schedule::release(Row& row) {
  reserved_ -= pages_of(request(row), size_.page_tokens);
  free_pages_.insert(free_pages_.end(), row.pages.rbegin(), row.pages.rend());
  row = {};
}

void Schedule::take_pages(int row, int tokens, StepPlan& plan) {
  if (size_.page_tokens == 0) return;
  Row& taking = rows_[static_cast<std::size_t>(row)];
  const int last = (taking.fed + tokens - 1) / size_.page_tokens;
  while (static_cast<int>(taking.pages.size()) <= last) {
    plan.pages.push_back({row, static_cast<int>(taking.pages.size()), free_pages_.back()});
    taking.pages.push_back(free_pages_.back());
    free_pages_.pop_back();
  }
}

void Schedule::set(StepPlan& plan, const LaneTask& task) {
  plan.lanes.push_back(task);
  lanes_[static_cast<std::size_t>(task.lane)] = {task.row, task.goes_on};
}

bool Schedule::next(StepPlan& plan) {
  plan = {};
  admit();
  if (std::ranges::all_of(rows_, [](const Row& row) { return row.request < 0; })) return false;

  // A token for each row; then what lanes are left, to the oldest request first.
  const bool feeding = std::ranges::any_of(rows_, [&](const Row& row) { return to_feed(row) > 1; });
  plan.bucket = feeding && size_.chunk > 1 ? size_.lanes : size_.rows;
  std::vector<int> tokens(rows_.size()), spare;
  for (std::size_t r = 0; r < rows_.size(); ++r) tokens[r] = rows_[r].request >= 0 ? 1 : 0;
  for (int lane = 0; lane < plan.bucket; ++lane)
    if (lane >= size_.rows || rows_[static_cast<std::size_t>(lane)].request < 0) spare.push_back(lane);
  std::vector<std::size_t> oldest(rows_.size());
  std::iota(oldest.begin(), oldest.end(), 0);
  std::ranges::sort(oldest, {}, [&](std::size_t r) { return rows_[r].request; });
  std::size_t used = 0;
  for (const std::size_t r : oldest) {
    const int more =
        std::min({to_feed(rows_[r]) - 1, size_.chunk - 1, static_cast<int>(spare.size() - used)});
    for (int i = 0; i < more; ++i) {
      const int position = rows_[r].fed + i;
      set(plan, {spare[used++], static_cast<int>(r), rows_[r].request,
                 request(rows_[r]).prompt[static_cast<std::size_t>(position)], position, false});
    }
    if (more > 0) tokens[r] += more;
  }
  for (; used < spare.size(); ++used)
    if (const int lane = spare[used]; lanes_[static_cast<std::size_t>(lane)].row >= 0) set(plan, {lane});

  for (std::size_t r = 0; r < rows_.size(); ++r) {
    Row& row = rows_[r];
    if (row.request < 0) continue;
    const int lane = static_cast<int>(r), last = row.fed + tokens[r] - 1;
    const int prompt = static_cast<int>(request(row).prompt.size());
    take_pages(lane, tokens[r], plan);
    if (last < prompt)
      set(plan, {lane, lane, row.request, request(row).prompt[static_cast<std::size_t>(last)], last,
                 last == prompt - 1});
    if (last >= prompt - 1) plan.answers.push_back({lane, row.request});
    row.fed += tokens[r];
  }
  // Not before all have their pages: this step still reads those of a row that it ends.
  for (Row& row : rows_)
    if (row.request >= 0 && row.fed == fed_in_all(request(row))) release(row);
  return true;
}

Arrival Schedule::arrived(int number, int token) {
  Answering& answer = answers_[static_cast<std::size_t>(number)];
  if (answer.ended) return Arrival::kLate;
  const Request& request = requests_[static_cast<std::size_t>(number)];
  const bool stop = !request.ignore_eos && std::ranges::count(size_.stop_tokens, token) > 0;
  if (!stop && ++answer.tokens < request.max_tokens) return Arrival::kToken;
  answer.ended = true;
  for (Row& row : rows_)
    if (row.request == number) release(row);
  return stop ? Arrival::kStop : Arrival::kLast;
}

}  // namespace dsv4
