#!/bin/sh
# try.sh BUILD MODEL - builds the image from BUILD/serve/image by buildah, starts the server in it and asks for MODEL.
#
# It needs no daemon, no namespaces and no cgroups: layers are plain copies, and steps run in a chroot. Where no registry
# can be reached, the base image is made of Debian's packages by mmdebstrap. It has to be root.
#
#   PORT=8000        where the server listens
#   KEEP=1           keeps BUILD/serve/try: the base and the image, 600 MB
build=$(cd "$1" && pwd) model=$2 port=${PORT:-8000} here=$(cd "$(dirname "$0")" && pwd)
base=docker.io/library/debian:bookworm-slim
work=$build/serve/try
container= server=
[ "$(id -u)" = 0 ] || { echo "try.sh: steps run in a chroot, which only root may enter: run it by sudo" >&2; exit 1; }
mkdir -p "$work/models" && cp "$model" "$work/models/" && chmod -R a+rX "$work/models" || exit 1

does() { buildah --root "$work/store" --runroot "$work/run" --storage-driver vfs "$@"; }

finish() {
    [ -z "$server" ] || kill "$server" 2> /dev/null
    [ -z "$container" ] || does rm "$container" > /dev/null 2>&1
    [ -n "$KEEP" ] || rm -rf "$work"
}
trap finish EXIT
trap 'exit 1' INT TERM

# The registry's base image, or one of the same packages under its name.
make_base() {
    does inspect --type image "$base" > /dev/null 2>&1 && return
    timeout 60 buildah --root "$work/store" --runroot "$work/run" --storage-driver vfs pull -q "$base" 2> /dev/null && return
    echo "  base  $base cannot be had from its registry: made by mmdebstrap, some minutes"
    [ -s "$work/base.tar" ] || mmdebstrap -q --variant=minbase bookworm "$work/base.tar" || return 1
    from=$(does from scratch) && does add -q "$from" "$work/base.tar" / > /dev/null && does commit -q "$from" "$base" > /dev/null && does rm "$from" > /dev/null
}

status_of() { sed -n "s/^$2:[[:space:]]*//p" "/proc/$1/status" | cut -f 1; }

make_base || exit 1
echo "  image packaging/container/Containerfile"
does bud -q --isolation chroot --pull-never -f "$here/Containerfile" -t hologram-serve "$build/serve/image" > "$work/log" 2>&1 || { cat "$work/log"; exit 1; }
container=$(does from --pull-never localhost/hologram-serve) || exit 1
# Chroots know no entry points and no ports: what to run is read from the image.
words_of() { does inspect --type image --format "{{range .OCIv1.Config.$1}} {{.}}{{end}}" localhost/hologram-serve; }
command=$(echo $(words_of Entrypoint) --port "$port" $(words_of Cmd))
does run --isolation chroot -v "$work/models:/models:ro" "$container" -- $command > "$work/log" 2>&1 & waits=$!
until grep -q '"ready"' "$work/log"; do kill -0 $waits 2> /dev/null || { cat "$work/log"; exit 1; }; sleep 0.1; done
server=$(pgrep -f "^$command\$")
name=$(basename "$model") name=${name%.*}
curl -sf "http://localhost:$port/v2/models/$name" > "$work/answer" || { cat "$work/log"; exit 1; }
user=$(status_of "$server" Uid) filter=$(status_of "$server" Seccomp)
kill -TERM "$server" && server= && wait $waits
ended=$?
echo "  size  $(du -sm "$(does mount "$container")" | cut -f 1) MB, of which $(du -sm "$build/serve/image" | cut -f 1) MB are the programs"
does umount "$container" > /dev/null
echo "  asked $(cat "$work/answer")"
echo "  user $user, seccomp $filter, ended with $ended after SIGTERM"
[ "$user" = 65534 ] && [ "$filter" = 2 ] && [ $ended = 0 ]
