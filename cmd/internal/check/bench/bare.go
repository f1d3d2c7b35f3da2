// Bare gdbs: the same programs under the same gdbs with the flags and environment that sdm uses,
// controlled by a loop that neither parses nor merges. They are the floor by which sdm's figures
// are divided.

package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"sdm/backend/gdb"
	"sdm/launch/local"
)

// bareGDB is a gdb with pipes to it. Each of its processes is an inferior of its own: i1, i2 and so
// on.
type bareGDB struct {
	cmd       *exec.Cmd
	in        io.WriteCloser
	pipe      *os.File // out reads from it
	out       *bufio.Reader
	inferiors int
	threads   []string // of all inferiors, by gdb's numbers; the main threads come first
	stopped   int      // threads reported as stopped since the last resume
	token     int      // of the last command
	commands  strings.Builder
}

// startBareGDB starts a gdb without a program. more are further arguments.
func startBareGDB(more ...string) *bareGDB {
	args := gdb.Config{Args: more}.CommandLine()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = gdb.Environment()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	in, err := cmd.StdinPipe()
	if err != nil {
		fatal("bare gdb", err)
	}
	out := startPiped(cmd, "bare gdb")
	return &bareGDB{cmd: cmd, in: in, pipe: out.(*os.File), out: bufio.NewReaderSize(out, 64<<10)}
}

// add queues one MI command, with a token as sdm's have (gdb reads it byte by byte, and writes it
// back by a system call of its own). say sends all queued commands.
func (g *bareGDB) add(format string, args ...any) {
	g.token = g.token%99 + 1
	fmt.Fprintf(&g.commands, "%d"+format+"\n", append([]any{g.token}, args...)...)
}

// say sends the queued commands.
func (g *bareGDB) say() {
	if _, err := io.WriteString(g.in, g.commands.String()); err != nil {
		fatal("bare gdb", err)
	}
	g.commands.Reset()
}

// Beginnings of lines of gdb, after the token.
var (
	isDone    = []byte("^done")
	isRunning = []byte("^running")
	isStopped = []byte("*stopped")
	isHit     = []byte(`*stopped,reason="breakpoint-hit"`)
	isError   = []byte("^error")
	isThread  = []byte(`=thread-created,id="`)
)

// until reads up to the n-th line that begins with want, and passes these lines to take, unless it
// is nil. As line does, it counts threads.
func (g *bareGDB) until(n int, want []byte, take func([]byte)) {
	for n > 0 {
		line := g.line()
		if bytes.HasPrefix(line, want) {
			n--
			if take != nil {
				take(line)
			}
		}
	}
}

// line reads one line, truncated to the size of the buffer, without its token. It counts new and
// stopped threads, and ends the run after an error of gdb.
func (g *bareGDB) line() []byte {
	line, err := g.out.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		line = bytes.Clone(line)
		for err == bufio.ErrBufferFull {
			_, err = g.out.ReadSlice('\n')
		}
	}
	line = bytes.TrimLeft(line, "0123456789") // the token
	switch {
	case err != nil:
		fatal("bare gdb has ended", err)
	case bytes.HasPrefix(line, isError):
		fatal("bare gdb", fmt.Errorf("%s", line))
	case bytes.HasPrefix(line, isStopped):
		g.stopped++
	case bytes.HasPrefix(line, isThread):
		id, _, _ := bytes.Cut(line[len(isThread):], []byte(`"`))
		g.threads = append(g.threads, string(id))
	}
	return line
}

// attach attaches to processes and waits until all of their threads have stopped. Held processes
// are attached in one batch, which confuses gdb if processes have several threads.
func (g *bareGDB) attach(held bool, pids ...int) {
	for range pids[1:] {
		g.add("-add-inferior")
	}
	g.inferiors = len(pids)
	owed := len(pids) - 1
	for i, pid := range pids {
		g.add("-target-attach --thread-group i%d %d", i+1, pid)
		if owed++; !held || i == len(pids)-1 {
			g.say()
			g.until(owed, isDone, nil)
			g.untilAllStopped()
			owed = 0
		}
	}
}

// untilAllStopped waits until all threads have stopped.
func (g *bareGDB) untilAllStopped() {
	for g.stopped < len(g.threads) {
		g.line()
	}
}

// interrupted waits until the first inferiors, to which interrupts were sent, and all of their
// threads have stopped. After a second the interrupts are repeated: gdb 13.1 forgets one for a
// thread that is just stepping over a breakpoint.
func (g *bareGDB) interrupted(inferiors int) {
	g.until(inferiors, isDone, nil)
	for g.stopped < len(g.threads) {
		if g.speaks(time.Second) {
			g.line()
			continue
		}
		g.addInterrupts(inferiors)
		g.say()
		g.until(inferiors, isDone, nil)
	}
}

// addInterrupts queues commands that interrupt the first inferiors.
func (g *bareGDB) addInterrupts(inferiors int) {
	for i := range inferiors {
		g.add("-exec-interrupt --thread-group i%d", i+1)
	}
}

// speaks waits for output of gdb, for d at most.
func (g *bareGDB) speaks(d time.Duration) bool {
	g.pipe.SetReadDeadline(time.Now().Add(d))
	_, err := g.out.Peek(1)
	g.pipe.SetReadDeadline(time.Time{})
	return !errors.Is(err, os.ErrDeadlineExceeded)
}

// resume queues commands that resume the first inferiors.
func (g *bareGDB) resume(inferiors int) {
	g.stopped = 0
	for i := range inferiors {
		g.add("-exec-continue --thread-group i%d", i+1)
	}
}

// toMain runs held processes to main.
func (g *bareGDB) toMain(ranks []*local.Process) {
	for _, p := range ranks {
		p.Signal(syscall.SIGCONT) // ends the stop in which it was held
	}
	g.add(`-interpreter-exec console "handle SIGCONT nostop noprint nopass"`)
	if g.inferiors == 1 {
		g.add("-break-insert -t main")
	} else {
		g.add("-break-insert main")
	}
	g.resume(g.inferiors)
	g.say()
	g.until(g.inferiors, isHit, nil)
	if g.inferiors > 1 {
		g.add("-break-delete 1")
		g.say()
		g.until(1, isDone, nil)
	}
}

// kill kills gdb, which leaves its breakpoints in the processes.
func (g *bareGDB) kill() {
	syscall.Kill(-g.cmd.Process.Pid, syscall.SIGKILL)
	g.cmd.Wait()
}

// leave lets gdb detach and end.
func (g *bareGDB) leave() {
	g.in.Close()
	io.Copy(io.Discard, g.out)
	g.cmd.Wait()
}
