package gdb_test

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"sdm/backend/gdb"
	"sdm/launch/local"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// bare is a gdb that is driven through pipes alone, for comparison.
type bare struct {
	cmd *exec.Cmd
	in  *os.File
	out *bufio.Reader
	p   *local.Process
}

func (g *bare) say(s string) { g.in.WriteString(s) }

func (g *bare) until(prefixes ...string) []byte {
	for {
		line, err := g.out.ReadSlice('\n')
		if err != nil {
			panic(err)
		}
		for _, p := range prefixes {
			if bytes.HasPrefix(line, []byte(p)) {
				return line
			}
		}
	}
}

// startBare brings n ranks to main concurrently, with sdm's options for gdb.
func startBare(b *testing.B, f *local.Forker, program string, n int) []*bare {
	all := make([]*bare, n)
	var wg sync.WaitGroup
	for i := range all {
		p, err := f.Hold(local.Spec{Rank: rank.ID(i), Program: program, Env: append(os.Environ(), "SDM_RANK="+strconv.Itoa(i))})
		if err != nil {
			b.Fatal(err)
		}
		line := gdb.Config{}.CommandLine()
		g := &bare{p: p, cmd: exec.Command(line[0], line[1:]...)}
		g.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		in, _ := g.cmd.StdinPipe()
		out, _ := g.cmd.StdoutPipe()
		g.in, g.out = in.(*os.File), bufio.NewReaderSize(out, 64<<10)
		if err := g.cmd.Start(); err != nil {
			b.Fatal(err)
		}
		all[i] = g
		wg.Go(func() {
			g.say("-interpreter-exec console \"handle SIGCONT nostop noprint nopass\"\n-target-attach " + strconv.Itoa(p.PID) + "\n")
			g.until("*stopped")
			p.Signal(syscall.SIGCONT)
			g.say("-break-insert -t main\n-exec-continue --thread-group i1\n")
			g.until("*stopped,reason=\"breakpoint-hit\"")
		})
	}
	wg.Wait()
	return all
}

func endBare(all []*bare) {
	for _, g := range all {
		g.p.Kill()
		g.cmd.Process.Kill()
		g.cmd.Wait()
		g.p.Wait()
		g.p.Stdout.Close()
		g.p.Stderr.Close()
	}
}

var sizes = []int{1, 4, 16, 64}

func BenchmarkStartToMain(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprintf("bare/ranks=%d", n), func(b *testing.B) {
			f := local.NewForker()
			defer f.Close()
			for b.Loop() {
				all := startBare(b, f, build(b, "work.c"), n)
				b.StopTimer()
				endBare(all)
				b.StartTimer()
			}
		})
		b.Run(fmt.Sprintf("ours/ranks=%d", n), func(b *testing.B) {
			for b.Loop() {
				r := newRig(b, gdb.Config{})
				r.launch(build(b, "work.c"), n)
				b.StopTimer()
				r.close()
				b.StartTimer()
			}
		})
	}
}

func BenchmarkPrint(b *testing.B) {
	const command = "-data-evaluate-expression --thread 1 --frame 0 rank\n"
	for _, n := range sizes {
		b.Run(fmt.Sprintf("bare/ranks=%d", n), func(b *testing.B) {
			f := local.NewForker()
			defer f.Close()
			all := startBare(b, f, build(b, "work.c"), n)
			defer endBare(all)
			for b.Loop() {
				for _, g := range all {
					g.say(command)
				}
				for _, g := range all {
					g.until("^done")
				}
			}
		})
		b.Run(fmt.Sprintf("ours/ranks=%d", n), func(b *testing.B) {
			r := newRig(b, gdb.Config{})
			defer r.close()
			r.launch(build(b, "work.c"), n)
			r.sink.mu.Lock()
			r.sink.all = nil
			r.sink.mu.Unlock()
			b.ResetTimer()
			for b.Loop() {
				r.answers(r.send(n, "print", protocol.Args{Expr: "rank"}, time.Minute), n)
				r.sink.mu.Lock()
				r.sink.all = r.sink.all[:0]
				r.sink.mu.Unlock()
			}
		})
	}
}
