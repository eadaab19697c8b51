#include "core/lessons/search_terms.h"

#include <libstemmer.h>
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <set>
#include <utility>

namespace headwise {

std::string_view embedded_words_related(), embedded_words_same_names(), embedded_words_stop();

namespace {

struct Same {
  std::vector<std::string_view> said, names;
};

const std::map<std::string_view, std::vector<Same>>& names_by_first_word() {
  static const auto by_first = [] {
    std::map<std::string_view, std::vector<Same>> names;
    for (const WordRow& row : same_names())
      names[words_in(row.key).front()].push_back({words_in(row.key), words_in(row.value)});
    return names;
  }();
  return by_first;
}

}  // namespace

SameName same_name(std::span<const std::string_view> words) {
  SameName found;
  if (words.empty()) return found;
  const auto candidates = names_by_first_word().find(words.front());
  if (candidates == names_by_first_word().end()) return found;
  for (const Same& same : candidates->second) {
    const std::size_t count = same.said.size();
    if (count > found.words && count <= words.size() && std::ranges::equal(same.said, words.first(count)))
      found = {count, same.names};
  }
  return found;
}

std::vector<WordRow> same_names() {
  return word_rows(embedded_words_same_names(), "same_names.txt");
}

std::vector<WordRow> related_words() {
  return word_rows(embedded_words_related(), "related_words.txt");
}

namespace {

constexpr std::size_t longest_word = 64;  // bytes; what is longer is no word

// Signs that are read as words.
constexpr std::array<std::pair<std::string_view, std::string_view>, 4> spoken_signs{
    {{"√", "sqrt"}, {"∞", "infinity"}, {"Σ", "sum"}, {"∑", "sum"}}};

// Words of any question: they say nothing about what is asked.
bool is_stop_word(std::string_view word) {
  static const std::vector<std::string_view> list = word_list(embedded_words_stop());
  static const std::set<std::string_view> words(list.begin(), list.end());
  return words.contains(word);
}

bool is_word_byte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

struct Word {
  std::string text;
  std::size_t begin = 0, end = 0;
};

// Snowball's stemmer is not shared between threads.
class Stemmer {
 public:
  Stemmer() : stemmer_(sb_stemmer_new("english", "UTF_8"), sb_stemmer_delete) {}

  std::string operator()(const std::string& word) const {
    if (!stemmer_ || std::ranges::any_of(word, is_digit)) return word;
    const sb_symbol* stem = sb_stemmer_stem(stemmer_.get(), reinterpret_cast<const sb_symbol*>(word.data()),
                                            static_cast<int>(word.size()));
    if (!stem) return word;
    return {reinterpret_cast<const char*>(stem), static_cast<std::size_t>(sb_stemmer_length(stemmer_.get()))};
  }

 private:
  std::unique_ptr<sb_stemmer, void (*)(sb_stemmer*)> stemmer_;
};

// "normalize" → "normalise", as this program writes.
void to_british(std::string& word) {
  for (const std::string_view ending : {"ize", "izes", "ized", "izer", "izing", "ization", "izations"}) {
    if (word.size() > ending.size() + 3 && word.ends_with(ending))
      word[word.size() - ending.size() + 1] = 's';
  }
}

// Adds the words of one run of letters, digits and underscores.
void add_identifier(std::vector<Word>& words, std::string_view run, std::size_t begin) {
  std::vector<Word> parts;
  for (std::size_t at = 0; at < run.size();) {
    const std::size_t end = std::min(run.find('_', at), run.size());
    if (end > at) parts.push_back({std::string(run.substr(at, end - at)), begin + at, begin + end});
    at = end + 1;
  }
  // W_q, d_k, d_model: the single letter belongs to what follows.
  if (parts.size() == 2 && parts[0].text.size() == 1)
    parts = {{parts[0].text + parts[1].text, parts[0].begin, parts[1].end}};
  for (Word& part : parts) {
    // 8x64: two numbers
    const std::size_t cross = part.text.find('x');
    const bool product = cross != std::string::npos && cross > 0 && cross + 1 < part.text.size() &&
                         is_digit(part.text[cross - 1]) && is_digit(part.text[cross + 1]);
    if (product) {
      words.push_back({part.text.substr(0, cross), part.begin, part.begin + cross});
      words.push_back({part.text.substr(cross + 1), part.begin + cross + 1, part.end});
    } else {
      words.push_back(std::move(part));
    }
  }
}

std::vector<Word> raw_words(std::string_view text) {
  std::vector<Word> words;
  std::string run;
  std::size_t begin = 0;
  const auto end_run = [&] {
    if (!run.empty() && run.size() <= longest_word) add_identifier(words, run, begin);
    run.clear();
  };
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    const bool apostrophe = c == '\'' || text.substr(at).starts_with("’");
    if (is_word_byte(c) || c == '_') {
      if (run.empty()) begin = at;
      run += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
      ++at;
    } else if (apostrophe && !run.empty()) {
      at += c == '\'' ? 1 : std::string_view("’").size();  // don't, the head's
    } else {
      end_run();
      std::size_t size = 1;
      for (const auto& [sign, word] : spoken_signs) {
        if (!text.substr(at).starts_with(sign)) continue;
        size = sign.size();
        words.push_back({std::string(word), at, at + size});
      }
      at += size;
    }
  }
  end_run();
  return words;
}

// A lone letter says nothing unless it is an axis (docs/window.md) or names a tensor
// (core/lessons/search_terms.h).
bool is_meaningful(const Word& word) {
  constexpr std::string_view axes = "nlsehgd";
  if (word.text.size() == 1)
    return is_digit(word.text[0]) || axes.find(word.text[0]) != std::string_view::npos;
  return !is_stop_word(word.text);
}

}  // namespace

std::vector<SearchTerm> search_terms(std::string_view text) {
  static thread_local const Stemmer stem;
  const std::vector<Word> words = raw_words(text);
  std::vector<SearchTerm> terms;
  const auto add = [&](Word word) {
    if (!is_meaningful(word)) return;
    to_british(word.text);
    terms.push_back({stem(word.text), word.begin, word.end});
  };
  for (std::size_t i = 0; i < words.size();) {
    const std::size_t left = words.size() - i;
    std::array<std::string_view, longest_name> next;
    for (std::size_t k = 0; k < std::min(left, longest_name); ++k) next[k] = words[i + k].text;
    const SameName same = same_name(std::span(next).first(std::min(left, longest_name)));
    if (same.words == 0) {
      add(words[i++]);
      continue;
    }
    for (const std::string_view name : same.names)
      add({std::string(name), words[i].begin, words[i + same.words - 1].end});
    i += same.words;
  }
  return terms;
}

}  // namespace headwise
