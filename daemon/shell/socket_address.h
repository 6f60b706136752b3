// Address to and from what the kernel speaks. An IPv4 address is the same Address whether it came
// through an IPv4 or a dual-stack socket. Pure, but for the names of a given socket.
#pragma once

#include <sys/socket.h>
#include <uv.h>

#include <string>

#include "membership/address.h"

namespace torc::shell {

// `v4_mapped` writes IPv4 as ::ffff:a.b.c.d, as an IPv6 socket wants it.
sockaddr_storage to_sockaddr(const Address& address, bool v4_mapped = false);
// The default address when it is neither IPv4 nor IPv6.
Address from_sockaddr(const sockaddr* address);

// Of a bound or connected socket; the default address when it has none.
Address local_address(const uv_tcp_t* tcp);
Address remote_address(const uv_tcp_t* tcp);

// "WHAT HOST:PORT: REASON"
std::string socket_error(const char* what, const Address& address, int uv_error);

}  // namespace torc::shell
