#include "daemon/shell/socket_options.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace torc::shell {
namespace {

constexpr unsigned kKeepaliveSeconds = 60;

}  // namespace

void set_stream_options(uv_tcp_t* tcp, unsigned stalled_ms_max) {
  uv_tcp_nodelay(tcp, 1);
  uv_tcp_keepalive(tcp, 1, kKeepaliveSeconds);
  uv_os_fd_t fd = 0;
  if (uv_fileno(reinterpret_cast<uv_handle_t*>(tcp), &fd) == 0) {
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &stalled_ms_max, sizeof stalled_ms_max);
  }
}

}  // namespace torc::shell
