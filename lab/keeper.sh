# First process of a lab: pid 1 of its pid namespace, owner of its mounts and of the switch's network namespace. When it
# ends, for whatever reason, the kernel ends every host and gives back every mount and interface.
# Arguments: network (10.77.K), IPv6 network (fd77:0:0:K), `tied` (ends when standard input does) or `kept`,
# the file to write down in who it is.
set -e
net=$1 net6=$2 life=$3 file=$4
# Its number and start time as this machine sees them, whose /proc this still is.
read -r stat < /proc/self/stat
echo "$stat" > "$file"
sysctl() { [ ! -e "/proc/sys/net/$1" ] || echo "$2" > "/proc/sys/net/$1"; }
sysctl ipv6/conf/default/accept_dad 0
sysctl ipv6/conf/all/disable_ipv6 0
# A gateway that leads nowhere answers "unreachable" at once.
sysctl ipv4/ip_forward 1
# An address of its own: a bridge that has none takes that of a port, which changes as hosts come and go.
ip -batch - <<NET
link set lo up
link add br0 address 02:77:00:00:00:fe type bridge stp_state 0 forward_delay 0 mcast_snooping 0
addr add $net.254/24 dev br0
addr add $net6::fe/64 dev br0
link set br0 up
NET
exec 4<&0 </dev/null
echo ready >&3
exec 3>&-
if [ "$life" = tied ]; then cat <&4 >/dev/null & else exec 4<&-; sleep infinity & fi
# Waiting for one child collects every orphan as well.
wait $!
