// What a disk adds to the contract: one owner, a format, and durability through kill -9 and damage.
#include "storage/rocks_engine.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "tests/storage/temp_dir.h"

namespace torc::storage {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDirVariable = "TORC_TEST_WRITER_DIR";
constexpr int kBatches = 40;

std::string key_of(int i) {
  return "key" + std::to_string(1000 + i);
}

// Bytes that do not compress, so that a damaged byte hits a value.
std::string value_of(int i) {
  std::string value;
  uint32_t state = static_cast<uint32_t>(i) * 2654435761u + 1;
  for (int n = 0; n < 200; ++n) {
    state = state * 1664525u + 1013904223u;
    value.push_back(static_cast<char>(state >> 24));
  }
  return value;
}

void write_batch(Engine& engine, int i, bool sync = true) {
  const Mutation mutation{key_of(i), value_of(i)};
  REQUIRE(engine.write(std::span(&mutation, 1), sync).ok());
}

// How many of the batches stand, which must be the first ones, whole.
int count_batches(Engine& engine) {
  std::vector<std::string> keys;
  for (int i = 0; i < kBatches; ++i) keys.push_back(key_of(i));
  const auto values = engine.multi_get(keys);
  int count = 0;
  while (count < kBatches && values[count].value() == value_of(count)) ++count;
  for (int i = count; i < kBatches; ++i) CHECK(values[i].value() == std::nullopt);
  return count;
}

// Another process writes kBatches synced batches into `dir` and is killed with its store open.
void run_killed_writer(const std::string& dir) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(kDirVariable, dir.c_str(), 1);
    ::execl("/proc/self/exe", "writer", "--no-skip",
            "--test-case=helper: a writer that kills itself", nullptr);
    ::_exit(127);
  }
  REQUIRE(child > 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  REQUIRE(WTERMSIG(status) == SIGKILL);
}

TEST_CASE("helper: a writer that kills itself" * doctest::skip()) {
  const char* dir = std::getenv(kDirVariable);
  if (dir == nullptr) return;  // run by hand with --no-skip: there is nothing to write to
  auto engine = RocksEngine::open(dir);
  REQUIRE(engine);
  for (int i = 0; i < kBatches; ++i) write_batch(**engine, i);
  ::kill(::getpid(), SIGKILL);
}

fs::path only_file(const std::string& dir, const std::string& extension) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(dir)) {
    if (entry.path().extension() == extension && entry.file_size() > 0) found.push_back(entry);
  }
  REQUIRE(found.size() == 1);
  return found[0];
}

void flip_bit(const fs::path& path, uintmax_t offset) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(static_cast<std::streamoff>(offset));
  const int byte = file.get();
  REQUIRE(byte != EOF);
  file.seekp(static_cast<std::streamoff>(offset));
  file.put(static_cast<char>(byte ^ 1));
  REQUIRE(file.good());
}

StatusCode open_code(const std::string& dir) {
  const auto engine = RocksEngine::open(dir);
  if (engine) return StatusCode::kOk;
  CHECK_FALSE(engine.error().message().empty());
  return engine.error().code();
}

TEST_CASE("rocks engine: creates its directory and finds its data again") {
  const TempDir temp;
  const std::string dir = temp.path() / "some" / "where";
  {
    auto engine = RocksEngine::open(dir);
    REQUIRE(engine);
    write_batch(**engine, 0);
  }
  auto engine = RocksEngine::open(dir);
  REQUIRE(engine);
  CHECK(count_batches(**engine) == 1);
}

TEST_CASE("rocks engine: what was synced survives kill -9") {
  const TempDir temp;
  run_killed_writer(temp.data());
  auto engine = RocksEngine::open(temp.data());
  REQUIRE(engine);
  CHECK(count_batches(**engine) == kBatches);
}

TEST_CASE("rocks engine: a log whose last write was torn off opens without it") {
  const TempDir temp;
  run_killed_writer(temp.data());
  const fs::path log = only_file(temp.data(), ".log");
  fs::resize_file(log, fs::file_size(log) - 20);
  auto engine = RocksEngine::open(temp.data());
  REQUIRE(engine);
  CHECK(count_batches(**engine) == kBatches - 1);
}

TEST_CASE("rocks engine: a log damaged in its middle is refused, not cut") {
  const TempDir temp;
  run_killed_writer(temp.data());
  const fs::path log = only_file(temp.data(), ".log");
  flip_bit(log, fs::file_size(log) / 2);
  CHECK(open_code(temp.data()) == StatusCode::kCorruption);
  CHECK(open_code(temp.data()) == StatusCode::kCorruption);  // and stays refused
}

TEST_CASE("rocks engine: a damaged block is corruption, never absence") {
  const TempDir temp;
  run_killed_writer(temp.data());
  REQUIRE(open_code(temp.data()) == StatusCode::kOk);  // recovery turns the log into a table
  const fs::path table = only_file(temp.data(), ".sst");
  flip_bit(table, 1000);
  auto engine = RocksEngine::open(temp.data());
  REQUIRE(engine);
  std::vector<std::string> keys;
  for (int i = 0; i < kBatches; ++i) keys.push_back(key_of(i));
  const auto values = (*engine)->multi_get(keys);
  CHECK(std::ranges::any_of(values, [](const auto& value) { return !value; }));
  for (int i = 0; i < kBatches; ++i) {
    if (values[i]) {
      CHECK(*values[i] == value_of(i));
    } else {
      CHECK(values[i].error().code() == StatusCode::kCorruption);
    }
  }
  const Status scanned =
      (*engine)->scan("", "", [](std::string_view, std::string_view) { return true; });
  CHECK(scanned.code() == StatusCode::kCorruption);
}

TEST_CASE("rocks engine: a directory has one owner") {
  const TempDir temp;
  auto engine = RocksEngine::open(temp.data());
  REQUIRE(engine);
  CHECK(open_code(temp.data()) == StatusCode::kInUse);

  const pid_t child = ::fork();
  if (child == 0) {
    ::setenv(kDirVariable, temp.data().c_str(), 1);
    ::execl("/proc/self/exe", "rival", "--no-skip", "--test-case=helper: a rival for the directory",
            nullptr);
    ::_exit(127);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);

  engine->reset();
  CHECK(open_code(temp.data()) == StatusCode::kOk);
}

TEST_CASE("helper: a rival for the directory" * doctest::skip()) {
  const char* dir = std::getenv(kDirVariable);
  if (dir == nullptr) return;
  CHECK(open_code(dir) == StatusCode::kInUse);
}

TEST_CASE("rocks engine: the directory says its format, and another one is refused") {
  const TempDir temp;
  REQUIRE(open_code(temp.data()) == StatusCode::kOk);
  const fs::path format = fs::path(temp.data()) / "FORMAT";
  std::string line;
  std::getline(std::ifstream(format), line);
  CHECK(line == "torc data format 1");

  std::ofstream(format) << "torc data format 2\n";
  CHECK(open_code(temp.data()) == StatusCode::kUnsupported);
  for (const char* damaged : {"", "torc data format ", "torc data format 1x\n", "1\n"}) {
    std::ofstream(format, std::ios::trunc) << damaged;
    CHECK(open_code(temp.data()) == StatusCode::kCorruption);
  }
  std::ofstream(format, std::ios::trunc) << "torc data format 1\n";
  CHECK(open_code(temp.data()) == StatusCode::kOk);
}

TEST_CASE("rocks engine: a store that lost a part of itself is not taken for a new one") {
  const TempDir temp;
  {
    auto engine = RocksEngine::open(temp.data());
    REQUIRE(engine);
    write_batch(**engine, 0);
  }
  SUBCASE("its format") {
    fs::remove(fs::path(temp.data()) / "FORMAT");
    CHECK(open_code(temp.data()) == StatusCode::kCorruption);
  }
  SUBCASE("its root") {
    fs::remove(fs::path(temp.data()) / "CURRENT");
    CHECK(open_code(temp.data()) == StatusCode::kCorruption);
  }
}

TEST_CASE("rocks engine: a creation that was cut short is taken up again") {
  const TempDir temp;
  REQUIRE(open_code(temp.data()) == StatusCode::kOk);
  fs::remove(fs::path(temp.data()) / "FORMAT");  // nothing was stored yet
  CHECK(open_code(temp.data()) == StatusCode::kOk);
  CHECK(fs::exists(fs::path(temp.data()) / "FORMAT"));
}

TEST_CASE("rocks engine: a place that cannot be a directory is an error in words") {
  const TempDir temp;
  const fs::path file = temp.path() / "file";
  std::ofstream(file) << "x";
  CHECK(open_code(file) == StatusCode::kIoError);
  CHECK(open_code(file / "below") == StatusCode::kIoError);
}

}  // namespace
}  // namespace torc::storage
