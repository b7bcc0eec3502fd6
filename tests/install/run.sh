#!/usr/bin/env bash
# Installs the build, moves the tree, and builds and runs consumers against it: one by the CMake
# package, one by pkg-config. Nothing in the moved tree may point to where it came from.
#
# Environment: BUILD (build folder), CMAKE, CXX, ARROW_HEADERS (when Arrow came out of the wheel)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$BUILD/install-test
tree=$work/elsewhere/tree
unset LD_LIBRARY_PATH

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

rm -rf "$work"
mkdir -p "$work/elsewhere"
"$CMAKE" --install "$BUILD" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$tree"

mapfile -t binaries < <(find "$tree/bin" "$tree/lib" -type f \
  \( -name 'lib*.so*' -o -perm -u+x \) 2>/dev/null)
for binary in "${binaries[@]}"; do
  path=$(readelf -d "$binary" | sed -n 's/.*(RUNPATH).*\[\(.*\)\]/\1/p')
  if [ -n "$ARROW_HEADERS" ] && tr : '\n' <<<"$path" | grep -v '^$' | grep -qv '^\$ORIGIN'; then
    fail "$binary has the run path $path"
  fi
  libraries=$(ldd "$binary")
  ! grep 'not found' <<<"$libraries" || fail "$binary misses libraries"
  if [ -n "$ARROW_HEADERS" ] && grep libarrow <<<"$libraries" | grep -v "$tree/"; then
    fail "$binary takes libarrow from outside the tree"
  fi
done
if grep -rIl -e "$work/first" -e "$BUILD" "$tree"; then
  fail "the files above name the folders of the build"
fi
if nm -D --defined-only "$tree"/lib/libarrakis.so | grep ' rd_kafka_'; then
  fail "libarrakis.so exports librdkafka's symbols"
fi
readelf -d "$tree"/lib/libarrakis.so | grep -q 'SONAME.*libarrakis\.so\.[0-9]' || fail "no SONAME"
for header in "$tree"/include/arrakis/*.hpp; do
  case $header in */arrow.hpp) continue ;; esac
  echo "#include \"${header#"$tree"/include/}\""
done >"$work/every_header.cpp"
"$CXX" -std=c++20 -Wall -Wextra -Werror -I"$tree/include" -fsyntax-only "$work/every_header.cpp"

"$CMAKE" -S "$here/consumer" -B "$work/by-cmake" -DCMAKE_PREFIX_PATH="$tree" \
  -DCMAKE_CXX_COMPILER="$CXX" -DARRAKIS_ARROW_INCLUDE_DIR="$ARROW_HEADERS" >"$work/cmake.log"
"$CMAKE" --build "$work/by-cmake" >>"$work/cmake.log"

export PKG_CONFIG_PATH=$tree/lib/pkgconfig
read -ra flags < <(pkg-config --cflags --libs arrakis)
"$CXX" -std=c++20 "$here/consumer/consumer.cpp" -o "$work/by-pkg-config" "${flags[@]}" \
  -Wl,-rpath,"$tree/lib"

version=$(pkg-config --modversion arrakis)
for consumer in "$work/by-cmake/consumer" "$work/by-pkg-config"; do
  said=$("$consumer")
  echo "$said"
  case $said in
    "$version "*'"H1:TEST-RAMP": [0.0, 1.0, 2.0, 3.0]'*) ;;
    *) fail "$consumer printed something else" ;;
  esac
done
[ "$("$work/by-cmake/arrow_consumer")" = "1 row" ] || fail "arrow_consumer"

"$tree/bin/arrakis" --version | grep -qF "$version" || fail "arrakis --version"
[ -s "$tree/share/man/man1/arrakis-find.1" ] || fail "no man page"
bash -n "$tree/share/bash-completion/completions/arrakis" || fail "completion"
