// The parts of a PDF that a test looks at.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <string>
#include <string_view>
#include <vector>

namespace headwise {

inline std::size_t occurrences_in(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

// What the streams hold, uncompressed, one after the other: pages, fonts, the characters of glyphs.
inline std::string pdf_streams(const std::string& pdf) {
  std::string all;
  constexpr std::string_view begin = "stream\n", end = "\nendstream";
  for (std::size_t at = pdf.find(begin); at != std::string::npos; at = pdf.find(begin, at)) {
    at += begin.size();
    const std::size_t stop = pdf.find(end, at);
    REQUIRE(stop != std::string::npos);
    z_stream inflating{};
    REQUIRE(inflateInit(&inflating) == Z_OK);
    std::vector<unsigned char> from(pdf.begin() + static_cast<std::ptrdiff_t>(at),
                                    pdf.begin() + static_cast<std::ptrdiff_t>(stop)),
        to(1 << 16);
    inflating.next_in = from.data();
    inflating.avail_in = static_cast<unsigned>(from.size());
    for (int status = Z_OK; status == Z_OK;) {
      inflating.next_out = to.data();
      inflating.avail_out = static_cast<unsigned>(to.size());
      status = inflate(&inflating, Z_NO_FLUSH);
      all.append(to.begin(), to.end() - inflating.avail_out);
    }
    inflateEnd(&inflating);
    at = stop + end.size();
  }
  return all;
}

// The Latin letters of its pages, in the order in which they are drawn.
inline std::string pdf_text(const std::string& streams) {
  std::string text;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    if (streams[i] != '(') continue;
    for (++i; i < streams.size() && streams[i] != ')'; ++i) {
      if (streams[i] == '\\') ++i;
      if (i < streams.size()) text += streams[i];
    }
  }
  return text;
}

}  // namespace headwise
