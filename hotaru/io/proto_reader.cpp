#include "hotaru/io/proto_reader.h"

#include <cstring>

#include "hotaru/core/checks/check.h"

namespace hotaru::io {

using protozero::pbf_wire_type;

void ProtoReader::expect(pbf_wire_type type) const {
  HOTARU_CHECK(reader_.wire_type() == type, "field ", reader_.tag(),
               " has wire type ", int(reader_.wire_type()), ", not ",
               int(type));
}

std::string_view ProtoReader::bytes() {
  expect(pbf_wire_type::length_delimited);
  return reader_.get_view();
}

int64_t ProtoReader::integer() {
  expect(pbf_wire_type::varint);
  return reader_.get_int64();
}

float ProtoReader::number() {
  expect(pbf_wire_type::fixed32);
  return reader_.get_float();
}

void ProtoReader::append(std::vector<int64_t>& to) {
  if (reader_.wire_type() != pbf_wire_type::length_delimited) {
    to.push_back(integer());
    return;
  }
  for (int64_t value : reader_.get_packed_int64()) to.push_back(value);
}

template <class T, class Get>
void ProtoReader::append_fixed(std::vector<T>& to, pbf_wire_type type,
                               Get get) {
  if (reader_.wire_type() != pbf_wire_type::length_delimited) {
    expect(type);
    to.push_back(get());
    return;
  }
  std::string_view packed = bytes();
  HOTARU_CHECK(packed.size() % sizeof(T) == 0, "field ", reader_.tag(), ": ",
               packed.size(), " bytes are no whole number of values of ",
               sizeof(T), " bytes");
  size_t old = to.size();
  to.resize(old + packed.size() / sizeof(T));
  if (!packed.empty())
    std::memcpy(to.data() + old, packed.data(), packed.size());
}

std::pair<std::string, std::string> ProtoReader::text_entry() {
  std::string key, value;
  while (next()) {
    switch (field()) {
      case 1:
        key = text();
        break;
      case 2:
        value = text();
        break;
      default:
        skip();
    }
  }
  return {std::move(key), std::move(value)};
}

void ProtoReader::append(std::vector<float>& to) {
  append_fixed(to, pbf_wire_type::fixed32, [&] { return reader_.get_float(); });
}

void ProtoReader::append(std::vector<double>& to) {
  append_fixed(to, pbf_wire_type::fixed64,
               [&] { return reader_.get_double(); });
}

}  // namespace hotaru::io
