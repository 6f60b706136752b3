// torc: the command-line tool of a torc cluster. Exit 0 done, 1 the cluster said no, 2 usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "daemon/ctl/client.h"
#include "daemon/ctl/commands.h"

namespace {

using namespace torc::ctl;

constexpr int kRefused = 1;
constexpr int kUsage = 2;

int fail(const std::string& why, int code) {
  std::fprintf(stderr, "torc: %s\n", why.c_str());
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Talks to a torc cluster.", "torc");
  app.require_subcommand(1);
  app.fallthrough();
  app.set_version_flag("--version", TORC_VERSION);

  std::string addresses = "127.0.0.1:7001";
  bool json = false;
  app.add_option("-c,--connect", addresses, "daemons to try in turn, HOST:PORT,...")
      ->envname("TORC_ADDR")
      ->capture_default_str();
  app.add_flag("--json", json, "print JSON");

  std::string key;
  std::string value;
  std::function<Outcome(Client&)> run;

  const auto command = [&](const char* name, const char* help, auto action) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->callback([&run, action] { run = action; });
    return sub;
  };
  command("status", "the cluster as one daemon sees it",
          [&](Client& client) { return status(client, json); });
  command("members", "the members and what they hold",
          [&](Client& client) { return members(client, json); });
  command("ring", "each member's share of the partitions",
          [&](Client& client) { return ring(client, json); });
  command("owners", "the daemons that hold a key",
          [&](Client& client) { return owners(client, key, json); })
      ->add_option("KEY", key)
      ->required();
  command("get", "print a key's value", [&](Client& client) { return get(client, key, json); })
      ->add_option("KEY", key)
      ->required();
  CLI::App* put_command = command("put", "set a key's value",
                                  [&](Client& client) { return put(client, key, value, json); });
  put_command->add_option("KEY", key)->required();
  put_command->add_option("VALUE", value, "- reads standard input")->required();
  command("del", "delete a key", [&](Client& client) { return del(client, key, json); })
      ->add_option("KEY", key)
      ->required();

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fail(std::string(error.what()) + " (torc --help)", kUsage);
  }
  const auto endpoints = parse_endpoints(addresses);
  if (!endpoints) return fail(endpoints.error(), kUsage);

  auto client = Client::connect(*endpoints);
  if (!client) return fail(client.error(), kRefused);
  if (const Outcome outcome = run(*client); !outcome) return fail(outcome.error(), kRefused);
  if (std::fflush(stdout) != 0) return fail("standard output cannot be written", kRefused);
  return 0;
}
