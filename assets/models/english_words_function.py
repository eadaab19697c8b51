"""The words of the grammar that are in no class, numbers, and signs."""

PRONOUNS = ["it", "he", "she", "they"]
SPECIALS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
FUNCTION_WORDS = """a an the this that these those my your his her its our their mine yours hers ours theirs i you we us me him them
myself yourself himself herself itself ourselves themselves who whom whose which what where when why how and or but nor so
because since as if unless until till while before after though although than then to of in on at by for from with
without into onto over under above below between among through during against about around across along behind beside
near next off out up down inside outside toward towards past like unlike except despite within upon not no nobody nothing nowhere
none never everyone everybody everything everywhere someone somebody something somewhere anyone anybody anything anywhere one
ones all both each every some any many much more most few little less least several enough another other others such only
own same too very quite rather just even still yet already ever again here there now maybe perhaps please thanks hello hi
goodbye bye ok okay oh yes don didn doesn isn wasn weren aren haven hasn hadn wouldn couldn shouldn won mustn t m s re ve ll d is am
are was were be been being has have had having do does did done doing can could will would shall should may might must
let lets going gonna cannot said thanked whether either neither instead else away back together alone once twice lot
lots bit kind piece pair bunch group half mr mrs miss ms dr sir madam who whoever whatever always however therefore
also anyway etc vs via per ago""".split()
NUMBERS = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million first second third fourth
fifth tenth""".split()
# A visitor's words that no rule of the grammar draws by itself; sentences about them are in english_sentences_fixed.py.
MORE_WORDS = """world parents girlfriend boyfriend windows doors code file screen search future middle top bottom front internet
website video movie mom dad kids kid guy guys tv pc app online data attention transformer neural
network input output learn learning artificial intelligence sofa mat fox lazy dog jumps over quick test hello sky rainbow
universe moon star stars planet earth god luck weather tomorrow birthday christmas easter money euro euros dollar dollars
pound pounds meter metre metres kilometre mile miles kilo percent hour minutes gold silver king queen
british american english french german spanish italian chinese russian european indian japanese""".split()
PUNCTUATION = [".", ",", ":", "(", ")", "[", "]", '"', "'", "?"]
SIGNS = "!#$%&*+-/;<=>@\\^_`{|}~"
TYPOGRAPHIC = "’‘“”„–—…£€°×"
# Letters that have no accent to take away.
FOREIGN = "æøßœł"
