package gdb_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sdm/backend/gdb"
	"sdm/protocol"
)

// TestOldGDB checks that a gdb that does not know mi4 is started with mi3. The gdb is the machine's
// own, behind a script that refuses mi4 with the message of gdb 12.
func TestOldGDB(t *testing.T) {
	r := newRig(t, gdb.Config{Path: fakeGDB(t, `case "$*" in *mi4*) `+unknown("mi4")+`; esac; exec gdb "$@"`)})
	r.launch(build(t, "work.c"), 6)
	for _, g := range r.answers(r.send(6, "print", protocol.Args{Expr: "6 * 7"}, patience), 6) {
		if g.Kind != protocol.KindResult || column(g, "value") != "42" {
			t.Errorf("got %v", g)
		}
	}
}

// fakeGDB makes a program in place of gdb from a line of shell.
func fakeGDB(t *testing.T, line string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "gdb")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+line+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return path
}

// unknown returns a shell line by which a gdb refuses an interpreter.
func unknown(interpreter string) string {
	return "echo \"Interpreter \\`" + interpreter + "' unrecognized\" >&2; exit 1;"
}

// TestProgramsThatAreNoGDB checks that a program that is no gdb, or an unusable one,
// gives one clear message, for shared gdbs and for one for each rank.
func TestProgramsThatAreNoGDB(t *testing.T) {
	for _, c := range []struct{ name, line, want string }{
		{"ends at once", "exit 0", "PATH does not start: exit status 0 (try it by hand: PATH --version; --gdb PATH names another)"},
		{"does not know the options", "echo usage >&2; exit 2", "PATH does not start: exit status 2: usage (try"},
		{"lacks a library", "echo 'gdb: error while loading shared libraries: libx.so.6' >&2; exit 127", "PATH does not start: exit status 127: gdb: error while loading shared libraries: libx.so.6 (try"},
		{"knows neither mi4 nor mi3", `case "$*" in *mi4*) ` + unknown("mi4") + "; esac; " + unknown("mi3"), "PATH is older than gdb 9, or was built without GDB/MI (give a newer one with --gdb PATH)"},
		{"is killed", "kill -9 $$", "PATH does not start: killed by SIGKILL (try"},
		{"says something else and ends", "echo hello; exit 3", "PATH does not start: exit status 3 (try"},
	} {
		for _, per := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s, %d ranks each", c.name, per), func(t *testing.T) {
				path := fakeGDB(t, c.line)
				r := newRig(t, gdb.Config{Path: path, RanksPerGDB: per})
				for _, g := range r.answers(r.hold(build(t, "work.c"), 2, "main", patience), 2) {
					var f protocol.Fault
					if err := json.Unmarshal(g.Body, &f); err != nil {
						t.Fatal(err)
					}
					got := strings.ReplaceAll(f.Error(), path, "PATH")
					if g.Kind != protocol.KindFault || f.Kind != protocol.FaultEngine || !strings.HasPrefix(got, "launch: "+c.want) {
						t.Errorf("got %s", got)
					}
				}
			})
		}
	}
}
