#include "core/model/tokenizer/unigram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "core/files/input_file.h"

namespace headwise {
namespace {

// Finding pieces takes time proportional to the text times the longest of them.
constexpr std::size_t most_piece_bytes = 1024;
// A character that is no piece costs this much more than the least probable piece.
constexpr double unknown_penalty = 10.0;

// The best way to split the bytes up to here.
struct Best {
  double score = 0.0;
  std::optional<std::size_t> from;  // where its last piece begins; nullopt: nothing ends here
  TokenId id = no_token;
};

class Unigram : public TokenizerModel {
 public:
  Unigram(std::shared_ptr<const TokenizerVocabulary> vocabulary, std::vector<double> scores, TextSteps steps,
          const UnigramOptions& options, const std::string& where);

  std::string kind() const override { return "SentencePiece Unigram"; }
  AlignedText normalised(const AlignedText& text) const override;
  void encode(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const override;
  std::string decode(std::span<const std::string_view> pieces) const override;

 private:
  void encode_section(const AlignedText& text, std::size_t begin, std::size_t end,
                      std::vector<EncodedToken>& into) const;
  void encode_word(const AlignedText& text, std::size_t begin, std::size_t end,
                   std::vector<EncodedToken>& into) const;
  void append(const AlignedText& text, std::size_t begin, std::size_t end,
              std::vector<EncodedToken>& into) const;
  std::string_view piece(TokenId id) const { return vocabulary_->piece(id); }
  template <class Found>
  void for_prefixes(std::string_view text, Found found) const;

  std::shared_ptr<const TokenizerVocabulary> vocabulary_;
  std::vector<double> scores_;
  TextSteps steps_;
  UnigramOptions options_;
  std::vector<TokenId> sorted_;  // by the bytes of their pieces
  std::array<std::optional<TokenId>, 256> byte_ids_;
  double unknown_score_ = 0.0;
};

Unigram::Unigram(std::shared_ptr<const TokenizerVocabulary> vocabulary, std::vector<double> scores,
                 TextSteps steps, const UnigramOptions& options, const std::string& where)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      steps_(std::move(steps)),
      options_(options),
      sorted_(scores_.size()) {
  std::iota(sorted_.begin(), sorted_.end(), TokenId{0});
  for (const TokenId id : sorted_)
    if (piece(id).empty() || piece(id).size() > most_piece_bytes)
      refuse_input(where, fmt::format("piece {} of the vocabulary is damaged", id),
                   fmt::format("{} bytes", piece(id).size()), fmt::format("1 to {}", most_piece_bytes));
  std::ranges::sort(sorted_, {}, [&](TokenId id) { return piece(id); });
  unknown_score_ = *std::ranges::min_element(scores_) - unknown_penalty;
  for (int byte = 0; options_.byte_fallback && byte < 256; ++byte)
    byte_ids_[static_cast<std::size_t>(byte)] = vocabulary_->find_own(byte_piece(byte));
}

AlignedText Unigram::normalised(const AlignedText& text) const {
  AlignedText made = after_steps(steps_, text);
  if (options_.marks != SpaceBefore::first_word || made.text().empty() || text.origin(0, 1).begin > 0)
    return made;
  // Where characters at the beginning were dropped, or marks put in order, it is still the text's beginning.
  AlignedText whole;
  for (std::size_t at = 0; at < made.text().size(); ++at) {
    const ByteRange from = made.origin(at, at + 1);
    whole.append(made.text().substr(at, 1), {at == 0 ? 0 : from.begin, from.end});
  }
  return whole;
}

// found(id) for every piece that the text begins with, the shortest first.
template <class Found>
void Unigram::for_prefixes(std::string_view text, Found found) const {
  auto first = sorted_.begin(), last = sorted_.end();  // those that begin with the first `depth` bytes
  for (std::size_t depth = 0; depth < text.size() && first != last; ++depth) {
    if (piece(*first).size() == depth) ++first;
    const auto byte_of = [&](TokenId id) { return static_cast<unsigned char>(piece(id)[depth]); };
    const auto range =
        std::ranges::equal_range(first, last, static_cast<unsigned char>(text[depth]), {}, byte_of);
    first = range.begin();
    last = range.end();
    if (first != last && piece(*first).size() == depth + 1) found(*first);
  }
}

void Unigram::encode(const AlignedText& text, std::size_t begin, std::size_t end,
                     std::vector<EncodedToken>& into) const {
  if (!options_.splits_white_space) return encode_section(text, begin, end, into);
  std::size_t word = begin;
  for (std::size_t at = begin; at < end;) {
    const CodePoint point = code_point_at(text.text(), at);
    if (is_white_space(point.value)) {
      encode_section(text, word, at, into);
      word = at + point.bytes;
    }
    at += point.bytes;
  }
  encode_section(text, word, end, into);
}

// Marks the spaces of [begin, end), and splits it before each mark.
void Unigram::encode_section(const AlignedText& text, std::size_t begin, std::size_t end,
                             std::vector<EncodedToken>& into) const {
  if (begin >= end) return;
  if (!options_.marks) return encode_word(text, begin, end, into);
  const AlignedText marked = with_marks(text, begin, end, *options_.marks);
  const std::string_view row = marked.text();
  for (std::size_t word = 0; word < row.size();) {
    const std::size_t next =
        options_.splits_marks ? std::min(row.find(space_mark, word + 1), row.size()) : row.size();
    encode_word(marked, word, next, into);
    word = next;
  }
}

// The Viterbi algorithm: bytes[i] follows from the best ways up to where its last piece begins.
void Unigram::encode_word(const AlignedText& text, std::size_t begin, std::size_t end,
                          std::vector<EncodedToken>& into) const {
  const std::string_view word = text.text().substr(begin, end - begin);
  std::vector<Best> best(word.size() + 1);
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t next = at + code_point_at(word, at).bytes;
    const double score = best[at].score;
    const auto offer = [&](std::size_t to, double whole, TokenId id) {
      if (!best[to].from || whole > best[to].score) best[to] = {whole, at, id};
    };
    bool is_covered = false;
    for_prefixes(word.substr(at), [&](TokenId id) {
      const std::size_t to = at + piece(id).size();
      offer(to, scores_[static_cast<std::size_t>(id)] + score, id);
      is_covered = is_covered || to == next;
    });
    if (!is_covered) offer(next, unknown_score_ + score, options_.unknown.value_or(no_token));
    at = next;
  }
  std::vector<std::size_t> ends;  // from the last piece to the first
  for (std::size_t at = word.size(); at > 0; at = *best[at].from) {
    const bool continues = !ends.empty() && options_.unknown && best[at].id == *options_.unknown &&
                           best[ends.back()].id == *options_.unknown;
    if (!continues) ends.push_back(at);
  }
  std::size_t from = 0;
  for (auto at = ends.rbegin(); at != ends.rend(); from = *at++)
    append(text, begin + from, begin + *at, into);
}

// A piece, or what no piece covers.
void Unigram::append(const AlignedText& text, std::size_t begin, std::size_t end,
                     std::vector<EncodedToken>& into) const {
  const std::string_view bytes = text.text().substr(begin, end - begin);
  const ByteRange range = text.origin(begin, end);
  const auto id_of = [&](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (const auto id = vocabulary_->find_own(bytes)) {
    into.push_back({*id, std::string(bytes), range.begin, range.end, false, false});
  } else if (std::ranges::all_of(bytes, [&](char byte) { return id_of(byte).has_value(); })) {
    for (std::size_t at = begin; at < end; ++at) {
      const TokenId byte = *id_of(text.text()[at]);
      const ByteRange own = text.origin(at, at + 1);
      into.push_back({byte, std::string(piece(byte)), own.begin, own.end, false, false});
    }
  } else {
    const std::string unknown(options_.unknown ? piece(*options_.unknown) : "");
    into.push_back({options_.unknown.value_or(no_token), unknown, range.begin, range.end, false, true});
  }
}

std::string Unigram::decode(std::span<const std::string_view> pieces) const {
  std::string text;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) text += options_.between;
    if (const int byte = options_.byte_fallback ? represented_byte(pieces[i]) : -1; byte >= 0)
      text.push_back(static_cast<char>(byte));
    else if (options_.unmarks)
      append_unmarked(text, pieces[i], i == 0 && options_.drops_first_marks);
    else
      text += pieces[i];
  }
  if (options_.strips_space && text.starts_with(' ')) text.erase(0, 1);
  return text;
}

}  // namespace

std::unique_ptr<TokenizerModel> make_unigram(std::shared_ptr<const TokenizerVocabulary> vocabulary,
                                             std::vector<double> scores, TextSteps steps,
                                             const UnigramOptions& options, const std::string& where) {
  return std::make_unique<Unigram>(std::move(vocabulary), std::move(scores), std::move(steps), options, where);
}

}  // namespace headwise
