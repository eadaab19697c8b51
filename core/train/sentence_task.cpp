#include "core/train/sentence_task.h"

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "core/train/task_draws.h"

namespace headwise {
namespace {

using Words = std::span<const std::string_view>;

// The words of assets/models/sentences/patterns.json that stand for themselves: one token each,
// and "it" for every noun.
constexpr std::array<std::string_view, 10> fixed_words{"the", "did", "not", "because", "it",
                                                       "was", "too", ".",   "what",    "?"};
constexpr Index fixed_count = std::ssize(fixed_words);
enum Fixed : std::int32_t { the, did, not_, because, it, was, too, stop, what, question };

constexpr std::array<std::array<std::string_view, most_sentence_nouns>, 4> noun_kinds{
    {{"animal", "dog", "cat", "horse", "lion", "camel", "fox", "wolf", "bear", "tiger", "mouse", "bird"},
     {"street", "road", "river", "bridge", "lake", "path", "canal", "track", "motorway", "railway", "stream",
      "alley"},
     {"book", "ball", "key", "lamp", "cup", "plate", "clock", "hat", "shoe", "picture", "trophy", "letter"},
     {"box", "cabinet", "bag", "suitcase", "drawer", "basket", "car", "boat", "room", "cupboard", "van",
      "chest"}}};

constexpr std::array<std::string_view, 9> verb_words{"cross", "enter", "leave",  "reach", "fit",
                                                     "chase", "catch", "follow", "bite"};
constexpr std::array<std::string_view, 20> adjective_words{
    "tired", "hungry", "sleepy", "scared",  // of an animal that does not do something
    "wide",  "busy",   "dark",   "steep",   // of a place
    "big",   "large",  "thick",  "tall",    // of a thing
    "small", "narrow", "tight",  "full",    // of what it is put into
    "fast",  "quick",  "strong", "wild"};   // of an animal that gets away

// Ranges of the words above, [first, first + count).
struct WordRange {
  Index first, count;
};
struct SentenceKind {
  Index subjects, objects;  // of noun_kinds
  WordRange verbs, of_subject, of_object;
};
constexpr std::array<SentenceKind, 3> sentence_kinds{
    {{0, 1, {0, 4}, {0, 4}, {4, 4}}, {2, 3, {4, 1}, {8, 4}, {12, 4}}, {0, 0, {5, 4}, {0, 4}, {16, 4}}}};

struct NounPair {
  Index subject, object;
};

// Of each kind, the pairs of different nouns: [kind][split].
using NounPairs = std::array<std::array<std::vector<NounPair>, 2>, sentence_kinds.size()>;

NounPairs noun_pairs(Index nouns) {
  NounPairs pairs;
  for (std::size_t kind = 0; kind < sentence_kinds.size(); ++kind) {
    const CounterRandom random(kind, "it-and-the-noun pairs");
    const bool one_kind = sentence_kinds[kind].subjects == sentence_kinds[kind].objects;
    for (Index subject = 0; subject < nouns; ++subject)
      for (Index object = 0; object < nouns; ++object) {
        if (one_kind && subject == object) continue;
        // By the largest number of nouns, so that a pair is held out for every number.
        const bool held_out =
            random.uniform(static_cast<std::uint64_t>(subject * most_sentence_nouns + object)) < 0.2;
        pairs[kind][held_out].push_back({subject, object});
      }
  }
  return pairs;
}

}  // namespace

std::vector<std::string> sentence_task_texts(Index nouns) {
  std::vector<std::string> texts;
  const auto add = [&](Words words) { texts.insert(texts.end(), words.begin(), words.end()); };
  add(fixed_words);
  for (const auto& kind : noun_kinds) add(Words(kind).first(static_cast<std::size_t>(nouns)));
  add(verb_words);
  add(adjective_words);
  return texts;
}

decltype(TrainTask::example) sentence_task_example(Index nouns) {
  return [pairs = noun_pairs(nouns), nouns](TaskSplit split, std::uint64_t seed, Index number,
                                            std::span<std::int32_t> tokens, std::span<std::int32_t> targets) {
    TaskDraws draws("it-and-the-noun", split, seed, number);
    const auto which = static_cast<std::size_t>(draws.below(std::ssize(sentence_kinds)));
    const SentenceKind& kind = sentence_kinds[which];
    const std::vector<NounPair>& of = pairs[which][split == TaskSplit::held_out];
    const NounPair pair = of[static_cast<std::size_t>(draws.below(std::ssize(of)))];
    const bool of_subject = draws.below(2) == 0;
    const auto drawn = [&](const WordRange& range) { return range.first + draws.below(range.count); };
    const auto noun = [&](Index of_kind, Index i) {
      return static_cast<std::int32_t>(fixed_count + of_kind * nouns + i);
    };
    const Index first_verb = fixed_count + std::ssize(noun_kinds) * nouns,
                first_adjective = first_verb + std::ssize(verb_words);
    const std::int32_t subject = noun(kind.subjects, pair.subject), object = noun(kind.objects, pair.object);
    const auto verb = static_cast<std::int32_t>(first_verb + drawn(kind.verbs));
    const auto adjective =
        static_cast<std::int32_t>(first_adjective + drawn(of_subject ? kind.of_subject : kind.of_object));
    const std::int32_t sentence[] = {the, subject, did, not_,      verb, the,  object,  because,
                                     it,  was,     too, adjective, stop, what, question};
    static_assert(std::size(sentence) == sentence_task_length);
    std::ranges::copy(sentence, tokens.begin());
    std::ranges::fill(targets, -1);
    targets.back() = of_subject ? subject : object;
  };
}

}  // namespace headwise
