// Words: small questions about argument text (a keyword, a number, a pattern) and its safe
// quotation in messages. Pure functions, bounded in time by the length of what they are given. Used
// by the parser and the command handlers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace torc::resp {

// Is `text` the keyword `upper` (written in capitals), in whatever case?
bool equals_word(std::string_view text, std::string_view upper);

// The whole text as a decimal number.
std::optional<int64_t> parse_integer(std::string_view text);

// A pattern with * and ?, regardless of case.
bool matches_pattern(std::string_view pattern, std::string_view text);

// `text` as printable ASCII (other bytes as \xHH), cut before it gets longer than `bytes_max`.
std::string escaped(std::string_view text, size_t bytes_max);

}  // namespace torc::resp
