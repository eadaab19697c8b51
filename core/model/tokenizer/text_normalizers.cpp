#include "core/model/tokenizer/text_normalizers.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/files/input_file.h"

namespace headwise {
namespace {

constexpr std::size_t most_steps = 16;
constexpr std::size_t most_replacement_bytes = 64;  // the longest that Unicode has, for U+FDFA, has 33
// A text may become this many times as long, and as many bytes more.
constexpr std::size_t most_growth = 16, free_growth = 4096;

// A text in the making, of at most so many bytes.
class NormalisedText {
 public:
  NormalisedText(std::size_t most, const std::string& place) : most_(most), place_(place) {}

  void append(std::string_view bytes, ByteRange from) {
    if (made_.text().size() + bytes.size() > most_)
      refuse_input(place_, "this normalizer makes the text too long", fmt::format("more than {} bytes", most_));
    made_.append(bytes, from);
  }
  AlignedText take() { return std::move(made_); }

 private:
  AlignedText made_;
  std::size_t most_;
  const std::string& place_;
};

// The code points of a text; a byte that is not UTF-8 has the value −1.
std::vector<AlignedCodePoint> points_of(const AlignedText& text) {
  std::vector<AlignedCodePoint> points;
  for (std::size_t at = 0; at < text.text().size();) {
    const CodePoint point = code_point_at(text.text(), at);
    points.push_back({point.value, text.origin(at, at + point.bytes)});
    at += point.bytes;
  }
  return points;
}

// NFD or NFKD, between bytes that are not UTF-8, which stay.
AlignedText decomposed_text(const AlignedText& text, bool compatible) {
  AlignedText made;
  std::vector<AlignedCodePoint> between;
  const auto flush = [&] {
    for (const AlignedCodePoint& point : decomposed(between, compatible))
      made.append(point.value, point.from);
    between.clear();
  };
  const std::string_view bytes = text.text();
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = code_point_at(bytes, at);
    if (point.value >= 0) {
      between.push_back({point.value, text.origin(at, at + point.bytes)});
    } else {
      flush();
      made.append(bytes.substr(at, 1), text.origin(at, at + 1));
    }
    at += point.bytes;
  }
  flush();
  return made;
}

// change(text in the making, bytes of a code point, the code point) for each of them.
template <class Change>
AlignedText by_code_point(const AlignedText& text, Change change) {
  AlignedText made;
  for (std::size_t at = 0; at < text.text().size();) {
    const CodePoint point = code_point_at(text.text(), at);
    change(made, text.text().substr(at, point.bytes),
           AlignedCodePoint{point.value, text.origin(at, at + point.bytes)});
    at += point.bytes;
  }
  return made;
}

AlignedText lower_cased(const AlignedText& text) {
  return by_code_point(text, [](AlignedText& made, std::string_view bytes, AlignedCodePoint point) {
    if (point.value < 0) return made.append(bytes, point.from);
    const auto [first, second] = lower_case(point.value);
    made.append(first, point.from);
    if (second != 0) made.append(second, point.from);
  });
}

AlignedText without_marks(const AlignedText& text) {
  return by_code_point(text, [](AlignedText& made, std::string_view bytes, AlignedCodePoint point) {
    if (!is_mark(point.value)) made.append(bytes, point.from);
  });
}

AlignedText stripped(const AlignedText& text, bool left, bool right) {
  const std::vector<AlignedCodePoint> points = points_of(text);
  std::size_t first = 0, last = points.size();
  while (left && first < last && is_white_space(points[first].value)) ++first;
  while (right && first < last && is_white_space(points[last - 1].value)) --last;
  AlignedText made;
  std::size_t number = 0;
  for (std::size_t at = 0; at < text.text().size(); ++number) {
    const std::size_t bytes = code_point_at(text.text(), at).bytes;
    if (number >= first && number < last) made.append(text.text().substr(at, bytes), points[number].from);
    at += bytes;
  }
  return made;
}

// How many bytes at `at` are replaced; 0: none.
using Match = std::function<std::size_t(std::string_view text, std::size_t at)>;

AlignedText replaced(const AlignedText& text, const Match& match, const std::string& content,
                     NormalisedText made) {
  const std::string_view bytes = text.text();
  for (std::size_t at = 0; at < bytes.size();) {
    const std::size_t length = match(bytes, at);
    made.append(length > 0 ? content : bytes.substr(at, 1),
                text.origin(at, at + std::max<std::size_t>(length, 1)));
    at += std::max<std::size_t>(length, 1);
  }
  return made.take();
}

// RFC 4648; nullopt if it is not.
std::optional<std::string> bytes_of_base64(std::string_view text) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); i += 4) {
    const std::string_view group = text.substr(i, 4);
    const bool is_last = i + 4 == text.size();
    const std::size_t padding = !is_last || group[3] != '=' ? 0 : group[2] == '=' ? 2 : 1;
    std::uint32_t value = 0;
    for (std::size_t d = 0; d < 4; ++d) {
      const std::size_t digit = d >= 4 - padding ? 0 : digits.find(group[d]);
      if (digit == std::string_view::npos) return std::nullopt;
      value = value << 6 | static_cast<std::uint32_t>(digit);
    }
    for (std::size_t b = 0; b < 3 - padding; ++b) bytes += static_cast<char>(value >> (16 - 8 * b) & 0xFF);
  }
  return bytes;
}

// SentencePiece's map of characters (its file nmt_nfkc and others, "precompiled_charsmap"): a number n of
// bytes, little-endian in 4; a double array of n/4 units; and texts, each ended by a zero byte. The double
// array (Aoe 1989, packed as darts-clone does) is a trie whose keys are bytes and whose values are places in
// the texts. Of a unit: the low byte is its label, bit 8 whether a key ends there, bit 9 whether its offset,
// bits 10 to 30, is multiplied by 256; a unit with bit 31 is a value.
class CharacterMap {
 public:
  CharacterMap(const std::string& bytes, const JsonValue& step);
  AlignedText apply(const AlignedText& text, NormalisedText made) const;

 private:
  static constexpr std::uint32_t is_value = 1U << 31;
  static std::uint32_t offset(std::uint32_t unit) { return (unit >> 10) << ((unit & 1U << 9) >> 6); }
  static std::uint32_t number_at(const std::string& bytes, std::size_t at) {
    std::uint32_t number = 0;
    for (std::size_t b = 4; b-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + b]);
    return number;
  }
  std::optional<std::string_view> replacement(std::string_view part) const;

  std::vector<std::uint32_t> units_;
  std::string texts_;
};

CharacterMap::CharacterMap(const std::string& bytes, const JsonValue& step) {
  const JsonValue map = step["precompiled_charsmap"];
  const auto refuse = [&](const std::string& got, const std::string& expected) {
    map.refuse_got("this map of characters is damaged", got, expected, "download the tokenizer.json again");
  };
  constexpr std::size_t unit_bytes = 4;
  if (bytes.size() < 2 * unit_bytes)
    refuse(fmt::format("{} bytes", bytes.size()), "a double array and its texts");
  const std::size_t array = number_at(bytes, 0);
  if (array == 0 || array % unit_bytes != 0 || array > bytes.size() - unit_bytes)
    refuse(fmt::format("{} bytes of a double array in {}", array, bytes.size()),
           fmt::format("a multiple of 4, at most {}", bytes.size() - unit_bytes));
  for (std::size_t at = unit_bytes; at < unit_bytes + array; at += unit_bytes)
    units_.push_back(number_at(bytes, at));
  texts_ = bytes.substr(unit_bytes + array);
  if (!texts_.empty() && texts_.back() != '\0') refuse("texts that are cut", "each ended by a zero byte");
  for (const std::uint32_t unit : units_)
    if ((unit & is_value) != 0 && (unit & ~is_value) >= texts_.size())
      refuse(fmt::format("a text at byte {} of {}", unit & ~is_value, texts_.size()), "the whole map");
  for (std::size_t at = 0; at < texts_.size();) {
    const std::size_t end = texts_.find('\0', at);
    if (end - at > most_replacement_bytes)
      refuse(fmt::format("a text of {} bytes", end - at), fmt::format("at most {}", most_replacement_bytes));
    for (; at < end; at += code_point_at(texts_, at).bytes)
      if (code_point_at(texts_, at).value < 0) refuse("a text that is not UTF-8", "UTF-8");
    at = end + 1;
  }
}

// Of the shortest key that `part` begins with, as in `tokenizers`.
std::optional<std::string_view> CharacterMap::replacement(std::string_view part) const {
  std::size_t node = offset(units_[0]);
  for (const char c : part) {
    const auto byte = static_cast<unsigned char>(c);
    node ^= byte;
    if (byte == 0 || node >= units_.size()) return std::nullopt;
    const std::uint32_t unit = units_[node];
    if ((unit & (is_value | 0xFFU)) != byte) return std::nullopt;
    node ^= offset(unit);
    if ((unit & 1U << 8) == 0) continue;
    if (node >= units_.size()) return std::nullopt;
    const std::string_view from =
        std::string_view(texts_).substr(std::min<std::size_t>(units_[node] & ~is_value, texts_.size()));
    return from.substr(0, from.find('\0'));
  }
  return std::nullopt;
}

AlignedText CharacterMap::apply(const AlignedText& text, NormalisedText made) const {
  constexpr std::size_t looked_up_whole = 6;  // a cluster of fewer bytes; of a longer one each code point
  const std::string_view bytes = text.text();
  for (std::size_t begin = 0; begin < bytes.size();) {
    const std::size_t end = cluster_end(bytes, begin);
    const std::string_view cluster = bytes.substr(begin, end - begin);
    const auto whole = cluster.size() < looked_up_whole ? replacement(cluster) : std::nullopt;
    if (whole) made.append(*whole, text.origin(begin, end));
    for (std::size_t at = begin; !whole && at < end;) {
      const std::size_t next = at + code_point_at(bytes, at).bytes;
      const std::string_view part = bytes.substr(at, next - at);
      made.append(replacement(part).value_or(part), text.origin(at, next));
      at = next;
    }
    begin = end;
  }
  return made.take();
}

std::string replacement_text(const JsonValue& step, const char* key) {
  std::string content = step.text(key, "");
  if (content.size() > most_replacement_bytes)
    step.refuse_got("this normalizer's text is too long", fmt::format("{} bytes", content.size()),
                    fmt::format("at most {}", most_replacement_bytes));
  return content;
}

Match read_pattern(const JsonValue& step) {
  const JsonValue pattern = step["pattern"];
  if (pattern.text("Regex", "") == " {2,}")
    return [](std::string_view text, std::size_t at) -> std::size_t {
      const std::size_t end = std::min(text.find_first_not_of(' ', at), text.size());
      return end - at < 2 ? 0 : end - at;
    };
  const std::string from = pattern.text("String", "");
  if (from.empty())
    step.refuse_got("the pattern of this Replace is unknown", pattern.text("Regex", "none"),
                    "a string, or the regular expression ' {2,}'");
  return [from](std::string_view text, std::size_t at) -> std::size_t {
    return text.substr(at).starts_with(from) ? from.size() : 0;
  };
}

void read_step(const JsonValue& step, TextSteps& steps, int level = 0) {
  const std::string type = step.text("type", "");
  if (steps.size() >= most_steps)
    step.refuse_got("there are too many normalizers", fmt::format("more than {}", most_steps), "fewer");
  const auto add = [&](auto change) { steps.emplace_back(std::move(change)); };
  if (type == "Sequence" && level < 4) {
    for (const JsonValue& part : step["normalizers"].entries()) read_step(part, steps, level + 1);
  } else if (type == "Precompiled") {
    const auto bytes = bytes_of_base64(step.text("precompiled_charsmap", ""));
    if (!bytes)
      step["precompiled_charsmap"].refuse_got("this map of characters is damaged", "no base64", "base64");
    add([map = std::make_shared<const CharacterMap>(*bytes, step), place = step.place()](
            const AlignedText& text, std::size_t most) {
      return map->apply(text, NormalisedText(most, place));
    });
  } else if (type == "Replace") {
    add([match = read_pattern(step), content = replacement_text(step, "content"), place = step.place()](
            const AlignedText& text, std::size_t most) {
      return replaced(text, match, content, NormalisedText(most, place));
    });
  } else if (type == "Prepend") {
    add([mark = replacement_text(step, "prepend")](const AlignedText& text, std::size_t) {
      AlignedText made;
      if (text.text().empty()) return made;
      const std::uint32_t start = text.origin(0, 1).begin;
      made.append(mark, {start, start});
      for (std::size_t at = 0; at < text.text().size(); ++at)
        made.append(text.text().substr(at, 1), text.origin(at, at + 1));
      return made;
    });
  } else if (type == "NFC" || type == "NFKC") {
    add([compatible = type == "NFKC"](const AlignedText& text, std::size_t) {
      return compatible ? composed(decomposed_text(text, true)) : composed(text);
    });
  } else if (type == "NFD" || type == "NFKD") {
    add([compatible = type == "NFKD"](const AlignedText& text, std::size_t) {
      return decomposed_text(text, compatible);
    });
  } else if (type == "Lowercase") {
    add([](const AlignedText& text, std::size_t) { return lower_cased(text); });
  } else if (type == "StripAccents") {
    add([](const AlignedText& text, std::size_t) { return without_marks(text); });
  } else if (type == "Strip") {
    add([left = step.flag("strip_left", true), right = step.flag("strip_right", true)](
            const AlignedText& text, std::size_t) { return stripped(text, left, right); });
  } else {
    step.refuse_got(
        "this normalizer is not computed", type.empty() ? "no type" : type,
        "Precompiled, Replace, NFC, NFD, NFKC, NFKD, Lowercase, StripAccents, Strip, Prepend or a Sequence");
  }
}

}  // namespace

TextSteps read_text_steps(const JsonValue& normalizer) {
  TextSteps steps;
  if (!normalizer.json().is_null()) read_step(normalizer, steps);
  return steps;
}

AlignedText after_steps(const TextSteps& steps, const AlignedText& text) {
  AlignedText made = text;
  const std::size_t most = most_growth * text.text().size() + free_growth;
  for (const auto& step : steps) made = step(made, most);
  return made;
}

}  // namespace headwise
