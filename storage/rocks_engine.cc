#include "storage/rocks_engine.h"

#include <fcntl.h>
#include <rocksdb/cache.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/table.h>
#include <rocksdb/write_batch.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace torc::storage {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMemtableBytes = 64 << 20;
constexpr int kMemtablesMax = 3;
constexpr uint64_t kWalBytesMax = 256 << 20;
constexpr size_t kBlockCacheBytes = 256 << 20;
constexpr int kOpenFilesMax = 512;

// The file that says that a store was created here, and in which format. It is written whole and
// after the store, so a directory that has it but no store has lost it.
constexpr std::string_view kFormatFile = "FORMAT";
constexpr std::string_view kFormatPrefix = "torc data format ";

rocksdb::Slice slice(std::string_view bytes) {
  return {bytes.data(), bytes.size()};
}

std::string_view view(const rocksdb::Slice& bytes) {
  return {bytes.data(), bytes.size()};
}

Status from_rocks(const rocksdb::Status& status) {
  if (status.ok()) return {};
  if (status.IsCorruption()) return {StatusCode::kCorruption, status.ToString()};
  if (status.IsNoSpace()) return {StatusCode::kDiskFull, status.ToString()};
  return {StatusCode::kIoError, status.ToString()};
}

// RocksDB has no code for a LOCK that somebody holds, only these words (env/fs_posix.cc).
bool is_lock_refused(const rocksdb::Status& status) {
  const std::string text = status.ToString();
  return status.IsIOError() && (text.find("lock hold by current process") != std::string::npos ||
                                text.find("While lock file") != std::string::npos);
}

Status errno_status(const std::string& what) {
  const StatusCode code = errno == ENOSPC ? StatusCode::kDiskFull : StatusCode::kIoError;
  return {code, what + ": " + std::strerror(errno)};
}

// Syncs a file's bytes, or a directory's entries.
Status sync_path(const fs::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return errno_status("cannot open " + path.string());
  const int result = ::fsync(fd);
  const Status status = result == 0 ? Status() : errno_status("cannot sync " + path.string());
  ::close(fd);
  return status;
}

// The directory and its missing parents, each durably entered in its own.
Status create_dir_durably(const fs::path& dir) {
  std::error_code error;
  if (fs::is_directory(dir, error)) return {};
  const fs::path parent = fs::absolute(dir, error).lexically_normal().parent_path();
  if (!error && !parent.empty()) {
    if (Status status = create_dir_durably(parent); !status.ok()) return status;
  }
  fs::create_directory(dir, error);
  if (error) {
    return {StatusCode::kIoError, "cannot create " + dir.string() + ": " + error.message()};
  }
  return sync_path(parent);
}

// nullopt when there is no such file.
Result<std::optional<uint32_t>> read_format(const fs::path& dir) {
  const fs::path path = dir / kFormatFile;
  std::error_code error;
  if (!fs::exists(path, error) && !error) return std::nullopt;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  uint32_t version = 0;
  const char* const end = line.data() + line.size();
  const char* const digits = line.data() + std::min(kFormatPrefix.size(), line.size());
  const auto parsed = std::from_chars(digits, end, version);
  if (!line.starts_with(kFormatPrefix) || parsed.ec != std::errc() || parsed.ptr != end) {
    return std::unexpected(
        Status(StatusCode::kCorruption, path.string() + " does not hold a data format"));
  }
  return version;
}

Status write_format(const fs::path& dir) {
  const fs::path path = dir / kFormatFile;
  const fs::path draft = dir / (std::string(kFormatFile) + ".new");
  std::ofstream file(draft, std::ios::trunc);
  file << kFormatPrefix << RocksEngine::kFormatVersion << '\n';
  file.close();
  if (!file) return {StatusCode::kIoError, "cannot write " + draft.string()};
  if (Status status = sync_path(draft); !status.ok()) return status;
  std::error_code error;
  fs::rename(draft, path, error);
  if (error)
    return {StatusCode::kIoError, "cannot write " + path.string() + ": " + error.message()};
  return sync_path(dir);
}

rocksdb::Options make_options() {
  rocksdb::Options options;
  // What the log held must come back whole. A tail torn by a crash was never acknowledged and is
  // cut; damage before it refuses to open, where the default mode would drop everything behind it
  // without a word.
  options.wal_recovery_mode = rocksdb::WALRecoveryMode::kTolerateCorruptedTailRecords;
  options.paranoid_checks = true;

  // One thread writes, in batches that are synced: machinery for many writers would only cost.
  options.allow_concurrent_memtable_write = false;
  options.enable_write_thread_adaptive_yield = false;
  options.write_buffer_size = kMemtableBytes;
  options.max_write_buffer_number = kMemtablesMax;
  options.max_total_wal_size = kWalBytesMax;
  options.bytes_per_sync = 1 << 20;
  options.wal_bytes_per_sync = 1 << 20;
  options.max_background_jobs = 2;
  options.level_compaction_dynamic_level_bytes = true;
  options.max_open_files = kOpenFilesMax;
  options.skip_stats_update_on_db_open = true;

  const auto compressions = rocksdb::GetSupportedCompressions();
  options.compression = rocksdb::kNoCompression;
  for (const auto type : {rocksdb::kLZ4Compression, rocksdb::kZSTD, rocksdb::kSnappyCompression}) {
    if (std::ranges::find(compressions, type) == compressions.end()) continue;
    options.compression = type;
    break;
  }

  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  table.cache_index_and_filter_blocks = true;
  table.pin_l0_filter_and_index_blocks_in_cache = true;
  table.format_version = 5;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));

  options.info_log_level = rocksdb::InfoLogLevel::WARN_LEVEL;
  options.max_log_file_size = 4 << 20;
  options.keep_log_file_num = 4;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  return options;
}

rocksdb::WriteOptions write_options(bool sync) {
  rocksdb::WriteOptions options;
  options.sync = sync;
  return options;
}

}  // namespace

struct RocksEngine::Impl {
  std::unique_ptr<rocksdb::DB> db;
};

RocksEngine::RocksEngine(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

RocksEngine::~RocksEngine() = default;

Result<std::unique_ptr<RocksEngine>> RocksEngine::open(const std::string& dir) {
  if (Status status = create_dir_durably(dir); !status.ok()) return std::unexpected(status);
  const auto format = read_format(dir);
  if (!format) return std::unexpected(format.error());
  if (*format && **format != kFormatVersion) {
    return std::unexpected(
        Status(StatusCode::kUnsupported, "data directory " + dir + " has format " +
                                             std::to_string(**format) + ", this program knows " +
                                             std::to_string(kFormatVersion)));
  }

  rocksdb::Options options = make_options();
  // A directory that once held a store and holds none now is damaged, not new.
  options.create_if_missing = !*format;
  rocksdb::DB* db = nullptr;
  const rocksdb::Status opened = rocksdb::DB::Open(options, dir, &db);
  if (is_lock_refused(opened)) {
    return std::unexpected(Status(
        StatusCode::kInUse, "data directory " + dir + " is in use (" + opened.ToString() + ")"));
  }
  if (*format && opened.IsInvalidArgument()) {
    return std::unexpected(
        Status(StatusCode::kCorruption,
               "data directory " + dir + " has lost its store (" + opened.ToString() + ")"));
  }
  if (!opened.ok()) return std::unexpected(from_rocks(opened));

  auto impl = std::make_unique<Impl>();
  impl->db.reset(db);
  std::unique_ptr<RocksEngine> engine(new RocksEngine(std::move(impl)));
  if (!*format) {
    // Either new, or its creation was cut short before the format was written; nothing was stored
    // then.
    bool empty = true;
    Status status = engine->scan({}, {}, [&](std::string_view, std::string_view) {
      empty = false;
      return false;
    });
    if (status.ok() && !empty) {
      status = Status(StatusCode::kCorruption,
                      "data directory " + dir + " holds data of unknown format");
    }
    if (status.ok()) status = write_format(dir);
    if (!status.ok()) return std::unexpected(status);
  }
  return engine;
}

std::vector<Result<std::optional<std::string>>> RocksEngine::multi_get(
    std::span<const std::string> keys) {
  std::vector<rocksdb::Slice> slices(keys.begin(), keys.end());
  std::vector<rocksdb::PinnableSlice> values(keys.size());
  std::vector<rocksdb::Status> statuses(keys.size());
  rocksdb::DB& db = *impl_->db;
  db.MultiGet(rocksdb::ReadOptions(), db.DefaultColumnFamily(), keys.size(), slices.data(),
              values.data(), statuses.data());

  std::vector<Result<std::optional<std::string>>> results;
  results.reserve(keys.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    if (statuses[i].IsNotFound()) {
      results.emplace_back(std::nullopt);
    } else if (!statuses[i].ok()) {
      results.emplace_back(std::unexpected(from_rocks(statuses[i])));
    } else if (values[i].IsPinned()) {
      results.emplace_back(std::in_place, std::in_place, view(values[i]));
    } else {
      results.emplace_back(std::move(*values[i].GetSelf()));
    }
  }
  return results;
}

Status RocksEngine::write(std::span<const Mutation> mutations, bool sync) {
  constexpr size_t kBytesPerMutation = 16;  // type and lengths, generously
  size_t bytes = 64;
  for (const Mutation& mutation : mutations) {
    bytes +=
        kBytesPerMutation + mutation.key.size() + (mutation.value ? mutation.value->size() : 0);
  }
  rocksdb::WriteBatch batch(bytes);
  for (const Mutation& mutation : mutations) {
    const rocksdb::Status added =
        mutation.value ? batch.Put(mutation.key, *mutation.value) : batch.Delete(mutation.key);
    if (!added.ok()) return from_rocks(added);
  }
  return from_rocks(impl_->db->Write(write_options(sync), &batch));
}

Status RocksEngine::sync() {
  return from_rocks(impl_->db->FlushWAL(true));
}

Status RocksEngine::scan(std::string_view begin, std::string_view end, const Visitor& visit) {
  rocksdb::ReadOptions options;
  options.fill_cache = false;
  const rocksdb::Slice bound = slice(end);
  if (!end.empty()) options.iterate_upper_bound = &bound;
  const std::unique_ptr<rocksdb::Iterator> it(impl_->db->NewIterator(options));
  for (it->Seek(slice(begin)); it->Valid(); it->Next()) {
    if (!visit(view(it->key()), view(it->value()))) break;
  }
  return from_rocks(it->status());
}

Status RocksEngine::delete_range(std::string_view begin, std::string_view end, bool sync) {
  assert(!end.empty());
  if (begin >= end) return {};
  rocksdb::WriteBatch batch;
  const rocksdb::Status added = batch.DeleteRange(slice(begin), slice(end));
  if (!added.ok()) return from_rocks(added);
  return from_rocks(impl_->db->Write(write_options(sync), &batch));
}

}  // namespace torc::storage
