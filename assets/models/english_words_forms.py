"""Forms of English words: the plural of a noun, the five forms of a verb, the comparison of an adjective."""

from dataclasses import dataclass

PLURALS = dict(pair.split(":") for pair in """man:men woman:women child:children mouse:mice goose:geese foot:feet tooth:teeth
sheep:sheep deer:deer fish:fish wolf:wolves wife:wives knife:knives life:lives leaf:leaves shelf:shelves thief:thieves
half:halves loaf:loaves calf:calves scarf:scarves ox:oxen person:people grandchild:grandchildren
potato:potatoes tomato:tomatoes hero:heroes echo:echoes mosquito:mosquitoes volcano:volcanoes mango:mangoes
aircraft:aircraft series:series quiz:quizzes salmon:salmon bus:buses dwarf:dwarfs housewife:housewives""".split())

# base: past, participle
IRREGULAR = {base: (past, participle) for base, past, participle in (entry.split(":") for entry in """be:was:been
have:had:had do:did:done go:went:gone come:came:come see:saw:seen take:took:taken give:gave:given get:got:got
make:made:made know:knew:known think:thought:thought say:said:said tell:told:told find:found:found leave:left:left
feel:felt:felt keep:kept:kept hold:held:held bring:brought:brought buy:bought:bought catch:caught:caught
teach:taught:taught fight:fought:fought seek:sought:sought eat:ate:eaten drink:drank:drunk sing:sang:sung
swim:swam:swum ring:rang:rung begin:began:begun run:ran:run sit:sat:sat stand:stood:stood lie:lay:lain lay:laid:laid
pay:paid:paid sell:sold:sold send:sent:sent lend:lent:lent spend:spent:spent bend:bent:bent build:built:built
lose:lost:lost win:won:won meet:met:met read:read:read lead:led:led feed:fed:fed hear:heard:heard sleep:slept:slept
sweep:swept:swept dream:dreamed:dreamed burn:burned:burned learn:learned:learned write:wrote:written
drive:drove:driven ride:rode:ridden rise:rose:risen break:broke:broken speak:spoke:spoken steal:stole:stolen
wake:woke:woken choose:chose:chosen freeze:froze:frozen wear:wore:worn tear:tore:torn bear:bore:born
throw:threw:thrown grow:grew:grown blow:blew:blown fly:flew:flown draw:drew:drawn show:showed:shown
fall:fell:fallen shake:shook:shaken hide:hid:hidden bite:bit:bitten forget:forgot:forgotten cut:cut:cut put:put:put
hit:hit:hit hurt:hurt:hurt let:let:let shut:shut:shut set:set:set cost:cost:cost spread:spread:spread
shine:shone:shone shoot:shot:shot dig:dug:dug hang:hung:hung stick:stuck:stuck swing:swung:swung
understand:understood:understood become:became:become forgive:forgave:forgiven mean:meant:meant
light:lit:lit spill:spilled:spilled beat:beat:beaten sink:sank:sunk weigh:weighed:weighed""".split())}

# Verbs of one stressed syllable at their end double their last letter; the rule below cannot hear the stress.
DOUBLING = set("""stop plan drop rub chat clap hug grab shop slip step trip wrap beg jog nod pat pet rob skip tap trap win run
sit cut put hit let shut set swim dig get begin forget travel cancel prefer admit rip mop pin scrub hop fit""".split())
VOWELS = "aeiou"


def plural(noun):
    if noun in PLURALS:
        return PLURALS[noun]
    if noun.endswith("man") and len(noun) > 5:
        return noun[:-2] + "en"
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


@dataclass(frozen=True)
class Verb:
    """`rest` is what a verb of several words has behind its forms: "look at" is look, looks, looked … and "at"."""
    base: str
    third: str
    past: str
    participle: str
    ing: str
    rest: str = ""

    def form(self, name):
        return (getattr(self, name) + " " + self.rest).strip()


def third_person(base):
    special = {"be": "is", "have": "has", "do": "does", "go": "goes"}
    return special.get(base) or plural(base) if base not in PLURALS else base + "s"


def verb(phrase):
    base, _, rest = phrase.partition(" ")
    if base in IRREGULAR:
        past, participle = IRREGULAR[base]
    elif base in DOUBLING:
        past = participle = base + base[-1] + "ed"
    elif base.endswith("e"):
        past = participle = base + "d"
    elif base.endswith("y") and base[-2] not in VOWELS:
        past = participle = base[:-1] + "ied"
    else:
        past = participle = base + "ed"
    if base in DOUBLING:
        ing = base + base[-1] + "ing"
    elif base.endswith("ie"):
        ing = base[:-2] + "ying"
    elif base.endswith("e") and not base.endswith("ee") and base != "be":
        ing = base[:-1] + "ing"
    else:
        ing = base + "ing"
    return Verb(base, third_person(base), past, participle, ing, rest)


def verbs(text):
    """Phrases apart by white space; "look_at" is "look at"."""
    return [verb(phrase.replace("_", " ")) for phrase in text.split()]


def comparative(adjective):
    """"bigger"; nothing for an adjective that is compared with "more"."""
    special = {"good": "better", "bad": "worse", "far": "farther"}
    if adjective in special:
        return special[adjective]
    if len(adjective) > 6 or adjective.endswith(("ed", "ful", "ing", "less", "ous", "ic", "al", "ent", "en")):
        return None
    if adjective.endswith("e"):
        return adjective + "r"
    if adjective.endswith("y") and adjective[-2] not in VOWELS:
        return adjective[:-1] + "ier"
    short = adjective[-1] not in VOWELS + "wxy" and adjective[-2] in VOWELS and adjective[-3] not in VOWELS
    return adjective + (adjective[-1] if short and len(adjective) <= 4 else "") + "er"


def superlative(adjective):
    special = {"good": "best", "bad": "worst", "far": "farthest"}
    more = comparative(adjective)
    return special.get(adjective) or (more[:-1] + "st" if more else None)
