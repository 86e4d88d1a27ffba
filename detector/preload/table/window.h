// Which callback ids are on. Outside captures only the ids that are always on; those of launches and the rest
// of the window's only while a capture is open anywhere in the process. A marked eager step switches nothing:
// a program opens one at every token, and each id that is switched is a call into CUPTI.
#pragma once

#include <stdint.h>

namespace capgate::preload {

// Turns the always-on ids on. Once, after subscribing.
void enable_first_ids();

// A capture opens or closes.
void open_window();
void close_window();
bool window_open();

// A launch was seen while nothing is open. After a few of them the window's ids go off: the end of a capture
// does not turn them off at once, since the capture of the next bucket follows right away.
void launch_outside_window();

// Grows when ids go off: frames entered before may never see their exit.
uint32_t window_epoch();

}  // namespace capgate::preload
