#include "core/model/tokenizer/word_piece.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/tensor/error.h"

namespace headwise {
namespace {

// Greedy matching is quadratic in the length of a word: a file must not allow words of any length.
constexpr std::size_t most_word_chars = 1'000;

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

class WordPiece : public TokenizerModel {
 public:
  WordPiece(std::shared_ptr<const TokenizerVocabulary> vocabulary, const WordPieceOptions& options,
            TokenId unknown)
      : vocabulary_(std::move(vocabulary)), options_(options), unknown_(unknown) {}

  std::string kind() const override { return "WordPiece"; }
  bool has_whole_words() const override { return true; }
  std::string continuing_prefix() const override { return options_.continuing_subword_prefix; }
  AlignedText normalised(const AlignedText& text) const override;
  void encode(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const override;
  std::string decode(std::span<const std::string_view> pieces) const override;

 private:
  std::vector<AlignedCodePoint> cleaned(const AlignedText& text) const;
  void encode_word(const AlignedText& text, std::size_t begin, std::size_t end,
                   std::vector<EncodedToken>& into) const;
  EncodedToken token(TokenId id, ByteRange range, bool unknown) const {
    return {id, vocabulary_->piece(id), range.begin, range.end, false, unknown};
  }

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  WordPieceOptions options_;
  TokenId unknown_;
};

// Removes control characters, makes white space spaces, and puts a space on either side of each ideograph.
std::vector<AlignedCodePoint> WordPiece::cleaned(const AlignedText& text) const {
  const std::string_view bytes = text.text();
  std::vector<AlignedCodePoint> points;
  points.reserve(bytes.size());
  for (std::size_t at = 0; at < bytes.size();) {
    const CodePoint point = code_point_at(bytes, at);
    const ByteRange from = text.origin(at, at + point.bytes);
    at += point.bytes;
    const bool dropped = point.value == 0 || point.value == 0xFFFD || is_control(point.value);
    if (point.value < 0 || (options_.clean_text && dropped)) continue;
    if (options_.clean_text && is_white_space(point.value)) {
      points.push_back({' ', from});
    } else if (options_.handle_chinese_chars && is_cjk_ideograph(point.value)) {
      for (const std::int32_t value : {std::int32_t{' '}, point.value, std::int32_t{' '}})
        points.push_back({value, from});
    } else {
      points.push_back({point.value, from});
    }
  }
  return points;
}

AlignedText WordPiece::normalised(const AlignedText& text) const {
  std::vector<AlignedCodePoint> points = cleaned(text);
  if (options_.strip_accents) {
    points = decomposed(std::move(points));
    std::erase_if(points, [](const AlignedCodePoint& p) { return is_nonspacing_mark(p.value); });
  }
  AlignedText made;
  for (const AlignedCodePoint& point : points) {
    if (options_.lowercase) {
      for (const std::int32_t value : lower_case(point.value))
        if (value != 0 || point.value == 0) made.append(value, point.from);
    } else {
      made.append(point.value, point.from);
    }
  }
  return made;
}

void WordPiece::encode(const AlignedText& text, std::size_t begin, std::size_t end,
                       std::vector<EncodedToken>& into) const {
  const std::string_view bytes = text.text();
  std::size_t word = begin;
  const auto end_word = [&](std::size_t at, std::size_t next) {
    if (at > word) encode_word(text, word, at, into);
    word = next;
  };
  for (std::size_t at = begin; at < end;) {
    const CodePoint point = code_point_at(bytes, at);
    const std::size_t next = at + point.bytes;
    if (is_white_space(point.value)) {
      end_word(at, next);
    } else if (is_punctuation(point.value)) {
      end_word(at, at);
      end_word(next, next);
    }
    at = next;
  }
  end_word(end, end);
}

void WordPiece::encode_word(const AlignedText& text, std::size_t begin, std::size_t end,
                            std::vector<EncodedToken>& into) const {
  const std::string_view word = text.text().substr(begin, end - begin);
  const std::size_t before = into.size();
  bool found = code_point_count(word) <= options_.max_input_chars_per_word;
  for (std::size_t at = 0; found && at < word.size();) {
    std::string piece = at == 0 ? "" : options_.continuing_subword_prefix;
    const std::size_t prefix = piece.size();
    piece += word.substr(at, vocabulary_->longest());
    std::optional<TokenId> id;
    while (piece.size() > prefix && !(id = vocabulary_->find_own(piece))) {
      // One code point shorter.
      while (piece.size() > prefix && (piece.back() & 0xC0) == 0x80) piece.pop_back();
      if (piece.size() > prefix) piece.pop_back();
    }
    found = id.has_value();
    if (!found) break;
    const std::size_t bytes = piece.size() - prefix;
    into.push_back(token(*id, text.origin(begin + at, begin + at + bytes), *id == unknown_));
    at += bytes;
  }
  if (found) return;
  into.resize(before);
  into.push_back(token(unknown_, text.origin(begin, end), true));
}

// The clean-up of Hugging Face's decoder, piece by piece.
std::string cleaned_up(std::string piece) {
  using Pair = std::pair<std::string_view, std::string_view>;
  for (const auto& [from, to] :
       {Pair{" .", "."}, Pair{" ?", "?"}, Pair{" !", "!"}, Pair{" ,", ","}, Pair{" ' ", "'"},
        Pair{" n't", "n't"}, Pair{" 'm", "'m"}, Pair{" do not", " don't"}, Pair{" 's", "'s"},
        Pair{" 've", "'ve"}, Pair{" 're", "'re"}}) {
    replace_all(piece, from, to);
  }
  return piece;
}

std::string WordPiece::decode(std::span<const std::string_view> pieces) const {
  const std::string& prefix = options_.continuing_subword_prefix;
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string piece(pieces[i]);
    if (i > 0) {
      const bool continues = options_.join_continuations && piece.starts_with(prefix);
      piece = continues ? piece.substr(prefix.size()) : " " + piece;
    }
    text += options_.join_continuations && options_.clean_up_spaces ? cleaned_up(std::move(piece)) : piece;
  }
  return text;
}

}  // namespace

std::unique_ptr<TokenizerModel> make_word_piece(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                                const WordPieceOptions& options, const std::string& where) {
  const std::optional<TokenId> unknown = vocabulary->find_own(options.unk_token);
  if (!unknown)
    throw Error(
        ExitStatus::input,
        {.where = where,
         .what = fmt::format("the vocabulary has no '{}', which stands for unknown words", options.unk_token),
         .expected = fmt::format("a piece '{}'", options.unk_token),
         .remedy = "add it to the vocabulary"});
  if (options.max_input_chars_per_word > most_word_chars)
    throw Error(ExitStatus::input, {.where = where,
                                    .what = "max_input_chars_per_word is too large",
                                    .got = fmt::format("{}", options.max_input_chars_per_word),
                                    .expected = fmt::format("at most {}", most_word_chars)});
  return std::make_unique<WordPiece>(std::move(vocabulary), options, *unknown);
}

}  // namespace headwise
