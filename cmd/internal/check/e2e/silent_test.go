package e2e

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mutedGDB is a gdb whose output stops after three prompts: it starts and attaches, and then does
// not answer. If FIRST names a file, the first gdb is not muted and crashes at the multiplication,
// and the output of the others stops after one prompt.
const mutedGDB = `#!/usr/bin/env python3
import os, subprocess, sys, threading
if '--version' in sys.argv:
    os.execvp('gdb', ['gdb'] + sys.argv[1:])
gdb = subprocess.Popen(['gdb'] + sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
mute = not FIRST or os.path.exists(FIRST)
if FIRST:
    open(FIRST, 'w')
def hear():
    prompts = 0
    for line in gdb.stdout:
        prompts += line.strip() == b'(gdb)'
        if prompts <= (1 if FIRST else 3) or not mute:
            sys.stdout.buffer.write(line)
            sys.stdout.flush()
threading.Thread(target=hear, daemon=True).start()
for line in sys.stdin.buffer:
    if b'31 * 71' in line:
        gdb.kill()
        os.kill(os.getpid(), 9)
    gdb.stdin.write(line)
    gdb.stdin.flush()
gdb.kill()
`

// TestGDBThatFallsSilent checks that its ranks are lost within --connect-wait, and run on.
func TestGDBThatFallsSilent(t *testing.T) {
	t.Parallel()
	for _, line := range [][]string{
		{"stacks", "--engine", "gdb"}, {"attach", "-b", "-e", "print 1"}, {"attach", "-b", "-e", "print 1", "--ranks-per-gdb", "1"},
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
			args := append(line, "--gdb", s.file("gdb", strings.ReplaceAll(mutedGDB, "FIRST", "None"), 0o700), "--connect-wait", "4s", "pids:"+strings.Join(pids, ","))
			front := s.start("sdm", args...)
			if status := front.status(patience); status == 0 {
				t.Errorf("all is well%s", front.said())
			}
			s.eventually(leftoverTime, func() string {
				for _, p := range s.found() {
					switch {
					case p.name != "spin":
						return fmt.Sprintf("%v is left%s", p, front.said())
					case p.held():
						return fmt.Sprintf("%v has the tracer %d%s", p, p.tracer, front.said())
					}
				}
				return ""
			})
		})
	}
}

// TestSecondGDBFallsSilent has a replacement gdb that does not answer. The rank is lost within
// --connect-wait, and runs on.
func TestSecondGDBFallsSilent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	rank := s.start(program("spin"))
	pid := rank.cmd.Process.Pid
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	gdb := strings.ReplaceAll(mutedGDB, "FIRST", fmt.Sprintf("%q", filepath.Join(s.dir, "first")))
	front := &console{process: s.start("sdm", "attach", "-b", "-e", "print 31 * 71", "-e", "wait", "--gdb", s.file("gdb", gdb, 0o700), "--connect-wait", "8s", fmt.Sprint(pid)), size: 1}
	if status := front.status(patience); status == 0 {
		t.Errorf("all is well%s", front.said())
	}
	front.says("no other could take the rank over: it has not taken control of process " + fmt.Sprint(pid) + " in ")
	s.eventually(leftoverTime, func() string {
		if p := look(pid); p.held() {
			return fmt.Sprintf("%v has the tracer %d%s", p, p.tracer, front.said())
		}
		return ""
	})
}
