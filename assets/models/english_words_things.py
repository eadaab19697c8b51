"""Things of all sorts; a noun stands in one list or more."""

SMALL_THINGS = """key book ball lamp cup plate clock hat shoe picture trophy letter vase toy drum phone camera watch pen pencil
bottle glass bowl spoon fork knife candle mirror brush comb towel pillow blanket umbrella doll kite ring necklace coin
ticket stamp newspaper magazine map photo card envelope parcel present stone brick stick rope chain nail needle button
battery torch radio laptop notebook diary dictionary novel helmet flag bell trumpet violin flute statue jar tin pot
pan kettle teapot jug basin tray basket bag wallet purse""".split()
FURNITURE = """window door chair table desk sofa bed shelf wardrobe bench stool armchair carpet curtain cradle mattress cushion piano
television fridge oven stove heater bath sink toilet""".split()
THINGS = SMALL_THINGS + "guitar coat chair cello harp".split()
CONTAINERS = """cabinet box bag suitcase drawer basket car boat room cupboard van chest pocket trunk case crate jar bucket
backpack barrel pot sack wardrobe safe bin bottle envelope shed garage cage bowl""".split()
CLOTHES = """coat hat shirt dress skirt jacket jumper sweater tie suit scarf glove boot shoe sock belt blouse cap
uniform raincoat costume apron helmet mask cardigan slipper sandal""".split()
PAIRS = "trousers jeans glasses scissors pyjamas shorts".split()  # always plural
TOOLS = """hammer saw drill axe spade shovel rake ladder rope knife needle brush broom mop screwdriver wrench pump lever
hook net scale ruler spoon""".split()
CUTTING = "knife saw axe blade sword razor".split()
MACHINES = """machine computer engine robot printer crane tractor fridge oven heater radio television
phone dishwasher lawnmower""".split()
LAMPS = "lamp candle torch lantern fire bulb".split()
LIFTERS = "machine crane robot tractor engine truck".split()
VEHICLES = """car bus truck train bicycle bike motorbike van taxi tractor lorry tram ambulance carriage cart scooter
wagon""".split()
SHIPS = "ship boat ferry yacht canoe raft submarine".split()
AIRCRAFT = "plane helicopter balloon rocket".split()
PLANTS = "tree plant flower rose bush tulip oak seed vine cactus daisy lily pine".split()
PARTS_OF_PLANTS = "leaf branch root trunk twig stem".split()
FRUITS = """apple pear berry carrot potato nut orange banana lemon plum peach cherry strawberry grape melon tomato onion
pepper bean pea mushroom cabbage cucumber olive mango""".split()
DISHES = """cake pie egg sandwich pizza burger sausage pancake biscuit cookie omelette steak roll bun salad stew sweet
noodle""".split()
STUFFS = """soup cheese bread fish meat rice pasta butter honey jam sugar salt chocolate porridge cream yoghurt ham chicken
bacon flour sauce curry food toast""".split()
DRINKS = "water milk tea coffee juice beer wine lemonade cocoa".split()
FOODS = FRUITS + DISHES + "soup cheese fish".split()
MEALS = "breakfast lunch dinner supper tea".split()
BODY = """head hair face eye ear nose mouth tooth tongue neck shoulder arm elbow hand finger thumb back chest stomach leg
knee foot toe skin heart brain bone tail wing nail lip beard""".split()
MATERIALS = """wood iron steel gold silver glass paper plastic wool cotton leather stone sand clay rubber silk dust smoke
oil petrol gas coal mud ice concrete""".split()
WEATHER = "rain snow wind fog sun storm thunder cloud frost sunshine".split()
HARDSHIPS = "winter storm drought flood fire frost journey voyage earthquake war summer".split()
TEXTS = """book letter story poem novel newspaper report article magazine message email diary essay text
contract""".split()
WORKS = "film song play story speech lesson concert book show joke game poem lecture dance".split()
TASKS = """exam test race match game puzzle question exercise project job task battle fight contest
competition""".split()
GAMES = "football tennis chess cards basketball hockey golf cricket".split()
MUSIC = "piano guitar violin flute trumpet drum".split()
SUBJECTS = "english french german maths history music art science geography physics chemistry biology".split()
EVENTS = """party wedding meeting concert trip holiday journey game match film lesson exam birthday festival funeral storm
war accident flood visit""".split()
TIMES = "day week month year morning evening night minute hour moment second weekend afternoon century".split()
SEASONS = "spring summer autumn winter".split()
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = "january february march april may june july august september october november december".split()
IDEAS = """sign idea plan question answer problem reason secret mistake dream story truth lie rule law word sentence name number
price place thing way part kind side end start change chance choice difference example fact goal habit joke job life
list memory news noise opinion order pain power promise result right sound size shape subject surprise thought voice
view wish language colour letter page line point model machine computer token layer head map weight user programme
paper""".split()
FEELINGS = """love hope fear anger joy sadness pride luck peace trouble courage hunger thirst pain shame friendship freedom
health happiness silence beauty death blood software traffic nature society culture
business energy space politics electricity time money work help information advice homework mail medicine""".split()
