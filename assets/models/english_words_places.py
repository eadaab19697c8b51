"""Places and buildings."""

# "cross" and "walk along" go with all of WAYS, "enter" with all of AREAS, "climb" with all of HEIGHTS.
WAYS = """street road river bridge path canal track motorway railway stream alley lane avenue bay border crossing""".split()
AREAS = """field garden forest valley park yard beach tunnel lake square market desert meadow swamp jungle island cave wood
orchard playground harbour village town city district camp zoo farm vineyard ditch pond moor glacier puddle""".split()
HEIGHTS = "hill mountain wall tower tree ladder fence roof cliff rock slope mast pole staircase dune volcano".split()
BUILDINGS = """house school church hospital hotel restaurant shop library museum station airport theatre cinema castle palace
factory office bank prison hut barn garage temple stadium cottage cafe pub bakery supermarket university college
lighthouse mill farmhouse tent stable gym bar court kitchen bathroom bedroom cellar attic hall classroom balcony
corridor lift study shed greenhouse""".split()
ROOMS = "kitchen bathroom bedroom cellar attic hall classroom balcony corridor garage room office study".split()
WATERS = "river lake sea ocean stream pool canal pond bay channel".split()
# Where a ship goes in.
HARBOURS = "harbour canal bay lock river channel port".split()
REGIONS = "country world coast sea ocean sky earth land area region county capital corner centre edge ground floor".split()
STOPS = "bus stop|front door|city centre|train station|post office|swimming pool|car park|living room".split("|")
PLACES = list(dict.fromkeys(WAYS + AREAS))
