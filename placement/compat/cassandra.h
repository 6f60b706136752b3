// Cassandra's token of a partition key under Murmur3Partitioner: the first half of MurmurHash3
// x64-128 as Cassandra's Java computes it, which sign-extends the bytes after the last whole block.
// An empty key has the lowest token of all, which no other key ever gets. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace torc::placement::compat {

int64_t cassandra_token(std::string_view key);

}  // namespace torc::placement::compat
