"""Verbs by what they go with. "look_at" is "look at"; english_words_forms.py makes the forms."""

from english_words_beings import ANIMALS, BABIES
from english_words_places import AREAS, BUILDINGS, HEIGHTS, ROOMS, STOPS, WATERS, WAYS
from english_words_things import (BODY, CLOTHES, CONTAINERS, DISHES, DRINKS, EVENTS, FEELINGS, FRUITS, FURNITURE, GAMES,
                                  IDEAS, MEALS, MUSIC, PLANTS, SHIPS, STUFFS, SUBJECTS, TASKS, TEXTS, THINGS, TOOLS, VEHICLES, WORKS)
from english_words_forms import verbs

# The verbs of the sentences about "it", in their first form.
VISIT = "cross enter visit reach leave".split()
WALK = "cross|enter|visit|reach|leave|walk along|drive along|use|explore|find|like".split("|")
GO_INSIDE = "enter|visit|leave|rent|buy|like|stay in|go into|clean|paint".split("|")
CLIMB = "climb|climb on|go up|jump from|reach|climb up".split("|")
HUNT = "chase|catch|bite|follow|fight|attack|kill|trust|scare|run after".split("|")
EAT = "eat taste finish want like".split()
COOK = "eat taste finish want cook buy order like try share".split()
DRINK = "drink taste finish want try like".split()
CARRY = "lift carry push move hold pull throw keep".split()
TAKE = "lift|carry|push|move|hold|pull|throw|keep|pick up|touch|drop|steal".split("|")
WEAR = "wear|buy|put on|like|wash|keep|want".split("|")
BUY = "buy|want|like|choose|keep|order|take|sell".split("|")
USE = "use|take|repair|hold|buy|clean".split("|")
READ = "read|finish|like|write|understand|publish|enjoy|copy".split("|")
DO_TASK = "finish|win|like|start|try|solve|pass|enjoy|manage".split("|")
WIN = "win|finish|lose|enjoy|start".split("|")
PLEASE = "please|amuse|interest|surprise|excite|impress|move".split("|")
DRIVE_OVER = "cross|use|reach|leave|drive along|climb|block|enter".split("|")
SAIL = "enter|leave|reach|cross|use".split("|")
SURVIVE = "survive|like|enjoy|stand".split("|")
CUT = "cut|damage|scratch|go through|open".split("|")
LIGHT_UP = "light|fill|light up|brighten".split("|")
LIFT = "lift|move|pull|carry|push|hold|raise".split("|")
MEET = "trust|like|help|invite|follow|believe|marry|hire|visit|answer|join|thank|forgive".split("|")
FIT_INTO = "fit into|fit in|go into|fit inside|fit under".split("|")
HIDE_IN = "fit into|get into|hide in|fit in|hide behind|squeeze into".split("|")
REST_ON = "sleep on|lie on|use|like|sit on|rest on|want".split("|")
PERCH = "land on|sit on|hold|reach|rest on|climb on".split("|")
VERBS_ABOUT_IT = (WALK, GO_INSIDE, CLIMB, HUNT, EAT, COOK, DRINK, CARRY, TAKE, WEAR, BUY, USE, READ, DO_TASK, WIN, PLEASE, DRIVE_OVER,
                  SAIL, SURVIVE, CUT, LIGHT_UP, LIFT, MEET, FIT_INTO, HIDE_IN, REST_ON, PERCH)

# Without an object: of persons, of animals, of things.
DO_PERSON = verbs("""laugh cry smile sleep wait work walk run dance sing swim talk speak think dream travel leave arrive fall
wake_up get_up sit_down stand_up come_back go_home go_away come_home stay_at_home fall_asleep read write cook study play rest
shout whisper listen help live die win lose relax exercise jog complain sneeze cough get_married go_out come_in go_to_bed go_to_work
go_to_school calm_down grow_up give_up get_lost turn_around lie_down hurry agree disagree understand forget remember drive swear""")
DO_ANIMAL = verbs("""sleep eat run jump hide swim bark wait rest fall die drink play escape wake_up run_away fly_away lie_down sit_down
come_back bite""")
DO_THING = verbs("""cost_money break fall stop work start burn disappear change happen move open close grow shine stink melt freeze
fall_down float sink ring arrive explode leak rust""")
# With an object: (verbs, what they go with).
OBJECTS_OF = [
    (verbs("eat cook taste like love hate buy order share want bring finish"), FRUITS + DISHES),
    (verbs("eat make buy like love hate sell need bring taste smell"), STUFFS),
    (verbs("drink like love buy spill order pour want make hate"), DRINKS),
    (verbs("eat cook make have miss prepare"), MEALS),
    (verbs("""buy find lose break see take bring want have need drop clean sell hold carry hide like steal forget leave show use
keep throw put_down pick_up look_at look_for repair draw pack touch collect"""), THINGS + TOOLS + FURNITURE),
    (verbs("open close fill empty carry pack lock check shut paint move"), CONTAINERS),
    (verbs("wear buy wash iron lose like choose need put_on take_off sew try_on"), CLOTHES),
    (verbs("drive buy repair sell park wash see steal hear wait_for paint own rent"), VEHICLES + SHIPS),
    (verbs("see feed chase catch hear love like watch own keep ride follow find save kill hunt stroke train bite"), ANIMALS),
    (verbs("visit enter leave see build clean paint like own find open sell buy rent"), BUILDINGS),
    (verbs("clean paint leave enter heat tidy"), ROOMS),
    (verbs("cross visit see reach like leave find explore love"), WAYS + AREAS + WATERS + STOPS),
    (verbs("climb see reach paint jump_over"), HEIGHTS),
    (verbs("plant water cut grow see like smell pick"), PLANTS),
    (verbs("read write finish send understand like publish burn print copy translate receive"), TEXTS),
    (verbs("see watch hear like enjoy remember love hate miss"), WORKS + EVENTS),
    (verbs("finish win lose start begin solve enjoy fail pass avoid"), TASKS),
    (verbs("play like love watch enjoy hate"), GAMES + MUSIC),
    (verbs("teach learn study like love hate speak"), SUBJECTS),
    (verbs("have know tell understand explain forget remember like change need see find believe ask discuss describe accept"), IDEAS),
    (verbs("wash hurt break touch open close shake cut move show lose"), BODY),
    (verbs("need feel have want lose find deserve show"), FEELINGS),
]
TO_PERSON = verbs("""see meet know help love like hate thank ask visit call invite follow watch hear kiss hug trust miss teach marry
wait_for look_at talk_to listen_to laugh_at work_for live_with play_with believe remember save hit push find forget
greet blame surprise""")
GIFTS = "gave sent showed sold lent brought offered handed threw passed".split()
GIVE = verbs("give send show sell lend bring offer hand pass throw promise read teach tell")
SAYING = verbs("say think know believe hope feel hear forget see dream guess notice explain promise swear claim admit")
WANT_TO = verbs("want try like need decide forget hope love plan learn begin start refuse promise hate agree prefer")
ENJOY = verbs("enjoy stop love hate finish start like keep")
ACTIVITY = verbs("""eat drink sleep read write sing dance swim cook work play run walk travel talk shop study paint draw drive ride
ski cycle climb dream""")
GO = verbs("go walk run drive come travel fly swim ride return hurry move cycle sail get jump march")
BE_AT = verbs("live work wait stay sleep sit stand play eat study hide stop rest lie meet")
LINK = verbs("be look seem become get feel sound stay remain")
PUT = verbs("put leave hide keep place drop lay find forget lose throw")
MODALS = "can could will would should must may might".split()

AGREEING = [("is", "are"), ("was", "were"), ("has been", "have been"), ("seems", "seem"), ("looks", "look"),
            ("remains", "remain")]
LIKING = [("likes", "like"), ("sees", "see"), ("wants", "want"), ("knows", "know"), ("needs", "need")]
BESIDE = "to near behind on under beside with in above below by at".split()
AFTER_SUBJECT = "slept|rested|waited|went home|sat down|stayed there|went away|fell asleep".split("|")
AFTER_PLACE = "stayed empty|stayed quiet|was closed".split("|")
ABOUT = """we talked about|everyone looked at|nobody liked|they told us about|i drew|we laughed about|i wrote about|she asked
about|he remembered|nobody helped|we forgot|i dreamed of|people complained about|they saw""".replace("\n", " ").split("|")
WENT = "went to|came to|walked to|met in|were in|arrived at|drove to|waited in|talked in".split("|")
LIVING_ONLY = ANIMALS + BABIES
