#!/usr/bin/env bash
# Second half of scripts/agents: runs as process 1 of fresh network, mount, PID, IPC and host name namespaces and
# builds a root of its own that holds only what an agent may see. Use it only through scripts/agents.
#   sandbox.sh NEW-ROOT CHECKOUT AGENT AGENT-FOLDER NODE COMMAND…
set -euo pipefail
new=$1 root=$2 agent=$3 folder=$4 node=$5
shift 5
base=$("$root/.venv/bin/python" -c 'import sys; print(sys.base_prefix)')

ip link set lo up
hostname sandbox
mount -t tmpfs -o mode=0755 sandbox "$new"

# show FOLDER: the same folder, read-only, in the new root.
show() {
  mkdir -p "$new$1"
  mount --rbind "$1" "$new$1"
  mount -o remount,bind,ro "$new$1"
}

for path in /usr /etc; do show "$path"; done
for path in /bin /sbin /lib /lib32 /lib64 /libx32; do
  if [ -L "$path" ]; then ln -s "$(readlink "$path")" "$new$path"; elif [ -d "$path" ]; then show "$path"; fi
done
for path in /home /tmp /var/tmp /run /dev/shm; do
  mkdir -p "$new$path"
  mount -t tmpfs -o mode=1777 sandbox "$new$path"
done
for path in /dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty; do
  touch "$new$path"
  mount --bind "$path" "$new$path"
done
# Terminals of its own: an agent cannot write to those of the machine.
mkdir "$new/dev/pts" "$new/proc" "$new/old"
mount -t devpts -o newinstance,ptmxmode=0666,mode=0620 devpts "$new/dev/pts"
ln -s pts/ptmx "$new/dev/ptmx"
ln -s /proc/self/fd "$new/dev/fd"
mount -t proc proc "$new/proc"
# Last, for they may be below any of the above.
for path in "$root" "$folder" "$base" "$(realpath "$base")" "$node"; do [[ $path/ == /usr/* ]] || show "$path"; done

cd "$new"
pivot_root . old
umount -l /old
rmdir /old
mount -o remount,ro /

home=/home/agent
mkdir -p "$home/proj"
cp -r "$root/tests/agents/$agent/home/." "$home/"
mapfile -t extra < <(grep -v '^#' "$root/tests/agents/$agent/env")
clean=(env -i "PATH=$root/.venv/bin:$home/.local/bin:$folder/node_modules/.bin:$node:/usr/local/bin:/usr/bin:/bin"
  "HOME=$home" USER=agent SHELL=/bin/bash LANG=C.UTF-8 TERM=xterm-256color COLORTERM=truecolor TMPDIR=/tmp
  PYTHONDONTWRITEBYTECODE=1 "HYBRIDMUX_SANDBOX=$agent" "HYBRIDMUX_CHECKOUT=$root" "${extra[@]}")

cd "$root"
exec {model}< <("${clean[@]}" python -m tests.agents.model)
read -r _ <&"$model"
cd "$home/proj"
"${clean[@]}" "$@"
