# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Has mantad read its record and its files again, where it runs. mantad-prelude.sh stands before it.
#
# folder  the cluster's, relative to the home of the user

cd "$HOME" || exit 0
p=$(lock_holder "$folder/mantad.lock")
if program_runs "$p" mantad; then kill -HUP "$p" 2>/dev/null; fi
exit 0
