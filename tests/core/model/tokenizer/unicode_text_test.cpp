#include "core/model/tokenizer/unicode_text.h"

#include <doctest/doctest.h>

using namespace headwise;

TEST_CASE("NFC composes, orders marks, and knows where each byte came from") {
  const std::string text = "xe\u0301a\u0323\u0302\u1112\u1161\u11ab!";
  const AlignedText made = composed(AlignedText(text, 10));
  CHECK(made.text() == "x\u00e9\u1ead\ud55c!");
  CHECK(made.origin(0, 1) == ByteRange{10, 11});
  CHECK(made.origin(1, 3) == ByteRange{11, 14});
  CHECK(made.origin(made.text().size() - 1, made.text().size()) ==
        ByteRange{10 + static_cast<std::uint32_t>(text.size()) - 1,
                  10 + static_cast<std::uint32_t>(text.size())});
}

TEST_CASE("NFC leaves bytes alone that are not UTF-8") {
  CHECK(composed(AlignedText("a\xFF\xCC\u0301", 0)).text() == "a\xFF\xCC\u0301");
}

TEST_CASE("a text that is in NFC keeps a range for each byte") {
  const std::string text = "\u00e9\u4e2d";
  const AlignedText made = composed(AlignedText(text, 0));
  REQUIRE(made.text() == text);
  for (std::uint32_t at = 0; at < text.size(); ++at) CHECK(made.origin(at, at + 1) == ByteRange{at, at + 1});
}

TEST_CASE("a code point of damaged UTF-8 is one byte and no character") {
  for (const char* bytes : {"\x80", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    CHECK(code_point_at(bytes, 0).value == -1);
    CHECK(code_point_at(bytes, 0).bytes == 1);
  }
  CHECK(code_point_at("\u20ac", 0).value == 0x20AC);
}
