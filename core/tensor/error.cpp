#include "core/tensor/error.h"

#include <fmt/format.h>

namespace headwise {
namespace {

// Length of the well-formed UTF-8 sequence that starts at `text[i]`, or 0 if there is none.
std::size_t utf8_length(const std::string& text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned char first = byte(i);
  if (first < 0x80) return 1;
  std::size_t length = 0;
  if (first >= 0xC2 && first <= 0xDF) length = 2;
  if (first >= 0xE0 && first <= 0xEF) length = 3;
  if (first >= 0xF0 && first <= 0xF4) length = 4;
  if (length == 0 || i + length > text.size()) return 0;
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xC0) != 0x80) return 0;
  }
  if (first == 0xE0 && byte(i + 1) < 0xA0) return 0;
  if (first == 0xED && byte(i + 1) > 0x9F) return 0;
  if (first == 0xF0 && byte(i + 1) < 0x90) return 0;
  if (first == 0xF4 && byte(i + 1) > 0x8F) return 0;
  return length;
}

// A one-line program that contains a file's name twice is only useful as a whole.
constexpr std::size_t longest_remedy = 700;

std::string joined(const ErrorParts& parts) {
  std::string line;
  const auto append = [&line](const std::string& separator, const std::string& prefix,
                              const std::string& part, std::size_t max_bytes = 300) {
    if (part.empty()) return;
    if (!line.empty()) line += separator;
    line += prefix + one_line(part, max_bytes);
  };
  append("", "", parts.where);
  append(": ", "", parts.what);
  append(": ", "got ", parts.got);
  append("; ", "expected ", parts.expected);
  append("; ", "", parts.remedy, longest_remedy);
  return line;
}

}  // namespace

std::string one_line(const std::string& text, std::size_t max_bytes) {
  std::string out;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length(text, i);
    const auto first = static_cast<unsigned char>(text[i]);
    std::string piece;
    if (length == 0 || first < 0x20 || first == 0x7F) {
      piece = first == '\n' ? "\\n" : first == '\t' ? "\\t" : fmt::format("\\x{:02x}", first);
    } else if (length == 2 && first == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) {
      piece = fmt::format("\\x{:02x}\\x{:02x}", first, static_cast<unsigned char>(text[i + 1]));  // C1 controls
    } else {
      piece = text.substr(i, length);
    }
    if (out.size() + piece.size() > max_bytes) return out + "…";
    out += piece;
    i += length == 0 ? 1 : length;
  }
  return out;
}

Error::Error(ExitStatus status, const ErrorParts& parts)
    : std::runtime_error(joined(parts)),
      status_(status),
      remedy_begin_(joined({parts.where, parts.what, parts.got, parts.expected, ""}).size()) {}

}  // namespace headwise
