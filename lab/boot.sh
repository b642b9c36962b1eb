# Boots one host. Runs in the namespaces of its lab (mounts, switch, pids), then in those of the host.
# Environment: see `bootEnvironment` in boot.ts. Says `ready` on descriptor 3 when the host accepts connections.
set -e
disk=$LAB_FOLDER/disk

new_disk() {
  mkdir -p "$disk"
  mount -t tmpfs -o "size=$LAB_DISK,mode=755" disk "$disk"
  mkdir "$disk/upper" "$disk/work" "$disk/machine" "$disk/root" "$disk/home" "$disk/containers" "$disk/crontabs"
  mkdir -m 1777 "$disk/tmp" "$disk/vartmp"
  # A device 0:0 in the upper layer hides what stands below it.
  for path in /*; do
    case ${path#/} in
      bin | boot | dev | etc | home | lib | lib32 | lib64 | libx32 | media | mnt | opt | proc | root | run | sbin | srv | sys | tmp | usr | var) ;;
      *) mknod "$disk/upper$path" c 0 0 ;;
    esac
  done
  for path in $LAB_HIDE; do
    [ -e "$path" ] || continue
    mkdir -p "$disk/upper${path%/*}"
    mknod "$disk/upper$path" c 0 0
  done
}

# One user's clean home: Debian's own shell start-up, nothing of this machine's.
new_home() { # user, folder below the disk
  mkdir -p "$2/.ssh"
  cat > "$2/.bashrc" <<'RC'
# ~/.bashrc: executed by bash(1) for non-login shells.
case $- in
    *i*) ;;
      *) return;;
esac
HISTCONTROL=ignoreboth
shopt -s histappend
shopt -s checkwinsize
PS1='\u@\h:\w\$ '
alias ll='ls -l'
RC
  cat > "$2/.profile" <<'RC'
# ~/.profile: executed by the command interpreter for login shells.
if [ -n "$BASH_VERSION" ]; then
    if [ -f "$HOME/.bashrc" ]; then
	. "$HOME/.bashrc"
    fi
fi
if [ -d "$HOME/.local/bin" ] ; then
    PATH="$HOME/.local/bin:$PATH"
fi
RC
  cp "$LAB_KEY.pub" "$2/.ssh/authorized_keys"
  if [ "$LAB_KIND" = laptop ]; then
    cp "$LAB_KEY" "$2/.ssh/id_ed25519"
    cp "$LAB_KEY.pub" "$2/.ssh/id_ed25519.pub"
  fi
  chmod 700 "$2/.ssh" "$2"
  chmod 600 "$2/.ssh"/*
  chown -R "$1" "$2"
}

# What an installer would write, once, on the new disk. The working folder is the host's root.
install_system() {
  echo "$LAB_NAME" > etc/hostname
  printf '%s\n' "$LAB_HOSTS" > etc/hosts
  rm -f etc/resolv.conf
  echo 'nameserver 127.0.0.1' > etc/resolv.conf # nobody listens there: a lookup fails at once
  tr -d - < /proc/sys/kernel/random/uuid > etc/machine-id
  : > etc/environment
  [ ! -d etc/profile.d ] || rm -f etc/profile.d/*
  [ -z "$LAB_PATH" ] || echo "export PATH=$LAB_PATH:\$PATH" > etc/profile.d/lab.sh
  [ -z "$LAB_PYTHON" ] || echo "export PYTHONPATH=$LAB_PYTHON" >> etc/profile.d/lab.sh
  rm -f etc/cron.d/* etc/crontab etc/ssh/ssh_host_* etc/ssh/sshd_config.d/* etc/ssh/ssh_config.d/*
  { grep -v -e '^ada:' -e '^bob:' /etc/passwd; echo 'ada:x:2001:2001::/home/ada:/bin/bash'; echo 'bob:x:2002:2002::/home/bob:/bin/bash'; } > etc/passwd
  { grep -v -e '^ada:' -e '^bob:' /etc/group; echo 'ada:x:2001:'; echo 'bob:x:2002:'; } > etc/group
  { grep -v -e '^ada:' -e '^bob:' /etc/shadow; echo 'ada:*:19000:0:99999:7:::'; echo 'bob:*:19000:0:99999:7:::'; } > etc/shadow
  # Of the root's entry too: `!` is a locked account, which sshd refuses.
  sed -i 's/^root:[^:]*:/root:*:/; ' etc/shadow
  mkdir -p etc/sudoers.d
  echo 'ada ALL=(ALL:ALL) NOPASSWD: ALL' > etc/sudoers.d/ada
  chmod 440 etc/sudoers.d/ada
  # The machine's own would look for systemd.
  for name in shutdown poweroff halt; do
    rm -f "usr/sbin/$name"
    cat > "usr/sbin/$name" <<'OFF'
#!/bin/sh
for word; do
  case $word in -h | -P | -H | -f | now | +0) ;; *) echo "this host cannot '$word': it switches off now or not at all" >&2; exit 1 ;; esac
done
kill -PWR 1
OFF
    chmod 755 "usr/sbin/$name"
  done
  new_home 0:0 "$disk/root"
  new_home 2001:2001 "$disk/home/ada"
  new_home 2002:2002 "$disk/home/bob"
  chmod 1730 "$disk/crontabs"
  chown 0:crontab "$disk/crontabs" 2>/dev/null || :
  ssh-keygen -q -t ed25519 -N '' -C "root@$LAB_NAME" -f etc/ssh/ssh_host_ed25519_key
  # Debian's defaults, but for the number of connections that may be in their handshake at once.
  printf '%s\n' 'HostKey /etc/ssh/ssh_host_ed25519_key' 'PermitRootLogin prohibit-password' 'PasswordAuthentication no' \
    'KbdInteractiveAuthentication no' 'UsePAM no' 'PidFile /run/sshd.pid' 'PrintMotd no' 'AcceptEnv LANG LC_*' \
    'X11Forwarding yes' 'MaxStartups 100:30:200' 'Subsystem sftp /usr/lib/openssh/sftp-server' > etc/ssh/sshd_config
  if [ -n "$LAB_PODMAN" ]; then
    mkdir -p etc/containers/registries.conf.d
    printf '%s\n' "$LAB_CONTAINERS_CONF" > etc/containers/containers.conf
    printf '%s\n' "$LAB_STORAGE_CONF" > etc/containers/storage.conf
    printf '%s\n' "$LAB_REGISTRIES_CONF" > etc/containers/registries.conf.d/lab.conf
    : > etc/containers/nodocker
    # Debian's podman-docker, in one line: the client that asks for Docker's daemon would find none.
    printf '#!/bin/sh\nexec /usr/bin/podman "$@"\n' > usr/local/bin/docker
    chmod 755 usr/local/bin/docker
  fi
}

bind() { # source, target below the root, more options
  if [ -d "$1" ]; then mkdir -p ".$2"; else mkdir -p ".${2%/*}"; [ -e ".$2" ] || : > ".$2"; fi
  mount --rbind "$1" ".$2"
  [ -z "${3:-}" ] || mount -o "remount,bind,$3" ".$2"
}

mount_system() {
  mount -t overlay -o "lowerdir=/,upperdir=$disk/upper,workdir=$disk/work" "$LAB_NAME" "$disk/machine"
  cd "$disk/machine"
  [ "$1" = kept ] || install_system
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  mount -t tmpfs -o mode=755,size=1m dev dev
  cp -a /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty dev/
  for path in /dev/fuse /dev/kmsg; do [ ! -e "$path" ] || cp -a "$path" dev/; done
  if [ -e /dev/net/tun ]; then mkdir dev/net; cp -a /dev/net/tun dev/net/; fi
  ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr; ln -s pts/ptmx dev/ptmx
  mkdir dev/pts dev/shm dev/mqueue
  mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
  mount -t tmpfs -o nosuid,nodev,mode=1777 shm dev/shm
  mount -t mqueue mqueue dev/mqueue 2>/dev/null || :
  mount -t tmpfs -o nosuid,mode=755 run run
  mkdir -p run/sshd run/lock run/sudo run/screen; chmod 1777 run/lock; chmod 777 run/screen
  # The kernel is the same after a reboot; programs that look must see another one.
  cat /proc/sys/kernel/random/uuid > run/boot_id
  mount --bind run/boot_id proc/sys/kernel/random/boot_id
  bind "$disk/root" /root
  bind "$disk/home" /home
  bind "$disk/tmp" /tmp
  bind "$disk/vartmp" /var/tmp
  [ ! -d var/spool/cron/crontabs ] || bind "$disk/crontabs" /var/spool/cron/crontabs
  printf '%s\n' "$LAB_BINDS" | while IFS='|' read -r source target options; do
    [ -z "$source" ] || bind "$source" "$target" "$options"
  done
  if [ -n "$LAB_PODMAN" ]; then
    bind "$disk/containers" /var/lib/containers
    mount -t tmpfs -o mode=755 cgroup sys/fs/cgroup
    for controller in $LAB_CGROUPS; do
      case $controller in
        cgroup2) mount -t cgroup2 cgroup2 sys/fs/cgroup ;;
        unified) mkdir "sys/fs/cgroup/$controller"; mount -t cgroup2 cgroup2 "sys/fs/cgroup/$controller" ;;
        name=*) mkdir "sys/fs/cgroup/${controller#name=}"; mount -t cgroup -o "none,$controller" cgroup "sys/fs/cgroup/${controller#name=}" ;;
        *) mkdir "sys/fs/cgroup/$controller"; mount -t cgroup -o "$controller" cgroup "sys/fs/cgroup/$controller" ;;
      esac
    done
  fi
}

connect_cable() {
  # Descriptor 9 is the network namespace of the switch; pid 1 is this process, for whoever asks in this pid namespace.
  nsenter --net=/proc/self/fd/9 ip -force -batch - 2>/dev/null <<NET || :
link del $LAB_PORT
NET
  nsenter --net=/proc/self/fd/9 ip -batch - <<NET
link add $LAB_PORT type veth peer name eth0 address $LAB_MAC netns 1
link set $LAB_PORT master br0 $LAB_CABLE
NET
  for family in ipv6/conf/all ipv6/conf/default ipv6/conf/eth0; do
    [ ! -e "/proc/sys/net/$family" ] || { echo 0 > "/proc/sys/net/$family/accept_dad"; echo 0 > "/proc/sys/net/$family/disable_ipv6"; }
  done
  ip -batch - <<NET
link set lo up
addr add $LAB_ADDRESS/24 dev eth0
addr add $LAB_ADDRESS6/64 dev eth0 nodad
link set eth0 up
route add default via $LAB_GATEWAY
NET
}

case $1 in
  lab)
    exec 9</proc/self/ns/net
    mountpoint -q "$disk" || { new_disk; fresh=new; }
    for group in $LAB_JOIN; do echo $$ > "$group/cgroup.procs"; done
    exec unshare --mount --uts --ipc --net --pid --cgroup --fork --kill-child /bin/sh "$0" host "${fresh:-kept}"
    ;;
  host)
    hostname "$LAB_NAME"
    connect_cable
    exec 9<&-
    mount_system "$2"
    pivot_root . mnt
    cd /
    umount -l /mnt
    exec 8>&3 3>&-
    exec /usr/bin/env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
      /bin/sh -c "$LAB_INIT" init
    ;;
esac
