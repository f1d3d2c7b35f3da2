// Ranks that see other file systems than the server.

package gdb_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestRankInAnotherMountNamespace has a program, its source and a library that only the
// rank sees.
func TestRankInAnotherMountNamespace(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may make a mount namespace with a file system of its own")
	}
	r := newRig(t, gdb.Config{RanksPerGDB: 2})
	dir := t.TempDir()
	inner := filepath.Join(dir, "inner")
	source, err := filepath.Abs("testdata/calls.c")
	if err != nil {
		t.Fatal(err)
	}
	script := fmt.Sprintf(`mount -t tmpfs none %[1]s && cp %[2]s %[1]s/hidden.c && cd %[1]s &&
		gcc -g -O0 -pthread -o inner hidden.c && exec ./inner`, dir, source)
	var targets []backend.Target
	for i := range 2 {
		pid := r.run("unshare", "-m", "sh", "-c", script).Process.Pid
		becomes(t, pid, inner)
		targets = append(targets, backend.Target{Rank: rank.ID(i), PID: pid})
	}
	id := r.id()
	r.engine.Attach(id, targets, "", patience)
	r.answers(id, 2)
	for i := range targets {
		r.await(rank.ID(i), protocol.KindStopped)
	}
	if got := string(r.ok("list", protocol.Args{Location: "outer"}).Body); !strings.Contains(got, "// calls add") {
		t.Errorf("source: %s", got)
	}
	if got := text(t, r.ok("gdb", protocol.Args{Text: "info sharedlibrary"})); !strings.Contains(got, fmt.Sprintf("/proc/%d/root/", targets[0].PID)) {
		t.Errorf("libraries: %s", got)
	}
	// inside usleep
	for _, g := range r.answers(r.send(2, "backtrace", protocol.Args{}, patience), 2) {
		if got := string(g.Body); strings.Contains(got, "/proc/") || !strings.Contains(got, `"from":"/`) {
			t.Errorf("stack: %s", got)
		}
	}
	if a, b := processTracer(t, targets[0].PID), processTracer(t, targets[1].PID); a == b {
		t.Error("two ranks with a root each share a gdb")
	}
}

// TestRemovedDirectory has a server whose working directory is removed; gdb 16 aborts in one.
func TestRemovedDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, gdb.Config{Path: fakeGDB(t, `pwd -P >/dev/null 2>&1 && [ -e . ] && [ "$(stat -c %h .)" != 0 ] || kill -ABRT $$; exec gdb "$@"`)})
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	pid := r.run("/bin/sleep", "1000").Process.Pid
	id := r.id()
	r.engine.Attach(id, []backend.Target{{Rank: 0, PID: pid}}, "", patience)
	r.answers(id, 1)
	r.await(0, protocol.KindStopped)
}

// becomes waits until a process runs a program.
func becomes(t *testing.T, pid int, program string) {
	t.Helper()
	late := time.After(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
		if exe == program {
			return
		}
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("process %d runs %s, %v", pid, exe, err)
		}
	}
}
