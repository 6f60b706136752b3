// Handlers: one function for each command of the table, in one source file for each group. A
// handler checks the arguments beyond their number (which the table has checked) and fills in the
// plan. Called by plan_command only.
#pragma once

#include "daemon/resp/connection.h"
#include "daemon/resp/parser.h"
#include "daemon/resp/plan.h"

namespace torc::resp {

// Words that several handlers say.
void answer_error(std::string_view text, Plan& plan);
void answer_ok(const Connection& connection, Plan& plan);

namespace handlers {

#define TORC_HANDLER(name) void name(const Arguments& arguments, Connection& connection, Plan& plan)
// key_commands.cc
TORC_HANDLER(get);
TORC_HANDLER(set);
TORC_HANDLER(setex);
TORC_HANDLER(psetex);
TORC_HANDLER(getdel);
TORC_HANDLER(strlen);
TORC_HANDLER(type);
TORC_HANDLER(del);
TORC_HANDLER(exists);
TORC_HANDLER(mget);
TORC_HANDLER(mset);
// connection_commands.cc
TORC_HANDLER(ping);
TORC_HANDLER(echo);
TORC_HANDLER(quit);
TORC_HANDLER(reset);
TORC_HANDLER(select);
TORC_HANDLER(hello);
TORC_HANDLER(auth);
TORC_HANDLER(client);
// server_commands.cc
TORC_HANDLER(command);
TORC_HANDLER(config);
TORC_HANDLER(dbsize);
TORC_HANDLER(info);
// torc_commands.cc
TORC_HANDLER(consistency);
TORC_HANDLER(owners);
TORC_HANDLER(status);
TORC_HANDLER(get_at);
TORC_HANDLER(set_at);
TORC_HANDLER(del_at);
#undef TORC_HANDLER

}  // namespace handlers

// Is the key (and the value) small enough? If not, the plan tells.
bool check_key(std::string_view key, Plan& plan);
bool check_value(std::string_view value, Plan& plan);

void plan_get(std::string_view key, node::Level level, Rendering rendering, Plan& plan);
void plan_put(node::PutRequest put, Rendering rendering, Plan& plan);

}  // namespace torc::resp
