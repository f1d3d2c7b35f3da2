// Package backendtest provides the conformance suite of back ends: scripts of commands with the
// answers and events of ranks, the same for all back ends, and rules for their order.
package backendtest

import (
	"context"
	"os"
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
	// Without are scripts that it cannot pass, by name, with the reason. A script that it can pass
	// must be removed from them.
	Without map[string]string
	// Watched reports that ranks begin without a debugger, which attaches by the first command that
	// needs it. By nature, an attach is then answered with the event watched in place of those that
	// the script has, and the debugger reports a stop of its own.
	Watched bool
}

// Setup is what a script needs.
type Setup struct {
	Script string // name of the script, for data that the subject keeps for each
	Ranks  int    // number of ranks of the job
	// Loop are the ranks that do not return from my_rank (environment variable SDM_LOOP):
	// continued from main, they run until they are interrupted.
	Loop rank.Set
}

// Opened is a back end, and the source of its ranks.
type Opened struct {
	Backend backend.Backend
	// Hold makes a rank: the program of Program with SDM_RANK in its environment, held before its
	// first instruction. The implementation of Hold must call Backend.Ended when the process has
	// ended.
	Hold func(r rank.ID) backend.Target
	// Place makes ranks of a subject with Watched, in place of Hold: processes that have stopped at
	// a function ("": main) and that no debugger has.
	Place func(ranks rank.Set, stopAt string) []backend.Target
	// Done is called when Backend has been closed; nil: nothing to do.
	Done func()
}

// RanksPerTape returns how many ranks share a gdb when a script is recorded: one if there are many
// breakpoints, because a shared gdb reports the locations on all ranks at every hit (400 KB for
// session).
func RanksPerTape(s Setup) int {
	if s.Script == "session" || s.Script == "breakpoints" {
		return 1
	}
	return s.Ranks
}

// WaitLimit bounds every wait of the suite. It is generous for loaded machines.
const WaitLimit = time.Minute

// folder returns the directory of scripts and program, relative to the package under test: a
// sibling of this one, or one two folders below the root.
func folder() string {
	const sibling = "../backendtest/testdata"
	if _, err := os.Stat(sibling); err == nil {
		return sibling
	}
	return "../../backend/backendtest/testdata"
}

// Program returns the directory of the program that the ranks run, and the commands that compile
// it there. Its text is what simulated ranks show; the rest is in around.c, which is compiled
// without debug information, like a library. Without column information a step never ends in the
// middle of a line.
func Program(out string) (dir string, commands [][]string) {
	return filepath.Join(folder(), "program"), [][]string{
		{"gcc", "-O0", "-c", "-o", out + ".around.o", "around.c"},
		{"gcc", "-g", "-O0", "-gno-column-info", "-include", "around.h", "-o", out, "work.c", out + ".around.o"},
	}
}

// Run plays all scripts to a subject. With -rewrite the answers are written into the scripts: the
// answers of one subject are what all must give.
func Run(t *testing.T, s Subject) {
	scripts, err := filepath.Glob(filepath.Join(folder(), "script", "*.txt"))
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in %s: %v", folder(), err)
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

// close closes the back end, after which it must not call the Sink.
func (p *player) close() {
	if p.opened.Backend == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), WaitLimit)
	defer cancel()
	if err := p.opened.Backend.Close(ctx); err != nil {
		p.t.Errorf("close: %v", err)
	}
	p.checker.closed()
	if p.opened.Done != nil {
		p.opened.Done()
	}
	p.opened.Backend = nil
	if p.t.Failed() {
		p.t.Logf("calls of the sink:\n%s", p.checker.transcript())
	}
}
