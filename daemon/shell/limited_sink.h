// LimitedSink: a log sink in front of another one that lets through only so many lines of each
// level in a second, and says how many it left out. Whatever others send, the log cannot fill the
// disk. May be used from any thread.
#pragma once

#include <spdlog/sinks/base_sink.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace torc::shell {

class LimitedSink final : public spdlog::sinks::base_sink<std::mutex> {
 public:
  static constexpr uint64_t kLinesPerSecondMax = 100;  // of one level

  explicit LimitedSink(spdlog::sink_ptr next) : next_(std::move(next)) {}

 private:
  struct Second {
    std::chrono::sys_seconds at{};
    uint64_t lines = 0;
  };

  void sink_it_(const spdlog::details::log_msg& message) override {
    Second& second = seconds_.at(static_cast<size_t>(message.level));
    const auto at = std::chrono::floor<std::chrono::seconds>(message.time);
    if (at != second.at) {
      if (second.lines > kLinesPerSecondMax)
        say_left_out(message, second.lines - kLinesPerSecondMax);
      second = {at, 0};
    }
    if (++second.lines <= kLinesPerSecondMax) next_->log(message);
  }

  void say_left_out(const spdlog::details::log_msg& before, uint64_t lines) {
    const std::string words = "(" + std::to_string(lines) + " more lines like these were left out)";
    next_->log({before.time, before.source, before.logger_name, before.level, words});
  }

  void flush_() override { next_->flush(); }
  void set_pattern_(const std::string& pattern) override { next_->set_pattern(pattern); }
  void set_formatter_(std::unique_ptr<spdlog::formatter> formatter) override {
    next_->set_formatter(std::move(formatter));
  }

  const spdlog::sink_ptr next_;
  std::array<Second, spdlog::level::n_levels> seconds_{};
};

}  // namespace torc::shell
