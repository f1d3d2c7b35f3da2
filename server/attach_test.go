// Tests of ranks that are attached to.

package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"sdm/launch/local"
	"sdm/protocol"
)

func TestAttach(t *testing.T) {
	f := local.NewForker()
	defer f.Close()
	p, err := f.Hold(local.Spec{Program: "/bin/sleep", Args: []string{"1000"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stdout.Close()
	defer p.Stderr.Close()
	b := newBench(t, nil)
	got := b.ask(t, 2, "attach", protocol.Args{Pids: []protocol.Pid{{Rank: 0, PID: p.PID}}})
	if got[0] != `error [1] {"kind":"usage","op":"attach","message":"no process is named for the rank"}` || got[1] != "reply [0] {}" {
		t.Errorf("answers %q", got)
	}
	line := b.up.untilLine(t, "started")
	if !strings.Contains(line, `/sleep","attached":true}`) || !strings.Contains(line, fmt.Sprintf("pid=%d[0]", p.PID)) {
		t.Errorf("started: %s", line)
	}
	if got := b.ask(t, 1, "send", protocol.Args{Data: []byte("x")}); !strings.Contains(got[0], "its standard input is not ours") {
		t.Errorf("send: %v", got)
	}
	b.close(t.Context())
	if isGone(p.PID) {
		t.Error("the attached process was killed")
	}
}

// TestAttachMakesUsLikeARank checks that Like is called until it succeeds once, before the back
// end gets the ranks.
func TestAttachMakesUsLikeARank(t *testing.T) {
	var b *bench
	var tried []int // appended to by the server's loop before the answers
	b = newBench(t, func(c *Config) {
		c.TakeSettings = func(pid int) error {
			tried = append(tried, pid)
			if len(b.backend.targets) > 0 {
				t.Error("the back end has the ranks already")
			}
			if len(tried) == 1 {
				return errors.New("it is not ours")
			}
			return nil
		}
	})
	first, second := sleeping(t), sleeping(t)
	for i, got := range b.ask(t, 3, "attach", protocol.Args{Pids: []protocol.Pid{{Rank: 0, PID: first}, {Rank: 1, PID: second}, {Rank: 2, PID: second}}}) {
		if got != fmt.Sprintf("reply [%d] {}", i) {
			t.Errorf("answer %q", got)
		}
	}
	if !slices.Equal(tried, []int{first, second}) {
		t.Errorf("tried %v", tried)
	}
}

// sleeping starts a process that sleeps.
func sleeping(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("sleep", "100")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return cmd.Process.Pid
}

// TestOurselvesAreRefused attaches to init and to this process.
func TestOurselvesAreRefused(t *testing.T) {
	b := newBench(t, nil)
	pids := []protocol.Pid{{Rank: 0, PID: 1}, {Rank: 1, PID: os.Getpid()}}
	for i, got := range b.ask(t, 2, "attach", protocol.Args{Pids: pids}) {
		if !strings.HasPrefix(got, fmt.Sprintf("error [%d] ", i)) {
			t.Errorf("answer %q", got)
		}
	}
	if len(b.backend.targets) > 0 {
		t.Errorf("the back end has %v", b.backend.targets)
	}
}
