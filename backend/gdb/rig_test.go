// An engine with ranks, as in a server.

package gdb_test

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"sdm/backend"
	"sdm/backend/gdb"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// patience bounds every wait of these tests.
const patience = 60 * time.Second

// rig is an engine with ranks, as in a server.
type rig struct {
	testing.TB
	engine *gdb.Engine
	sink   *recorder
	forker *local.Forker
	mu     sync.Mutex
	procs  map[rank.ID]*local.Process
	last   protocol.RequestID
	seen   map[rank.ID]int // how many events of a rank have been awaited
	tasks  sync.WaitGroup
	// neighbours is how many more ranks share the gdb of those that a test launches.
	// They are stopped at main and must have no effect.
	neighbours int
	own        rank.ID // the first of them
	defects    bool    // the test causes a panic
}

// neighboursVariable sets neighbours for all tests: they must pass with 7 as with none.
const neighboursVariable = "GDB_TEST_NEIGHBOURS"

func newRig(t testing.TB, cfg gdb.Config) *rig {
	t.Helper()
	r := &rig{TB: t, sink: newRecorder(), forker: local.NewForker(), procs: map[rank.ID]*local.Process{}, seen: map[rank.ID]int{}}
	if r.neighbours, _ = strconv.Atoi(os.Getenv(neighboursVariable)); r.neighbours > 0 && (cfg.Reverse || cfg.RanksPerGDB == 1) {
		r.neighbours = 0 // the gdb is not shared
	} else if r.neighbours > 0 {
		cfg.RanksPerGDB = 1000
	}
	r.own = 1 << 30
	engine, err := gdb.New(cfg, r.sink)
	if err != nil {
		t.Fatal(err)
	}
	r.engine = engine
	r.sink.lost = func(s rank.Set) { // as a server does
		for id := range s.All() {
			if p := r.process(id); p != nil {
				p.Kill()
			}
		}
	}
	if _, bench := t.(*testing.B); !bench {
		t.Cleanup(r.close)
	}
	return r
}

func (r *rig) process(id rank.ID) *local.Process {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.procs[id]
}

func (r *rig) close() {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := r.engine.Close(ctx); err != nil {
		r.Errorf("close: %v", err)
	}
	for _, p := range r.procs {
		p.Kill()
		p.Wait()
	}
	r.tasks.Wait()
	r.forker.Close()
	if left := children(r); left != "" {
		r.Errorf("left behind:\n%s", left)
	}
	if !r.defects && strings.Contains(r.sink.transcript(), "a defect of sdm") {
		r.Error("a panic that was caught")
	}
	if r.Failed() {
		r.Logf("transcript:\n%s", r.sink.transcript())
	}
}

// children lists gdbs and targets that still exist, including zombies.
func children(t testing.TB) string {
	t.Helper()
	b, err := os.ReadFile("/proc/self/task/" + strconv.Itoa(os.Getpid()) + "/children")
	if err != nil {
		t.Fatal(err)
	}
	tasks, _ := filepath.Glob("/proc/self/task/*/children")
	for _, f := range tasks {
		more, _ := os.ReadFile(f)
		b = append(b, more...)
	}
	var left []string
	for _, pid := range strings.Fields(string(b)) {
		comm, _ := os.ReadFile("/proc/" + pid + "/comm")
		left = append(left, pid+" "+string(comm))
	}
	return strings.Join(left, "")
}

func (r *rig) id() protocol.RequestID {
	r.last++
	return r.last
}

// hold forks n ranks of a program and attaches to them.
func (r *rig) hold(program string, n int, stopAt string, wait time.Duration, args ...string) protocol.RequestID {
	r.Helper()
	id := r.id()
	var targets []backend.Target
	r.own = rank.ID(n)
	all := n + r.neighbours
	r.neighbours = 0 // they exist now
	for i := range rank.ID(all) {
		p, err := r.forker.Hold(local.Spec{Rank: i, Program: program, Args: args, Env: append(os.Environ(), "SDM_RANK="+strconv.Itoa(int(i)))})
		if err != nil {
			r.Fatal(err)
		}
		r.adopt(i, p)
		targets = append(targets, backend.Target{Rank: i, PID: p.PID, Program: program, Held: true})
	}
	r.engine.Attach(id, targets, stopAt, wait)
	return id
}

// adopt registers the process of a rank, as a server does.
func (r *rig) adopt(id rank.ID, p *local.Process) {
	r.mu.Lock()
	r.procs[id] = p
	r.mu.Unlock()
	r.tasks.Go(func() { io.Copy(io.Discard, p.Stdout); p.Stdout.Close() })
	r.tasks.Go(func() { io.Copy(io.Discard, p.Stderr); p.Stderr.Close() })
	r.tasks.Go(func() { r.engine.Ended(id, p.Wait()) })
}

// launch brings n ranks to their first stop.
func (r *rig) launch(program string, n int, args ...string) {
	r.Helper()
	all := n + r.neighbours
	id := r.hold(program, n, "main", patience, args...)
	for _, g := range r.answers(id, n) {
		if g.Kind != protocol.KindResult {
			r.Fatalf("launch: %v", g)
		}
	}
	for i := range rank.ID(all) {
		r.await(i, protocol.KindStopped)
	}
}

// send gives a command to ranks 0 to n-1.
func (r *rig) send(n int, name string, args protocol.Args, wait time.Duration) protocol.RequestID {
	id := r.id()
	r.engine.Do(backend.Request{ID: id, Ranks: rank.Range(0, rank.ID(n-1)), Wait: wait, Command: &protocol.Command{Name: name, Args: args}})
	return id
}

// answers waits for the answers of n ranks; more is an error.
func (r *rig) answers(id protocol.RequestID, n int) []protocol.Group {
	r.Helper()
	var groups []protocol.Group
	if !r.sink.until(patience, func(all []told) bool {
		groups = groups[:0]
		count := 0
		for _, t := range all {
			if first, _ := t.group.Ranks.Min(); t.id == id && first < r.own {
				groups = append(groups, t.group)
				count += t.group.Ranks.Len()
			}
		}
		if count > n {
			r.Errorf("request %d was answered %d times by %d ranks", id, count, n)
		}
		return count >= n
	}) {
		r.Fatalf("request %d: no answer from all of %d ranks", id, n)
	}
	return groups
}

// ask gives a command to rank 0 and waits for its answer.
func (r *rig) ask(name string, args protocol.Args) protocol.Group {
	r.Helper()
	return r.answers(r.send(1, name, args, patience), 1)[0]
}

// ok is ask, and the answer must be a result.
func (r *rig) ok(name string, args protocol.Args) protocol.Group {
	r.Helper()
	g := r.ask(name, args)
	if g.Kind != protocol.KindResult {
		r.Fatalf("%s %+v: %v", name, args, g)
	}
	return g
}

// fault is ask, and the answer must be a fault with these words.
func (r *rig) fault(name string, args protocol.Args, kind protocol.FaultKind, words string) protocol.Fault {
	r.Helper()
	g := r.ask(name, args)
	var f protocol.Fault
	json.Unmarshal(g.Body, &f)
	if g.Kind != protocol.KindFault || f.Kind != kind || !strings.Contains(f.Error(), words) {
		r.Fatalf("%s: got %v, want fault %s with %q", name, g, kind, words)
	}
	return f
}

// value returns the value of an expression on rank 0.
func (r *rig) value(expr string) string {
	r.Helper()
	return column(r.ok("print", protocol.Args{Expr: expr}), "value")
}

// column returns the only value of a column.
func column(g protocol.Group, name string) string {
	for _, c := range g.Columns {
		if c.Name == name && len(c.Values()) == 1 {
			return c.Values()[0].Value
		}
	}
	return "no column " + name
}

// await returns the next event of a rank of this kind. It skips others, but not the end
// of the rank.
func (r *rig) await(id rank.ID, kind protocol.Kind) protocol.Group {
	r.Helper()
	var found *protocol.Group
	var other *protocol.Group
	if !r.sink.until(patience, func(all []told) bool {
		for i := r.seen[id]; i < len(all); i++ {
			g := all[i].group
			if all[i].id != 0 || !g.Ranks.Contains(id) {
				continue
			}
			if g.Kind == kind || g.Kind.IsEnd() {
				r.seen[id] = i + 1
				if g.Kind == kind {
					found = &g
				} else {
					other = &g
				}
				return true
			}
		}
		return false
	}) {
		r.Fatalf("rank %d: no event %v", id, kind)
	}
	if found == nil {
		r.Fatalf("rank %d: %v instead of %v", id, *other, kind)
	}
	return *found
}

// stop awaits the next stop of rank 0.
func (r *rig) stop() protocol.Stop {
	r.Helper()
	var s protocol.Stop
	if err := json.Unmarshal(r.await(0, protocol.KindStopped).Body, &s); err != nil {
		r.Fatal(err)
	}
	return s
}

// hits awaits the next stop of rank 0, and returns how many of its threads hit the
// breakpoint together.
func (r *rig) hits() (protocol.Stop, int) {
	r.Helper()
	var s protocol.Stop
	g := r.await(0, protocol.KindStopped)
	if err := json.Unmarshal(g.Body, &s); err != nil {
		r.Fatal(err)
	}
	more, err := strconv.Atoi(column(g, "others"))
	if err != nil {
		r.Fatal(err)
	}
	return s, 1 + more
}

// count returns how many events of a kind rank 0 has had.
func (r *rig) count(kind protocol.Kind) int {
	n := 0
	r.sink.until(0, func(all []told) bool {
		for _, t := range all {
			if t.id == 0 && t.group.Kind == kind && t.group.Ranks.Contains(0) {
				n++
			}
		}
		return true
	})
	return n
}

// gdbPID returns the gdb of a rank: the tracer of its process.
func (r *rig) gdbPID(id rank.ID) int {
	r.Helper()
	pid := processTracer(r, r.process(id).PID)
	if pid == 0 {
		r.Fatalf("rank %d has no tracer", id)
	}
	return pid
}

// run starts a program that is not held.
func (r *rig) run(program string, args ...string) *exec.Cmd {
	r.Helper()
	cmd := exec.Command(program, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	return cmd
}

// text decodes the body of gdb and mi.
func text(t testing.TB, g protocol.Group) string {
	t.Helper()
	var b struct{ Text string }
	if err := json.Unmarshal(g.Body, &b); err != nil {
		t.Fatal(err)
	}
	return b.Text
}

// processTracer returns the tracer of a process, or 0.
func processTracer(t testing.TB, pid int) int {
	t.Helper()
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "TracerPid:\t")
	line, _, _ := strings.Cut(rest, "\n")
	tracer, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	return tracer
}
