"""Nouns, names, adjectives and verbs that are not whole in the vocabulary: they are read in pieces.

TRAINED stand in a share of the sentences of the training, KEPT_OUT in none: how the model reads them is measured.
"""

TRAINED = {
    "person": """accountant acrobat archer architect athlete banker beekeeper biologist blacksmith bricklayer burglar carer
cellist champion chemist commander composer conductor councillor courier critic dealer diver economist editor electrician
emperor envoy fiddler firefighter florist footballer foreman geologist goalkeeper governor guardian hairdresser harpist herald
historian hostess inspector inventor jeweller jockey juggler juror landlord lecturer lifeguard locksmith lumberjack
merchant midwife miner missionary neurologist novelist nomad optician orphan outlaw parachutist peasant pharmacist physicist
pianist pickpocket pilgrim playwright potter preacher psychologist ranger referee refugee sculptor senator sergeant sheriff
skater smuggler sprinter squire statesman surgeon surveyor trader translator trumpeter undertaker vet violinist volunteer
warrior weaver welder""",
    "animal": """alligator anteater antelope armadillo baboon beaver bison boar buffalo budgie canary caribou cheetah chimpanzee
chipmunk cobra cougar cockatoo coyote cuckoo dingo dragon eel falcon ferret flamingo gazelle gecko gerbil giraffe
gnu gorilla grizzly gull hare hawk heron hippo hyena ibex iguana jackal jaguar jellyfish koala lemur llama lobster lynx mackerel
magpie mare marmot mongoose moose mule newt nightingale opossum orangutan oryx ostrich panther peacock pelican pheasant piranha
platypus polecat poodle porcupine puma python quail raccoon raven reindeer rhino robin rottweiler salamander scorpion shrew skunk
sloth stallion stork swallow tapir terrier tortoise trout vulture walrus weasel wombat woodpecker yak""",
    "place": """bazaar boulevard bypass causeway cemetery churchyard clearing cobblestones courtyard creek crossroads
driveway embankment estuary footbridge footpath gorge grove gully heath highway hillside junction lagoon marsh moorland
oasis overpass parade pavement piazza plateau precinct promenade quarry ravine ridge roundabout savannah shipyard
sidewalk steppe strait subway thicket trail trench tundra viaduct walkway waterfront wilderness woodland""",
    "building": """abbey aquarium arcade bungalow cabin casino chalet chapel clinic courthouse cowshed dungeon fortress gallery
hangar hostel igloo kindergarten laboratory mansion monastery mosque nursery observatory pavilion penthouse
skyscraper synagogue tavern townhall villa warehouse windmill workshop""",
    "thing": """accordion album anchor antenna ashtray banjo binder bracelet buckle calculator calendar charger chisel
clarinet clipboard compass corkscrew crown crystal cylinder dagger disc drumstick earring eraser faucet feather figurine
folder frisbee funnel gadget harmonica headphone hairpin hinge hourglass jigsaw joystick keyboard leaflet locket
loudspeaker magnet mandolin marble medal microphone microscope monitor mug napkin paintbrush paperclip parasol pebble pendant
periscope pincushion postcard poster projector puppet racket receipt ribbon ruby saddle saucepan saxophone scroll
sculpture skateboard sketchbook sledge snowball souvenir sponge stapler stethoscope tablet tambourine telescope thermometer
thimble toolbox toothbrush tripod trombone tweezer typewriter ukulele vacuum webcam wheelbarrow xylophone zipper""",
    "container": """bathtub briefcase bunker canister carton casket cooler crib dishpan dustbin handbag
hamper holdall incubator locker mailbox minibus pouch rucksack satchel shoebox sleeve toolbag tub vat waggon
wheelie""",
    "food": """almond apricot artichoke asparagus aubergine avocado bagel blackberry blueberry broccoli brownie burrito cashew
cauliflower celery chestnut coconut croissant crumpet custard dumpling falafel fig fritter gherkin gooseberry grapefruit hazelnut
kebab kiwi lasagne leek lentil lettuce lime macaroon meatball muffin nectarine nugget papaya parsnip peanut pickle pineapple
pistachio popcorn pretzel prune pudding pumpkin quiche radish raisin raspberry ravioli rhubarb risotto satsuma scone
sorbet spinach sprout sushi tart toffee truffle turnip waffle walnut watermelon""",
    "clothes": """anorak beret bikini bonnet cape cloak corset dungaree fleece gown hoodie kilt kimono leotard
mitten nightgown overcoat pinafore poncho pullover robe sari sarong shawl smock sombrero stocking sweatshirt swimsuit trainer
tunic turban tuxedo veil vest waistcoat""",
    "name": """agatha albert alfred amelia angus antonia arthur beatrice benedict bernard bridget cecilia clement conrad daphne
dominic dorothy edgar edith edmund eleanor ernest esther evelyn felicity ferdinand flora gareth geoffrey gerald gertrude gilbert gloria
gordon gregory gwen harriet hector herbert horace hugo imogen ingrid isaac isabel ivan jasmine jeremy jessica joanna jonathan josephine
katherine keith kenneth leonard lionel lorna lydia mabel magnus malcolm marcus margaret marjorie matilda maurice mildred miranda
miriam monica morgan nathan nigel norman ophelia oswald pamela percy phoebe prudence quentin ralph raymond reginald roderick roger
rosemary rupert sebastian serena sheila sidney stella stuart sylvia teresa theodore timothy ursula vanessa vernon veronica violet
vivian walter wendy wilfred winston yvonne""",
    "quality": """absurd agile ancient arrogant awkward bald barren blurred brisk brittle brutal chubby chilly cosy crooked
curious dainty daring defective dreadful dreary elderly elegant exotic faithful fancy filthy flashy flimsy frantic
frosty gallant gigantic glorious graceful grim grotesque grumpy handsome hasty hideous hollow idle immense jolly keen lively lofty
mellow messy mighty mysterious naughty neat obedient odd orderly pale peaceful picturesque playful plump precious puzzled quaint
ragged rapid rare reliable ridiculous robust rotund shabby shaggy shiny silent skinny slender sleek sturdy sullen superb
swift tasty tranquil twisted vast vivid weary weird wicked witty wrinkled zany""",
    "past": """admired applauded approached borrowed chopped coloured comforted crushed decorated delivered demolished devoured
discovered dragged dusted embraced encountered examined fetched flattened gathered grilled guarded ignored injured inspected
invented knitted licked mended minded misplaced moistened nudged overturned peeled photographed poked polished
praised purchased rescued roasted rolled scattered scolded sketched smashed sniffed squashed swapped sliced
tickled tossed toppled unlocked unpacked unwrapped wiped""",
}
TRAINED = {kind: text.split() for kind, text in TRAINED.items()}

KEPT_OUT = {
    "person": """astronomer bodyguard caretaker choreographer diplomat explorer gladiator hiker janitor knitter librettist
mathematician navigator paramedic plasterer ringmaster seamstress stuntman tracker watchmaker""".split(),
    "animal": """aardvark albatross barracuda bloodhound capybara chameleon chinchilla cockroach dachshund dragonfly
dromedary firefly grasshopper groundhog hummingbird kingfisher labrador leech manatee meerkat narwhal ocelot pangolin
partridge puffin rattlesnake seagull stingray toucan wallaby warthog wildebeest""".split(),
    "place": """allotment backstreet boardwalk bridleway canyon catwalk fjord flyover hedgerow isthmus laneway mudflat orangery
parkland prairie rainforest riverbank sandbank snowfield towpath vale""".split(),
    "thing": """abacus amulet bagpipe barometer bookmark boomerang chessboard cufflink dumbbell easel flowerpot gramophone
hairdryer inkwell kaleidoscope lampshade metronome notepad paintbox pinwheel rattle snowglobe sundial teacup
trinket turntable""".split(),
    "container": """breadbin caravan cauldron crockpot gondola haversack icebox jewelbox lunchbox matchbox minivan
pantry strongbox washtub""".split(),
    "food": """anchovy beetroot cheesecake clementine cranberry doughnut flapjack gingerbread haggis hotpot
kumquat mandarin marshmallow moussaka oatcake omelet persimmon pomegranate quince shortbread tangerine tiramisu""".split(),
    "clothes": "bathrobe blazer camisole cravat headscarf jumpsuit loafer moccasin parka petticoat snood tracksuit".split(),
    "name": """abigail bartholomew cordelia desmond eugenia fabian georgina humphrey isadora jacinta leopold marigold
nathaniel octavia penelope rosalind solomon tabitha wilhelmina zachary""".split(),
}
