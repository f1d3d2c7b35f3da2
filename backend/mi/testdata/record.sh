#!/bin/bash
# record.sh - records tapes of real gdb sessions: for each NAME.in here it runs gdb
# and writes what gdb says to tapes/NAME.mi.
#
# In NAME.in the first line gives a program of the repository's testdata/programs,
# flags for the compiler and after a | flags for gdb. Then each line is sent to gdb as it
# stands; "wait TEXT" waits until gdb has written a line that contains TEXT.
# Usage: record.sh [NAME...]
set -eu
cd "$(dirname "$0")"
here=$PWD
programs=$(cd ../../../testdata/programs && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

record() {
    local name=$1 program cflags gdbflags line said
    exec 3<"$here/$name.in"
    IFS='|' read -r -u 3 line gdbflags
    read -r program cflags <<<"$line"
    cd "$work"
    gcc -g -O0 $cflags -ffile-prefix-map="$programs=/src" -ffile-prefix-map="$work=/src" -pthread -o "$program" "$programs/$program.c"
    eval "set -- $gdbflags"
    coproc GDB { exec gdb -nx -nh -q -iex "set debuginfod enabled off" -iex "set width 0" "$@"; }
    local from=${GDB[0]} to=${GDB[1]} pid=$GDB_PID
    : >"$work/$name.mi"
    while IFS= read -r -u 3 line; do
        if [[ $line == "wait "* ]]; then
            while IFS= read -r -t 20 -u "$from" said; do
                printf '%s\n' "$said" >>"$work/$name.mi"
                [[ $said == *"${line#wait }"* ]] && break
            done
        else
            printf '%s\n' "$line" >&"$to"
        fi
    done
    eval "exec $to>&-"
    cat <&"$from" >>"$work/$name.mi"
    wait "$pid" || true
    sed "s|$work|/tmp/build|g" "$work/$name.mi" >"$here/tapes/$name.mi"
    cd "$here"
}

if [ $# = 0 ]; then
    set -- *.in
fi
for name; do
    record "${name%.in}"
done
