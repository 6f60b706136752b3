// TempDir: a fresh directory for one test, removed with everything in it when the test ends.
// It is empty at first and its path is unique among processes. One test, one thread.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace torc::storage {

class TempDir {
 public:
  TempDir() {
    std::string name = std::filesystem::temp_directory_path() / "torc-storage-XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path_ = name;
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // A directory inside that does not exist yet.
  std::string data() const { return path_ / "data"; }

 private:
  std::filesystem::path path_;
};

}  // namespace torc::storage
