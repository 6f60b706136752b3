// ReadBuffer: the one buffer into which every socket of a loop reads. libuv fills it and hands it
// to the reader in one go, so what it holds is gone when the read callback returns. Used only on
// the loop's thread.
#pragma once

#include <uv.h>

#include <algorithm>
#include <memory>

namespace torc::shell {

class ReadBuffer {
 public:
  static constexpr size_t kBytes = 256 * 1024;

  uv_buf_t slice(size_t bytes_max = kBytes) {
    return uv_buf_init(bytes_.get(), static_cast<unsigned>(std::min(bytes_max, kBytes)));
  }

 private:
  std::unique_ptr<char[]> bytes_{new char[kBytes]};
};

}  // namespace torc::shell
