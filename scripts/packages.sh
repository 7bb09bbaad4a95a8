# Sourced by the other scripts: installs Debian packages that are missing.

BUILD_PACKAGES=(pkg-config lua5.4 liblua5.4-dev libcurl4-openssl-dev libjansson-dev libxml2-dev zlib1g-dev libbrotli-dev
  libzstd-dev libssl-dev libsqlite3-dev libpsl-dev libwslay-dev libsecret-1-dev)

# install_packages NAME...: nothing happens, and no network is used, when all are there.
install_packages() {
  local missing=() name
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'install ok installed' || missing+=("$name")
  done
  [ "${#missing[@]}" -eq 0 ] && return 0
  local run=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "these packages are missing; install them as root: ${missing[*]}" >&2
      return 1
    }
    run=(sudo)
  fi
  echo "installing: ${missing[*]}" >&2
  "${run[@]}" apt-get update -qq
  # A package's own service is not wanted: the scripts start what they need themselves, on ports of their own.
  "${run[@]}" env DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >&2
}

require_swift() {
  command -v swift >/dev/null || {
    echo "Swift 6.2 or newer is needed (https://www.swift.org/install/linux/); 'swift' is not on the PATH" >&2
    return 1
  }
}

# find_profile_tools: LLVM_PROFDATA is what reads profiles; fails where the compiler does not take any.
find_profile_tools() {
  local options
  LLVM_PROFDATA=$(dirname "$(readlink -f "$(command -v swift)")")/llvm-profdata
  [ -x "$LLVM_PROFDATA" ] || return
  options=$(swiftc -frontend -help-hidden 2>/dev/null) || return
  [[ $options == *-ir-profile-use* ]]
}

# use_profile FOLDER: fills PROFILE_FLAGS with what has FOLDER's objects compiled by scripts/profile.txt.
use_profile() {
  local folder=$1 name profile
  PROFILE_FLAGS=()
  find_profile_tools || return 0
  name=profile-$(cksum <scripts/profile.txt | tr ' ' -)
  profile=$PWD/.build/$name.profdata
  if ! [ -f "$profile" ]; then
    mkdir -p .build
    "$LLVM_PROFDATA" merge -o "$profile.new" scripts/profile.txt || {
      echo "this Swift cannot read scripts/profile.txt: built without it" >&2
      return 0
    }
    # The build does not notice that other options are used.
    rm -rf "$folder"/{SessionCore,LuaBridge,httpscript,Stdlib,C*}.build
    rm -f .build/profile-*.profdata
    mv "$profile.new" "$profile"
  fi
  # A function that has been changed since is no fault.
  PROFILE_FLAGS=(-Xswiftc -Xfrontend -Xswiftc "-ir-profile-use=$profile" -Xcc "-fprofile-use=$profile"
    -Xcc -Wno-backend-plugin -Xcc -Wno-profile-instr-out-of-date -Xcc -Wno-profile-instr-unprofiled)
}

# use_static FOLDER: fills STATIC_FLAGS with what has the executable in FOLDER contain libraries that would take time to
# load.
use_static() {
  local folder=$1 library settings=$PWD/.build/pkgconfig
  STATIC_FLAGS=()
  mkdir -p "$folder" "$settings"
  # The linker looks in this folder first; loading libstdc++ would take a third of the time that a script needs to start.
  library=$(clang -print-file-name=libstdc++.a)
  [ ! -f "$library" ] || ln -sf "$library" "$folder/libstdc++.a"
  # Lua is a library less to load, and there is no detour for each call. All of it is put in as one object, because
  # modules in C (lpeg, lfs) need functions that nobody else calls, and see none that come out of an archive.
  library=$(pkg-config --variable=libdir lua5.4)/liblua5.4.a
  [ -f "$library" ] || return 0
  ld -r --whole-archive "$library" -o "$folder/lua5.4.o" || return
  # What asks for the library finds an empty one.
  rm -f "$folder/liblua5.4.a"
  ar -rc "$folder/liblua5.4.a" || return
  printf '%s\n' "Name: Lua" "Description: Lua inside the executable" "Version: $(pkg-config --modversion lua5.4)" \
    "Cflags: $(pkg-config --cflags lua5.4)" "Libs: -L$folder -llua5.4" >"$settings/lua5.4.pc"
  STATIC_FLAGS=(--pkg-config-path "$settings" -Xlinker "$folder/lua5.4.o")
}

# build_optimized FOLDER OPTION ...: links the executable in FOLDER, with Swift's own libraries and C++'s inside.
build_optimized() {
  local folder=$1
  shift
  lua5.4 scripts/embed --compile || return
  use_static "$folder" || return
  # All of it is optimized as one. What a start runs lies together (scripts/startup-order), and its 20,000 relative
  # relocations, which are read at each start, in a few pages.
  swift build -c release --static-swift-stdlib --product httpscript --experimental-lto-mode full -Xswiftc -use-ld=lld \
    "${STATIC_FLAGS[@]}" -Xlinker "--symbol-ordering-file=$PWD/scripts/startup.order" -Xlinker --no-warn-symbol-ordering \
    -Xlinker -z -Xlinker pack-relative-relocs \
    -Xlinker --wrap=swift_slowAlloc -Xlinker --wrap=swift_slowDealloc "$@" >&2
}

# build_release: the executable as it ships; prints its path. (`set -e` does not reach into "$(build_release)".)
build_release() {
  local folder
  folder=$(swift build -c release --static-swift-stdlib --show-bin-path) || return
  # The build does not know that the list is read.
  if [ scripts/startup.order -nt "$folder/httpscript" ]; then rm -f "$folder/httpscript"; fi
  use_profile "$folder" || return
  build_optimized "$folder" "${PROFILE_FLAGS[@]}" || return
  echo "$folder/httpscript"
}

# free_port: a TCP port of 127.0.0.1 that nobody uses now.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# wait_for_port PORT PROCESS: until a server listens there; fails when the process ends or ten seconds pass.
wait_for_port() {
  for _ in $(seq 200); do
    (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null && return 0
    kill -0 "$2" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}
