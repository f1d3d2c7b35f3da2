// Bare gdbs: the same programs under the same gdbs with the same flags as sdm
// has them, driven by a loop that neither parses nor merges. It is the floor
// that sdm's own figures are divided by.

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"
	"syscall"

	"sdm/backend/gdb"
	"sdm/launch/local"
	"sdm/protocol/rank"
)

// bareGDB is one gdb with one rank, and pipes to it.
type bareGDB struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	rank *local.Process
}

// say writes one MI command.
func (g *bareGDB) say(command string) {
	if _, err := io.WriteString(g.in, command); err != nil {
		fatal("bare gdb", err)
	}
}

// until reads lines up to one that begins with want, and returns it.
func (g *bareGDB) until(want string) []byte {
	for {
		line, err := g.out.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			continue
		}
		if err != nil {
			fatal("bare gdb ended while "+want+" was awaited", err)
		}
		if bytes.HasPrefix(line, []byte("^error")) {
			fatal("bare gdb", fmt.Errorf("%s", line))
		}
		if bytes.HasPrefix(line, []byte(want)) {
			return line
		}
	}
}

// bareSet is some ranks of a program, each under a gdb of its own, stopped in
// main.
type bareSet struct {
	forker *local.Forker
	gdbs   []*bareGDB
}

// startBare does what the start of a session does, and no more: hold, attach,
// temporary breakpoint in main, continue, wait for the stop; all ranks at once.
func startBare(program string, ranks int) *bareSet {
	s := &bareSet{forker: local.NewForker(), gdbs: make([]*bareGDB, ranks)}
	var all sync.WaitGroup
	for i := range s.gdbs {
		all.Go(func() {
			p, err := s.forker.Hold(local.Spec{
				Rank: rank.ID(i), Program: program,
				Env: append(os.Environ(), "SDM_RANK="+strconv.Itoa(i), "SDM_SIZE="+strconv.Itoa(ranks)),
			})
			if err != nil {
				fatal("bare rank", err)
			}
			go io.Copy(io.Discard, p.Stdout)
			go io.Copy(io.Discard, p.Stderr)
			s.gdbs[i] = attachBare(p)
		})
	}
	all.Wait()
	return s
}

func attachBare(p *local.Process) *bareGDB {
	args := gdb.Config{}.CommandLine()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		fatal("bare gdb", err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		fatal("bare gdb", err)
	}
	if err := cmd.Start(); err != nil {
		fatal("bare gdb", err)
	}
	g := &bareGDB{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10), rank: p}
	g.say("-interpreter-exec console \"handle SIGCONT nostop noprint nopass\"\n-target-attach " + strconv.Itoa(p.PID) + "\n")
	g.until("^done")
	g.until("^done")
	g.until("*stopped")
	p.Signal(syscall.SIGCONT) // ends the stop in which it was held
	g.say("-break-insert -t main\n-exec-continue --thread-group i1\n")
	g.until("*stopped,reason=\"breakpoint-hit\"")
	return g
}

// close kills ranks and gdbs and waits for them.
func (s *bareSet) close() {
	for _, g := range s.gdbs {
		syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
		g.rank.Kill()
		g.cmd.Wait()
	}
	s.forker.Close()
}

// evaluate is one round: the same command to the first n gdbs, then the answer of
// each.
func (s *bareSet) evaluate(n int, expr string, take func([]byte)) {
	command := "-data-evaluate-expression --thread 1 --frame 0 \" " + expr + "\"\n"
	for _, g := range s.gdbs[:n] {
		g.say(command)
	}
	for _, g := range s.gdbs[:n] {
		take(g.until("^done"))
	}
}
