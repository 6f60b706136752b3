// The command table: every command torc knows, its arity, flags and keys, and what carries it out;
// and those of Redis that torc refuses, with the reason. Anything a client sends becomes a Plan
// here, be it an error. Pure functions of the arguments and the connection; used by Session.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "daemon/resp/connection.h"
#include "daemon/resp/parser.h"
#include "daemon/resp/plan.h"

namespace torc::resp {

using Handler = void (*)(const Arguments&, Connection&, Plan&);

struct Command {
  std::string_view name;   // in capitals
  int arity;               // with the name; negative: at least so many
  std::string_view flags;  // as COMMAND tells them, one space between
  int first_key;           // 0: none
  int last_key;            // negative: counted from the end
  int key_step;
  Handler handler;
  std::string_view summary;  // for people
};

// All commands, by name.
std::span<const Command> commands();
// In whatever case; nullptr if torc has none of that name.
const Command* find_command(std::string_view name);

// REQUIRES: arguments are not empty
void plan_command(const Arguments& arguments, Connection& connection, Plan& plan);

// The request for key number `part` of a command that was planned as kEachKey.
node::Request part_request(const Plan& plan, const Arguments& arguments, size_t part,
                           const Connection& connection);
size_t part_count(const Plan& plan, const Arguments& arguments);

}  // namespace torc::resp
