# The completion of fish, from the tables of read_help.awk.

function quoted(text) {
  gsub(/\\/, "\\\\", text)
  gsub(/'/, "\\'", text)
  return "'" text "'"
}
function values_of(c, r,    does) {
  if (words[c, r] != "" && commas[c, r]) does = joined(does, "(__fish_complete_list , 'string split \" \" \"" words[c, r] "\"')")
  else if (words[c, r] != "") does = joined(does, words[c, r])
  if (lists[c, r] != "" && commas[c, r]) does = joined(does, "(__fish_complete_list , '__headwise_listed " lists[c, r] "')")
  else if (assigns[c, r]) does = joined(does, "(__headwise_listed " lists[c, r] ")=")
  else if (lists[c, r] != "") does = joined(does, "(__headwise_listed " lists[c, r] ")")
  return does == "" ? "" : " -a " quoted(does)
}

END {
  if (failed) exit 1
  print "# fish completion of headwise, made from the program's own help."
  print "function __headwise_listed"
  print "    for kind in $argv"
  print "        headwise list $kind 2>/dev/null | string replace -r ' .*' ''"
  print "    end"
  print "end"
  print "function __headwise_after"
  print "    set -l words (commandline -opc)"
  print "    test (count $words) -gt 1; and test \"$words[2]\" = $argv[1]"
  print "end"
  print "function __headwise_first"
  print "    test (count (commandline -opc)) -eq 1"
  print "end"
  for (i = 1; i <= globals; ++i)
    print "complete -c headwise -n __headwise_first -l " substr(global[i], 3) " -d " quoted(brief(global_says[i]))
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    print "complete -c headwise -n __headwise_first -a " c " -d " quoted(what[c])
    print "complete -c headwise -n '__headwise_after help' -f -a " c " -d " quoted(what[c])
  }
  print "complete -c headwise -n __headwise_first -a help -d " quoted("explain a command")
  for (i = 1; i <= commands; ++i) {
    c = command[i]
    begin = "complete -c headwise -n '__headwise_after " c "'"
    takes_files = 0
    for (r = 1; r <= rows[c]; ++r) {
      if (option[c, r] == "") {
        if (files[c, r]) takes_files = 1
        if (values_of(c, r) != "") print begin values_of(c, r)
        continue
      }
      names = (letter[c, r] == "" ? "" : " -s " substr(letter[c, r], 2)) " -l " substr(option[c, r], 3)
      takes = form[c, r] == "" ? "" : files[c, r] ? " -r -F" : " -x"
      print begin names takes (takes == "" ? "" : values_of(c, r)) " -d " quoted(brief(says[c, r]))
    }
    if (!takes_files) print begin " -f"
  }
}
