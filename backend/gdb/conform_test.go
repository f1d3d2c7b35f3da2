package gdb_test

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"sdm/backend"
	"sdm/backend/backendtest"
	"sdm/backend/gdb"
	"sdm/launch/launchtest"
	"sdm/launch/local"
	"sdm/protocol/rank"
)

// TestConformance runs the suite with a gdb for each rank and with a shared one.
func TestConformance(t *testing.T) {
	for _, per := range []int{1, 8} {
		t.Run(fmt.Sprintf("%d ranks per gdb", per), func(t *testing.T) {
			backendtest.Run(t, backendtest.Subject{Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
				return openForSuite(t, gdb.Config{RanksPerGDB: per}, s, sink, true)
			}})
		})
	}
}

var allGDBs = flag.Bool("all-gdbs", false,
	"with each gdb of another release 1 and 8 ranks of a gdb; else the oldest with 8, the newest with 1")

// TestConformanceOfOtherGDBs runs it with the gdbs that testdata/roots/fetch has
// downloaded.
func TestConformanceOfOtherGDBs(t *testing.T) {
	for i, name := range []string{"bullseye", "multiarch", "trixie", "forky"} {
		if !*allGDBs && i != 0 && i != 3 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			path := launchtest.FindRoot(t, name).GDB()
			for k, per := range []int{8, 1} {
				if !*allGDBs && i%2 != k {
					continue
				}
				t.Run(fmt.Sprintf("%d ranks per gdb", per), func(t *testing.T) {
					backendtest.Run(t, backendtest.Subject{Open: func(t *testing.T, s backendtest.Setup, sink backend.Sink) backendtest.Opened {
						return openForSuite(t, gdb.Config{Path: path, RanksPerGDB: per}, s, sink, true)
					}})
				})
			}
		})
	}
}

// openForSuite makes an engine with ranks as in a server. Without told it is not told
// of their ends: a tape is to show what the engine learns from gdb alone.
func openForSuite(t *testing.T, cfg gdb.Config, s backendtest.Setup, sink backend.Sink, told bool) backendtest.Opened {
	engine, err := gdb.New(cfg, sink)
	if err != nil {
		t.Fatal(err)
	}
	program := suiteProgram(t)
	forker := local.NewForker()
	var procs []*local.Process
	var tasks sync.WaitGroup
	// closed when the last process of a rank has been reported as ended
	ends := map[rank.ID]chan bool{}
	return backendtest.Opened{
		Backend: engine,
		Hold: func(r rank.ID) backend.Target {
			env := append(os.Environ(), "SDM_RANK="+strconv.Itoa(int(r)))
			if s.Loop.Contains(r) {
				env = append(env, "SDM_LOOP=1")
			}
			if before := ends[r]; before != nil {
				<-before // as a server does: its end would count for the new process
			}
			over := make(chan bool)
			ends[r] = over
			p, err := forker.Hold(local.Spec{Rank: r, Program: program, Env: env})
			if err != nil {
				t.Fatal(err)
			}
			procs = append(procs, p)
			tasks.Go(func() { io.Copy(io.Discard, p.Stdout); p.Stdout.Close() })
			tasks.Go(func() { io.Copy(io.Discard, p.Stderr); p.Stderr.Close() })
			tasks.Go(func() {
				defer close(over)
				if exit := p.Wait(); told {
					engine.Ended(r, exit)
				}
			})
			return backend.Target{Rank: r, PID: p.PID, Program: program, Held: true}
		},
		Done: func() {
			for _, p := range procs {
				p.Kill()
				p.Wait()
			}
			tasks.Wait()
			forker.Close()
		},
	}
}

// suiteProgram compiles the program of the suite once.
func suiteProgram(t *testing.T) string {
	t.Helper()
	built.Lock()
	defer built.Unlock()
	out := filepath.Join(scratch, "suite", "work")
	if _, err := os.Stat(out); err == nil {
		return out
	}
	if err := os.MkdirAll(filepath.Dir(out), 0o700); err != nil {
		t.Fatal(err)
	}
	dir, commands := backendtest.Program(out)
	for _, c := range commands {
		cmd := exec.Command(c[0], c[1:]...)
		cmd.Dir = dir
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", c, err, b)
		}
	}
	return out
}
