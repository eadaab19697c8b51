# headwise.1, from the tables of read_help.awk.

function roff(text) {
  gsub(/\\/, "\\e", text)
  gsub(/-/, "\\-", text)
  if (text ~ /^[.']/) text = "\\&" text
  return text
}
function bold(text) { return "\\fB" roff(text) "\\fR" }
function italic(text) { return "\\fI" roff(text) "\\fR" }
function code(text,    lines, count, i) {
  print ".PP\n.nf"
  count = split(text, lines, "\n")
  for (i = 1; i < count; ++i) print roff(lines[i])
  print ".fi"
}
function sentence(text) {
  if (text == "") return ""
  return text ~ /[.]$/ ? text : text "."
}

END {
  if (failed) exit 1
  purpose = first_line
  sub(/^Headwise: /, "", purpose)
  sub(/[.]$/, "", purpose)
  print "'\\\" -*- coding: UTF-8 -*-"
  print ".\\\" Made from the program's own help by assets/package/make_from_help.sh."
  print ".TH HEADWISE 1 \"\" \"headwise " version "\" \"User Commands\""
  print ".nh\n.ad l"
  print ".SH NAME\nheadwise \\- " roff(purpose)
  print ".SH SYNOPSIS"
  print ".B headwise\n.RI [ FILE | FOLDER ]\n.br\n.B headwise\n.I COMMAND\n.RI [ OPTIONS ]\n.RI [ ARGUMENT ]"
  print ".SH DESCRIPTION\nWithout a command:\n.TP\n.BR headwise \" [\" \\fIFILE\\fR | \\fIFOLDER\\fR ]\n" roff(sentence(opens))
  print ".SH OPTIONS"
  for (i = 1; i <= globals; ++i) print ".TP\n" bold(global[i]) "\n" roff(sentence(global_says[i]))
  print ".SH COMMANDS"
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    print ".SS " c "\n" roff(sentence(what[c])) "\n.PP\n" bold("headwise " c) italic(substr(usage[c], length("headwise " c) + 1))
    for (r = 1; r <= rows[c]; ++r) {
      tag = letter[c, r] == "" ? "" : bold(letter[c, r]) ", "
      if (option[c, r] != "") tag = tag bold(option[c, r])
      if (form[c, r] != "") tag = tag (tag == "" ? "" : " ") italic(form[c, r])
      if (several[c, r]) tag = tag " ..."
      text = sentence(says[c, r])
      if (low[c, r] != "") text = text " From " low[c, r] " to " high[c, r] "."
      if (default_value[c, r] != "") text = text " Default: " default_value[c, r] "."
      if (required[c, r]) text = text " Required."
      if (needs[c, r] != "") text = text " Needs " needs[c, r] "."
      print ".TP\n" tag "\n" roff(text)
    }
    if (examples_of[c] != "") { print ".PP\nExamples:"; code(examples_of[c]) }
  }
  print ".SH EXAMPLES"
  code(examples)
  print ".SH EXIT STATUS"
  count = split(exit_status, statuses, /; /)
  for (i = 1; i <= count; ++i) {
    at = index(statuses[i], " ")
    print ".TP\n" bold(substr(statuses[i], 1, at - 1)) "\n" roff(sentence(substr(statuses[i], at + 1)))
  }
}
