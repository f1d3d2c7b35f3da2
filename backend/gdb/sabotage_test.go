// Real ranks under several gdbs, in one of which sdm panics.

package gdb_test

import (
	"bytes"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestPanicCostsOneGDB checks that the two of four ranks that share the gdb are lost,
// that the others go on, and that the lost ranks can be started again.
func TestPanicCostsOneGDB(t *testing.T) {
	var log bytes.Buffer // written by the loop, and read after its end
	r := newRig(t, gdb.Config{RanksPerGDB: 2, Log: slog.New(slog.NewTextHandler(&log, nil))})
	if r.neighbours > 0 {
		t.Skip("counts the ranks of each gdb")
	}
	r.defects = true
	program := build(t, "work.c")
	r.launch(program, 4)
	broken := r.gdbPID(0)
	r.engine.Sabotage(0)
	asked := r.send(4, "next", protocol.Args{}, patience)
	for _, id := range []rank.ID{0, 1} {
		if g := r.await(id, protocol.KindLost); !strings.Contains(string(g.Body), "a defect of sdm in gdb/") || !strings.Contains(string(g.Body), "report it") {
			t.Errorf("rank %d: %v", id, g)
		}
	}
	for _, id := range []rank.ID{2, 3} {
		r.await(id, protocol.KindStopped)
	}
	r.answers(asked, 4)
	results := 0
	for _, g := range r.answers(r.send(4, "print", protocol.Args{Expr: "rank"}, patience), 4) {
		if g.Kind == protocol.KindResult {
			results++
		}
	}
	if results != 2 {
		t.Errorf("%d ranks answer, want 2", results)
	}
	eventually(t, "the gdb has gone", func() bool {
		_, err := os.Stat("/proc/" + strconv.Itoa(broken))
		return err != nil
	})
	r.engine.Sabotage(2)
	if g := r.one(2, "list", protocol.Args{}); g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), `"internal"`) {
		t.Errorf("list: %v", g)
	}
	r.await(3, protocol.KindLost)
	p, err := r.forker.Hold(local.Spec{Rank: 0, Program: program, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	r.adopt(0, p)
	again := r.id()
	r.engine.Attach(again, []backend.Target{{Rank: 0, PID: p.PID, Program: program, Held: true}}, "main", patience)
	if g := r.answers(again, 1)[0]; g.Kind != protocol.KindResult {
		t.Error(g)
	}
	r.await(0, protocol.KindStopped)
	r.close()
	if n := strings.Count(log.String(), "stack=\"goroutine "); n != 2 {
		t.Errorf("the log tells of %d defects with their stacks, want 2:\n%s", n, log.String())
	}
}

// TestPanicLetsAttachedGo checks that an attached process is detached from properly: it
// passes the place where a breakpoint was.
func TestPanicLetsAttachedGo(t *testing.T) {
	r := newRig(t, gdb.Config{})
	r.defects = true
	cmd := r.run(build(t, "calls.c"))
	id := r.id()
	r.engine.Attach(id, []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.answers(id, 1)
	r.stop()
	never := protocol.Args{Location: "calls.c:21", Condition: "turns < 0"}
	r.ok("break", never)
	r.engine.Sabotage(0)
	r.ask("list", protocol.Args{Location: "outer"})
	r.await(0, protocol.KindLost)
	eventually(t, "gdb has let go", func() bool { return processTracer(t, cmd.Process.Pid) == 0 })
	again := r.id()
	r.engine.Attach(again, []backend.Target{{Rank: 0, PID: cmd.Process.Pid}}, "", patience)
	r.answers(again, 1)
	r.stop()
	r.ok("break", protocol.Args{Location: "calls.c:21", Temporary: true})
	r.ok("continue", protocol.Args{})
	if s := r.stop(); s.Reason != "breakpoint-hit" {
		t.Errorf("it stops for %q", s.Reason)
	}
}

// eventually polls for a condition.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	late := time.After(patience)
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for !is() {
		select {
		case <-again.C:
		case <-late:
			t.Fatalf("not in %v: %s", patience, what)
		}
	}
}
