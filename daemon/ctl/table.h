// Table: rows of text shown as aligned columns for people. Every row has as many cells as the
// heading. A plain value.
#pragma once

#include <string>
#include <vector>

namespace torc::ctl {

class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // REQUIRES: one cell for each column.
  void add(std::vector<std::string> cells);
  // Lines without trailing blanks.
  std::string to_string() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace torc::ctl
