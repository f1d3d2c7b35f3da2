package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/protocol"
	"sdm/protocol/rank"
)

func compile(t *testing.T, source string) string { return compileWith(t, "gcc", source) }

// compileWith compiles a C program.
func compileWith(t *testing.T, compiler, source string) string {
	t.Helper()
	dir := t.TempDir()
	src := filepath.Join(dir, "program.c")
	if err := os.WriteFile(src, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "program")
	if text, err := exec.Command(compiler, "-g", "-O0", "-o", path, src).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, text)
	}
	return path
}

const counting = `#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv) {
	int rank = atoi(getenv("SDM_RANK"));
	for (int i = 0; i < 3; i++)
		printf("%d of %s\n", i, argv[1]);
	getchar();
	return rank;
}
`

// below returns the live children of a process.
func below(t *testing.T, pid int) []int {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, path := range stats {
		b, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		text := string(b)
		after := strings.Fields(text[strings.LastIndex(text, ")")+1:])
		if after[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(text[:strings.Index(text, " ")])
			pids = append(pids, child)
		}
	}
	return pids
}

func TestGDBFromLaunchToTheEnd(t *testing.T) {
	program := compile(t, counting)
	servers, d := startLocal(t, 1, 4, "--backend", "gdb")
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: program, Args: []string{"two words"}, Stdin: rank.Range(0, 3)}, Limit: -1})
	d.stopped(4)
	children := below(t, servers.PIDs()[0])
	if len(children) != 8 {
		t.Errorf("the server has %d children, want 4 ranks and 4 gdbs", len(children))
	}
	d.do("continue", protocol.Args{})
	d.do("send", protocol.Args{EOF: true})
	d.ended(4)
	want := strings.Repeat("0 of two words\n", 4) + strings.Repeat("1 of two words\n", 4) + strings.Repeat("2 of two words\n", 4)
	if got := sorted(d.output()); got != want {
		t.Errorf("output %q", got)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := servers.Close(soon(t)); err != nil {
		t.Error(err)
	}
	gone(t, append(children, servers.PIDs()...)...)
}

func TestGDBKilledServerLeavesNothing(t *testing.T) {
	servers, d := startLocal(t, 1, 4, "--backend", "gdb")
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: compile(t, counting)}})
	d.stopped(4)
	children := below(t, servers.PIDs()[0])
	if err := syscall.Kill(servers.PIDs()[0], syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if len(children) != 8 {
		t.Errorf("the server had %d children", len(children))
	}
	gone(t, children...)
}

func TestGDBQuitLeavesNothing(t *testing.T) {
	servers, d := startLocal(t, 2, 2, "--backend", "gdb")
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: compile(t, counting)}})
	d.stopped(4)
	var all []int
	for _, pid := range servers.PIDs() {
		all = append(all, below(t, pid)...)
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := servers.Close(soon(t)); err != nil {
		t.Error(err)
	}
	gone(t, append(all, servers.PIDs()...)...)
}

func TestMissingGDB(t *testing.T) {
	servers, d := startLocal(t, 1, 2, "--backend", "gdb", "--gdb", "/no/such/gdb")
	d.refused("launch", sleeper(), "/no/such/gdb")
	gone(t, d.pids()...)
	if err := d.close(); err != nil {
		t.Error(err)
	}
	if err := servers.Close(soon(t)); err != nil {
		t.Error(err)
	}
}

func TestSimulatedRanks(t *testing.T) {
	servers, d := startLocal(t, 2, 8, "--backend", "sim")
	d.do("launch", protocol.Args{Job: &protocol.Job{Program: "a.out"}, Limit: -1})
	d.stopped(16)
	if pids := d.pids(); len(pids) != 16 || pids[0] < 1_000_000 {
		t.Errorf("pids %v", pids)
	}
	for _, pid := range servers.PIDs() {
		if children := below(t, pid); len(children) > 0 {
			t.Errorf("simulated ranks have processes: %v", children)
		}
	}
}
