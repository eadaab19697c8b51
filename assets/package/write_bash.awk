# The completion of bash, from the tables of read_help.awk. It needs nothing but bash; what can be listed is asked of the program.

function values_of(c, r,    does) {
  if (words[c, r] != "") does = joined(does, "_headwise_offer " (commas[c, r] ? "," : "''") " " words[c, r] ";")
  if (lists[c, r] != "") does = joined(does, "_headwise_listed " (commas[c, r] ? "," : assigns[c, r] ? "=" : "''") " " lists[c, r] ";")
  if (files[c, r]) does = joined(does, "_headwise_files;")
  return does == "" ? ":;" : does
}

END {
  if (failed) exit 1
  print "# bash completion of headwise, made from the program's own help."
  print "_headwise_offer() {  # '' or what stands between or behind the words, the words"
  print "  local mark=$1 word before="
  print "  shift"
  print "  if [[ $mark == , && $cur == *,* ]]; then before=${cur%,*},; fi"
  print "  for word in \"$@\"; do"
  print "    [[ $mark == '=' ]] && word+=$mark"
  print "    [[ $before$word == \"$cur\"* ]] && COMPREPLY+=(\"$before$word\")"
  print "  done"
  print "  if [[ $mark == '=' ]]; then compopt -o nospace 2>/dev/null; fi"
  print "}"
  print "_headwise_listed() {  # '' or the mark, the kinds that headwise list knows"
  print "  local mark=$1 kind name rest names=()"
  print "  shift"
  print "  for kind in \"$@\"; do"
  print "    while read -r name rest; do names+=(\"$name\"); done < <(\"$program\" list \"$kind\" 2>/dev/null)"
  print "  done"
  print "  _headwise_offer \"$mark\" \"${names[@]}\""
  print "}"
  print "_headwise_files() {"
  print "  local name"
  print "  compopt -o filenames 2>/dev/null"
  print "  while IFS= read -r name; do COMPREPLY+=(\"$name\"); done < <(compgen -f -- \"$cur\")"
  print "}"
  print "_headwise() {"
  print "  local program=$1 cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD - 1]} command=${COMP_WORDS[1]}"
  print "  local options= valued= given=0 i word"
  print "  COMPREPLY=()"
  print "  if ((COMP_CWORD == 1)); then"
  print "    if [[ $cur == -* ]]; then"
  all = ""
  for (i = 1; i <= globals; ++i) all = joined(all, global[i])
  print "      _headwise_offer '' " all
  print "    else"
  all = ""
  for (i = 1; i <= commands; ++i) all = joined(all, command[i])
  print "      _headwise_offer '' " all " help"
  print "      _headwise_files"
  print "    fi"
  print "    return"
  print "  fi"
  print "  # bash makes words of their own of = and :, in --tensor=NAME, PATH=VALUE and LO:HI."
  print "  if [[ $cur == : || $option == : ]]; then return; fi"
  print "  if [[ $cur == '=' ]]; then"
  print "    cur="
  print "    [[ $option == --* ]] || return"
  print "  elif [[ $option == '=' ]]; then"
  print "    option=${COMP_WORDS[COMP_CWORD - 2]}"
  print "    [[ $option == --* ]] || return"
  print "  fi"
  print "  case $command in"
  print "    help) if ((COMP_CWORD == 2)); then _headwise_offer '' " all "; fi; return ;;"
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    all = valued = ""
    for (r = 1; r <= rows[c]; ++r) if (option[c, r] != "") {
      all = joined(all, option[c, r])
      if (form[c, r] != "") valued = joined(joined(valued, letter[c, r]), option[c, r])
    }
    print "    " c ")"
    print "      options='" all "'"
    print "      valued='" valued "' ;;"
  }
  print "    *) return ;;"
  print "  esac"
  print "  case $command\\ $option in"
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    for (r = 1; r <= rows[c]; ++r) if (option[c, r] != "" && form[c, r] != "")
      print "    " c "\\ " option[c, r] (letter[c, r] == "" ? "" : "|" c "\\ " letter[c, r]) ") " values_of(c, r) " return ;;"
  }
  print "  esac"
  print "  if [[ $cur == -* ]]; then"
  print "    _headwise_offer '' $options"
  print "    return"
  print "  fi"
  print "  for ((i = 2; i < COMP_CWORD; ++i)); do"
  print "    word=${COMP_WORDS[i]}"
  print "    if [[ \" $valued \" == *\" $word \"* ]]; then"
  print "      if [[ ${COMP_WORDS[i + 1]} != '=' ]]; then i=$((i + 1)); fi"
  print "    elif [[ $word != -?* ]]; then"
  print "      given=$((given + 1))"
  print "    fi"
  print "    while [[ ${COMP_WORDS[i + 1]} == [=:] ]]; do i=$((i + 2)); done"
  print "  done"
  print "  case $command\\ $given in"
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    n = 0
    for (r = 1; r <= rows[c]; ++r) if (option[c, r] == "") {
      print "    " c "\\ " (several[c, r] ? "*" : n++) ") " values_of(c, r) " return ;;"
    }
  }
  print "  esac"
  print "}"
  print "complete -F _headwise headwise"
}
