# Shared by the scripts: the checkout's own .venv, made from the lock file, and the built page.
# shellcheck shell=bash
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

say() { printf '\033[2m· %s\033[0m\n' "$*" >&2; }

# stamp NAME FILE...: true when FILEs are as they were at the last `stamped NAME`.
stamp_of() { cat "$@" | sha256sum | cut -d' ' -f1; }
fresh() { local name=$1; shift; [ -f ".venv/.stamp-$name" ] && [ "$(cat ".venv/.stamp-$name")" = "$(stamp_of "$@")" ]; }
stamped() { local name=$1; shift; stamp_of "$@" >".venv/.stamp-$name"; }

find_python() {
  local p
  for p in "${PYTHON:-}" python3.13 python3.12 python3.11 python3; do
    [ -n "$p" ] && command -v "$p" >/dev/null || continue
    "$p" -c 'import sys, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo "$p"; return; }
  done
  debian python3 python3-venv >&2
  echo python3
}

# debian PACKAGE...: installs those that are missing (as root or through sudo).
debian() {
  local missing=() p as=()
  for p in "$@"; do dpkg -s "$p" >/dev/null 2>&1 || missing+=("$p"); done
  [ ${#missing[@]} -eq 0 ] && return
  [ "$(id -u)" = 0 ] || as=(sudo)
  say "installing Debian packages: ${missing[*]}"
  if ! DEBIAN_FRONTEND=noninteractive "${as[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null 2>&1; then
    "${as[@]}" apt-get update -qq >/dev/null
    DEBIAN_FRONTEND=noninteractive "${as[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  fi
}

ensure_venv() {
  [ -x .venv/bin/python ] || { say "making .venv"; "$(find_python)" -m venv .venv; }
  if ! fresh lock requirements.lock pyproject.toml; then
    say "installing the locked packages into .venv"
    .venv/bin/pip install -qq --require-hashes -r requirements.lock
    .venv/bin/pip install -qq --no-deps --no-build-isolation -e .
    stamped lock requirements.lock pyproject.toml
  fi
}

# Node 20 or newer with npm: the machine's, or Debian's, or the `node` npm package is up to the person.
ensure_node() {
  if ! command -v node >/dev/null || ! command -v npm >/dev/null; then debian nodejs npm; fi
}

ensure_page() {
  [ -f hybridmux/web/package.json ] || return 0
  ensure_node
  if ! fresh npm hybridmux/web/package-lock.json; then
    say "installing the page's packages"
    (cd hybridmux/web && npm ci --no-audit --no-fund --loglevel=error)
    stamped npm hybridmux/web/package-lock.json
  fi
  local sources
  # What the page is built from: its sources, its settings, and the wire types.
  mapfile -t sources < <(find hybridmux/web/{src,public,tools} hybridmux/web/*.{json,ts,html} hybridmux/wire -name '__pycache__' -prune -o -type f -print | sort)
  if [ ! -f hybridmux/web/static/index.html ] || ! fresh page "${sources[@]}"; then
    say "building the page"
    (cd hybridmux/web && npm run --silent build)
    stamped page "${sources[@]}"
  fi
}

ensure_browser() {
  export CHROMIUM="${CHROMIUM:-$(command -v chromium || true)}"
  [ -n "$CHROMIUM" ] && return
  debian chromium fonts-dejavu-core
  CHROMIUM=$(command -v chromium)
}
