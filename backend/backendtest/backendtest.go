// Package backendtest provides what every back end must pass: scripts of
// commands with what ranks say to them, equal for all back ends, and laws about the order
// in which they say it.
package backendtest

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"sdm/backend"
	"sdm/protocol/rank"
)

// Subject is a kind of back end under test.
type Subject struct {
	// Open makes a back end without ranks.
	Open func(t *testing.T, s Setup, sink backend.Sink) Opened
	// Without are scripts that it cannot pass, by name, and why not. One that has become
	// able to pass them must be taken out.
	Without map[string]string
}

// Setup is what a script wants.
type Setup struct {
	Script string // its name, for what the subject keeps for each
	Ranks  int    // of the job
	// Loop are the ranks that do not come out of my_rank (environment
	// SDM_LOOP): continued from main, they run until they are interrupted.
	Loop rank.Set
}

// Opened is a back end, and where its ranks come from.
type Opened struct {
	Backend backend.Backend
	// Hold makes a rank: the program of Program with SDM_RANK in its environment, held
	// before its first instruction. Whoever makes it sees that Backend.Ended is
	// called when its process has ended.
	Hold func(r rank.ID) backend.Target
	// Done is called when Backend has been closed; nil: nothing to do.
	Done func()
}

// RanksPerTape is how many ranks share a gdb where a script is recorded: one where there are
// many breakpoints, since a shared gdb tells all ranks' places at every hit (400 KB for session).
func RanksPerTape(s Setup) int {
	if s.Script == "session" || s.Script == "breakpoints" {
		return 1
	}
	return s.Ranks
}

// Patience bounds every wait of the suite: what it takes beyond a moment is a
// loaded machine.
const Patience = time.Minute

// folder is where scripts and program are, seen from a package beside this one.
const folder = "../backendtest/testdata"

// Program gives the folder of the program that the ranks run, and how it is compiled there.
// Its text is that of simulated ranks; what it needs beyond is in around.c, which has no debug information, as that
// of a library. Without columns a step never ends in the middle of a line.
func Program(out string) (dir string, commands [][]string) {
	return filepath.Join(folder, "program"), [][]string{
		{"gcc", "-O0", "-c", "-o", out + ".around.o", "around.c"},
		{"gcc", "-g", "-O0", "-gno-column-info", "-include", "around.h", "-o", out, "work.c", out + ".around.o"},
	}
}

// Run plays all scripts to a subject. With -rewrite the answers are written into them:
// what one subject gives is what all must.
func Run(t *testing.T, s Subject) {
	scripts, err := filepath.Glob(filepath.Join(folder, "script", "*.txt"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in %s: %v", folder, err)
	}
	for _, path := range scripts {
		name := strings.TrimSuffix(filepath.Base(path), ".txt")
		t.Run(name, func(t *testing.T) {
			if why, ok := s.Without[name]; ok {
				t.Skip(why)
			}
			play(t, s, name, path)
		})
	}
}

func play(t *testing.T, s Subject, name, path string) {
	p := &player{subject: s, name: name}
	defer func() { p.t = t; p.close() }()
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		p.t = t
		return p.run(d)
	})
}

// close ends the back end; it must say nothing any more.
func (p *player) close() {
	if p.opened.Backend == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), Patience)
	defer cancel()
	if err := p.opened.Backend.Close(ctx); err != nil {
		p.t.Errorf("close: %v", err)
	}
	p.witness.closed()
	if p.opened.Done != nil {
		p.opened.Done()
	}
	p.opened.Backend = nil
	if p.t.Failed() {
		p.t.Logf("what the ranks said:\n%s", p.witness.transcript())
	}
}
