#include "daemon/resp/rendering.h"

#include <cassert>

namespace torc::resp {
namespace {

template <typename T>
const T& as(const node::Reply& reply) {
  const T* value = std::get_if<T>(&reply);
  assert(value != nullptr);
  return *value;
}

void render_owners(const node::OwnersReply& reply, ReplyWriter& writer) {
  writer.map(2);
  writer.bulk("partition");
  writer.integer(reply.partition);
  writer.bulk("owners");
  writer.array(reply.owners.size());
  for (const node::OwnersReply::Owner& owner : reply.owners) {
    writer.map(4);
    writer.bulk("name");
    writer.bulk(owner.name);
    writer.bulk("id");
    writer.bulk(owner.id);
    writer.bulk("client");
    writer.bulk(owner.client);
    writer.bulk("liveness");
    writer.bulk(owner.liveness);
  }
}

void render_value(const node::GetReply& reply, ReplyWriter& writer) {
  if (reply.found) {
    writer.bulk(reply.value());
  } else {
    writer.null();
  }
}

}  // namespace

void render(Rendering rendering, const node::Reply& reply, ReplyWriter writer) {
  if (const auto* error = std::get_if<node::ErrorReply>(&reply)) return writer.error(*error);
  switch (rendering) {
    case Rendering::kValue:
      return render_value(as<node::GetReply>(reply), writer);
    case Rendering::kLength: {
      const auto& get = as<node::GetReply>(reply);
      return writer.integer(get.found ? static_cast<int64_t>(get.value().size()) : 0);
    }
    case Rendering::kType:
      return writer.simple(as<node::GetReply>(reply).found ? "string" : "none");
    case Rendering::kOk:
      assert(std::holds_alternative<node::PutReply>(reply));
      return writer.simple("OK");
    case Rendering::kExisted:
      return writer.integer(as<node::PutReply>(reply).existed ? 1 : 0);
    case Rendering::kNumber:
      return writer.integer(as<node::IntegerReply>(reply).value);
    case Rendering::kVerbatim:
      return writer.verbatim(as<node::TextReply>(reply).text);
    case Rendering::kDocument:
      return writer.bulk(as<node::TextReply>(reply).text);
    case Rendering::kOwners:
      return render_owners(as<node::OwnersReply>(reply), writer);
    default:
      assert(false && "rendered elsewhere");
  }
}

void Gather::take(Rendering part, const node::Reply& reply, Protocol protocol) {
  ++parts_;
  if (failed()) return;
  if (const auto* error = std::get_if<node::ErrorReply>(&reply)) {
    error_ = *error;
    std::string().swap(values_);
    return;
  }
  switch (part) {
    case Rendering::kPartValue: {
      ReplyWriter writer(values_, protocol);
      return render_value(as<node::GetReply>(reply), writer);
    }
    case Rendering::kPartFound:
      count_ += as<node::GetReply>(reply).found ? 1 : 0;
      return;
    case Rendering::kPartExisted:
      count_ += as<node::PutReply>(reply).existed ? 1 : 0;
      return;
    default:
      assert(part == Rendering::kPartOk && std::holds_alternative<node::PutReply>(reply));
  }
}

void Gather::finish(Rendering end, std::string& out, Protocol protocol) {
  ReplyWriter writer(out, protocol);
  if (failed()) {
    writer.error(*error_);
  } else if (end == Rendering::kEndValues) {
    writer.array(parts_);
    out.append(values_);
  } else if (end == Rendering::kEndCount) {
    writer.integer(count_);
  } else {
    writer.simple("OK");
  }
  *this = Gather();
}

}  // namespace torc::resp
