// UvHandle: a libuv handle that closes itself: the memory lives until libuv has let go of it, the
// owner may go at once. After that `handle->data`, which points to the owner, is null; callbacks of
// requests check it. Used only on the loop's thread.
#pragma once

#include <uv.h>

#include <cassert>
#include <memory>

namespace torc::shell {

template <typename T>
struct UvClose {
  void operator()(T* handle) const {
    handle->data = nullptr;
    uv_close(reinterpret_cast<uv_handle_t*>(handle),
             [](uv_handle_t* closed) { delete reinterpret_cast<T*>(closed); });
  }
};

template <typename T>
using UvHandle = std::unique_ptr<T, UvClose<T>>;

// make_handle(uv_timer_init, loop, this)
template <typename T>
UvHandle<T> make_handle(int (*init)(uv_loop_t*, T*), uv_loop_t* loop, void* owner) {
  auto* raw = new T{};
  [[maybe_unused]] const int error = init(loop, raw);
  assert(error == 0);  // only memory is set up here
  raw->data = owner;
  return UvHandle<T>(raw);
}

inline uv_stream_t* as_stream(uv_tcp_t* tcp) {
  return reinterpret_cast<uv_stream_t*>(tcp);
}

}  // namespace torc::shell
