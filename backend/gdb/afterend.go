// Commands about ranks that have ended: a gdb reads the file of their program, without a process.

package gdb

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"sdm/backend"
	"sdm/backend/gdb/debugger"
	"sdm/backend/gdb/request"
	"sdm/backend/gdb/values"
	"sdm/protocol"
	"sdm/protocol/rank"
)

// afterEnd answers commands about ranks that have ended. Their gdb has ended, too: each command starts one that
// reads the symbols of the program and ends (0.1 to 0.3 s), whatever the number of ranks. Each has a goroutine, which
// ends with its gdb; close kills these and waits.
type afterEnd struct {
	ctx  context.Context
	stop context.CancelFunc
	wg   sync.WaitGroup
}

func newAfterEnd() *afterEnd {
	a := &afterEnd{}
	a.ctx, a.stop = context.WithCancel(context.Background())
	return a
}

func (a *afterEnd) close() {
	a.stop()
	a.wg.Wait()
}

// maxFromFile bounds what such a gdb may write, in bytes.
const maxFromFile = 1 << 20

// learnProgram notes what a rank executes while it is there.
func (s *rankEntry) learnProgram() {
	if exe, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", s.target.PID())); err == nil && s.machine.Target.Root == "" {
		s.program = exe
	}
}

// askFile has a gdb answer a request for ranks that have ended. If it cannot, their machines refuse the request.
func (l *loop) askFile(r backend.Request, c *request.Command, program, line string, ranks rank.Set) {
	argv := append(l.e.cfg.commandLine("console", "", false, false), "-batch", "-s", program, "-ex", line)
	env := l.environment()
	if env == nil {
		env = os.Environ()
	}
	l.lookups.wg.Go(func() {
		groups := l.lookups.run(argv, environment(env), request.EngineTime(r.Wait), c, ranks)
		l.e.post(func(l *loop) {
			for _, g := range groups {
				l.messages = append(l.messages, debugger.Message{Request: r.ID, Group: g})
			}
			for id := range ranks.All() {
				if s := l.ranks[id]; groups == nil && s != nil {
					l.guard(s.gdb, func() { s.machine.Do(l.now(), r.ID, r.Wait, c) })
					l.touch(s.gdb)
				}
			}
		})
	})
}

// run runs such a gdb. wait bounds its time; 0: there is no limit. nil: it cannot answer, or not in time.
func (a *afterEnd) run(argv, env []string, wait time.Duration, c *request.Command, ranks rank.Set) []protocol.Group {
	ctx := a.ctx
	if wait > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, wait)
		defer cancel()
	}
	gdb := exec.CommandContext(ctx, argv[0], argv[1:]...)
	var errors bytes.Buffer
	gdb.Env, gdb.Stderr = env, &errors
	out, err := gdb.StdoutPipe()
	if err != nil || gdb.Start() != nil {
		return nil
	}
	text, _ := io.ReadAll(io.LimitReader(out, maxFromFile))
	if len(text) == maxFromFile {
		_ = gdb.Process.Kill()
	}
	err = gdb.Wait()
	if err != nil && gdb.ProcessState.ExitCode() < 0 && len(text) < maxFromFile { // a signal: it crashed or was too slow
		return nil
	}
	return values.AfterEnd(c, ranks, string(text), strings.ToValidUTF8(errors.String(), "?"))
}
