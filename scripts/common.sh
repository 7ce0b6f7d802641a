# What setup and check share: saying, running, and installing packages of the distribution. To be sourced by bash.

say() { printf '%s\n' "$*"; }

# fail WHAT-AND-WHAT-TO-DO: one line, and the end.
fail() {
  printf '%s: %s\n' "$(basename "$0")" "$*" >&2
  exit 1
}

# run COMMAND...: shows it, then does it.
run() {
  local line='+' word
  for word in "$@"; do
    case $word in
      '' | *[!A-Za-z0-9_./:=@%+,-]*) line+=" '${word//\'/\'\\\'\'}'" ;;
      *) line+=" $word" ;;
    esac
  done
  printf '%s\n' "$line"
  "$@"
}

# The user that everything but the packages is done for: under sudo the one who called it.
for_another_user() { [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "$SUDO_USER" != root ]; }

# go_on_as_the_caller SCRIPT ARGUMENTS...: under sudo starts the script again as the user who called sudo, with that
# user's home and PATH (sudo has its own), and does not return. Otherwise does nothing. Packages come before this.
go_on_as_the_caller() {
  for_another_user || return 0
  local home path
  home=$(getent passwd "$SUDO_USER" | cut -d: -f6)
  [ -d "$home" ] || fail "$SUDO_USER has no home directory: run this as the user who will use cairn"
  path=$(runuser -l "$SUDO_USER" -c 'printf "\n%s" "$PATH"' </dev/null 2>/dev/null | tail -n 1) || path=
  case $path in /*) ;; *) path=$PATH ;; esac
  exec runuser -u "$SUDO_USER" -- env HOME="$home" USER="$SUDO_USER" LOGNAME="$SUDO_USER" PATH="$path" "$@"
}

# need_own_tree: what is built here must belong to the user who builds.
need_own_tree() {
  local place
  for place in "$PWD" "$PWD/build" "$PWD/third_party" "$PWD/.cache"; do
    [ ! -e "$place" ] || [ -w "$place" ] ||
      fail "$(id -un) cannot write $place: sudo chown -R $(id -un) '$PWD', then run it again"
  done
}

missing_packages() {
  local package
  for package in "$@"; do
    [ "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || printf '%s\n' "$package"
  done
}

# need_packages NAME...: installs those that are missing; asks nothing. Needs root or sudo only if some are.
need_packages() {
  command -v dpkg-query >/dev/null && command -v apt-get >/dev/null ||
    fail "this is neither Debian nor Ubuntu: install what corresponds to [$*], then build with cmake --preset release"
  local missing root=()
  mapfile -t missing < <(missing_packages "$@")
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing: as root run: apt-get install ${missing[*]}"
    root=(sudo)
    [ -t 0 ] || root=(sudo -n)
  fi
  local apt=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get)
  run "${apt[@]}" -qq update || say "the package lists could not all be fetched: going on with those that are here"
  run "${apt[@]}" -qq -y -o Dpkg::Use-Pty=0 install --no-install-recommends "${missing[@]}" ||
    fail "packages could not be installed: check the network; as root run: apt-get install ${missing[*]}"
}

# What the two programs are built from.
build_packages=(
  g++ cmake ninja-build git ca-certificates
  libevent-dev libfmt-dev libzstd-dev zlib1g-dev libxxhash-dev libutf8proc-dev libtomlplusplus-dev libsodium-dev libre2-dev libcurl4-openssl-dev
)

# SQLite comes as an npm package. A vendor's nodejs brings its own npm and conflicts with the distribution's.
npm_packages() { command -v npm >/dev/null || printf 'npm\n'; }

need_compiler() {
  local have
  have=$(cmake --version | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p')
  printf '3.25\n%s\n' "$have" | sort -VC || fail "cmake $have is too old (3.25): Debian 12, Ubuntu 24.04 or newer is needed"
  have=$(g++ -dumpversion)
  [ "${have%%.*}" -ge 12 ] || fail "g++ $have is too old (12): Debian 12, Ubuntu 24.04 or newer is needed"
}
