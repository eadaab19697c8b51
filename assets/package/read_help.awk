# Reads the help of the program and of its commands (make_from_help.sh) into tables, for one of write_*.awk, whose END writes them.
#
# first_line, version, examples, exit_status, command[1 … commands]
# Of a command c: what[c], usage[c], examples_of[c], and its rows r = 1 … rows[c], positional arguments first:
#   option[c,r]   "--output", or "" for a positional argument     letter[c,r]   "-o" or ""
#   form[c,r]     how its value is written, "" for a flag         says[c,r]     what it is for
#   required, several, default_value, low, high, needs [c,r]      what the help shows of it
# and how its value is completed:
#   words[c,r]    the words that the help names, by spaces         commas[c,r]   whether several are joined by commas
#   lists[c,r]    the kinds of "headwise list", by spaces          assigns[c,r]  whether "=" follows a name of the list
#   files[c,r]    whether it may be a file or a folder

BEGIN {
  option_form = "^  (-[a-zA-Z],)?--[a-z][a-z0-9-]*( [^ ]+( in [[][0-9]+ - [0-9]+[]])?( [.][.][.])?)?( REQUIRED)?( Needs: [^ ]+)? *$"
  positional_form = "^  [A-Z]+ TEXT( [.][.][.])?( REQUIRED)? *$"
  name_columns = 30
}

/^@overview / { version = $3; part = "first"; current = ""; next }
/^@command / { current = $2; command[++commands] = current; rows[current] = 0; part = "what"; next }

current == "" && part == "first" { first_line = $0; part = "usage"; next }
current == "" && /^Examples:/ { part = "examples"; next }
current == "" && /^Exit status: / { part = "exit"; exit_status = substr($0, 14); next }
current == "" && part == "examples" && NF { examples = examples $0 "\n" }
current == "" && part == "exit" && NF { exit_status = exit_status " " $0 }
current == "" && part == "usage" && /^  headwise \[/ { opens = after_columns($0, 25); part = "opens"; next }
current == "" && part == "opens" && /^      / { opens = opens " " trimmed($0); next }
current == "" && (part == "usage" || part == "opens") && /^  headwise --/ {
  part = "usage"
  global[++globals] = $2
  global_says[globals] = after_columns($0, 25)
}
current == "" { next }

part == "what" { what[current] = $0; part = "usage"; next }
/^Usage: / { usage[current] = substr($0, 8); next }
/^Positionals:/ { part = "positionals"; next }
/^Options:/ { part = "options"; next }
/^Examples:/ { part = "examples"; next }
part == "examples" && NF { examples_of[current] = examples_of[current] $0 "\n"; next }
(part == "options" || part == "positionals") && /^  [^ ]/ { read_row($0); next }
(part == "options" || part == "positionals") && NF {
  says[current, rows[current]] = joined(says[current, rows[current]], trimmed($0))
}

function trimmed(text) { sub(/^ +/, "", text); sub(/ +$/, "", text); return text }
function joined(text, more) { return text == "" ? more : more == "" ? text : text " " more }
function after_columns(line, columns) { return trimmed(substr(line, columns)) }

# The name stands in the first columns and what it is for behind them; a longer name has a line of its own.
function read_row(line,    name, r, parts, count, i, c) {
  c = current
  r = ++rows[c]
  name = substr(line, 1, name_columns)
  if (!((name ~ option_form || name ~ positional_form) && (length(line) < name_columns || name ~ / $/))) name = line
  says[c, r] = trimmed(substr(line, length(name) + 1))
  if (name !~ option_form && name !~ positional_form) {
    printf "headwise: the help of %s has a line that is read neither as an option nor as an argument: %s\n", c, line > "/dev/stderr"
    failed = 1
    exit 1
  }
  if (match(name, / Needs: [^ ]+/)) { needs[c, r] = substr(name, RSTART + 8, RLENGTH - 8); sub(/ Needs: [^ ]+/, "", name) }
  if (sub(/ REQUIRED/, "", name)) required[c, r] = 1
  if (sub(/ [.][.][.]/, "", name)) several[c, r] = 1
  if (match(name, /:INT in [[][0-9]+ - [0-9]+[]]/)) {
    split(substr(name, RSTART + 9, RLENGTH - 10), parts, " - ")
    low[c, r] = parts[1]
    high[c, r] = parts[2]
    name = substr(name, 1, RSTART - 1) substr(name, RSTART + RLENGTH)
  }
  name = trimmed(name)
  count = split(name, parts, " ")
  if (name ~ /^-/) {
    option[c, r] = parts[1]
    if (parts[1] ~ /,/) { letter[c, r] = substr(parts[1], 1, 2); option[c, r] = substr(parts[1], 4) }
    form[c, r] = count > 1 ? parts[2] : ""
  } else {
    option[c, r] = ""
    form[c, r] = parts[1]
  }
  # NAME=png shows a default, PATH=VALUE a form.
  if (match(form[c, r], /=[^=A-Z]+$/)) {
    default_value[c, r] = substr(form[c, r], RSTART + 1)
    form[c, r] = substr(form[c, r], 1, RSTART - 1)
  }
}

# What of the help says which values there are.
function read_values(c, r,    text, parts, count, i, all) {
  text = says[c, r]
  all = text
  while (match(all, /headwise list [a-z]+/)) {
    lists[c, r] = joined(lists[c, r], substr(all, RSTART + 14, RLENGTH - 14))
    all = substr(all, RSTART + RLENGTH)
  }
  if (form[c, r] == "PATH=VALUE") { lists[c, r] = "settings"; assigns[c, r] = 1 }
  if (lists[c, r] == "" && form[c, r] == "NAME" && text ~ /these tensors/) lists[c, r] = "tensors"
  if (option[c, r] == "" || form[c, r] == "NAME") {
    if (text ~ /(name of a|: a) preset/) lists[c, r] = joined(lists[c, r], "presets")
    if (text ~ /(name of a|preset or) lesson/) lists[c, r] = joined(lists[c, r], "lessons")
  }
  if (form[c, r] ~ /FILE|FOLDER/ || (option[c, r] == "" && text ~ /file|folder/) || (form[c, r] == "NAME" && text ~ / a file/))
    files[c, r] = 1
  if (form[c, r] ~ /,/ || text ~ /: [a-z_]+,[a-z_]+$/) commas[c, r] = 1

  # H|all has a word among its forms; "f32 or f64" and "reference,fused,gl" are all that there is.
  count = split(form[c, r], parts, "|")
  for (i = 1; i <= count; ++i) if (parts[i] ~ /^[a-z]+$/) words[c, r] = joined(words[c, r], parts[i])
  if (words[c, r] != "" || lists[c, r] != "" || files[c, r]) return
  count = split(text, parts, /[;:] */)
  for (i = 1; i <= count; ++i) {
    if (parts[i] !~ /^([a-z0-9_-]+, )*[a-z0-9_-]+ or [a-z0-9_-]+$/ && parts[i] !~ /^[a-z]+(,[a-z]+)+$/) continue
    words[c, r] = parts[i]
    gsub(/,| or /, " ", words[c, r])
    gsub(/  +/, " ", words[c, r])
    return
  }
}

# The beginning of what is said, for a line of a menu.
function brief(text) {
  sub(/;.*/, "", text)
  sub(/ [(]see: .*/, "", text)
  return text
}

END {
  if (failed) exit 1
  for (i = 1; i <= commands; ++i) for (r = 1; r <= rows[command[i]]; ++r) if (form[command[i], r] != "") read_values(command[i], r)
}
