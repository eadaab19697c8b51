# Run by cpack on what has been installed, before it is packed: lays it out as Debian wants it, and makes two packages of one commit
# the same bytes, whoever builds them and wherever (package.sh sets SOURCE_DATE_EPOCH).
set(root ${CPACK_TEMPORARY_DIRECTORY})
set(share ${root}/usr/share)
set(documents ${share}/doc/headwise)

function(headwise_run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

if(DEFINED ENV{SOURCE_DATE_EPOCH})
  set(when $ENV{SOURCE_DATE_EPOCH})
else()
  string(TIMESTAMP when %s UTC)
endif()

# What is built in has its own licences: what was linked statically or included whole, and the fonts.
file(READ ${CPACK_HEADWISE_LICENSE} text)
string(PREPEND text "Headwise\n========\n\n")
foreach(package libimgui-dev libeigen3-dev nlohmann-json3-dev libcli11-dev fonts-dejavu-core)
  if(NOT EXISTS /usr/share/doc/${package}/copyright)
    message(FATAL_ERROR "headwise: /usr/share/doc/${package}/copyright was not found, and the package has to say what is built into the "
                        "program. Install it with: apt-get install --reinstall ${package}")
  endif()
  file(READ /usr/share/doc/${package}/copyright own)
  string(LENGTH "${package}" length)
  string(REPEAT "=" ${length} line)
  string(APPEND text "\n\n${package}, which is built into the program\n${line}=================================\n\n${own}")
endforeach()
file(WRITE ${documents}/copyright "${text}")
file(REMOVE ${documents}/LICENSE)

execute_process(COMMAND date --utc --rfc-email --date=@${when} OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE
                COMMAND_ERROR_IS_FATAL ANY)
file(WRITE ${documents}/changelog "headwise (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n"
     "  * Version ${CPACK_PACKAGE_VERSION}.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
# Its version has no revision of Debian's, so the one changelog is that of the program and of the package.
headwise_run(gzip --best --no-name ${documents}/changelog ${share}/man/man1/headwise.1)

# Debian's zsh looks elsewhere than zsh by itself.
file(MAKE_DIRECTORY ${share}/zsh/vendor-completions)
file(RENAME ${share}/zsh/site-functions/_headwise ${share}/zsh/vendor-completions/_headwise)
file(REMOVE_RECURSE ${share}/zsh/site-functions)

headwise_run(find ${root}/usr -type d -exec chmod 755 {} +)
headwise_run(find ${root}/usr -type f -exec chmod 644 {} +)
headwise_run(chmod 755 ${root}/usr/bin/headwise)
headwise_run(find ${root}/usr -exec touch --no-dereference --date=@${when} {} +)
