"""The vocabulary: specials, whole words, single characters, and pieces of words; and how a text is split into them.

A word that is not whole is read as BERT's WordPiece reads it: the longest piece at its beginning, then the longest ones that
continue it, which "##" marks. All letters and digits are pieces, so no English word is unknown.
"""

import string
import unicodedata

from english_words import *
from english_words_forms import comparative, superlative, verb

PREFIXES = """un re in dis pre con com pro ex de en im mis non sub inter super anti self micro tele auto bio geo kilo trans uni
multi semi ab ad al am ap ar as at el em er es is ob op or os ur us ma mac ch sh th wh ph qu br bl cr cl dr fl fr gl gr kn pl
pr sc sk sl sm sn sp st str sw tr tw wr spr scr thr cha che chi cho chu sha she shi the thi sta ste sto stu tra tre tro tru
pra pre pro cre cro gre gri gro fra fri fla fle flo pla cla cle clo spi spo swa mar mer mor par per por car cur bar ber bor
bur tor har her hor far fer for man men mon can con cap cat don""".split()
SUFFIXES = """s es ed ing er ers est ly ness less ful able ible ment ments tion tions sion ation ations ist ists ism ity ous al
ial ic ical ive ant ent ance ence ship ships hood dom ward wards wise like land man men woman ball board book house room work
time day way side line light fish bird berry nut fruit cake bread stick stone wood water ster ard ette let age ary ery ory ure
ish y ie ies ier iest le el en ers or ors ar ur ir on an in un am em im at et it ot ut as is os us ad ed id od ock all ing and
end ind ant ent int unt ast est ist ish ch sh th ph ck ng nk st nd nt mp rd rk rm rn rt lt ld lf ss ll tt ff pp gg nn bb dd rr
tion ter ber der ger ker mer ner per ser ver ring ling ting ding king ning ping sing ton son ley ey ow ew ou ee ea ai io ia
ium que ize ise ised ate ated ator ine one une ole ale ile ule ore are ire ade ide ace ice ase use""".split()
SYLLABLES = [consonant + vowel for consonant in "bcdfghklmnprst" for vowel in "aeiou"]

# The plurals of other nouns are read in pieces, as "ladder ##s": there is not room for all.
WHOLE_PLURALS = [HE, SHE, EITHER[:45], BABIES, ANIMALS, SMALL, PLACES, BUILDINGS[:20], SMALL_THINGS[:45], CONTAINERS[:18], CLOTHES,
                 VEHICLES, PLANTS, PARTS_OF_PLANTS, FRUITS, DISHES, BODY, TEXTS, WORKS, TASKS, TIMES, IDEAS,
                 "chair table desk bed".split()]
# Of these verbs only the first form and the past are whole.
FORMS_IN_PIECES = set("""brighten disagree amuse squeeze stink sneeze ski leak jog excite impress scratch whisper translate swear publish
empty calm damage describe deserve claim tidy spill explode float greet hire hug iron lay manage rent scare stroke survive print
exercise disappear block blame attack avoid solve touch""".split())

# Words that stand in the text of the grammar and in no class.
OTHER_WORDS = """went came ready done gone born""".split()


def words_of(phrases):
    return {word for phrase in phrases for word in phrase.split()}


def whole_words():
    """Every word that the grammar can say, and a visitor's usual ones."""
    words = set(PRONOUNS) | set(FUNCTION_WORDS) | set(NUMBERS) | set(MORE_WORDS) | set(OTHER_WORDS) | set(NAMES) | set(TOWNS)
    words |= set(NOUNS) | set(with_plurals(*WHOLE_PLURALS).values()) | set(UNCOUNTABLE) | set(PAIRS)
    words |= set(GAMES) | set(SUBJECTS) | set(SEASONS) | set(DAYS) | set(MONTHS) | words_of(STOPS)
    for phrases in (OF_SUBJECT, OF_PERSON, OF_PLACE, OF_BUILDING, OF_HEIGHT, OF_QUARRY, OF_FOOD, OF_DRINK, OF_LOAD, OF_CLOTHES, OF_GOODS,
                    OF_TOOL, OF_TEXT, OF_TASK, OF_TEAM, OF_AUDIENCE, OF_VEHICLE, OF_WAY, OF_SHIP, OF_HARBOUR, OF_PLANT, OF_HARDSHIP,
                    OF_BLADE, OF_STUFF, OF_LAMP, OF_ROOM, OF_LIFTER, OF_PEER, OF_PEERS_JUDGE, OF_BED, OF_BRANCH, TOO_LARGE, TOO_SMALL,
                    BEFORE_NOUN, COLOURS, STATES, PERSONAL, OF_THINGS, ABSTRACT, COMPARED, MORE, MANNER, OFTEN, WHEN, DEGREE, OPENING,
                    BESIDE, AFTER_SUBJECT, AFTER_PLACE, ABOUT, GIFTS, WENT, MODALS, *AGREEING, *LIKING, *VERBS_ABOUT_IT):
        words |= words_of(phrases)
    for adjective in COMPARED:
        words |= {comparative(adjective) or adjective, superlative(adjective) or adjective}
    kinds = [DO_PERSON, DO_ANIMAL, DO_THING, TO_PERSON, GIVE, SAYING, WANT_TO, ENJOY, ACTIVITY, GO, BE_AT, LINK, PUT,
             [verb(phrase) for phrases in VERBS_ABOUT_IT for phrase in phrases]] + [found for found, _ in OBJECTS_OF]
    for kind in kinds:
        for v in kind:
            words |= {v.base, v.past, v.participle} | set(v.rest.split())
            if v.base not in FORMS_IN_PIECES:
                words |= {v.third, v.ing}
    return words


def vocabulary():
    """Specials, whole words, single characters, pieces that begin a word, pieces that continue one: sorted, each piece once."""
    letters = string.ascii_lowercase + string.digits + FOREIGN
    characters = set(letters) | set(string.punctuation) | set(TYPOGRAPHIC)
    words = {word for word in whole_words() if word and word not in characters}
    starts = (set(PREFIXES) | set(SYLLABLES)) - words - characters
    continued = {"##" + piece for piece in set(SUFFIXES) | set(SYLLABLES) | set(letters) | set("£€°")}
    return [SPECIALS, sorted(words), sorted(characters), sorted(starts), sorted(continued)]


PARTS = vocabulary()
WHOLE = set(PARTS[1])
VOCABULARY = [piece for part in PARTS for piece in part]
WORD_ID = {word: i for i, word in enumerate(VOCABULARY)}
PAD, UNK, CLS, SEP, MASK = range(5)
LONGEST = max(len(piece) for piece in VOCABULARY)


def pieces_of(word):
    """The pieces of a word; [UNK] alone where one of its characters is in no piece. At most 100 characters, as with BERT."""
    pieces, at = [], 0
    while at < len(word):
        for end in range(min(len(word), at + LONGEST), at, -1):
            piece = ("##" if at else "") + word[at:end]
            if piece in WORD_ID:
                break
        else:
            return ["[UNK]"]
        pieces.append(piece)
        at = end
    return pieces if len(word) <= 100 else ["[UNK]"]


def is_punctuation(character):
    ascii_sign = character in string.punctuation
    return ascii_sign or unicodedata.category(character).startswith("P")


def split_text(text):
    """Lower case without accents, split at white space and around punctuation."""
    text = "".join(c for c in unicodedata.normalize("NFD", text.lower()) if unicodedata.category(c) != "Mn")
    spaced = "".join(f" {c} " if is_punctuation(c) else c for c in text)
    return spaced.split()


def tokenize(text):
    return [piece for word in split_text(text) for piece in pieces_of(word)]


if __name__ == "__main__":
    print({name: len(part) for name, part in zip("specials words characters starts continued".split(), PARTS)}, len(VOCABULARY))
