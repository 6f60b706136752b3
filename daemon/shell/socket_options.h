// What every TCP stream of the daemon is set up with: small messages leave at once, a peer that
// vanished is noticed, and so is one that takes nothing any more. Used only on the loop's thread.
#pragma once

#include <uv.h>

namespace torc::shell {

// After `stalled_ms_max` in which the other side has acknowledged nothing or left no room for more,
// though there was something to send, the kernel breaks the connection. REQUIRES: connected or
// accepted.
void set_stream_options(uv_tcp_t* tcp, unsigned stalled_ms_max);

}  // namespace torc::shell
