#!/usr/bin/env bash
# enter.sh NEWROOT CHECKOUT OUT [FOLDER=AS...] -- COMMAND...
# Runs as process 1 of fresh mount, network, pid, ipc and uts namespaces. Builds a file system that holds the
# system's programs, the checkout and the FOLDERs (shown AS another path), all read-only, and nothing of the
# person's; makes it the root and runs COMMAND in the checkout. OUT is a folder to be the writable /out, or empty.
set -euo pipefail
new=$1 checkout=$2 out=$3
shift 3

mount --make-rprivate /
mount -t tmpfs -o mode=755 box "$new"

show() { # show FOLDER AS [rw]
  mkdir -p "$new$2"
  mount --rbind "$1" "$new$2"
  [ "${3:-}" = rw ] || mount -o remount,bind,ro "$new$2"
}

show /usr /usr
show /etc /etc
for name in bin sbin lib lib32 lib64 libx32; do
  if [ -L "/$name" ]; then
    ln -s "$(readlink "/$name")" "$new/$name"
  elif [ -d "/$name" ]; then
    show "/$name" "/$name"
  fi
done

mkdir -p "$new"/{proc,dev/pts,old}
for name in home run tmp var/tmp dev/shm; do
  mkdir -p "$new/$name"
  mount -t tmpfs -o mode=1777 box "$new/$name"
done
mkdir -p "$new/home/user/proj"
for name in null zero full random urandom tty; do
  touch "$new/dev/$name"
  mount --bind "/dev/$name" "$new/dev/$name"
done
# Terminals of its own: the agents cannot write to the person's.
mount -t devpts -o newinstance,ptmxmode=0666,mode=620 devpts "$new/dev/pts"
ln -s pts/ptmx "$new/dev/ptmx"
ln -s /proc/self/fd "$new/dev/fd"
mount -t proc proc "$new/proc"

# After /tmp and /home: these may be below either.
show "$checkout" "$checkout"
while [ "$1" != -- ]; do
  show "${1%%=*}" "${1#*=}"
  shift
done
shift
[ -z "$out" ] || show "$out" /out rw

hostname box
ip link set lo up
cd "$new"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,ro /
cd "$checkout"
exec "$@"
