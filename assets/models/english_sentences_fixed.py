"""Sentences that many people know or try first, with holes: {person}, {animal}, {thing}, {food}, {place}, {name}, {job} …"""

import re

from english_words import *

FIXED = """the quick brown fox jumps over the lazy dog .
the cat sat on the mat .
the {animal} sat on the {furniture} .
hello world !
hello , my name is {name} .
hi , how are you ?
i am fine , thank you .
my name is {name} and i live in {town} .
what is your name ?
where are you from ?
i come from {town} .
how old are you ?
i am {number} years old .
what time is it ?
it is {number} o ' clock .
good morning , {name} !
good night .
see you tomorrow .
thank you very much for the {thing} .
it is raining today .
the sun is shining and the sky is blue .
the weather is {weather} today .
it was a dark and stormy night .
once upon a time there was a {person} who lived in a {building} .
to be or not to be , that is the question .
all you need is love .
time flies like an arrow , fruit flies like a banana .
attention is all you need .
i think , therefore i am .
a picture is worth a thousand words .
an apple a day keeps the doctor away .
the early bird catches the worm .
i would like a cup of {drink} , please .
i have two {animals} and a {animal} .
there are {number} {animals} in the {place} .
the {person} and the {person} are friends .
she sells sea shells by the sea shore .
how much is the {thing} ?
the capital of {country} is {town} .
i speak english and a little {language} .
do you speak {language} ?
happy birthday , {name} !
i love you .
we are going to {town} next week .
the train leaves at {number} o ' clock .
my favourite {subject} is {other} .
a neural network learns from examples .
the model reads each word and looks at the other words .
a language model predicts the next word .
the transformer uses attention .
every head looks at other words .
computers can understand language .
artificial intelligence is very interesting .
this is a test .
the king and the queen live in a castle .
the man who sold the world .
if it rains tomorrow , we will stay at home .
if i had more money , i would buy a {vehicle} .
the more you learn , the more you know .
neither {name} nor {name} came .
both the {animal} and the {animal} are hungry .
he is not only clever but also kind .
i have lost my {thing} .
where did you put the {thing} ?
the {thing} is on the {furniture} .
the {thing} does not work any more .
{name} is taller than {name} .
{name} and {name} went to the {building} .
{name} gave {name} a {thing} .
{name} ' s {kin} is a {job} .
my {kin} ' s {thing} is {colour} .
the {animal} ' s {body} is {colour} .
the {person} ' s {thing} was stolen .
the bank of the river is steep .
i went to the bank to get some money .
she plays the {music} and he plays {game} .
let ' s play {game} !
on {day} we have {subject} .
my birthday is in {month} .
in {season} the days are long .
twenty euros , please .
it costs £ {number} .
i can ' t believe it !
what a beautiful day !
oh no , the {thing} is broken !
you should drink more {drink} .
don ' t forget your {thing} .
we watched a film about a {animal} .
i read a book about {country} .
people say that {animals} are clever .
he has {number} brothers and {number} sisters .
the trophy did not fit in the suitcase because it was too big .
i don ' t like {food} because it is too {taste} .
the {job} helped the {person} because she was kind .
the children are playing in the {place} .
water is wet and fire is hot .
dogs are better than cats .
who let the dogs out ?
how much did the {thing} cost ?
my parents opened the windows and closed the doors .
my {friend} is {quality} .
i met my {friend} on the internet .
the {part} of the {thing} is {colour} .
the {animal} is at the {part} of the {place} .
{name} is {nation} and {name} is {nation} .
she has {number} {money} in her bag .
the {building} is {number} {measure} away .
i wrote the code in a file and put it on my pc .
he looked at the screen and searched the website for a video .
mom and dad watch tv with the kids at christmas and at easter .
those guys are {quality} , aren ' t they ?
of course you can , but do it yourself .
we could see the moon and the stars above the planet .
god knows what they are doing .
see you later , bye !
mr {name} and mrs {name} are not at home .
i cannot come because i have to work tomorrow .
what is done is done .
they have never been to {country} , have they ?
it doesn ' t matter whether you win or lose .
the {nth} of {month} is a {day} .
the input of a network is a list of numbers , and so is the output .
the data are used for machine learning .
that is more than enough , thank you .
nothing else matters .
she has been waiting for half an hour .
he was born in {month} .
is anybody there ? no , nobody .
it is the least that i can do .
let us go then , you and i .""".splitlines()

HOLES = {"person": PERSONS, "animal": ANIMALS, "thing": THINGS, "food": FOODS + STUFFS, "place": PLACES, "name": NAMES, "job": EITHER,
         "building": BUILDINGS, "furniture": FURNITURE, "drink": DRINKS, "animals": [NOUNS[animal] for animal in ANIMALS],
         "town": TOWNS, "country": TOWNS[-15:], "number": NUMBERS[2:13] + list("23456789") + ["10", "12", "20"], "vehicle": VEHICLES,
         "colour": COLOURS, "weather": "good bad nice cold warm hot terrible lovely wet fine".split(),
         "subject": SUBJECTS, "other": SUBJECTS,
         "language": SUBJECTS[:3] + "spanish italian chinese russian japanese".split(), "kin": HE[3:9] + SHE[3:9], "body": BODY,
         "music": MUSIC,
         "game": GAMES, "day": DAYS, "month": MONTHS, "season": SEASONS, "taste": OF_FOOD[:6],
         "friend": ["girlfriend", "boyfriend", "best friend"],
         "quality": PERSONAL, "part": "top bottom middle front back side end".split(), "nth": NUMBERS[-6:],
         "nation": "british american english french german spanish italian chinese russian european indian japanese".split(),
         "money": "euros dollars pounds euro".split(), "measure": "metres kilometres miles minutes".split()}


def filled(rng, text):
    return re.sub(r"\{(\w+)\}", lambda hole: rng.choice(HOLES[hole[1]]), text)
