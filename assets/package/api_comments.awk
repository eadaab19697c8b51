# A header's plain comments as doxygen's: what stands at the top is about the file, what stands before a declaration about that, and
# what stands behind one, with the lines below it at the same column, too. Of a page of docs the words of its links.
function escaped(text) {
  gsub(/[\\@<>#%]/, "\\\\&", text)
  return text
}
BEGIN { top = 1 }
# A page of docs links files that are not among the pages.
FILENAME ~ /[.]md$/ {
  while (match($0, /\]\([^)]*\)/)) {
    link = substr($0, 1, RSTART - 1)
    rest = substr($0, RSTART + RLENGTH)
    sub(/\[[^[]*$/, "", link)
    words = substr($0, length(link) + 2, RSTART - length(link) - 2)
    $0 = link words rest
  }
  print
  next
}
{
  at = index($0, "//")
  before = at ? substr($0, 1, at - 1) : ""
  text = at ? substr($0, at + 2) : ""
  # An address, or a slash in a string.
  if (at && (before ~ /:$/ || gsub(/"/, "\"", before) % 2 == 1)) at = 0
}
!at { top = 0; column = 0; print; next }
before ~ /^ *$/ {
  if (top == 1) {
    print "/// @file"
    top = 2
  }
  if (column == at) {
    print before "///<" escaped(text)
  } else {
    column = 0
    print before "///" escaped(text)
  }
  next
}
{
  top = 0
  column = at
  print before "///<" escaped(text)
}
