// Which callback ids are on. Outside captures and marked regions only the ids that are always on; the launch
// ids and the rest of the window's only while one is open anywhere in the process.
#pragma once

#include <stdint.h>

namespace capgate::preload {

// Turns the always-on ids on, and whatever an already open region needs. Once, after subscribing.
void enable_first_ids();

// A capture or a marked region opens or closes.
void open_window();
void close_window();
bool window_open();

// A launch was seen while nothing is open. After a few of them the window's ids go off: closing a region does
// not turn them off at once, since a decode loop opens the next one right away.
void launch_outside_window();

// Grows when ids go off: frames entered before may never see their exit.
uint32_t window_epoch();

void reset_window_after_fork(uint32_t open_regions);

}  // namespace capgate::preload
