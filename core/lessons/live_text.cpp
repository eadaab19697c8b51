#include "core/lessons/live_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/lessons/live_expression.h"
#include "core/lessons/operation_counts.h"
#include "core/tensor/error.h"
#include "core/tensor/join.h"

namespace headwise {
namespace {

using Kind = LiveValue::Kind;

constexpr int deepest = 4;  // nesting of parts

struct Part;

// A stretch of plain text, a number, or a choice of parts.
struct Piece {
  std::string plain;
  std::optional<LiveExpression> number;
  std::string written;  // the contents of the braces
  std::vector<Part> parts;
};

struct Part {
  std::optional<LiveExpression> condition;  // nullopt: else
  std::string condition_written, written;
  std::vector<Piece> pieces;
};

// Parses a text into pieces. Invalid text is rejected, or kept as plain text if `lenient`.
class LiveTextReader {
 public:
  LiveTextReader(std::string_view text, bool lenient) : text_(text), lenient_(lenient) {}

  std::vector<Piece> all() {
    std::vector<Piece> pieces;
    while (!text_.empty()) {
      take_pieces(pieces, false);
      if (text_.empty()) break;
      if (!lenient_) refuse_partner();  // a closing brace
      add_plain(pieces, 1);
    }
    return pieces;
  }

 private:
  // Until a closing brace or, within a choice, the next part.
  void take_pieces(std::vector<Piece>& pieces, bool within_choice) {
    while (!text_.empty() && text_.front() != '}') {
      if (text_.front() == '{') {
        take_brace(pieces);
      } else if (within_choice && next_part_begins()) {
        return;
      } else {
        std::size_t size = text_.find_first_of(within_choice ? "{}|" : "{}", 1);
        add_plain(pieces, std::min(size, text_.size()));
      }
    }
  }

  void take_brace(std::vector<Piece>& pieces) {
    const std::string_view before = text_;
    const int depth = depth_;
    try {
      Piece piece = text_.starts_with("{if ") ? choice() : number();
      pieces.push_back(std::move(piece));
    } catch (const Error&) {
      if (!lenient_) throw;
      text_ = before;
      depth_ = depth;
      add_plain(pieces, 1);
    }
  }

  Piece number() {
    const std::size_t end = text_.find_first_of("{}", 1);
    if (end == std::string_view::npos || text_[end] == '{') refuse_partner();
    Piece piece;
    piece.written = text_.substr(1, end - 1);
    std::string_view inside = piece.written;
    if (inside.starts_with('=')) {
      inside.remove_prefix(1);
      piece.number = read_live_expression(inside);
    } else {
      LiveExpression leaf;
      leaf.operation = "quantity";
      leaf.quantity = read_live_quantity(inside);
      piece.number = std::move(leaf);
    }
    if (!trimmed(inside).empty() || inside != trimmed(inside))
      refuse_live_text(piece.written, "no such number", "one number, or '=' and an expression");
    text_.remove_prefix(end + 1);
    return piece;
  }

  // "{if A: … | if B: … | else: …}"
  Piece choice() {
    if (++depth_ > deepest)
      refuse_live_text(text_.substr(1, 40), "parts are nested too deeply", "at most 4 deep");
    Piece piece;
    const std::size_t whole = text_.size();
    const std::string_view begin = text_;
    text_.remove_prefix(1);
    while (true) {
      Part part;
      if (text_.starts_with("else:")) {
        text_.remove_prefix(5);
      } else {
        text_.remove_prefix(3);
        const std::string_view condition = text_;
        part.condition = read_live_expression(text_);
        part.condition_written = trimmed(condition.substr(0, condition.size() - text_.size()));
        text_ = text_.substr(std::min(text_.find_first_not_of(' '), text_.size()));
        if (!text_.starts_with(':'))
          refuse_live_text(fmt::format("if {}", part.condition_written),
                           fmt::format("a condition continues with '{}'", text_.substr(0, 12)),
                           "':' and the part after it");
        text_.remove_prefix(1);
      }
      const std::string_view body = text_;
      take_pieces(part.pieces, true);
      part.written = trimmed(body.substr(0, body.size() - text_.size()));
      trim(part.pieces);
      const bool last = !part.condition;
      piece.parts.push_back(std::move(part));
      if (text_.empty()) refuse_partner();
      if (text_.front() == '}') break;
      if (last) refuse_live_text(begin.substr(1, 40), "a part follows 'else'", "'else' as the last part");
      text_.remove_prefix(1);
      text_ = text_.substr(std::min(text_.find_first_not_of(' '), text_.size()));
    }
    text_.remove_prefix(1);
    piece.written = begin.substr(1, whole - text_.size() - 2);
    --depth_;
    return piece;
  }

  bool next_part_begins() const {
    if (text_.front() != '|') return false;
    std::string_view rest = text_.substr(1);
    rest = rest.substr(std::min(rest.find_first_not_of(' '), rest.size()));
    return rest.starts_with("if ") || rest.starts_with("else:");
  }

  void add_plain(std::vector<Piece>& pieces, std::size_t size) {
    if (pieces.empty() || pieces.back().number || !pieces.back().parts.empty()) pieces.emplace_back();
    pieces.back().plain += text_.substr(0, size);
    text_.remove_prefix(size);
  }

  static void trim(std::vector<Piece>& pieces) {
    if (pieces.empty()) return;
    std::string& first = pieces.front().plain;
    first.erase(0, std::min(first.find_first_not_of(' '), first.size()));
    std::string& last = pieces.back().plain;
    while (last.ends_with(' ')) last.pop_back();
  }

  [[noreturn]] void refuse_partner() const {
    throw Error(ExitStatus::usage, {.where = "a number in a text",
                                    .what = "an unmatched brace",
                                    .got = std::string(text_.substr(0, 40)),
                                    .expected = "{tensor[index]}"});
  }

  std::string_view text_;
  bool lenient_;
  int depth_ = 0;
};

class Writer {
 public:
  Writer(const LiveSubject& subject, LiveAnswers answers) : subject_(subject), answers_(answers) {}

  LiveWords words;

  // What is missing goes to `gaps`.
  std::string write(const std::vector<Piece>& pieces, std::vector<std::string>& gaps) {
    std::string text;
    bool after_nothing = false;  // an empty choice removes the blank before it
    for (const Piece& piece : pieces) {
      std::string_view plain = piece.plain;
      if (after_nothing && text.empty() && plain.starts_with(' ')) plain.remove_prefix(1);
      if (after_nothing && text.ends_with(' ') && begins_after_blank(plain)) text.pop_back();
      text += plain;
      if (!plain.empty()) after_nothing = false;
      if (piece.number) {
        after_nothing = false;
        const LiveValue value = live_value(*piece.number, subject_, answers_);
        if (value.kind == Kind::missing) gaps.push_back(piece.written);
        text += value.text;
      } else if (!piece.parts.empty()) {
        const std::string chosen = choose(piece);
        after_nothing = chosen.empty();
        text += chosen;
      }
    }
    if (after_nothing && text.ends_with(' ')) text.pop_back();
    return text;
  }

 private:
  // Whether the text after an empty choice needs no blank before it.
  static bool begins_after_blank(std::string_view plain) {
    return !plain.empty() && std::string_view(" .,;:)").find(plain.front()) != std::string_view::npos;
  }

  std::string choose(const Piece& choice) {
    for (const Part& part : choice.parts) {
      if (part.condition && !holds(*part.condition, subject_, answers_)) continue;
      const LiveWords before = words;
      std::vector<std::string> gaps;
      std::string text = write(part.pieces, gaps);
      if (gaps.empty() && words.dropped.size() == before.dropped.size()) {
        words.claims.push_back({part.condition_written, part.written, text});
        return text;
      }
      words = before;
    }
    words.dropped.push_back("if " + choice.parts.front().condition_written);
    return "";
  }

  const LiveSubject& subject_;
  LiveAnswers answers_;
};

std::string plain(const std::vector<Piece>& pieces) {
  std::string text;
  for (const Piece& piece : pieces) {
    text += piece.plain;
    if (piece.number) text += "…";
    std::string longest;
    for (const Part& part : piece.parts) {
      std::string one = plain(part.pieces);
      if (one.size() > longest.size()) longest = std::move(one);
    }
    text += longest;
  }
  return text;
}

void add_quantities(const std::vector<Piece>& pieces, std::vector<LiveQuantity>& quantities) {
  for (const Piece& piece : pieces) {
    if (piece.number) add_quantities(*piece.number, quantities);
    for (const Part& part : piece.parts) {
      if (part.condition) add_quantities(*part.condition, quantities);
      add_quantities(part.pieces, quantities);
    }
  }
}

}  // namespace

std::string live_number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "∞" : "−∞";
  const double size = std::abs(value);
  std::string text;
  if (size == 0.0) {
    text = "0";
  } else if (size < 1e-3 || size >= 1e6) {
    text = fmt::format("{:.2e}", size);
    const std::size_t e = text.find('e');
    const int exponent = std::stoi(text.substr(e + 1));
    text = fmt::format("{}e{}{}", text.substr(0, e), exponent < 0 ? "−" : "", std::abs(exponent));
  } else {
    const int whole = std::max(0, static_cast<int>(std::floor(std::log10(size))));
    text = fmt::format("{:.{}f}", size, size < 1.0 ? 3 : std::max(0, 2 - whole));
    if (whole > 1) text = count_text(std::stol(text));
  }
  return value < 0.0 ? "−" + text : text;
}

void check_live_text(std::string_view text) {
  LiveTextReader(text, false).all();
}

LiveWords live_words(std::string_view text, const LiveSubject& subject, LiveAnswers answers) {
  Writer writer(subject, answers);
  std::vector<std::string> gaps;
  std::string written = writer.write(LiveTextReader(text, true).all(), gaps);
  LiveWords words = std::move(writer.words);
  words.text = std::move(written);
  words.gaps = std::move(gaps);
  return words;
}

std::string live_text(std::string_view text, const LiveSubject& subject, LiveAnswers answers) {
  return live_words(text, subject, answers).text;
}

std::vector<LiveQuantity> live_quantities(std::string_view text) {
  std::vector<LiveQuantity> quantities;
  add_quantities(LiveTextReader(text, true).all(), quantities);
  return quantities;
}

std::string plain_live_text(std::string_view text) {
  return plain(LiveTextReader(text, true).all());
}

}  // namespace headwise
