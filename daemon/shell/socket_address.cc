#include "daemon/shell/socket_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace torc::shell {

sockaddr_storage to_sockaddr(const Address& address, bool v4_mapped) {
  sockaddr_storage storage{};
  if (address.is_v4() && !v4_mapped) {
    auto* v4 = reinterpret_cast<sockaddr_in*>(&storage);
    v4->sin_family = AF_INET;
    v4->sin_port = htons(address.port);
    std::memcpy(&v4->sin_addr, address.ip.data() + 12, 4);
  } else {
    auto* v6 = reinterpret_cast<sockaddr_in6*>(&storage);
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(address.port);
    std::memcpy(&v6->sin6_addr, address.ip.data(), address.ip.size());
  }
  return storage;
}

Address from_sockaddr(const sockaddr* address) {
  Address out;
  if (address->sa_family == AF_INET) {
    const auto* v4 = reinterpret_cast<const sockaddr_in*>(address);
    out.ip[10] = out.ip[11] = 0xff;
    std::memcpy(out.ip.data() + 12, &v4->sin_addr, 4);
    out.port = ntohs(v4->sin_port);
  } else if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    std::memcpy(out.ip.data(), &v6->sin6_addr, out.ip.size());
    out.port = ntohs(v6->sin6_port);
  }
  return out;
}

namespace {

Address name_of(const uv_tcp_t* tcp, int (*get)(const uv_tcp_t*, sockaddr*, int*)) {
  sockaddr_storage storage{};
  int bytes = sizeof storage;
  if (get(tcp, reinterpret_cast<sockaddr*>(&storage), &bytes) != 0) return {};
  return from_sockaddr(reinterpret_cast<const sockaddr*>(&storage));
}

}  // namespace

Address local_address(const uv_tcp_t* tcp) {
  return name_of(tcp, uv_tcp_getsockname);
}
Address remote_address(const uv_tcp_t* tcp) {
  return name_of(tcp, uv_tcp_getpeername);
}

std::string socket_error(const char* what, const Address& address, int uv_error) {
  return std::string(what) + " " + address.to_string() + ": " + uv_strerror(uv_error);
}

}  // namespace torc::shell
