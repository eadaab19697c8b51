#!/bin/sh
# Starts the program beside it. A system without a desktop may lack libraries that cairo, fontconfig and GLFW ask for, expat and those of
# X, even where nothing is shown: those that are missing are taken from here.
here=$0
if [ -h "$here" ]; then here=$(readlink -f "$here"); fi
here=${here%/*}
there=$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null)
for library in "$here"/../spare_libraries/*; do
  case $there in
    *"${library##*/} ("*) ;;
    *) export LD_LIBRARY_PATH="$library${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" ;;
  esac
done
exec "$here/headwise-program" "$@"
