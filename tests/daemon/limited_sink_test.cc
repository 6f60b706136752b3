#include "daemon/shell/limited_sink.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <string>

namespace torc::shell {
namespace {

using std::chrono::seconds;

struct Log {
  void say(spdlog::level::level_enum level, const std::string& words, seconds at) {
    sink.log({spdlog::log_clock::time_point(at), {}, "torcd", level, words});
  }
  int lines() const {
    const std::string all = text.str();
    return static_cast<int>(std::count(all.begin(), all.end(), '\n'));
  }

  std::ostringstream text;
  LimitedSink sink{std::make_shared<spdlog::sinks::ostream_sink_st>(text)};
};

TEST_CASE("limited sink: a flood is cut, and the next second says how much of it") {
  constexpr int kMax = static_cast<int>(LimitedSink::kLinesPerSecondMax);
  Log log;
  for (int i = 0; i < 10 * kMax; ++i) log.say(spdlog::level::warn, "evil", seconds(5));
  CHECK(log.lines() == kMax);
  log.say(spdlog::level::err, "important", seconds(5));
  CHECK(log.lines() == kMax + 1);
  log.say(spdlog::level::warn, "later", seconds(6));
  CHECK(log.lines() == kMax + 3);
  CHECK(log.text.str().find("(900 more lines like these were left out)") != std::string::npos);
}

TEST_CASE("limited sink: without a flood every line comes out, and nothing else") {
  Log log;
  for (int i = 0; i < 1000; ++i) log.say(spdlog::level::info, "word", seconds(i / 50));
  CHECK(log.lines() == 1000);
}

}  // namespace
}  // namespace torc::shell
