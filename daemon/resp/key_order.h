// KeyOrder: which request is the last one under way for a key, so that the next one can queue
// behind it. Keys are known by a 64-bit hash; two keys that share one merely wait for each other.
// Owned by a Pipeline.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace torc::resp {

class KeyOrder {
 public:
  // `sequence` becomes the last of its key; returns the one that was, which is still under way.
  std::optional<uint32_t> enter(uint64_t key_hash, uint32_t sequence);
  // `sequence`, which entered, has ended.
  void leave(uint64_t key_hash, uint32_t sequence);

 private:
  struct Slot {
    uint64_t key_hash = 0;
    uint32_t sequence = 0;
    bool used = false;
  };

  size_t mask() const { return slots_.size() - 1; }
  // The slot of the key, or the free one where it belongs.
  size_t find(uint64_t key_hash) const;
  void grow();

  std::vector<Slot> slots_;  // open addressing, at most half full; the size is a power of two
  size_t used_ = 0;
};

}  // namespace torc::resp
