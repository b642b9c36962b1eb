# shellcheck shell=bash disable=SC2154,SC2034,SC1090 # the parameters are set in front of it; files of the user
# Runs a command of a user on a node, in the surroundings that Ray's own `exec` gives it: this is the text of a login shell
# that believes to be interactive, so that `.bashrc` is read to its end. Without a terminal bash complains of that; it keeps
# quiet, and the command has the error stream, which is descriptor 9, alone.
#
# manta_words        are for those who look for these processes: their mark, and what runningSessions searches for
# manta_environment  file of the node's settings for sessions, relative to the home of the user
# manta_terminal     yes where a terminal stands at both ends
# manta_is_shell     yes to become a login shell
# manta_command      otherwise: shell text, as the user wrote it

# Typing needs a character set that knows more than ASCII; a user who has chosen one keeps it.
if [[ -n $manta_terminal && -z $LANG$LC_ALL$LC_CTYPE ]]; then export LANG=C.UTF-8; fi

manta_settings() {
  [[ ! -r ~/$manta_environment ]] || . ~/"$manta_environment"
  export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore
}

if [[ -n $manta_is_shell ]]; then
  manta_settings
  exec "${SHELL:-bash}" -l
fi

# Below, the command runs in a shell of its own, because a login shell that is left by `exit` takes leave in words. This one
# outlives Ctrl-C to tell the exit code.
if [[ -n $manta_terminal ]]; then
  [[ ! -f ~/.bashrc ]] || source ~/.bashrc
  manta_settings
  trap : INT
  (eval "$manta_command")
else
  [[ ! -f ~/.bashrc ]] || source ~/.bashrc 2>&9 9>&-
  manta_settings
  trap : INT
  (eval "$manta_command") 2>&9 9>&-
fi
