// The tasks that have a name: each is a rule that fills the tokens and targets of an example.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor/error.h"
#include "core/tensor/join.h"
#include "core/train/train_task.h"

namespace headwise {
namespace {

using Tokens = std::span<std::int32_t>;

constexpr std::int32_t not_counted = -1;

std::int32_t& at(Tokens tokens, Index i) {
  return tokens[static_cast<std::size_t>(i)];
}

std::vector<std::int32_t> numbers_below(Index count) {
  std::vector<std::int32_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

// A block of different tokens, repeated to the end. From its second round on, what comes next came after the
// same token before. The length of the block is drawn, so that no fixed distance leads there.
void fill_induction(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  const Index length = std::ssize(tokens), longest = std::min(symbols, length / 2),
              shortest = std::max<Index>(2, longest / 2);
  const Index block = shortest + draws.below(longest - shortest + 1);
  std::vector<std::int32_t> pool = numbers_below(symbols);
  draws.shuffle(pool, block);
  const auto token = [&](Index i) { return pool[static_cast<std::size_t>(i % block)]; };
  for (Index i = 0; i < length; ++i) {
    at(tokens, i) = token(i);
    at(targets, i) = i < block ? not_counted : token(i + 1);
  }
}

void fill_previous_token(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  for (Index i = 0; i < std::ssize(tokens); ++i) {
    at(tokens, i) = static_cast<std::int32_t>(draws.below(symbols));
    at(targets, i) = i == 0 ? not_counted : at(tokens, i - 1);
  }
}

// n tokens, a sign, and n − 1 of the n answers, each asked for at the position before it.
template <class Rearrange>
void fill_rearranged(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets, Rearrange&& rearrange) {
  const Index count = std::ssize(tokens) / 2;
  for (Index i = 0; i < count; ++i) at(tokens, i) = static_cast<std::int32_t>(draws.below(symbols));
  std::vector<std::int32_t> answers(tokens.begin(), tokens.begin() + count);
  rearrange(answers);
  at(tokens, count) = static_cast<std::int32_t>(symbols);
  for (Index i = 1; i < count; ++i) at(tokens, count + i) = answers[static_cast<std::size_t>(i - 1)];
  for (Index i = 0; i < count; ++i) {
    at(targets, i) = not_counted;
    at(targets, count + i) = answers[static_cast<std::size_t>(i)];
  }
}

void fill_reverse(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  fill_rearranged(draws, symbols, tokens, targets,
                  [](std::vector<std::int32_t>& x) { std::ranges::reverse(x); });
}

void fill_sort(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  fill_rearranged(draws, symbols, tokens, targets, [](std::vector<std::int32_t>& x) { std::ranges::sort(x); });
}

// Brackets open and close at random, never below 0 nor above symbols − 1 open ones;
// asked for is how many are open.
void fill_brackets(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  Index open = 0;
  for (Index i = 0; i < std::ssize(tokens); ++i) {
    const bool opens = open == 0 || (open < symbols - 1 && draws.below(2) == 0);
    open += opens ? 1 : -1;
    at(tokens, i) = opens ? 0 : 1;
    at(targets, i) = static_cast<std::int32_t>(2 + open);
  }
}

// Three of ten pairs are held out.
bool is_held_out_pair(Index pair) {
  return CounterRandom(0, "modular-addition pairs").uniform(static_cast<std::uint64_t>(pair)) < 0.3;
}

// Letters drawn with a share that is itself drawn; asked for is the one seen most often so far,
// where one is ahead.
void fill_majority(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  std::vector<Index> counts(static_cast<std::size_t>(symbols), 0);
  const Index favourite = draws.below(symbols), favour = draws.below(3);
  for (Index i = 0; i < std::ssize(tokens); ++i) {
    const Index drawn = draws.below(symbols + favour);
    const Index token = drawn < symbols ? drawn : favourite;
    ++counts[static_cast<std::size_t>(token)];
    at(tokens, i) = static_cast<std::int32_t>(token);
    const auto most = std::ranges::max_element(counts);
    at(targets, i) = std::ranges::count(counts, *most) > 1 ? not_counted
                                                           : static_cast<std::int32_t>(most - counts.begin());
  }
}

// Half of the sequence lists pairs of a key and a value; the other half asks for them in another order, each
// answer written behind its key.
void fill_lookup(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets) {
  const Index pairs = std::ssize(tokens) / 4;
  std::vector<std::int32_t> keys = numbers_below(symbols), values;
  draws.shuffle(keys, pairs);
  for (Index i = 0; i < pairs; ++i)
    values.push_back(static_cast<std::int32_t>(symbols + draws.below(symbols)));
  std::vector<std::int32_t> order = numbers_below(pairs);
  draws.shuffle(order, pairs);
  std::ranges::fill(targets, not_counted);
  for (Index i = 0; i < 2 * pairs; ++i) {
    const auto pair = static_cast<std::size_t>(i < pairs ? i : order[static_cast<std::size_t>(i - pairs)]);
    at(tokens, 2 * i) = keys[pair];
    at(tokens, 2 * i + 1) = values[pair];
    if (i >= pairs) at(targets, 2 * i) = values[pair];
  }
}

constexpr std::array words{"garden",  "river",  "lamp",   "apple",  "violin", "stone",  "cloud",  "bread",
                           "horse",   "paper",  "candle", "forest", "bridge", "window", "silver", "orange",
                           "mirror",  "island", "winter", "pencil", "basket", "rabbit", "copper", "harbour",
                           "feather", "ladder", "market", "needle", "oyster", "pepper", "quilt",  "rocket",
                           "saddle",  "temple", "valley", "walnut", "anchor", "button", "castle", "dragon"};

std::vector<std::string> some_words(Index count) {
  std::vector<std::string> texts;
  for (Index i = 0; i < count; ++i)
    texts.push_back(i < std::ssize(words) ? words[static_cast<std::size_t>(i)] : fmt::format("word{}", i));
  return texts;
}

std::vector<std::string> some_numbers(Index count) {
  std::vector<std::string> texts;
  for (Index i = 0; i < count; ++i) texts.push_back(fmt::format("{}", i));
  return texts;
}

std::vector<std::string> with(std::vector<std::string> texts, std::vector<std::string> more) {
  texts.insert(texts.end(), more.begin(), more.end());
  return texts;
}

std::vector<std::string> some_letters(Index count) {
  std::vector<std::string> letters;
  for (Index i = 0; i < count; ++i) letters.emplace_back(1, static_cast<char>('a' + i));
  return letters;
}

std::vector<std::string> words_and_arrow(Index n) {
  return with(some_words(n), {"→"});
}
std::vector<std::string> words_and_numbers(Index n) {
  return with(some_words(n), some_numbers(n));
}
std::vector<std::string> numbers_and_arrow(Index n) {
  return with(some_numbers(n), {"→"});
}
std::vector<std::string> numbers_and_equals(Index n) {
  return with(some_numbers(n), {"="});
}
std::vector<std::string> brackets_and_numbers(Index n) {
  return with({"(", ")"}, some_numbers(n));
}

// The task it-and-the-noun: which noun "it" stands for, in sentences of the built-in model.

// How many nouns of each kind there are: animals, places, things and what things are put into.
constexpr Index least_sentence_nouns = 4, most_sentence_nouns = 12;
// Tokens of a sentence: "the animal did not cross the street because it was too tired . what ?".
constexpr Index sentence_task_length = 15;

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

// The texts of all tokens, for that many nouns of each kind.
std::vector<std::string> sentence_task_texts(Index nouns) {
  std::vector<std::string> texts;
  const auto add = [&](Words added) { texts.insert(texts.end(), added.begin(), added.end()); };
  add(fixed_words);
  for (const auto& kind : noun_kinds) add(Words(kind).first(static_cast<std::size_t>(nouns)));
  add(verb_words);
  add(adjective_words);
  return texts;
}

// TrainTask::example: asks at the last token, "?", for the noun. It is asked there and not at "it", where a
// causal model has not read the adjective yet, which decides. A fifth of the pairs of nouns are held out: no
// sentence that is trained on has both, in that order.
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

struct Sizes {
  Index length, symbols;
};
constexpr Sizes usual_sentences{sentence_task_length, most_sentence_nouns},
    fewest_nouns{sentence_task_length, least_sentence_nouns};

// The texts of all tokens, by the number of symbols.
using Texts = std::vector<std::string> (*)(Index symbols);
using Fill = void (*)(TaskDraws& draws, Index symbols, Tokens tokens, Tokens targets);

struct NamedTask {
  TaskEntry entry;
  Index layers;
  Sizes usual, least, most;
  Index length_multiple;
  Texts texts;
  Fill fill;                                                         // null: as below
  decltype(TrainTask::example) (*example)(Index symbols) = nullptr;  // of tasks that need to know the split
};

// The sum of each pair of numbers, whose pairs are apart.
decltype(TrainTask::example) modular_addition_example(Index symbols) {
  std::vector<Index> pairs[2];
  for (Index pair = 0; pair < symbols * symbols; ++pair) pairs[is_held_out_pair(pair)].push_back(pair);
  return [pairs = std::to_array({pairs[0], pairs[1]}), symbols](TaskSplit split, std::uint64_t seed,
                                                                Index number, Tokens tokens, Tokens targets) {
    TaskDraws draws("modular-addition", split, seed, number);
    const std::vector<Index>& of = pairs[split == TaskSplit::held_out];
    const Index pair = of[static_cast<std::size_t>(draws.below(std::ssize(of)))], a = pair / symbols,
                b = pair % symbols;
    at(tokens, 0) = static_cast<std::int32_t>(a);
    at(tokens, 1) = static_cast<std::int32_t>(b);
    at(tokens, 2) = static_cast<std::int32_t>(symbols);
    at(targets, 0) = at(targets, 1) = not_counted;
    at(targets, 2) = static_cast<std::int32_t>((a + b) % symbols);
  };
}

constexpr std::array entries{
    TaskEntry{"induction",
              "Say what comes next, where the same token was seen before: one head must find the token after "
              "its last occurrence, helped by a head of an earlier layer that looks one token back."},
    TaskEntry{"previous-token",
              "Repeat the token before: one head must look one token back, which only positions tell it."},
    TaskEntry{"reverse",
              "Write the tokens in reverse after “→”: with each token written, a head must look two "
              "positions further back."},
    TaskEntry{"sort",
              "Write the numbers in order: a head must find the smallest number that is not below the last "
              "one written."},
    TaskEntry{"it-and-the-noun",
              "Say which noun “it” stands for: “too tired” describes the animal, “too wide” the street. "
              "One head must "
              "bring the adjective to the question, and one the noun that it speaks of."},
    TaskEntry{"brackets",
              "Say how many brackets are open: a head must weigh opening against closing brackets over all "
              "that came before."},
    TaskEntry{"modular-addition",
              "Add two numbers and take the remainder: attention must bring both to the last token, where "
              "the feed-forward adds them."},
    TaskEntry{"majority",
              "Say which letter was seen most often so far: a head that attends to all tokens equally counts "
              "them."},
    TaskEntry{"lookup",
              "Find the value that belongs to a key: one head must find the key, and what comes after it, "
              "like a database that answers by similarity."}};

constexpr std::array<NamedTask, entries.size()> tasks{{
    {entries[0], 2, {32, 32}, {4, 2}, {1024, 1024}, 1, some_words, fill_induction},
    {entries[1], 1, {16, 16}, {2, 2}, {1024, 1024}, 1, some_words, fill_previous_token},
    {entries[2], 2, {16, 16}, {4, 2}, {1024, 1024}, 2, words_and_arrow, fill_reverse},
    {entries[3], 2, {16, 16}, {4, 2}, {1024, 1024}, 2, numbers_and_arrow, fill_sort},
    {entries[4], 2, usual_sentences, fewest_nouns, usual_sentences, 1, sentence_task_texts, nullptr,
     sentence_task_example},
    {entries[5], 1, {24, 8}, {2, 2}, {1024, 1024}, 1, brackets_and_numbers, fill_brackets},
    {entries[6], 1, {3, 31}, {3, 5}, {3, 1024}, 3, numbers_and_equals, nullptr, modular_addition_example},
    {entries[7], 1, {16, 2}, {2, 2}, {1024, 26}, 1, some_letters, fill_majority},
    {entries[8], 2, {24, 16}, {8, 2}, {1024, 512}, 4, words_and_numbers, fill_lookup},
}};

void check_size(const TaskEntry& entry, const char* setting, Index got, Index least, Index most,
                Index multiple) {
  if (got < least || got > most || got % multiple != 0)
    throw Error(ExitStatus::usage,
                {fmt::format("task {}", entry.name), fmt::format("the {} is out of range", setting),
                 fmt::format("{}", got),
                 multiple > 1 ? fmt::format("{} to {}, a multiple of {}", least, most, multiple)
                              : fmt::format("{} to {}", least, most),
                 ""});
}

const NamedTask& task_of_name(const std::string& name) {
  const auto found = std::ranges::find(tasks, name, [](const NamedTask& task) { return task.entry.name; });
  if (found != tasks.end()) return *found;
  std::vector<std::string_view> names;
  for (const TaskEntry& entry : entries) names.push_back(entry.name);
  throw Error(ExitStatus::usage, {"task", "there is no task of that name", name, join(names, ", "), ""});
}

}  // namespace

std::span<const TaskEntry> task_entries() {
  return entries;
}

TaskSizeRanges task_size_ranges(const std::string& name) {
  const NamedTask& task = task_of_name(name);
  return {{task.usual.length, task.least.length, task.most.length, task.length_multiple},
          {task.usual.symbols, task.least.symbols, task.most.symbols}};
}

TrainTask named_task(const std::string& name, const TaskSizes& sizes) {
  const NamedTask& named = task_of_name(name);
  const Index length = sizes.length.value_or(named.usual.length),
              symbols = sizes.symbols.value_or(named.usual.symbols);
  check_size(named.entry, "length", length, named.least.length, named.most.length, named.length_multiple);
  check_size(named.entry, "number of symbols", symbols, named.least.symbols, named.most.symbols, 1);
  if (named.fill == fill_lookup && symbols < length / 4)
    throw Error(ExitStatus::usage,
                {"task lookup", "each key of a sequence is another one, so there are too few",
                 fmt::format("{} keys", symbols),
                 fmt::format("{} or more for sequences of {} tokens", length / 4, length), ""});
  TrainTask task{.name = name,
                 .what = std::string(named.entry.what),
                 .layers = named.layers,
                 .vocabulary = 0,
                 .length = length,
                 .token_texts = named.texts(symbols),
                 .example = {}};
  task.vocabulary = std::ssize(task.token_texts);
  if (named.example) task.example = named.example(symbols);
  if (named.fill)
    task.example = [fill = named.fill, stream = named.entry.name, symbols](
                       TaskSplit split, std::uint64_t seed, Index number, Tokens tokens, Tokens targets) {
      TaskDraws draws(stream, split, seed, number);
      fill(draws, symbols, tokens, targets);
    };
  return task;
}

}  // namespace headwise
