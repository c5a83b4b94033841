# SPDX-License-Identifier: Apache-2.0
# The manual pages and the shells' completions, from what the command says of itself:
# cmake -DGYRE=PROGRAM -DFOLDER=FOLDER -P GyreManual.cmake writes gyre.1, gyre-COMMAND.1 for each command, gyre.ini.5, gyre.bash,
# _gyre (zsh) and gyre.fish.
cmake_policy(VERSION 3.22)
string(TIMESTAMP date "%Y-%m-%d" UTC) # of SOURCE_DATE_EPOCH, where that is set

function(ask out)
  execute_process(COMMAND ${GYRE} ${ARGN} OUTPUT_VARIABLE text RESULT_VARIABLE code)
  if(NOT code STREQUAL 0)
    message(FATAL_ERROR "'gyre ${ARGN}' ended with ${code}")
  endif()
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# Letters that mean something to troff, as themselves.
function(escape out text)
  string(REPLACE "\\" "\\e" text "${text}")
  string(REPLACE "-" "\\-" text "${text}")
  set(${out} "${text}" PARENT_SCOPE)
endfunction()

# append_as_is(TEXT): line by line, also where a line would be a request to troff.
function(append_as_is text)
  escape(text "${text}")
  string(REGEX REPLACE "(^|\n)([.'])" "\\1\\\\&\\2" text "${text}")
  set(page "${page}.nf\n${text}.fi\n" PARENT_SCOPE)
endfunction()

# begin_page(NAME SECTION TITLE SUMMARY)
function(begin_page name section title summary)
  string(TOUPPER "${name}" capitals)
  escape(name "${name}")
  escape(capitals "${capitals}")
  escape(summary "${summary}")
  set(page ".TH ${capitals} ${section} \"${date}\" \"Gyre ${version}\" \"${title}\"\n.SH NAME\n${name} \\- ${summary}\n" PARENT_SCOPE)
endfunction()

ask(version --version)
string(REGEX MATCH "[0-9.]+" version "${version}")
ask(overview help)
if(NOT overview MATCHES "\n(Exit codes:[^\n]*\n)\nCommands:\n(.*)$")
  message(FATAL_ERROR "'gyre help' lists no commands behind its exit codes")
endif()
set(codes "${CMAKE_MATCH_1}")
string(REGEX MATCHALL "  [a-z]+ [^\n]+" rows "${CMAKE_MATCH_2}")
string(REPLACE "${codes}\n" "" overview "${overview}")
string(REPLACE "Exit codes: " "" codes "${codes}")
string(REGEX REPLACE "\\.\n$" "\n" codes "${codes}")
string(REPLACE ", " "\n" codes "${codes}")

# ---- a page for each command ----

set(pages "")
foreach(row IN LISTS rows)
  string(REGEX MATCH "^  ([a-z]+) +(.*)$" row "${row}")
  set(command "${CMAKE_MATCH_1}")
  set(summary "${CMAKE_MATCH_2}")
  if(command STREQUAL "help")
    continue()
  endif()
  ask(help help ${command})
  # further codes, which its help tells behind those that all commands have
  set(own_codes "")
  if(help MATCHES "\nExit codes: ([^\n]+\n([^\n]+\n)*)")
    string(REPLACE "\n" " " own "${CMAKE_MATCH_1}")
    string(REGEX MATCHALL "[6-9] [^,.;]+" own "${own}")
    foreach(code IN LISTS own)
      string(APPEND own_codes "${code}\n")
    endforeach()
  endif()
  begin_page(gyre-${command} 1 "User Commands" "${summary}")
  string(REGEX MATCH "^usage: ([^\n]*\n( +gyre[^\n]*\n)*)" usage "${help}")
  string(LENGTH "${usage}" length)
  string(SUBSTRING "${help}" ${length} -1 help)
  string(REGEX REPLACE "(^|\n)(usage:)? +gyre" "\\1gyre" usage "${usage}")
  string(APPEND page ".SH SYNOPSIS\n")
  append_as_is("${usage}")
  string(APPEND page ".SH DESCRIPTION\n")
  string(STRIP "${help}" help)
  append_as_is("${help}\n")
  string(APPEND page ".SH EXIT STATUS\n")
  append_as_is("${codes}${own_codes}")
  string(APPEND page ".SH SEE ALSO\n.BR gyre (1),\n.BR gyre.ini (5)\n")
  file(WRITE "${FOLDER}/gyre-${command}.1" "${page}")
  list(APPEND pages ".BR gyre\\-${command} (1)")
endforeach()

# ---- gyre(1) ----

begin_page(gyre 1 "User Commands" "runs message handlers that are resident on a device")
string(APPEND page ".SH SYNOPSIS\n.B gyre\n[\\fIOPTION\\fR...] \\fICOMMAND\\fR [\\fIARGUMENT\\fR...]\n.SH DESCRIPTION\n")
append_as_is("${overview}")
string(APPEND page ".SH EXIT STATUS\n")
append_as_is("${codes}")
string(APPEND page ".SH FILES\nThe configuration is read from what \\fBgyre config\\fR names; \\fBgyre config \\-\\-dropins\\fR names the drop\\-in files of backends.\n")
list(JOIN pages ",\n" pages)
string(APPEND page ".SH SEE ALSO\n${pages},\n.BR gyre.ini (5)\n")
file(WRITE "${FOLDER}/gyre.1" "${page}")

# ---- gyre.ini(5) ----

ask(keys config --keys)
begin_page(gyre.ini 5 "File Formats" "settings of Gyre")
string(APPEND page ".SH DESCRIPTION\nSections and keys, one a line, of every program that uses Gyre. \\fBgyre config\\fR prints every value that holds and the file that it came from.\n"
  ".SH EXAMPLE\n.nf\n[gyre]\nbackend = cpu\n\n[queue.orders]       ; the queue opened with this name\npolicy = drop_oldest\n.fi\n.SH KEYS\n")
append_as_is("${keys}")
string(APPEND page ".SH FILES\n.I /etc/gyre/gyre.ini\nof the system,\n.I ~/.config/gyre/gyre.ini\nof the user; later ones are what \\fB\\-\\-config\\fR or the environment's \\fBGYRE_CONFIG\\fR names, variables such as \\fBGYRE_BACKEND\\fR, and \\fB\\-\\-set\\fR.\n"
  ".SH SEE ALSO\n.BR gyre (1),\n.BR gyre\\-config (1)\n")
file(WRITE "${FOLDER}/gyre.ini.5" "${page}")

# ---- completions ----

foreach(pair bash=gyre.bash zsh=_gyre fish=gyre.fish)
  string(REPLACE "=" ";" pair "${pair}")
  list(GET pair 0 shell)
  list(GET pair 1 file)
  ask(script completion ${shell})
  file(WRITE "${FOLDER}/${file}" "${script}")
endforeach()
