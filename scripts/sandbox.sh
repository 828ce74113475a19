#!/usr/bin/env bash
# Second half of scripts/agents: runs as process 1 of fresh network, mount, PID, IPC and host name namespaces and
# takes away everything an agent could reach. Use it only through scripts/agents.
#   sandbox.sh CHECKOUT AGENT AGENT-FOLDER NODE COMMAND…
set -euo pipefail
root=$1 agent=$2 folder=$3 node=$4
shift 4
hidden=(/home /root /tmp /var/tmp /run /dev/shm)
base=$("$root/.venv/bin/python" -c 'import sys; print(sys.base_prefix)')

ip link set lo up
hostname sandbox

# What is needed is held open while its surroundings are covered, and then bound back in, read-only.
kept=("$root" "$folder" "$base" "$node")
fds=()
for path in "${kept[@]}"; do exec {fd}<"$path"; fds+=("$fd"); done
mount -o remount,bind,ro /
for path in "${hidden[@]}"; do [ ! -d "$path" ] || mount -t tmpfs -o mode=0755 sandbox "$path"; done
chmod 1777 /tmp /var/tmp /dev/shm
covered() { local h; for h in "${hidden[@]}"; do [[ $1/ == "$h"/* ]] && return; done; return 1; }
for i in "${!kept[@]}"; do
  path=${kept[i]}
  if [ "$path" != "$root" ] && ! covered "$path"; then continue; fi
  mkdir -p "$path"
  mount --no-canonicalize --bind "/proc/self/fd/${fds[i]}" "$path"
  mount -o remount,bind,ro "$path"
done
for fd in "${fds[@]}"; do exec {fd}<&-; done

home=/home/agent
mkdir -p "$home/proj"
cp -r "$root/tests/agents/$agent/home/." "$home/"
mapfile -t extra < <(grep -v '^#' "$root/tests/agents/$agent/env")
clean=(env -i "PATH=$root/.venv/bin:$folder/node_modules/.bin:$node:/usr/local/bin:/usr/bin:/bin"
  "HOME=$home" USER=agent SHELL=/bin/bash LANG=C.UTF-8 TERM=xterm-256color COLORTERM=truecolor TMPDIR=/tmp
  PYTHONDONTWRITEBYTECODE=1 "HYBRIDMUX_SANDBOX=$agent" "HYBRIDMUX_CHECKOUT=$root" "${extra[@]}")

cd "$root"
exec {model}< <("${clean[@]}" python -m tests.agents.model)
read -r _ <&"$model"
cd "$home/proj"
"${clean[@]}" "$@"
