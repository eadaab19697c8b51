"""Adjectives by what they can be said of, and adverbs."""

# Whether "it" was too … : these speak of the one who would have acted,
OF_SUBJECT = """tired hungry sleepy weak lazy scared sick shy ill afraid nervous frightened exhausted thirsty anxious bored
timid unhappy confused""".split()
OF_PERSON = OF_SUBJECT + """proud sad angry worried careless clumsy impatient stubborn poor selfish upset embarrassed busy
excited drunk forgetful jealous greedy cautious foolish stupid""".split()
# and these of what it would have been done to.
OF_PLACE = """wide busy dark muddy icy steep noisy crowded narrow dangerous wet long deep dusty slippery rough windy foggy
far distant remote""".split()
OF_BUILDING = """dark noisy crowded dirty far expensive full old empty dusty smelly gloomy ugly remote dangerous
modern hot cold""".split()
OF_HEIGHT = "high steep icy slippery tall wet rough dangerous rotten smooth".split()
OF_QUARRY = "fast quick strong wild clever dangerous big fierce brave large savage huge".split()
OF_FOOD = "sour hot cold salty bitter rotten hard sweet spicy dry stale mouldy raw greasy tough".split()
OF_DRINK = "hot cold sour bitter sweet strong salty weak warm".split()[:7]
OF_LOAD = "heavy hot dirty wet dangerous cold large bulky big sharp slippery fragile hard".split()
OF_CLOTHES = "tight loose ugly dirty short long thin expensive colourful wet thick warm plain".split()
OF_GOODS = "expensive ugly old cheap dirty big heavy noisy fragile plain complicated dear".split()
OF_TOOL = "rusty blunt heavy old complicated dangerous short long loose dirty".split()
OF_TEXT = "boring long difficult sad complicated dull serious silly private short old".split()
OF_TASK = "difficult hard long complicated dangerous tough boring".split()
OF_TEAM = "tired weak slow lazy young nervous small careless inexperienced unlucky".split()
OF_AUDIENCE = "impatient young tired bored sleepy angry hungry excited restless".split()
OF_VEHICLE = "heavy slow big tall old large fast long damaged rusty".split()
OF_WAY = "narrow icy muddy steep slippery flooded dark rough winding crowded snowy".split()
OF_SHIP = "big large heavy slow old damaged huge long".split()
OF_HARBOUR = "shallow narrow small crowded stormy dangerous rough busy".split()
OF_PLANT = "weak young dry thirsty small old delicate tender sick".split()
OF_HARDSHIP = "cold long hot severe violent bad hard terrible harsh strong".split()
OF_BLADE = "blunt dull small rusty short thin weak".split()
OF_STUFF = "hard thick tough large dry frozen wide solid strong".split()
OF_LAMP = "dim weak faint small old dirty cheap".split()
OF_ROOM = "large dark big wide huge long high".split()
OF_LIFTER = "weak small old slow broken damaged light".split()
OF_PEER = "rude dishonest noisy strange boring dangerous cruel unreliable unfriendly mean".split()
OF_PEERS_JUDGE = "jealous proud shy selfish suspicious stubborn busy impatient timid angry".split()
OF_BED = "hard cold wet noisy narrow short dirty soft damp small bright".split()
OF_BRANCH = "thin weak wet short icy rotten slippery loose".split()
TOO_LARGE = "big large thick tall huge fat wide long enormous bulky".split()  # for where it should have gone
TOO_SMALL = "small tiny narrow short full little tight shallow".split()  # for what should have gone in

BEFORE_NOUN = """old young little black white brown red blue green new big small beautiful grey yellow lovely strange nice
friendly huge tiny poor clever pretty tall fat thin wild quiet famous favourite happy""".split()
COLOURS = "red blue green yellow black white brown grey pink orange purple dark light bright".split()
STATES = """rusty old new clean dirty ready here there good bad cheap gone lost safe empty heavy cold big small broken wet
dry warm beautiful ugly expensive important useful famous missing strange dangerous quiet full late free""".split()
PERSONAL = """happy sad angry tired hungry late ill sick busy ready rich poor young old kind clever friendly famous brave
afraid alone nervous bored lonely lucky proud sorry strong tall weak nice polite rude funny shy healthy married calm
honest serious surprised worried excited pleased careful lazy crazy pregnant quiet thirsty cold hungry wrong right sure glad
grateful intelligent able unable dead stuck""".split()
OF_THINGS = """new old big small good bad nice beautiful ugly cheap expensive heavy light clean dirty broken empty full red blue
green black white long short wide thin thick soft hard warm cold hot dry wet sharp round square flat modern
simple strange useful interesting important large little wooden sweet fresh loud quiet""".split()
ABSTRACT = """good bad great terrible wonderful simple easy difficult important interesting strange boring funny possible
impossible true false clear dangerous perfect main real special certain common whole next last first second third same
different other own wrong short long excellent amazing awesome serious silly""".split()
COMPARED = """big small tall short old young fast slow strong weak clever heavy light long rich poor cheap happy sad nice
cold warm hot dark bright high low hard soft good bad large near deep wide loud quiet early late kind safe
""".split()
MORE = "beautiful expensive important interesting dangerous difficult famous careful useful popular comfortable".split()

MANNER = """quickly slowly carefully quietly loudly happily sadly suddenly easily badly well together alone again gently
angrily politely hard fast early late secretly actually probably especially completely
exactly certainly""".split()
OFTEN = "always often sometimes usually never rarely still already just also really almost only even".split()
WHEN = """yesterday|today|tomorrow|now|last week|last night|last year|this morning|in the morning|in the evening|at night|on
monday|on friday|on sunday|every day|every week|all day|two days ago|a year ago|a long time ago|after lunch|before dinner|at
the weekend|in summer|in winter|once|twice|soon|later|next week|next year|tonight|at home|at once|for an hour|for two
years|in the afternoon|in may|at midnight|at noon|long ago|recently""".replace("\n", " ").split("|")
DEGREE = "very so too quite really rather extremely".split()
OPENING = """yesterday|today|in the morning|in the evening|at night|last week|one day|suddenly|fortunately|of course|however|at
first|in the end|last night|last year|perhaps|unfortunately|finally|well|yes|no|after lunch|on monday|this
time""".replace("\n", " ").split("|")
