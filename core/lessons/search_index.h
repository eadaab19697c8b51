// Finds the pages that answer a question: ranked by BM25, with fields (BM25F: Robertson, Zaragoza and Taylor,
// "Simple BM25 extension to multiple weighted fields", CIKM 2004).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headwise {

struct SearchPage {
  std::string title;
  std::string question;  // questions that it answers, and words that find it
  std::string text;
  double weight = 1.0;  // multiplies its scores
};

struct SearchHit {
  std::size_t page = 0;
  double score = 0.0;
  // of what the question asks, by the rarity of its words, that occurs in the page: 0 … 1
  double share = 0.0;
  double prominent = 0.0;  // the same for the page's title and questions alone
};

struct SearchFound {
  std::vector<SearchHit> hits;  // best first, ties in the order of the pages
  bool answers = false;  // the first one says enough of what is asked; otherwise it is merely the nearest
  // what was searched for, to find passages by
  std::vector<std::string> stems;
};

class SearchIndex {
 public:
  explicit SearchIndex(std::span<const SearchPage> pages);

  // Pages with any word of the question, `most` at most. A word that no page has stands for the pages'
  // nearest one by its spelling, and the last word for those that it begins. Nothing is found for a question
  // without a telling word; of a long one only the beginning is read.
  SearchFound find(std::string_view question, std::size_t most) const;

 private:
  struct Posting {
    std::size_t page;
    double frequency;          // weighted by the fields, divided by the field's relative length
    bool in_title, prominent;  // prominent: in the title or the questions
  };
  // Two words that follow each other in a field of a page, with the largest weight of such a field.
  struct PairPosting {
    std::size_t page;
    double weight;
  };
  // How much a word stands for one of the question: both are 1 for that word itself.
  struct StemMatch {
    double weight = 1.0;    // in the order of the pages
    double evidence = 1.0;  // that a page having it answers the question
  };
  // A word of the question, or what may stand for it.
  struct Wanted {
    std::map<std::string, StemMatch> stems;
    double telling = 0.0;  // how much the page has to say of it
  };

  double rarity(const std::string& stem) const;  // of a word that no page has: more than of any other
  std::vector<Wanted> wanted(std::string_view question) const;
  void add_spellings(const std::string& stem, bool unfinished, Wanted& word) const;

  std::map<std::string, std::vector<Posting>, std::less<>> postings_;
  std::map<std::string, std::vector<PairPosting>, std::less<>> pairs_;
  std::vector<double> weights_;
  std::vector<double> title_rarity_;  // of all words of a page's title together
};

// The sentence of a text to show beside a result.

// Returns the sentence with most of the words that were searched for (SearchFound::stems), the first of
// equals; the first sentence if none has any. One with a number left out ("…") is none: it is of no use to a
// reader. Empty if there is no other. Lines are sentences of their own. One line,
// without the blanks around it.
std::string search_passage(std::string_view text, std::span<const std::string> stems);

}  // namespace headwise
