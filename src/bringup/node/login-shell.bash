# shellcheck shell=bash
# Runs the text on its standard input as Ray runs commands: in a login shell that believes to be interactive, so that
# `.bashrc` is read to its end. Without a terminal bash complains of that before it reads a word; the command gets the error
# stream back.
exec 9<&0 8>&2 </dev/null 2>/dev/null
exec bash --login -i -c 'exec 2>&8 8>&-; eval "$(cat <&9)"'
