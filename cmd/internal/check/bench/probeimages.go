// Libraries in place of those of torch, which is not at hand everywhere.

package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// What libraries there are: a few are large, as libtorch_cpu.so is with 300,000 exported symbols and
// 10 MB of unwind tables; the others are as those of a distribution.
const (
	largeLibraries = 4
	largeFunctions = 75_000
	smallFunctions = 200
	ownLibraries   = 3 // that every C program has: libc, the dynamic linker and the vDSO
)

// manyLibraries makes the libraries, and returns the arguments of the program that maps them: six
// threads wait in calls through the first eight.
func (b *bench) manyLibraries() []string {
	args := []string{"6"}
	large, small := b.library("large", largeFunctions), b.library("small", smallFunctions)
	for i := range probeImages - ownLibraries - 1 { // and the program
		text := small
		if i < largeLibraries {
			text = large
		}
		path := filepath.Join(b.dir, fmt.Sprintf("library%d.so", i))
		if err := os.WriteFile(path, withBuildID(text, i), 0o700); err != nil {
			fatal(path, err)
		}
		args = append(args, path)
	}
	return args
}

// library compiles a library with many functions, which all have unwind tables, and returns its
// bytes.
func (b *bench) library(name string, functions int) []byte {
	var text strings.Builder
	text.WriteString(".text\n")
	for i := range functions {
		fmt.Fprintf(&text, ".globl %s_function_with_a_long_name_%d\n.type %[1]s_function_with_a_long_name_%[2]d,@function\n%[1]s_function_with_a_long_name_%[2]d:\n.cfi_startproc\n.zero 32\n.cfi_endproc\n.size %[1]s_function_with_a_long_name_%[2]d,32\n", name, i)
	}
	source, caller, path := filepath.Join(b.dir, name+".s"), filepath.Join(b.dir, name+".c"), filepath.Join(b.dir, name+".so")
	if err := os.WriteFile(source, []byte(text.String()), 0o600); err != nil {
		fatal(source, err)
	}
	if err := os.WriteFile(caller, []byte("static volatile int n;\nvoid through(void (*next)(int), int depth) { next(depth); n++; }\n"), 0o600); err != nil {
		fatal(caller, err)
	}
	b.run("gcc", "-O1", "-shared", "-fPIC", "-Wl,--build-id=sha1", "-o", path, caller, source)
	out, err := os.ReadFile(path)
	if err != nil {
		fatal(path, err)
	}
	return out
}

// withBuildID returns a copy of a library with a build-id of its own, so that it counts as a library
// of its own.
func withBuildID(library []byte, n int) []byte {
	note := []byte{4, 0, 0, 0, 20, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0}
	at := bytes.Index(library, note)
	if at < 0 {
		fatal("library "+strconv.Itoa(n), fmt.Errorf("no build-id"))
	}
	out := bytes.Clone(library)
	binary.LittleEndian.PutUint64(out[at+len(note):], uint64(n))
	return out
}
