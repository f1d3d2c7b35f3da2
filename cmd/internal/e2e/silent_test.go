package e2e

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// mutedGDB is a gdb of which nothing is heard after three prompts: it has come up and attaches, and answers no more.
const mutedGDB = `#!/usr/bin/env python3
import os, subprocess, sys, threading
if '--version' in sys.argv:
    os.execvp('gdb', ['gdb'] + sys.argv[1:])
gdb = subprocess.Popen(['gdb'] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
def hear():
    prompts = 0
    for line in gdb.stdout:
        prompts += line.strip() == b'(gdb)'
        if prompts <= 3:
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
threading.Thread(target=hear, daemon=True).start()
for line in sys.stdin.buffer:
    gdb.stdin.write(line)
    gdb.stdin.flush()
gdb.kill()
`

// TestGDBThatFallsSilent: it costs its ranks, within --connect-wait, and they run on.
func TestGDBThatFallsSilent(t *testing.T) {
	for _, line := range [][]string{
		{"stacks"}, {"attach", "-b", "-e", "print 1"}, {"attach", "-b", "-e", "print 1", "--ranks-per-gdb", "1"},
	} {
		t.Run(strings.Join(line, " "), func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			var pids []string
			for range 2 {
				pid := s.start(program("spin")).cmd.Process.Pid
				pids = append(pids, fmt.Sprint(pid))
				t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
			}
			args := append(line, "--gdb", s.file("gdb", mutedGDB, 0o700), "--connect-wait", "4s", "pids:"+strings.Join(pids, ","))
			front := s.start("sdm", args...)
			if status := front.status(patience); status == 0 {
				t.Errorf("all is well%s", front.said())
			}
			s.eventually(leftoverTime, func() string {
				for _, p := range s.found() {
					switch {
					case p.name != "spin":
						return fmt.Sprintf("%v is left%s", p, front.said())
					case p.state == "T" || p.state == "t" || p.tracer != 0:
						return fmt.Sprintf("%v has the tracer %d%s", p, p.tracer, front.said())
					}
				}
				return ""
			})
		})
	}
}
