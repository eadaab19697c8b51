"""People, animals and names."""

HE = """man boy king father brother son uncle grandfather husband nephew prince waiter actor gentleman dad grandpa monk
knight priest cowboy wizard fisherman postman policeman fireman""".split()
SHE = """woman girl queen mother sister daughter aunt grandmother wife niece princess waitress actress lady mum grandma nun
witch""".split()
# Spoken of as he or she.
EITHER = """teacher doctor farmer singer child sailor painter nurse guest writer cousin friend neighbour student pupil baker
butcher cook chef driver pilot soldier officer captain judge lawyer dentist engineer scientist artist musician dancer
player coach builder plumber carpenter mechanic gardener hunter shepherd tailor barber librarian secretary manager boss
clerk customer visitor tourist stranger thief robber detective guard porter cleaner professor reporter photographer
designer programmer poet hero pirate clown magician giant dwarf patient passenger owner winner loser leader president
minister mayor expert beginner partner colleague teenager adult toddler twin parent person runner swimmer cyclist
climber astronaut spy criminal prisoner servant master shopkeeper grandchild""".split()
GROUPS = """family team class crew crowd company army band choir club audience government police orchestra committee couple
gang jury staff public""".split()

PETS = "dog cat horse rabbit hamster parrot puppy kitten goldfish pony".split()
FARM = "cow pig goat sheep lamb duck goose hen chicken donkey bull calf rooster turkey ox".split()
WILD = """animal fox wolf bear lion tiger mouse bird camel monkey squirrel turtle snake elephant zebra kangaroo
deer rat frog toad lizard crocodile owl eagle crow swan pigeon sparrow penguin dolphin whale shark seal otter hedgehog
badger mole bat panda leopard ape""".split()
SMALL = "bee ant spider fly butterfly worm snail beetle mosquito wasp moth crab".split()
SEA = "fish salmon octopus".split()
ANIMALS = WILD + PETS + FARM + SEA
# "it", though a person
BABIES = "baby".split()

HIS_NAMES = """bob david frank henry jack leo oscar paul simon victor peter tom john mark george james adam alex ben carl
charlie chris daniel eric fred harry ian jim joe kevin luke martin max michael mike nick oliver patrick philip richard
robert sam steve thomas tim tony william ali andrew ahmed juan omar ravi""".split()
HER_NAMES = """anna carla emma greta irene karen mary nina rosa tina wanda alice laura sarah lucy helen julia amy barbara
betty claire clara diana eva ella emily fiona grace hannah ida jane jenny jill kate linda lisa maria marie nora olivia
rachel ruth sally sophie susan zoe fatima mei priya yuki""".split()
NAMES = HIS_NAMES + HER_NAMES
TOWNS = """london paris rome berlin madrid oxford boston chicago tokyo dublin vienna moscow cairo delhi england france
germany italy spain america china india japan africa europe scotland ireland canada australia russia""".split()
