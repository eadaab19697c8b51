#include "core/model/tokenizer/unicode_text.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>

namespace headwise {
namespace {

struct CodePointRange {
  std::int32_t first, last;
};
// CJK Unified Ideographs, their extensions A to E, and both blocks of compatibility ideographs. As in BERT's
// own program; `tokenizers` begins extension E 256 ideographs later.
// clang-format off
constexpr auto ideographs = std::to_array<CodePointRange>({
    {0x4E00, 0x9FFF}, {0x3400, 0x4DBF}, {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F}, {0x2B740, 0x2B81F},
    {0x2B820, 0x2CEAF}, {0xF900, 0xFAFF}, {0x2F800, 0x2FA1F}});
// clang-format on

bool is_ascii(std::int32_t value) {
  return value >= 0 && value < 0x80;
}
bool is_ascii_letter(std::int32_t value) {
  return (value >= 'a' && value <= 'z') || (value >= 'A' && value <= 'Z');
}
bool is_ascii_digit(std::int32_t value) {
  return value >= '0' && value <= '9';
}

// Sorts marks by their classes: a stable sort of each run between starters.
void order_marks(std::vector<AlignedCodePoint>& points) {
  const auto is_starter = [](const AlignedCodePoint& p) {
    return is_ascii(p.value) || utf8proc_get_property(p.value)->combining_class == 0;
  };
  const auto by_class = [](const AlignedCodePoint& a, const AlignedCodePoint& b) {
    return utf8proc_get_property(a.value)->combining_class < utf8proc_get_property(b.value)->combining_class;
  };
  for (auto first = points.begin(); first != points.end();) {
    first = std::find_if_not(first, points.end(), is_starter);
    const auto last = std::find_if(first, points.end(), is_starter);
    std::stable_sort(first, last, by_class);
    first = last;
  }
}

void append_decomposed(std::vector<AlignedCodePoint>& into, AlignedCodePoint point, bool compatible = false) {
  if (is_ascii(point.value)) {
    into.push_back(point);
    return;
  }
  std::array<utf8proc_int32_t, 32> parts{};  // the longest canonical decomposition has 4, of the others 18
  int boundary = 0;
  const utf8proc_ssize_t count = utf8proc_decompose_char(
      point.value, parts.data(), parts.size(),
      static_cast<utf8proc_option_t>(UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : UTF8PROC_DECOMPOSE)),
      &boundary);
  if (count <= 0 || count > static_cast<utf8proc_ssize_t>(parts.size())) {
    into.push_back(point);
    return;
  }
  for (utf8proc_ssize_t i = 0; i < count; ++i)
    into.push_back({parts[static_cast<std::size_t>(i)], point.from});
}

// [begin, end) of the text is one grapheme cluster of well-formed UTF-8: canonically equal texts have the same clusters,
// so that nothing composes across their boundaries.
void append_composed(AlignedText& into, const AlignedText& text, std::size_t begin, std::size_t end) {
  const std::string_view cluster = text.text().substr(begin, end - begin);
  std::vector<AlignedCodePoint> parts;
  for (std::size_t at = 0; at < cluster.size();) {
    const CodePoint point = code_point_at(cluster, at);
    append_decomposed(parts, {point.value, {}});
    at += point.bytes;
  }
  order_marks(parts);
  std::vector<utf8proc_int32_t> values;
  for (const AlignedCodePoint& part : parts) values.push_back(part.value);
  const utf8proc_ssize_t count =
      utf8proc_normalize_utf32(values.data(), static_cast<utf8proc_ssize_t>(values.size()),
                               static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
  std::string made;
  for (utf8proc_ssize_t i = 0; i < count; ++i) append_code_point(made, values[static_cast<std::size_t>(i)]);
  if (made == cluster) {
    for (std::size_t at = begin; at < end; ++at)
      into.append(text.text().substr(at, 1), text.origin(at, at + 1));
  } else {
    into.append(made, text.origin(begin, end));
  }
}

}  // namespace

CodePoint code_point_at(std::string_view text, std::size_t at) {
  CodePoint point;
  const auto* bytes = reinterpret_cast<const utf8proc_uint8_t*>(text.data()) + at;
  if (bytes[0] < 0x80) return {bytes[0], 1};
  const utf8proc_ssize_t length =
      utf8proc_iterate(bytes, static_cast<utf8proc_ssize_t>(text.size() - at), &point.value);
  if (length <= 0) return {};
  point.bytes = static_cast<std::size_t>(length);
  return point;
}

std::size_t code_point_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; }));
}

void append_code_point(std::string& text, std::int32_t value) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t length = utf8proc_encode_char(value, bytes.data());
  text.append(reinterpret_cast<const char*>(bytes.data()), static_cast<std::size_t>(length));
}

CharacterClass character_class(std::int32_t value) {
  if (value < 0) return CharacterClass::other;
  if (is_ascii_letter(value)) return CharacterClass::letter;
  if (is_ascii_digit(value)) return CharacterClass::number;
  if (is_white_space(value)) return CharacterClass::space;
  if (is_ascii(value)) return CharacterClass::other;
  const utf8proc_category_t category = utf8proc_category(value);
  if (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO) return CharacterClass::letter;
  if (category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO) return CharacterClass::number;
  return CharacterClass::other;
}

bool is_white_space(std::int32_t value) {
  if (is_ascii(value)) return value == ' ' || (value >= '\t' && value <= '\r');
  if (value < 0) return false;
  const utf8proc_category_t category = utf8proc_category(value);
  return value == 0x85 || (category >= UTF8PROC_CATEGORY_ZS && category <= UTF8PROC_CATEGORY_ZP);
}

bool is_punctuation(std::int32_t value) {
  if (is_ascii(value))
    return value > ' ' && value < 0x7F && !is_ascii_letter(value) && !is_ascii_digit(value);
  if (value < 0) return false;
  const utf8proc_category_t category = utf8proc_category(value);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_control(std::int32_t value) {
  if (is_ascii(value))
    return (value < ' ' && value != '\t' && value != '\n' && value != '\r') || value == 0x7F;
  if (value < 0) return false;
  const utf8proc_category_t category = utf8proc_category(value);
  return category >= UTF8PROC_CATEGORY_CC && category <= UTF8PROC_CATEGORY_CO;
}

bool is_nonspacing_mark(std::int32_t value) {
  return value >= 0x80 && utf8proc_category(value) == UTF8PROC_CATEGORY_MN;
}

bool is_mark(std::int32_t value) {
  if (value < 0x80) return false;
  const utf8proc_category_t category = utf8proc_category(value);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_word_character(std::int32_t value) {
  if (value < 0) return false;
  if (is_ascii(value)) return is_ascii_letter(value) || is_ascii_digit(value) || value == '_';
  const utf8proc_category_t category = utf8proc_category(value);
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC;
}

bool is_cjk_ideograph(std::int32_t value) {
  return std::ranges::any_of(
      ideographs, [value](CodePointRange range) { return value >= range.first && value <= range.last; });
}

ByteRange AlignedText::origin(std::size_t begin, std::size_t end) const {
  if (own_) return {ranges_[begin].begin, ranges_[end - 1].end};
  return {static_cast<std::uint32_t>(begin_ + begin), static_cast<std::uint32_t>(begin_ + end)};
}

void AlignedText::append(std::int32_t value, ByteRange from) {
  append_code_point(made_, value);
  ranges_.resize(made_.size(), from);
}

void AlignedText::append(std::string_view bytes, ByteRange from) {
  made_ += bytes;
  ranges_.resize(made_.size(), from);
}

std::size_t cluster_end(std::string_view text, std::size_t begin) {
  CodePoint last = code_point_at(text, begin);
  std::size_t end = begin + last.bytes;
  utf8proc_int32_t state = 0;
  while (last.value >= 0 && end < text.size()) {
    const CodePoint next = code_point_at(text, end);
    if (next.value < 0 || utf8proc_grapheme_break_stateful(last.value, next.value, &state)) break;
    end += next.bytes;
    last = next;
  }
  return end;
}

std::vector<AlignedCodePoint> decomposed(const std::vector<AlignedCodePoint>& points, bool compatible) {
  std::vector<AlignedCodePoint> parts;
  parts.reserve(points.size());
  for (const AlignedCodePoint& point : points) append_decomposed(parts, point, compatible);
  order_marks(parts);
  return parts;
}

AlignedText composed(const AlignedText& text) {
  const std::string_view bytes = text.text();
  if (std::ranges::all_of(bytes, [](char c) { return static_cast<unsigned char>(c) < 0x80; })) return text;
  AlignedText made;
  for (std::size_t at = 0; at < bytes.size();) {
    const bool alone = static_cast<unsigned char>(bytes[at]) < 0x80 &&
                       (at + 1 == bytes.size() || static_cast<unsigned char>(bytes[at + 1]) < 0x80);
    const std::size_t end = alone || code_point_at(bytes, at).value < 0 ? at + 1 : cluster_end(bytes, at);
    if (end == at + 1) {
      made.append(bytes.substr(at, 1), text.origin(at, end));
    } else {
      append_composed(made, text, at, end);
    }
    at = end;
  }
  return made;
}

std::array<std::int32_t, 2> lower_case(std::int32_t value) {
  constexpr std::int32_t dotted_capital_i = 0x130, combining_dot_above = 0x307;
  if (value == dotted_capital_i) return {'i', combining_dot_above};
  return {utf8proc_tolower(value), 0};
}

}  // namespace headwise
