# shellcheck shell=sh disable=SC2154 # the parameters are set in front of it
# Prints what EC2 tells an instance alone about its end, a line for each: `notice`, what it is, and the JSON that it came in.
# An instance of which nothing is said prints nothing. Takes at most three seconds.
#
# imds    where an instance learns about itself

if command -v curl >/dev/null; then
  put() { curl -sf -m 1 -X PUT -H "$1" "$2"; }
  get() { curl -sf -m 1 -H "$1" "$2"; }
else
  put() { wget -q -T 1 -t 1 -O - --method=PUT --header="$1" "$2"; }
  get() { wget -q -T 1 -t 1 -O - --header="$1" "$2"; }
fi
token=$(put 'X-aws-ec2-metadata-token-ttl-seconds: 60' "$imds/api/token" 2>/dev/null)
[ -n "$token" ] || exit 0
for what in spot/instance-action events/recommendations/rebalance; do
  said=$(get "X-aws-ec2-metadata-token: $token" "$imds/meta-data/$what" 2>/dev/null | tr -d '\n')
  [ -z "$said" ] || echo "notice $what $said"
done
exit 0
