#!/bin/sh
# install.sh install|uninstall - puts what was built below $DESTDIR$PREFIX, or takes the same files away again: one list for both.
# Files of others, and folders that others may use, stay. Called by make, with BUILD, PREFIX, DESTDIR and VERSION set.
# LIBDIR is the folder of libraries below PREFIX: lib, or lib/x86_64-linux-gnu as Debian has it.
# STRIP takes what only debuggers read out of program and libraries; empty: it stays.
verb=$1
dest=$DESTDIR$PREFIX lib=${LIBDIR:-lib}
up=$(echo "$lib" | sed "s|[^/][^/]*|..|g") # from there to PREFIX
cd "$(dirname "$0")/.." || exit 1
case $verb in install | uninstall) ;; *) echo "install.sh install|uninstall" >&2; exit 2 ;; esac
[ -n "$PREFIX" ] || { echo "install.sh: PREFIX is not set" >&2; exit 2; }

# Makes the folder of a file, or takes the file away; true: it is to be written.
begin() { # FILE
    case $verb in
    install) echo "  put   $dest/$1" && install -d "$dest/$(dirname "$1")" ;;
    uninstall)
        if [ -e "$dest/$1" ] || [ -h "$dest/$1" ]; then
            echo "  take  $dest/$1"
            rm -f "$dest/$1" || exit 1
        fi
        return 1 ;;
    esac
}
put() { if begin "$3"; then install -m "$1" "$2" "$dest/$3" || exit 1; fi; } # MODE FROM FILE
lean() { # MODE FROM FILE WHAT: the same without WHAT, where there is a STRIP
    put "$1" "$2" "$3"
    if [ "$verb" = install ] && [ -n "$STRIP" ]; then "$STRIP" "$4" "$dest/$3" || exit 1; fi
}
link() { if begin "$2"; then ln -sf "$1" "$dest/$2" || exit 1; fi; } # TO FILE
fill() { # FROM FILE
    if begin "$2"; then
        sed "s|@PREFIX@|$PREFIX|g; s|@LIBDIR@|$lib|g; s|@UP@|$up|g; s|@VERSION@|$VERSION|g" "$1" > "$dest/$2" && chmod 644 "$dest/$2" || exit 1
    fi
}
made() { # FILE COMMAND...
    _file=$1
    shift
    if begin "$_file"; then "$@" > "$dest/$_file" && chmod 644 "$dest/$_file" || exit 1; fi
}

lean 755 "$BUILD/hologram" bin/hologram --strip-all
link hologram bin/hologram-compile
if [ "$verb" = uninstall ] || [ -x "$BUILD/hologram-serve" ]; then lean 755 "$BUILD/hologram-serve" bin/hologram-serve --strip-all; fi
for header in include/*; do put 644 "$header" "$header"; done
for name in libhologram libhologram-compiler; do
    lean 644 "$BUILD/$name.a" "$lib/$name.a" --strip-debug
    lean 755 "$BUILD/$name.so" "$lib/$name.so.0" --strip-unneeded
    link $name.so.0 "$lib/$name.so"
done
for file in tools/install/*.pc.in; do fill "$file" "$lib/pkgconfig/$(basename "$file" .in)"; done
for file in tools/install/*.cmake.in; do fill "$file" "$lib/cmake/Hologram/$(basename "$file" .in)"; done

# What is made of the tables of the program: it runs here, unless it was built for another machine.
program=$BUILD/hologram
if [ "$verb" = uninstall ] && [ ! -x "$program" ]; then program=$dest/bin/hologram; fi
commands=$(sed -n 's/^    \.name *= "\([a-z]*\)",$/\1/p' cli/cmd_*.c)
if [ "$verb" = uninstall ] || "$program" version > /dev/null 2>&1; then
    made share/man/man1/hologram.1 "$program" help --man
    for command in $commands; do made "share/man/man1/hologram-$command.1" "$program" help --man "$command"; done
    made share/bash-completion/completions/hologram "$program" completion bash
    link hologram share/bash-completion/completions/hologram-compile
    made share/zsh/site-functions/_hologram "$program" completion zsh
    made share/fish/vendor_completions.d/hologram.fish "$program" completion fish
else
    echo "  manual pages and completion are left out: $program does not run on this machine"
fi
if [ "$verb" = uninstall ]; then rmdir "$dest/$lib/cmake/Hologram" 2> /dev/null; fi
exit 0
