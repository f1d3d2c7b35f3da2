package oracle

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"
)

var (
	sessions = flag.Int("sessions", 33, "how many sessions are compared: a session in one layout is one; 33 have each word once")
	seed     = flag.Uint64("seed", 1, "the seed of the first session")
	program  = flag.String("program", "", "the program of all sessions; else they take turns")
	layout   = flag.String("layout", "", "RANKS/PER-GDB of all sessions, such as 8/4; else they take turns")
	whole    = flag.Bool("whole", false, "show all differences of a session, not only the first")
)

// bench is the directory of the programs; it is set before the tests run.
var bench string

// TestMain builds sdm and the programs that sessions debug.
func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	flag.Parse()
	var err error
	if bench, err = os.MkdirTemp("", "sdm-oracle-"); err == nil {
		defer os.RemoveAll(bench)
		if !testing.Short() {
			err = build()
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// sources is the directory of the programs to debug.
const sources = "../../../../testdata/programs"

func build() error {
	dir, err := filepath.Abs(sources)
	if err != nil {
		return err
	}
	if out, err := exec.Command("go", "build", "-o", bench+"/", "sdm/cmd/sdm", "sdm/cmd/sdm-server").CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	errs := make([]error, len(programs))
	var group sync.WaitGroup
	for i := range programs {
		if *program == "" || *program == programs[i].Name {
			group.Go(func() { errs[i] = programs[i].Build(dir, bench) })
		}
	}
	group.Wait()
	return errors.Join(errs...)
}

// always are the layouts of every session; every second one also has one of turns, in turn.
var (
	always = []Layout{{1, 1}, {4, 4}}
	turns  = []Layout{{8, 4}, {4, 2}, {8, 8}, {8, 1}}
)

// layoutsOf returns the layouts of the session with a number.
func layoutsOf(t *testing.T, i int) []Layout {
	if *layout != "" {
		var l Layout
		if _, err := fmt.Sscanf(*layout, "%d/%d", &l.Ranks, &l.PerGDB); err != nil {
			t.Fatalf("-layout %s: %v", *layout, err)
		}
		return []Layout{l}
	}
	if i%2 == 1 {
		return always
	}
	return append(slices.Clone(always), turns[i/2%len(turns)])
}

// TestSessions plays random sessions on plain gdb and on sdm.
func TestSessions(t *testing.T) {
	if testing.Short() {
		t.Skip("needs gdb")
	}
	p := &play{t: t, rules: rulesOfDocs(t), known: map[string]int{}, words: map[string]map[Layout]int{}}
	var group sync.WaitGroup
	places := make(chan bool, 2)
	for i := 0; p.wanted(i); i++ {
		places <- true
		group.Go(func() {
			defer func() { <-places }()
			p.session(NewSession(programOf(t, i), *seed+uint64(i)), layoutsOf(t, i))
		})
	}
	group.Wait()
	p.summary()
}

func rulesOfDocs(t *testing.T) Rules {
	t.Helper()
	f, err := os.Open("../../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rules, err := ReadRules(f)
	if err != nil {
		t.Fatal("docs/differences.md: ", err)
	}
	return rules
}

func programOf(t *testing.T, i int) *Program {
	if *program == "" {
		return &programs[i%len(programs)]
	}
	at := slices.IndexFunc(programs, func(p Program) bool { return p.Name == *program })
	if at < 0 {
		t.Fatalf("-program %s: there is none", *program)
	}
	return &programs[at]
}

// play is a run of the test.
type play struct {
	t     *testing.T
	rules Rules

	mu      sync.Mutex
	played  int // sessions
	lines   int // compared lines of ranks
	endless int // sessions that did not end with gdb
	varied  int // differences in which gdb differs from itself
	known   map[string]int
	words   map[string]map[Layout]int
}

func (p *play) wanted(i int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.played+p.endless < *sessions && i < *sessions
}

// session plays a session on plain gdbs, and then on sdm in each layout.
func (p *play) session(s Session, layouts []Layout) {
	var gdb [][]Block
	var took time.Duration // of all gdbs, one after the other
	for _, l := range layouts {
		for len(gdb) < l.Ranks {
			began := time.Now()
			blocks, ok, err := AskGDB(context.Background(), p.rules, s, len(gdb))
			if err != nil {
				p.t.Errorf("%s, seed %d: %v", s.Program.Name, s.Seed, err)
				return
			}
			if !ok {
				p.count(&p.endless)
				return
			}
			gdb = append(gdb, blocks)
			took += time.Since(began)
		}
		p.layout(s, l, gdb, took)
	}
}

func (p *play) count(n *int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	*n++
}

// layout plays a session on sdm and compares.
func (p *play) layout(s Session, l Layout, gdb [][]Block, took time.Duration) {
	told, ok, err := AskSDM(context.Background(), filepath.Join(bench, "sdm"), s, l, bench, took)
	if err != nil || !ok {
		p.t.Errorf("-program %s -seed %d -layout %s: ended in time: %v, %v\n%s", s.Program.Name, s.Seed, l, ok, err, s)
		return
	}
	p.count(&p.played)
	if *whole {
		p.t.Logf("%s", s)
	}
	shown := false
	for r := range l.Ranks {
		result := Compare(p.rules, s, l, r, gdb[r], told)
		p.note(result.Words, l)
		shown = p.judge(result.Found, gdb[r], shown) || shown
	}
}

// judge reports the first new difference of a rank, unless one of the session was reported already.
func (p *play) judge(found []Difference, gdb []Block, shown bool) bool {
	for _, d := range found {
		switch {
		case d.Known != nil:
			p.mu.Lock()
			p.known[d.Known.Defect]++
			p.mu.Unlock()
			return shown
		case shown && !*whole:
			return true
		case p.varies(d):
			p.count(&p.varied) // the rank may be elsewhere from now on
			return shown
		}
		if p.t.Errorf("%s", d); !*whole {
			return true
		}
		shown = true
	}
	return shown
}

// varies reports whether gdb itself gives another answer when it is asked again: an uninitialized
// value may differ in each process, and a breakpoint with a condition on it stops in some processes
// only.
func (p *play) varies(d Difference) bool {
	for range 12 { // half of the processes may give one answer
		again, ok, err := AskGDB(context.Background(), p.rules, d.Session, d.Rank)
		if err == nil && ok && p.rules.apply(d.Session.Lines[d.Line], "gdb", again[d.Line]) != d.GDB {
			return true
		}
	}
	return false
}

func (p *play) note(words []string, l Layout) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines += len(words)
	for _, w := range words {
		if p.words[w] == nil {
			p.words[w] = map[Layout]int{}
		}
		p.words[w][l]++
	}
}

func (p *play) summary() {
	p.t.Logf("%d sessions, from seed %d: %d answers compared, %d sessions endless, %d answers vary", p.played, *seed, p.lines, p.endless, p.varied)
	for defect, n := range p.known {
		p.t.Logf("known: %s: %d ranks", defect, n)
	}
	for _, w := range compared {
		for _, l := range always {
			if p.words[w][l] == 0 && *sessions >= 200 && *layout == "" {
				p.t.Logf("%s was never compared with %s: ranks had ended before", w, l)
			}
		}
	}
}
