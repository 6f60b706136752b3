// torcd: one daemon of a torc cluster.
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "daemon/config.h"
#include "daemon/shell/event_loop.h"
#include "daemon/shell/limited_sink.h"
#include "storage/batch_executor.h"
#include "storage/rocks_engine.h"

namespace torc {
namespace {

constexpr int kFailed = static_cast<int>(node::ExitCode::kFailed);
constexpr int kRefused = static_cast<int>(node::ExitCode::kRefused);
// File descriptors that are not for clients: the engine's files, peers, HTTP.
constexpr rlim_t kOtherFiles = 2048;

void start_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>(
      "torcd",
      std::make_shared<shell::LimitedSink>(std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  logger->set_pattern("%Y-%m-%d %H:%M:%S.%e %l %v");
  logger->set_level(spdlog::level::from_str(level));
  spdlog::set_default_logger(std::move(logger));
}

// Raises the number of files to what the system allows, and returns it.
rlim_t raise_file_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  getrlimit(RLIMIT_NOFILE, &limit);
  return limit.rlim_cur;
}

shell::EventLoopConfig loop_config(const Config& config, rlim_t files) {
  shell::EventLoopConfig loop;
  loop.node.version = TORC_VERSION;
  loop.node.name = config.name;
  loop.node.peer = config.advertise_peer;
  loop.node.client = config.advertise_client;
  loop.node.weight = config.weight;
  loop.node.rack = config.rack;
  loop.node.bootstrap = config.bootstrap;
  loop.node.join = config.join;
  loop.node.replication = config.replication;
  loop.node.partitions = config.partitions;
  loop.node.policy = config.policy;
  loop.client = config.client;
  loop.peer = config.peer;
  loop.http = config.http;
  loop.durability_sync = config.durability_sync;

  // A daemon without a free file can neither accept nor refuse anybody: nobody may use them all up.
  const auto for_links = static_cast<size_t>(files / 16);
  loop.peers.links_in_max = std::min(loop.peers.links_in_max, for_links);
  loop.peers.links_out_max = std::min(loop.peers.links_out_max, for_links);
  const rlim_t for_clients = files > 2 * kOtherFiles ? files - kOtherFiles : files / 2;
  if (for_clients < loop.clients.clients_max) {
    spdlog::warn("only {} open files are allowed: at most {} clients", files, for_clients);
    loop.clients.clients_max = static_cast<size_t>(for_clients);
  }
  return loop;
}

int fail(int exit_code, const std::string& why) {
  std::fprintf(stderr, "torcd: %s\n", why.c_str());
  return exit_code;
}

int exit_code_of(const Status& status) {
  const bool refused =
      status.code() == StatusCode::kInUse || status.code() == StatusCode::kUnsupported;
  return refused ? kRefused : kFailed;
}

int run(const Config& config) {
  spdlog::info("torcd {} '{}' opens {}", TORC_VERSION, config.name, config.data_dir);
  auto engine = storage::RocksEngine::open(config.data_dir);
  if (!engine) return fail(exit_code_of(engine.error()), engine.error().message());
  auto executor = storage::BatchExecutor::open(**engine);
  if (!executor) return fail(exit_code_of(executor.error()), executor.error().message());

  auto loop = shell::EventLoop::open(loop_config(config, raise_file_limit()), **executor);
  if (!loop) return fail(kFailed, loop.error());
  spdlog::info("listens: clients {}, peers {}, http {}", config.client.to_string(),
               config.peer.to_string(), config.http.to_string());
  const auto code = static_cast<int>((*loop)->run());
  spdlog::info("stopped with exit code {}", code);
  return code;
}

}  // namespace
}  // namespace torc

int main(int argc, char** argv) {
  const auto config = torc::parse(argc, argv, torc::this_machine());
  if (!config) {
    const torc::ConfigError& error = config.error();
    if (error.exit_code == 0) {
      std::fputs(error.text.c_str(), stdout);
    } else {
      std::fprintf(stderr, "%s\n", error.text.c_str());
    }
    return error.exit_code;
  }
  torc::start_log(config->log_level);
  return torc::run(*config);
}
