#include "tests/checks.h"
#include "tests/core/files/refusal.h"

using namespace headwise;

namespace {

std::string npy(const std::string& dict, std::size_t data_bytes) {
  const std::string length = {static_cast<char>(dict.size() & 0xFF), static_cast<char>(dict.size() >> 8)};
  return std::string("\x93NUMPY\x01\x00", 8) + length + dict + std::string(data_bytes, '\0');
}

}  // namespace

TEST_CASE("the smallest header that the refusals vary is itself read") {
  const TemporaryFolder folder;
  const std::string path =
      folder.with_file("query.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }", 24));
  CHECK(read_array_file(path).at(0).tensor->size() == 6);
  // Other spellings that Python allows, and that writers use.
  for (const char* dict : {"{'shape':(2,3),'descr':'<f4','fortran_order':False}",
                           "{'descr': \"f4\", 'fortran_order': True, 'shape': (2L, 3L,)}",
                           "{'descr': '=f4', 'fortran_order': False, 'shape': (6,)}\n"}) {
    CAPTURE(dict);
    CHECK(read_array_file(folder.with_file("query.npy", npy(dict, 24))).at(0).tensor->size() == 6);
  }
}

TEST_CASE("a damaged npy header is refused") {
  const TemporaryFolder folder;
  for (const char* dict : {
           "",
           "{",
           "{}",
           "[]",
           "'descr'",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), ",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3) ",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } x",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'shape': (2, 3)}",
           "{'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), 'extra': 1}",
           "{'descr': '<f4', 'fortran_order': 0, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': Falsehood, 'shape': (2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 6}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (6)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': [2, 3]}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2, -3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2.0, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3, None)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, , 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (0x2, 3)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (9223372036854775807, 9223372036854775807)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (4611686018427387904,)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2)}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': ()}",
           "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f3', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<f44', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '<<f4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': '|O', 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3)}",
           "{'descr': __import__('os').system('true'), 'fortran_order': False, 'shape': (2, 3)}",
       }) {
    CAPTURE(dict);
    refusal_of(folder.with_file("query.npy", npy(dict, 24)));
  }
  std::string many = "{'descr': '<f4', 'fortran_order': False, 'shape': (";
  for (int i = 0; i < 65; ++i) many += "1,";
  refusal_of(folder.with_file("query.npy", npy(many + ")}", 4)));
}

TEST_CASE("an npy header above 10,000 bytes, of an unknown version or a wrong length is refused") {
  const TemporaryFolder folder;
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)}";
  CHECK(read_array_file(folder.with_file("a.npy", npy(dict + std::string(10'000 - dict.size(), ' '), 24))).size() ==
        1);
  refusal_of(folder.with_file("a.npy", npy(dict + std::string(10'001 - dict.size(), ' '), 24)));
  for (const int version : {0, 4, 0x93}) {
    std::string content = npy(dict, 24);
    content[6] = static_cast<char>(version);
    CHECK_CONTAINS(refusal_of(folder.with_file("a.npy", content)), "version");
  }
  std::string length = npy(dict, 24);
  length[9] = 1;  // 256 bytes more than there are
  refusal_of(folder.with_file("a.npy", length));
  const std::string version2 = std::string("\x93NUMPY\x02\x00\xff\xff\xff\xff", 12) + dict;
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npy", version2)), "4294967295");
}

TEST_CASE("numpy's own arrays of objects, records, text and complex numbers are refused by name") {
  CHECK_CONTAINS(refusal_of(corpus("object.npy")), "Python objects");
  CHECK_CONTAINS(refusal_of(corpus("record.npy")), "records");
  CHECK_CONTAINS(refusal_of(corpus("text.npy")), "<U3");
  CHECK_CONTAINS(refusal_of(corpus("complex.npy")), "c64");
}

TEST_CASE("an unsigned number above the range of i64 is refused, the largest inside it is read") {
  const TemporaryFolder folder;
  const std::string head = npy("{'descr': '<u8', 'fortran_order': False, 'shape': (1,)}", 0);
  const std::string largest = head + std::string("\xff\xff\xff\xff\xff\xff\xff\x7f", 8);
  CHECK(read_array_file(folder.with_file("a.npy", largest)).at(0).tensor->values<std::int64_t>()[0] ==
        INT64_MAX);
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npy", head + std::string(8, '\xff'))),
                 "18446744073709551615");
}

TEST_CASE("bytes of a bool array that are neither 0 nor 1 count as true") {
  const TemporaryFolder folder;
  const std::string path =
      folder.with_file("a.npy", npy("{'descr': '|b1', 'fortran_order': False, 'shape': (3,)}", 0) +
                                    std::string("\x00\x02\xff", 3));
  const auto values = read_array_file(path).at(0).tensor;
  CHECK(values->flat(0) == 0.0);
  CHECK(values->flat(1) == 1.0);
  CHECK(values->flat(2) == 1.0);
}

TEST_CASE("an npy file cut off anywhere is refused, and no changed byte does harm") {
  const TemporaryFolder folder;
  check_truncations_and_flips(folder, "query.npy", content_of(corpus("fortran_big_endian.npy")));
}

TEST_CASE("a header that is cut off, and a size that is none, are refused with what is there") {
  const TemporaryFolder folder;
  const std::string dict = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, -3), }";
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npy", npy(dict, 24).substr(0, 20))),
                 "the npy header is cut off: got 10 bytes of it; expected ");
  CHECK_CONTAINS(refusal_of(folder.with_file("a.npy", npy(dict, 24))),
                 "a size in the npy header is wrong: got -3; expected a whole number from 0 to");
}
