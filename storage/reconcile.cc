#include "storage/reconcile.h"

#include <tuple>

namespace torc::storage {
namespace {

auto value_order(const RecordView& record) {
  return std::tie(record.version, record.tombstone, record.value);
}

auto expiry_order(const Expiry& expiry) {
  return std::tie(expiry.of, expiry.version, expiry.expires_at);
}

// Can never apply again: its value is overwritten or deleted, and value registers only grow.
bool is_dead(const Expiry& expiry, const RecordView& record) {
  return expiry.of < record.version || (expiry.of == record.version && record.tombstone);
}

}  // namespace

RecordView join(const RecordView& a, const RecordView& b) {
  RecordView joined = value_order(a) < value_order(b) ? b : a;
  joined.expiry = expiry_order(a.expiry) < expiry_order(b.expiry) ? b.expiry : a.expiry;
  if (is_dead(joined.expiry, joined)) joined.expiry = {};
  return joined;
}

}  // namespace torc::storage
