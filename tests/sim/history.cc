#include "tests/sim/history.h"

#include <cassert>
#include <utility>

namespace torc::sim {

namespace {

std::string to_string(storage::Version version) {
  if (!version) return "never written";
  return std::to_string(version.hlc >> 16) + "." + std::to_string(version.hlc & 0xffff) + "@" +
         version.node.to_string();
}

}  // namespace

History::OperationId History::begin(Kind kind, std::string_view key) {
  auto known = keys_.find(key);
  if (known == keys_.end()) {
    known = keys_.emplace(std::string(key), Key{}).first;
    known->second.name = key;
  }
  Key& state = known->second;
  operations_.push_back({kind, &state, state.newest, state.newest_from});
  return operations_.size() - 1;
}

History::OperationId History::begin_put(std::string_view key, std::string_view value) {
  const OperationId id = begin(Kind::kPut, key);
  const bool fresh = writers_.emplace(std::string(value), id).second;
  assert(fresh);
  (void)fresh;
  return id;
}

History::OperationId History::begin_delete(std::string_view key) {
  return begin(Kind::kDelete, key);
}

History::OperationId History::begin_get(std::string_view key) {
  return begin(Kind::kGet, key);
}

void History::acknowledge(OperationId id, storage::Version version) {
  const Operation& operation = operations_[id];
  assert(operation.kind != Kind::kGet);
  if (!version) return fail(describe(id) + " was acknowledged without a version");
  if (version == operation.floor) {
    return fail(describe(id) + " was acknowledged as " + to_string(version) +
                ", which existed before it began");
  }
  const bool tombstone = operation.kind == Kind::kDelete;
  see(id, version, {tombstone, tombstone ? kNoWriter : id});
}

void History::refuse(OperationId id) {
  assert(operations_[id].kind != Kind::kGet);
  operations_[id].refused = true;
  if (operations_[id].was_read) fail(describe(id) + " was refused after its value had been read");
}

void History::found(OperationId id, storage::Version version, std::string_view value) {
  assert(operations_[id].kind == Kind::kGet);
  if (!version) return fail(describe(id) + " found a value without a version");
  const auto writer = writers_.find(std::string(value));
  if (writer == writers_.end() || operations_[writer->second].key != operations_[id].key) {
    return fail(describe(id) + " found a value that was never put there: '" +
                std::string(value.substr(0, 40)) + "'");
  }
  Operation& put = operations_[writer->second];
  put.was_read = true;
  if (put.refused) return fail(describe(id) + " found a value whose put was refused");
  see(id, version, {false, writer->second});
}

void History::absent(OperationId id, storage::Version version) {
  assert(operations_[id].kind == Kind::kGet);
  see(id, version, {true, kNoWriter});
}

void History::see(OperationId id, storage::Version version, const Content& content) {
  const Operation& operation = operations_[id];
  Key& key = *operation.key;
  if (version < operation.floor) {
    return fail(describe(id) + " ended with " + to_string(version) + ", but " +
                describe(operation.floor_from) + " had ended with " + to_string(operation.floor) +
                " before it began");
  }
  if (!version) return;
  const auto [known, fresh] = key.contents.emplace(version, content);
  if (!fresh &&
      (known->second.tombstone != content.tombstone || known->second.writer != content.writer)) {
    return fail(describe(id) + " shows " + to_string(version) + " as another value than before");
  }
  if (version > key.newest) {
    key.newest = version;
    key.newest_from = id;
  }
}

std::string History::describe(OperationId id) const {
  static constexpr const char* kNames[] = {"put", "delete", "get"};
  const Operation& operation = operations_[id];
  return std::string(kNames[static_cast<size_t>(operation.kind)]) + " #" + std::to_string(id) +
         " of '" + operation.key->name + "'";
}

void History::fail(std::string violation) {
  if (violation_.empty()) violation_ = std::move(violation);
}

std::vector<std::string> History::keys() const {
  std::vector<std::string> result;
  for (const auto& [name, key] : keys_) result.push_back(name);
  return result;
}

storage::Version History::newest(std::string_view key) const {
  const auto known = keys_.find(key);
  return known == keys_.end() ? storage::Version{} : known->second.newest;
}

}  // namespace torc::sim
