# The completion of zsh, from the tables of read_help.awk.

# In single quotes, within the marks of _arguments.
function quoted(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/:/, "\\:", text)
  gsub(/\[/, "\\[", text)
  gsub(/\]/, "\\]", text)
  gsub(/'/, "'\\''", text)
  return text
}
function values_of(c, r,    does, marks) {
  marks = commas[c, r] ? "," : assigns[c, r] ? "=" : "-"
  if (words[c, r] != "") does = joined(does, "_headwise_offer " marks " " words[c, r] ";")
  if (lists[c, r] != "") does = joined(does, "_headwise_listed " marks " " lists[c, r] ";")
  if (files[c, r]) does = joined(does, "_files;")
  return does == "" ? " " : "{" does "}"
}
function spec(c, r,    names, text) {
  text = quoted(form[c, r])
  if (option[c, r] == "") return (several[c, r] ? "'*:" : "':") text ":" values_of(c, r) "'"
  names = option[c, r]
  text = "'[" quoted(brief(says[c, r])) "]" (form[c, r] == "" ? "" : ":" text ":" values_of(c, r)) "'"
  if (several[c, r]) return "'*'" (letter[c, r] == "" ? names : "{" letter[c, r] "," names "}") text
  if (letter[c, r] == "") return names text
  return "'(" letter[c, r] " " names ")'{" letter[c, r] "," names "}" text
}

END {
  if (failed) exit 1
  print "#compdef headwise"
  print "# Made from the program's own help."
  print "_headwise_offer() {  # - or what stands between or behind the words, the words"
  print "  local mark=$1"
  print "  shift"
  print "  case $mark in"
  print "    ,) compset -P '*,'; compadd -- $@ ;;"
  print "    =) compset -P '*=' || compadd -S = -- $@ ;;"
  print "    *) compadd -- $@ ;;"
  print "  esac"
  print "}"
  print "_headwise_listed() {  # - or the mark, the kinds that headwise list knows"
  print "  local mark=$1 kind"
  print "  local -a names"
  print "  shift"
  print "  for kind in $@; do"
  print "    names+=(${${(f)\"$(_call_program headwise-$kind headwise list $kind 2>/dev/null)\"}%% *})"
  print "  done"
  print "  _headwise_offer $mark $names"
  print "}"
  print "_headwise_commands() {"
  print "  local -a known"
  print "  known=("
  for (i = 1; i <= commands; ++i) print "    '" command[i] ":" quoted(what[command[i]]) "'"
  print "  )"
  print "  _describe -t commands command known"
  print "}"
  print "_headwise() {"
  print "  local curcontext=$curcontext state line"
  print "  typeset -A opt_args"
  print "  _arguments -C \\"
  for (i = 1; i <= globals; ++i) print "    '(- *)" global[i] "[" quoted(brief(global_says[i])) "]' \\"
  print "    '1:command or file:{_headwise_commands; _headwise_offer - help; _files}' \\"
  print "    '*:: :->rest' && return"
  print "  [[ $state == rest ]] || return"
  print "  case $words[1] in"
  print "    help) _arguments '1:command:_headwise_commands' ;;"
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    print "    " c ")"
    printf "      _arguments"
    for (r = 1; r <= rows[c]; ++r) printf " \\\n        %s", spec(c, r)
    print " ;;"
  }
  print "  esac"
  print "}"
  print "_headwise \"$@\""
}
