#include "core/picture/label_text.h"

#include <doctest/doctest.h>

#include <algorithm>

using namespace headwise;

TEST_CASE("text is made fit to stand on one line") {
  CHECK(printable("query") == "query");
  CHECK(printable("a\nb\tc\x01") == "a\\nb\\tc\\x01");
  CHECK(printable("\xff\xfe") == "\uFFFD\uFFFD");
  CHECK(printable(std::string("a\0b", 3)) == "a\\x00b");
  CHECK(printable("e\xCC\x81") == "é");
  CHECK(printable("\u202Eabc\u2066") == "abc");
  CHECK(printable("\u2028") == "\\u{2028}");
  CHECK(printable("\xEF\xBF\xBE") == "\uFFFD");  // U+FFFE, not allowed in XML
  CHECK(printable("😀שלום") == "😀שלום");
}

TEST_CASE("making text printable twice changes nothing") {
  for (const char* text : {"a\nb", "\\n", "\xff", "e\xCC\x81", "\u2028", "\xF0\x9F\x98\x80"}) {
    CHECK(printable(printable(text)) == printable(text));
  }
}

TEST_CASE("bytes that are no UTF-8 are replaced, all else is kept") {
  CHECK(valid_utf8("a\nb\"é") == "a\nb\"é");
  CHECK(valid_utf8("\xC3(") == "\uFFFD(");
  CHECK(valid_utf8("\xED\xA0\x80") != "\xED\xA0\x80");  // a surrogate
}

TEST_CASE("long text is cut between two characters and stays within its width") {
  const std::string long_text = "extraordinarily-long";
  for (const double width : {14.0, 30.0, 55.0, 80.0}) {
    const std::string cut = shorten(long_text, FontFace::sans, 12.0, width);
    CHECK(cut.ends_with("…"));
    CHECK(text_width(cut, FontFace::sans, 12.0) <= width);
  }
  CHECK(shorten(long_text, FontFace::sans, 12.0, 500.0) == long_text);
  CHECK(shorten(long_text, FontFace::sans, 12.0, 2.0).empty());
  // A letter and its two marks, four times: what is left holds whole clusters.
  const std::string cluster = "x\xCC\xA3\xCC\x8D";
  const std::string cut = shorten(cluster + cluster + cluster + cluster, FontFace::sans, 12.0, 26.0);
  CHECK((cut.size() - std::string("…").size()) % cluster.size() == 0);
}

TEST_CASE("right-to-left letters are painted from the right, numbers and Latin letters from the left") {
  CHECK(visual_order("ab") == std::vector<char32_t>{U'a', U'b'});
  CHECK(visual_order("אב") == std::vector<char32_t>{U'ב', U'א'});
  CHECK(visual_order("x אב ג 12") ==
        std::vector<char32_t>{U'x', U' ', U'ג', U' ', U'ב', U'א', U' ', U'1', U'2'});
}
