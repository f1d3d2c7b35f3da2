// gdbs that die before their ranks have come to their first stop.

package gdb_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// once returns a shell line that does something in the first gdb only.
func once(t *testing.T, first string) string {
	return fakeGDB(t, "if mkdir '"+filepath.Join(t.TempDir(), "been")+"' 2>/dev/null; then "+first+"; fi; exec gdb \"$@\"")
}

// deaths are ways in which a gdb dies before it has its ranks.
var deaths = []struct{ name, first string }{
	{"at its start", "kill -SEGV $$"},
	{"started by a shell", "exit 139"},
	{"at the attach", `echo "(gdb) "; while read -r l; do case "$l" in *attach*) kill -SEGV $$; esac; done`},
}

// TestGDBDiesBeforeItHasItsRanks checks that each rank gets another gdb and comes to
// main with the commands that were given before.
func TestGDBDiesBeforeItHasItsRanks(t *testing.T) {
	for _, c := range deaths {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gdb.Config{Path: once(t, c.first), RanksPerGDB: 3})
			id := r.hold(build(t, "work.c"), 3, "main", patience)
			for _, g := range r.answers(id, 3) {
				if g.Kind != protocol.KindResult {
					t.Errorf("launch: %v", g)
				}
			}
			for i := range rank.ID(3) {
				if g := r.await(i, protocol.KindNote); !strings.Contains(string(g.Body), "before it had the rank under control; another one is started") {
					t.Errorf("rank %d: %v", i, g)
				}
				if g := r.await(i, protocol.KindStopped); !strings.Contains(string(g.Body), `"func":"main"`) {
					t.Errorf("rank %d: %v", i, g)
				}
			}
			r.ok("next", protocol.Args{})
			r.stop()
		})
	}
}

// TestGDBDiesBeforeItHasHeardAll checks that commands that were given before a rank
// existed are executed once by the second gdb.
func TestGDBDiesBeforeItHasHeardAll(t *testing.T) {
	r := newRig(t, gdb.Config{Path: once(t, deaths[2].first), RanksPerGDB: 1})
	if r.neighbours > 0 {
		t.Skip("one rank, of which something was said before")
	}
	cmd := r.run(build(t, "calls.c"))
	id := r.id()
	r.engine.Attach(id, []backend.Target{{Rank: 0, PID: cmd.Process.Pid, Before: []protocol.Command{
		{Name: "break", Args: protocol.Args{Location: "forever", Breakpoint: 7}},
		{Name: "display", Args: protocol.Args{Expr: "stop", Display: 1}},
	}}}, "", patience)
	r.answers(id, 1)
	r.await(0, protocol.KindNote)
	if s := r.stop(); s.Reason != "attached" {
		t.Errorf("it stops for %q", s.Reason)
	}
	r.ask("print", protocol.Args{Expr: "forever(3)"})
	if s := r.stop(); s.Breakpoint != 7 {
		t.Errorf("it stops for %+v", s)
	}
	if g := r.ok("info display", protocol.Args{}); strings.Count(string(g.Body), "expr") != 1 {
		t.Errorf("displays: %v", g)
	}
}

// TestGDBDiesAtEachStart checks that a gdb that dies at each start finally loses its
// ranks.
func TestGDBDiesAtEachStart(t *testing.T) {
	r := newRig(t, gdb.Config{Path: fakeGDB(t, "kill -SEGV $$")})
	if r.neighbours > 0 {
		t.Skip("counts what one rank is told")
	}
	id := r.hold(build(t, "work.c"), 1, "main", patience)
	if g := r.answers(id, 1)[0]; g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "does not start: killed by SIGSEGV") {
		t.Errorf("launch: %v", g)
	}
	r.await(0, protocol.KindLost)
	if n := r.count(protocol.KindNote); n != 3 {
		t.Errorf("%d notes", n)
	}
}

// TestGDBDiesOnTheWayToMain checks that a rank whose gdb dies on the way to its first
// stop still stops there.
func TestGDBDiesOnTheWayToMain(t *testing.T) {
	for _, c := range []struct {
		name, stop string
		script     bool
	}{{"main", "main", false}, {"a line", "early.c:16", false}, {"a script", "main", true}} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, gdb.Config{RanksPerGDB: 1})
			here, leave := filepath.Join(t.TempDir(), "here"), filepath.Join(t.TempDir(), "leave")
			program, args := build(t, "early.c"), []string{here, leave}
			if c.script {
				program, args = "/bin/sh", []string{"-c", ": >'" + here + "'; while [ ! -e '" + leave + "' ]; do sleep 0.01; done; exec '" + program + "'"}
			}
			r.answers(r.hold(program, 1, c.stop, patience, args...), 1)
			eventually(t, "it is past the loader, where it meets traps of gdb", func() bool {
				_, err := os.Stat(here)
				return err == nil
			})
			syscall.Kill(r.gdbPID(0), syscall.SIGKILL)
			if g := r.await(0, protocol.KindNote); !strings.Contains(string(g.Body), "taken the rank over") {
				t.Error(g)
			}
			if err := os.WriteFile(leave, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			if s := r.stop(); s.Frame == nil || s.Frame.Func != "main" || !s.Temporary {
				t.Errorf("it stops with %+v", s)
			}
			r.ok("continue", protocol.Args{})
			r.await(0, protocol.KindExited)
		})
	}
}
