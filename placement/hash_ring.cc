#include "placement/hash_ring.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace torc::placement {
namespace {

using Node = HashRingSnapshot::Node;
using Token = HashRingSnapshot::Token;
using NodeIndex = HashRingSnapshot::NodeIndex;

bool is_wide(RingHash hash) {
  return bits_of(hash) > 64;
}

// Nodes are sorted by id, so their indexes order as the ids do.
bool before(const Token& a, const Token& b) {
  return std::tie(a.position, a.node, a.number) < std::tie(b.position, b.node, b.number);
}

std::vector<Node>::const_iterator find(const std::vector<Node>& nodes, std::string_view id) {
  const auto found =
      std::lower_bound(nodes.begin(), nodes.end(), id,
                       [](const Node& node, std::string_view wanted) { return node.id < wanted; });
  return found != nodes.end() && found->id == id ? found : nodes.end();
}

std::unexpected<std::string> refuse(std::string_view id, std::string_view why) {
  return std::unexpected("node '" + std::string(id) + "' " + std::string(why));
}

}  // namespace

HashRingSnapshot::Token HashRingSnapshot::token(size_t index) const {
  assert(index < keys_.size());
  const RingValue position =
      rest_.empty() ? RingValue{0, keys_[index]} : RingValue{keys_[index], rest_[index]};
  return {position, owners_[index], numbers_[index]};
}

void HashRingSnapshot::build_index() {
  const auto bits = static_cast<int>(std::min(64u, bits_of(parameters_.hash)));
  const auto index_bits = static_cast<int>(std::bit_width(keys_.size()));
  index_shift_ = bits - index_bits;
  starts_.assign((size_t{1} << index_bits) + 1, 0);
  size_t token = 0;
  for (size_t part = 0; part < starts_.size(); ++part) {
    while (token < keys_.size() && keys_[token] >> index_shift_ < part) ++token;
    starts_[part] = static_cast<uint32_t>(token);
  }
}

size_t HashRingSnapshot::first_at_or_after(uint64_t key) const {
  const size_t part = key >> index_shift_;
  const auto begin = keys_.begin() + starts_[part];
  const auto end = keys_.begin() + starts_[part + 1];
  // A scan is the quickest for the few that are there; tokens placed by hand may all be here.
  constexpr std::ptrdiff_t kFew = 8;
  auto found = begin;
  if (end - begin <= kFew) {
    while (found != end && *found < key) ++found;
  } else {
    found = std::lower_bound(begin, end, key);
  }
  return static_cast<size_t>(found - keys_.begin());
}

size_t HashRingSnapshot::token_at(RingValue hash) const {
  assert(!keys_.empty());
  size_t index = 0;
  if (rest_.empty()) {
    // A number past the end of the circle wraps.
    const uint32_t bits = bits_of(parameters_.hash);
    const bool is_past = hash.high > 0 || (bits < 64 && hash.low >> bits != 0);
    index = is_past ? keys_.size() : first_at_or_after(hash.low);
  } else {
    index = first_at_or_after(hash.high);
    while (index < keys_.size() && keys_[index] == hash.high && rest_[index] < hash.low) ++index;
  }
  return index == keys_.size() ? 0 : index;
}

std::optional<NodeIndex> HashRingSnapshot::owner_index(RingValue hash) const {
  if (keys_.empty()) return std::nullopt;
  return owners_[token_at(hash)];
}

std::optional<std::string_view> HashRingSnapshot::owner_of_hash(RingValue hash) const {
  const auto index = owner_index(hash);
  if (!index) return std::nullopt;
  return nodes_[*index].id;
}

std::optional<std::string_view> HashRingSnapshot::owner(std::string_view key) const {
  return owner_of_hash(hash_value(parameters_.hash, key));
}

Replicas HashRingSnapshot::replicas_of_hash(RingValue hash, uint32_t count) const {
  Replicas replicas;
  if (count == 0) return replicas;
  walk(hash, [&](NodeIndex node) {
    replicas.nodes.push_back(nodes_[node].id);
    return replicas.nodes.size() < count;
  });
  replicas.shortfall = count - static_cast<uint32_t>(replicas.nodes.size());
  return replicas;
}

Replicas HashRingSnapshot::replicas(std::string_view key, uint32_t count) const {
  return replicas_of_hash(hash_value(parameters_.hash, key), count);
}

std::vector<double> HashRingSnapshot::shares() const {
  std::vector<double> shares(nodes_.size(), 0.0);
  if (keys_.empty()) return shares;
  // Of a wide hash the upper half says all that a double can hold.
  const double circle = std::ldexp(1.0, static_cast<int>(std::min(64u, bits_of(parameters_.hash))));
  uint64_t previous = keys_.back();
  for (size_t i = 0; i < keys_.size(); ++i) {
    const double arc = static_cast<double>(keys_[i]) - static_cast<double>(previous);
    shares[owners_[i]] += (i == 0 ? arc + circle : arc) / circle;
    previous = keys_[i];
  }
  return shares;
}

HashRing::HashRing(HashRingParameters parameters) {
  assert(parameters.tokens_per_weight > 0);
  auto empty = std::make_shared<HashRingSnapshot>();
  empty->parameters_ = parameters;
  publish(std::move(empty));
}

std::expected<std::vector<Token>, std::string> HashRing::tokens_for(const HashRingSnapshot& ring,
                                                                    std::string_view id,
                                                                    int64_t weight) const {
  const HashRingParameters& parameters = ring.parameters();
  if (weight < 1) {
    return refuse(id, "has the weight " + std::to_string(weight) + "; the least is 1");
  }
  const size_t room = kHashRingTokensMax - ring.token_count();
  if (static_cast<uint64_t>(weight) > room / parameters.tokens_per_weight) {
    return refuse(id, "has the weight " + std::to_string(weight) + ": more than " +
                          std::to_string(kHashRingTokensMax) + " tokens in all");
  }
  const auto count = static_cast<uint32_t>(weight) * parameters.tokens_per_weight;
  std::vector<Token> tokens;
  tokens.reserve(count);
  std::string text = std::string(id) + parameters.separator;
  const size_t prefix = text.size();
  for (uint32_t i = 0; i < count; ++i) {
    char digits[10];
    const char* end = std::to_chars(digits, digits + sizeof digits, i).ptr;
    text.resize(prefix);
    text.append(digits, static_cast<size_t>(end - digits));
    tokens.push_back({hash_value(parameters.hash, text), 0, i});
  }
  return tokens;
}

HashRing::Snapshot HashRing::with(const HashRingSnapshot& ring, Node node,
                                  std::vector<Token> tokens) const {
  auto made = std::make_shared<HashRingSnapshot>();
  made->parameters_ = ring.parameters_;
  const auto place =
      std::lower_bound(ring.nodes_.begin(), ring.nodes_.end(), node.id,
                       [](const Node& a, const std::string& id) { return a.id < id; });
  const auto index = static_cast<NodeIndex>(place - ring.nodes_.begin());
  made->nodes_ = ring.nodes_;
  made->nodes_.insert(made->nodes_.begin() + index, std::move(node));

  for (Token& token : tokens) token.node = index;
  std::sort(tokens.begin(), tokens.end(), before);
  const size_t count = ring.token_count() + tokens.size();
  const bool wide = is_wide(ring.parameters_.hash);
  made->keys_.reserve(count);
  made->owners_.reserve(count);
  made->numbers_.reserve(count);
  if (wide) made->rest_.reserve(count);
  size_t old = 0;
  size_t fresh = 0;
  while (old < ring.token_count() || fresh < tokens.size()) {
    Token next{};
    if (old < ring.token_count()) {
      next = ring.token(old);
      if (next.node >= index) ++next.node;
    }
    if (old == ring.token_count() || (fresh < tokens.size() && before(tokens[fresh], next))) {
      next = tokens[fresh++];
    } else {
      ++old;
    }
    made->keys_.push_back(wide ? next.position.high : next.position.low);
    if (wide) made->rest_.push_back(next.position.low);
    made->owners_.push_back(next.node);
    made->numbers_.push_back(next.number);
  }
  made->build_index();
  return made;
}

HashRing::Snapshot HashRing::without(const HashRingSnapshot& ring, NodeIndex node) const {
  auto made = std::make_shared<HashRingSnapshot>();
  made->parameters_ = ring.parameters_;
  made->nodes_ = ring.nodes_;
  made->nodes_.erase(made->nodes_.begin() + node);
  for (size_t i = 0; i < ring.token_count(); ++i) {
    const NodeIndex owner = ring.owners_[i];
    if (owner == node) continue;
    made->keys_.push_back(ring.keys_[i]);
    if (!ring.rest_.empty()) made->rest_.push_back(ring.rest_[i]);
    made->owners_.push_back(owner > node ? owner - 1 : owner);
    made->numbers_.push_back(ring.numbers_[i]);
  }
  made->build_index();
  return made;
}

HashRing::Result HashRing::add(std::string_view id, int64_t weight) {
  const Snapshot now = snapshot();
  if (id.empty()) return std::unexpected("a node without an id");
  if (find(now->nodes_, id) != now->nodes_.end()) return refuse(id, "is on the ring already");
  auto tokens = tokens_for(*now, id, weight);
  if (!tokens) return std::unexpected(std::move(tokens.error()));
  publish(with(*now, {std::string(id), static_cast<uint32_t>(weight)}, *std::move(tokens)));
  return {};
}

HashRing::Result HashRing::add_at(std::string_view id, std::span<const RingValue> positions) {
  const Snapshot now = snapshot();
  if (id.empty()) return std::unexpected("a node without an id");
  if (find(now->nodes_, id) != now->nodes_.end()) return refuse(id, "is on the ring already");
  if (positions.empty()) return refuse(id, "has no token");
  if (positions.size() > kHashRingTokensMax - now->token_count()) {
    return refuse(id, "has more tokens than there may be");
  }
  std::vector<Token> tokens;
  tokens.reserve(positions.size());
  for (const RingValue& position : positions) {
    const uint32_t bits = bits_of(now->parameters_.hash);
    if (bits <= 64 && (position.high > 0 || (bits < 64 && position.low >> bits != 0))) {
      return refuse(id, "has a token past the end of the circle");
    }
    tokens.push_back({position, 0, static_cast<uint32_t>(tokens.size())});
  }
  publish(with(*now, {std::string(id), 0}, std::move(tokens)));
  return {};
}

bool HashRing::remove(std::string_view id) {
  const Snapshot now = snapshot();
  const auto node = find(now->nodes_, id);
  if (node == now->nodes_.end()) return false;
  publish(without(*now, static_cast<NodeIndex>(node - now->nodes_.begin())));
  return true;
}

HashRing::Result HashRing::reweight(std::string_view id, int64_t weight) {
  const Snapshot now = snapshot();
  const auto node = find(now->nodes_, id);
  if (node == now->nodes_.end()) return refuse(id, "is not on the ring");
  const Snapshot rest = without(*now, static_cast<NodeIndex>(node - now->nodes_.begin()));
  auto tokens = tokens_for(*rest, id, weight);
  if (!tokens) return std::unexpected(std::move(tokens.error()));
  publish(with(*rest, {std::string(id), static_cast<uint32_t>(weight)}, *std::move(tokens)));
  return {};
}

}  // namespace torc::placement
