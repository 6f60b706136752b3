// Verdict: how a run ended, and why. The first failure stands, later ones change nothing; the
// values are torc_sim's exit codes. A plain value.
#pragma once

#include <string>
#include <utility>

namespace torc::sim {

enum class Outcome { kClean = 0, kCrash = 10, kStuck = 11, kWrong = 12 };

inline const char* to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kClean:
      return "clean";
    case Outcome::kCrash:
      return "crash";
    case Outcome::kStuck:
      return "stuck";
    case Outcome::kWrong:
      return "wrong";
  }
  return "?";
}

class Verdict {
 public:
  void fail(Outcome outcome, std::string message) {
    if (outcome_ != Outcome::kClean) return;
    outcome_ = outcome;
    message_ = std::move(message);
  }

  bool clean() const { return outcome_ == Outcome::kClean; }
  Outcome outcome() const { return outcome_; }
  const std::string& message() const { return message_; }

 private:
  Outcome outcome_ = Outcome::kClean;
  std::string message_;
};

}  // namespace torc::sim
