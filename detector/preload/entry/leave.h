// Ends without exit handlers.
#pragma once

namespace capgate::preload {

// The library's own _exit: what the program calls when the library stands before libc.
void* own_exit();

}  // namespace capgate::preload
