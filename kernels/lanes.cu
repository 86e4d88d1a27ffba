#include "kernels/lanes.h"

#include "kernels/follow.cuh"
#include "kernels/launch.h"

namespace dsv4::kernels {
namespace {

__global__ void __launch_bounds__(kMostLanes)
    orders_kernel(const Lanes lanes, const __grid_constant__ StepOrders orders) {
  let_next_start();
  wait_for_previous();
  const int i = threadIdx.x;
  if (i < orders.lanes) {
    const LaneOrder& order = orders.lane[i];
    lanes.rows[order.lane] = order.row;
    lanes.ids[order.lane] = order.id;
    lanes.positions[order.lane] = order.position;
    lanes.sampling[order.lane] = order.sampling;
  }
  if (i < orders.pages) {
    const PageOrder& order = orders.page[i];
    lanes.page_table[static_cast<long long>(order.row) * lanes.page_stride + order.index] = order.page;
  }
}

}  // namespace

void give_orders(cudaStream_t stream, const Lanes& lanes, const StepOrders& orders) {
  launch<Order::kAfterPrevious>(stream, orders_kernel, 1, kMostLanes, 0, lanes, orders);
}

}  // namespace dsv4::kernels
