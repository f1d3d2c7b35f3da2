package gdb_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// TestGDBsAhead attaches to ranks with gdbs that were started before. What is not used is ended:
// the end of the rig finds no process that is left.
func TestGDBsAhead(t *testing.T) {
	const ahead = 2
	old := `case "$*" in *mi4*) ` + unknown("mi4") + `; esac; `
	for _, c := range []struct {
		name    string
		before  string // what the gdb executes first
		ranks   int
		held    bool
		started int // how many gdbs
		first   int // how many ranks have one of those that were started before
	}{
		{"all are used", "", ahead, false, ahead, ahead},
		{"one is not used", "", ahead - 1, false, ahead, ahead - 1},
		{"too few of them", "", ahead + 1, false, ahead + 1, ahead},
		{"another one is needed", "", 1, true, ahead + 1, 0},
		{"they are too old", old, 1, false, ahead + 1, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := filepath.Join(t.TempDir(), "pids")
			cfg := gdb.Config{Path: fakeGDB(t, "echo $$ >>"+log+"; "+c.before+`exec gdb "$@"`), RanksPerGDB: 1}
			cfg.Ahead = gdb.StartAhead(cfg, ahead)
			pids := awaitLines(t, log, ahead)
			r := newRig(t, cfg)
			var ranks []int
			if c.held {
				r.launch(build(t, "work.c"), c.ranks)
				ranks = []int{r.process(0).PID}
			} else {
				ranks = r.attachAll(build(t, "calls.c"), c.ranks)
			}
			first := 0
			for _, pid := range ranks {
				if slices.Contains(pids, strconv.Itoa(processTracer(t, pid))) {
					first++
				}
			}
			if got := len(awaitLines(t, log, c.started)); got != c.started || first != c.first {
				t.Errorf("%d gdbs were started, %d of those started before are used", got, first)
			}
		})
	}
}

// attachAll attaches to n processes of a program and waits until they have stopped.
func (r *rig) attachAll(program string, n int) (pids []int) {
	r.Helper()
	var targets []backend.Target
	for id := range rank.ID(n) {
		pids = append(pids, r.run(program).Process.Pid)
		targets = append(targets, backend.Target{Rank: id, PID: pids[id]})
	}
	id := r.id()
	r.engine.Attach(id, targets, "", patience)
	for _, g := range r.answers(id, n) {
		if g.Kind != protocol.KindResult {
			r.Errorf("got %v", g)
		}
	}
	for id := range rank.ID(n) {
		r.await(id, protocol.KindStopped)
	}
	return pids
}

// awaitLines waits until a file has n lines, and returns all that it has.
func awaitLines(t *testing.T, file string, n int) (lines []string) {
	t.Helper()
	eventually(t, "the start of gdbs", func() bool {
		text, _ := os.ReadFile(file)
		lines = strings.Fields(string(text))
		return len(lines) >= n
	})
	return lines
}

// TestGDBsAheadWithoutEngine ends gdbs that no engine gets, and a program that is no gdb.
func TestGDBsAheadWithoutEngine(t *testing.T) {
	log := filepath.Join(t.TempDir(), "pids")
	for _, path := range []string{fakeGDB(t, "echo $$ >>"+log+`; exec gdb "$@"`), "/nonexistent/gdb"} {
		if err := gdb.StartAhead(gdb.Config{Path: path, IndexCache: t.TempDir()}, 2).Close(); err != nil {
			t.Error(err)
		}
	}
	for _, text := range awaitLines(t, log, 0) {
		pid, err := strconv.Atoi(text)
		if err != nil || syscall.Kill(pid, 0) == nil {
			t.Errorf("gdb %s is left", text)
		}
	}
}

// TestNoGDBAhead attaches where the program that was started before is no gdb.
func TestNoGDBAhead(t *testing.T) {
	cfg := gdb.Config{Path: "/nonexistent/gdb"}
	cfg.Ahead = gdb.StartAhead(cfg, 1)
	r := newRig(t, cfg)
	id := r.id()
	r.engine.Attach(id, []backend.Target{{Rank: 0, PID: r.run(build(t, "calls.c")).Process.Pid}}, "", patience)
	if g := r.answers(id, 1)[0]; g.Kind != protocol.KindFault || !strings.Contains(string(g.Body), "cannot start /nonexistent/gdb") {
		t.Errorf("got %v", g)
	}
}
