# shellcheck shell=sh
# Stands in front of commands in a login shell, as in Ray.
# shellcheck disable=SC1090 # a file of the user's
[ ! -f ~/.bashrc ] || . ~/.bashrc
export OMP_NUM_THREADS=1 PYTHONWARNINGS=ignore
