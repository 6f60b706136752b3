#include "daemon/shell/status_board.h"

#include <utility>

namespace torc::shell {

void StatusBoard::publish(const MetricsSnapshot& snapshot) {
  auto shared = std::make_shared<const MetricsSnapshot>(snapshot);
  const std::lock_guard lock(mutex_);
  snapshot_.swap(shared);
  published_at_ = std::chrono::steady_clock::now();
}

std::vector<StatusBoard::Question> StatusBoard::take_questions() {
  const std::lock_guard lock(mutex_);
  return std::exchange(questions_, {});
}

void StatusBoard::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const Question& question : std::exchange(questions_, {})) {
    question->set_value(std::unexpected("the daemon is stopping"));
  }
}

std::shared_ptr<const MetricsSnapshot> StatusBoard::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

bool StatusBoard::is_alive(std::chrono::steady_clock::duration age) const {
  const std::lock_guard lock(mutex_);
  return snapshot_ != nullptr && std::chrono::steady_clock::now() - published_at_ < age;
}

StatusBoard::Answer StatusBoard::ask_status(std::chrono::milliseconds wait) {
  auto question = std::make_shared<std::promise<Answer>>();
  std::future<Answer> answer = question->get_future();
  {
    const std::lock_guard lock(mutex_);
    if (closed_) return std::unexpected("the daemon is stopping");
    if (questions_.size() >= kQuestionsMax) return std::unexpected("too many questions wait");
    questions_.push_back(std::move(question));
    wake_();
  }
  if (answer.wait_for(wait) != std::future_status::ready) {
    return std::unexpected("the daemon did not answer in time");
  }
  return answer.get();
}

}  // namespace torc::shell
