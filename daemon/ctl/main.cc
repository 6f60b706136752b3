// torc: the command-line tool of a torc cluster. Exit 0 done, 1 the cluster said no, 2 usage.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <functional>
#include <string>

#include "daemon/ctl/client.h"
#include "daemon/ctl/commands.h"
#include "daemon/ctl/placement_commands.h"

namespace {

using namespace torc::ctl;

constexpr int kRefused = 1;
constexpr int kUsage = 2;

int fail(const std::string& why, int code) {
  std::fprintf(stderr, "torc: %s\n", why.c_str());
  return code;
}

void add_compare_options(CLI::App& compare, PlacementFlags& flags, ComparisonOutput& output) {
  const auto option = [&](const char* name, std::string& text, const char* help) {
    compare.add_option(name, text, help);
  };
  option("--policies", flags.policies,
         "all, or of modulo,jump,maglev,token-ring,rendezvous,balanced,bounded-token-ring,"
         "bounded-rendezvous");
  option("--nodes", flags.nodes, "so many members, n1, n2, ... (10)");
  option("--names", flags.names, "the members, a,b,c");
  option("--weights", flags.weights, "1,2,...: for the members in turn, those added last");
  option("--racks", flags.racks, "r1,r1,r2,...: likewise; a short list begins again");
  option("--replication", flags.replication, "copies (3; of keys 1)");
  option("--partitions", flags.partitions, "a power of two (4096)");
  option("--vnodes", flags.vnodes, "tokens for each unit of weight (128)");
  option("--hash", flags.hash, "of keys and tokens: xxh3, md5, fnv1a32, crc32");
  option("--keys", flags.keys, "place key0, key1, ... so many, rather than partitions");
  option("--add", flags.add, "names, or a number of members");
  option("--remove", flags.remove, "names, or a number of members from the end");
  option("--reweight", flags.reweight, "NAME=WEIGHT");
  option("--replace", flags.replace, "OLD=NEW");
  option("--svg", output.svg_file, "draw the circles into this file");
  option("--save", output.table_file, "save the table after the change, of one policy");
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
  std::function<PlacementResult()> run_offline;

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

  PlacementFlags flags;
  ComparisonOutput output;
  std::string table_file;
  CLI::App* placement = app.add_subcommand("placement", "placement without a cluster");
  placement->require_subcommand(1);
  CLI::App* compare = placement->add_subcommand(
      "compare", "what each policy does with some members and a change of them");
  add_compare_options(*compare, flags, output);
  compare->callback([&] {
    output.json = json;
    run_offline = [&] { return compare_placement(flags, output); };
  });
  CLI::App* check = placement->add_subcommand("check", "whether a saved table is right");
  check->add_option("--file", table_file, "the table as JSON; - reads standard input")->required();
  check->callback([&] { run_offline = [&] { return check_placement(table_file, json); }; });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    return fail(std::string(error.what()) + " (torc --help)", kUsage);
  }
  if (run_offline) {
    const PlacementResult result = run_offline();
    if (std::fflush(stdout) != 0) return fail("standard output cannot be written", kRefused);
    if (!result) return fail(result.error().words, result.error().is_usage ? kUsage : kRefused);
    return 0;
  }
  const auto endpoints = parse_endpoints(addresses);
  if (!endpoints) return fail(endpoints.error(), kUsage);

  auto client = Client::connect(*endpoints);
  if (!client) return fail(client.error(), kRefused);
  if (const Outcome outcome = run(*client); !outcome) return fail(outcome.error(), kRefused);
  if (std::fflush(stdout) != 0) return fail("standard output cannot be written", kRefused);
  return 0;
}
