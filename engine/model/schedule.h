// Which token of which row each lane of a step feeds, and which pages a row has. The host decides it by what
// it knows: prompts, limits, and tokens that have arrived; no value of the device is asked for.
//
// A row is a request's place: it has a state and, while it decodes, the lane of its own number. A request
// waits until a row and the pages of its last token are free. Lanes whose row is idle, and lanes beyond the
// rows, feed further tokens of prompts, in order of the requests; the row's own lane always feeds the last of
// its tokens in a step.
#pragma once

#include <deque>
#include <vector>

#include "engine/model/request.h"

namespace dsv4 {

struct ScheduleSize {
  int rows = 1;
  int lanes = 1;  // at least as many as rows; steps in which more than the rows' lanes feed take all of them
  int chunk = 1;  // most tokens of one row in one step
  int page_tokens = 0;  // 0: a row's state lies in one piece
  int pages = 0;        // of all rows together
  std::vector<int> stop_tokens;
};

// What a lane feeds from this step on. With `goes_on` it then feeds what each step samples.
struct LaneTask {
  int lane = 0;
  int row = -1;      // -1: it feeds nothing
  int request = -1;  // -1: nothing
  int id = 0, position = 0;
  bool goes_on = false;
};

struct PageTask {
  int row = 0, index = 0, page = 0;
};

struct StepPlan {
  int bucket = 0;               // lanes [0, bucket) take part
  std::vector<LaneTask> lanes;  // others go on as they are
  std::vector<PageTask> pages;  // places of the page table that change
  struct Answer {
    int lane, request;
  };
  std::vector<Answer> answers;  // lanes whose token belongs to an answer
};

enum class Arrival {
  kToken,  // one more of the answer
  kLast,   // the same, and the answer is as long as it may get
  kStop,   // a stop token: the answer ended before it
  kLate    // the answer has ended
};

class Schedule {
 public:
  // Requests fit: no prompt is empty, and the pages of each one alone are there (pages_of).
  Schedule(const std::vector<Request>& requests, ScheduleSize size);

  // The next step; false when none is wanted. A request that has ended by its length gives its row up at
  // once, since what is put on a stream later cannot overtake this step.
  bool next(StepPlan& plan);
  // The token of an answer, steps later than it was planned.
  Arrival arrived(int request, int token);

  int pages_in_use() const { return size_.pages - static_cast<int>(free_pages_.size()); }
  // That hold a request's tokens, prompt and answer.
  static int pages_of(const Request& request, int page_tokens);

 private:
  struct Row {
    int request = -1;
    int fed = 0;  // tokens planned so far
    std::vector<int> pages;
  };
  // What a lane of the device is left at by the steps planned so far.
  struct Lane {
    int row = -1;
    bool goes_on = false;
  };
  struct Answering {
    int tokens = 0;
    bool ended = false;
  };

  const Request& request(const Row& row) const { return requests_[static_cast<std::size_t>(row.request)]; }
  int to_feed(const Row& row) const;  // tokens of the prompt that are left
  void admit();
  void release(Row& row);
  void take_pages(int row, int tokens, StepPlan& plan);
  void set(StepPlan& plan, const LaneTask& task);

  const std::vector<Request>& requests_;
  const ScheduleSize size_;
  std::vector<Row> rows_;
  std::vector<Lane> lanes_;
  std::vector<Answering> answers_;
  std::vector<int> free_pages_;
  int reserved_ = 0;         // pages that the rows may still come to need, or have
  std::size_t waiting_ = 0;  // the first request without a row
};

}  // namespace dsv4
