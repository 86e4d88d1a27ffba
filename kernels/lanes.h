// The lanes of a step: each feeds one token of one row. Rows that decode have a lane each; lanes that nobody
// needs feed further tokens of a prompt, or nothing. Which lane does what is device data.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/next_token.h"

namespace dsv4::kernels {

constexpr int kMostLanes = 64;
constexpr int kNobody =
    -1;  // the row of a lane that feeds nothing: it is at id 0, position 0 and touches no state

struct Lanes {
  int *rows, *ids, *positions;
  RowSampling* sampling;
  int* page_table;  // [rows, page_stride]; null where there are no pages
  int page_stride;
};

struct LaneOrder {
  int lane, row, id, position;
  RowSampling sampling;
};
struct PageOrder {
  int row, index, page;
};

// What changes before a step; lanes without an order go on as they are. No lane and no place of the table
// twice.
struct StepOrders {
  int lanes = 0, pages = 0;
  LaneOrder lane[kMostLanes];
  PageOrder page[kMostLanes];
};

// The orders travel with the launch: nothing of the host's is read later.
void give_orders(cudaStream_t stream, const Lanes& lanes, const StepOrders& orders);

}  // namespace dsv4::kernels
