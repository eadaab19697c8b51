#include "core/model/tokenizer/sentence_piece.h"

#include <fmt/format.h>

namespace headwise {

std::string byte_piece(int byte) {
  return fmt::format("<0x{:02X}>", byte);
}

int represented_byte(std::string_view piece) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  const std::size_t high = digits.find(piece[3]), low = digits.find(piece[4]);
  if (high == std::string_view::npos || low == std::string_view::npos) return -1;
  return static_cast<int>(16 * high + low);
}

AlignedText with_marks(const AlignedText& text, std::size_t begin, std::size_t end, SpaceBefore before) {
  AlignedText marked;
  if (begin == end) return marked;
  const std::string_view bytes = text.text().substr(begin, end - begin);
  const std::uint32_t start = text.origin(begin, begin + 1).begin;
  const bool at_first = before == SpaceBefore::first_word && start == 0;
  if ((at_first || before == SpaceBefore::every_word) && bytes[0] != ' ' && !bytes.starts_with(space_mark))
    marked.append(space_mark, {start, start});
  for (std::size_t at = 0; at < bytes.size(); ++at)
    marked.append(bytes[at] == ' ' ? space_mark : bytes.substr(at, 1), text.origin(begin + at, begin + at + 1));
  return marked;
}

void append_unmarked(std::string& text, std::string_view piece, bool drops_marks) {
  for (std::size_t at = 0; at < piece.size();) {
    const bool is_mark = piece.substr(at).starts_with(space_mark);
    if (!is_mark)
      text.push_back(piece[at]);
    else if (!drops_marks)
      text.push_back(' ');
    at += is_mark ? space_mark.size() : 1;
  }
}

}  // namespace headwise
