# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints what Google tells a machine alone about its end, a line for each: `notice`, what it is, and the answer. A machine of
# which nothing is said prints nothing. Takes at most three seconds.
#
# metadata  where a machine learns about itself

if command -v curl >/dev/null; then
  about() { curl -sf -m 1 --noproxy '*' -H 'Metadata-Flavor: Google' "$metadata/$1"; }
else
  about() { wget -q -T 1 -t 1 -O - --no-proxy --header='Metadata-Flavor: Google' "$metadata/$1"; }
fi
for what in preempted maintenance-event; do
  said=$(about "instance/$what" 2>/dev/null | tr -d '\n')
  case $said in
    '' | FALSE | NONE) ;;
    *) echo "notice $what $said" ;;
  esac
done
exit 0
