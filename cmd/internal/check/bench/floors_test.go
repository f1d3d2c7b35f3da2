package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"sdm/master/session"
)

// TestForwarders sends a packet through a tree of processes and back.
func TestForwarders(t *testing.T) {
	f := startForwarders("binomial", 5)
	packet := likeOurs(manyServers)
	for range 3 {
		f.ask(packet)
	}
	if len(f.children) != 3 || len(f.pids()) != 5 {
		t.Errorf("%d children, %d processes", len(f.children), len(f.pids()))
	}
	if used := cpuTime(f.pids()); used <= 0 {
		t.Errorf("they have used %v", used)
	}
	if size := pss(f.pids()[0]); size < 100<<10 || size > 1<<30 {
		t.Errorf("%d bytes", size)
	}
	f.close()
	for _, c := range f.cmds {
		if !c.ProcessState.Success() {
			t.Errorf("a forwarder ended with %v", c.ProcessState)
		}
	}
}

// TestRelay gets answers from real gdbs.
func TestRelay(t *testing.T) {
	r := startRelay(2, 1, compiled(t, "work"))
	if got := string(r.ask("print", 2, "1+1")); got != "^done,value=\"2\"\n^done,value=\"2\"\n" {
		t.Errorf("got %q", got)
	}
	if got := string(r.ask("print", 1, "table[3]")); got != "^done,value=\"9\"\n" {
		t.Errorf("got %q", got)
	}
	if took := r.loop("print", 2, 3, "rank"); took <= 0 {
		t.Errorf("a round took %v", took)
	}
	if all := family(r.cmd.Process.Pid); len(all) != 1+2+2 {
		t.Errorf("a relay of 2 ranks has processes %v", all)
	}
	endRelay(t, r)
}

// TestSharingRelay executes all rounds, with gdbs that several ranks share.
func TestSharingRelay(t *testing.T) {
	const ranks, threads = 3, 1 + 2
	var r *relay
	count := func(round, argument, answer string, want int) {
		t.Helper()
		got := string(r.ask(round, ranks, argument))
		if n := strings.Count(got, answer); n != want {
			t.Errorf("%s gave %d times %q, want %d:\n%s", round, n, answer, want, got)
		}
	}
	program := compiled(t, "laps")

	r = startRelay(ranks, 2, program)
	if gdbs := gdbsOf(r.cmd.Process.Pid); len(gdbs) != 2 {
		t.Errorf("gdbs %v", gdbs)
	}
	count("break", "lap", "^done,bkpt=", 2)
	for i := range 3 {
		count("continue", "", `*stopped,reason="breakpoint-hit"`, ranks)
		count("print", "turns", fmt.Sprintf(`^done,value="%d"`, i), ranks)
		count("stacks", "", `func="track"`, ranks)
	}
	endRelay(t, r)

	r = startRelay(ranks, 2, program, strconv.Itoa(threads-1), "1000")
	count("break", "track", "^done,bkpt=", 2) // by then all threads exist
	count("continue", "", `*stopped,reason="breakpoint-hit"`, ranks)
	count("run", "", "^running", ranks)
	for range 3 {
		count("sample", "", "^done,stack=", ranks*threads)
	}
	endRelay(t, r)
}

func compiled(t *testing.T, name string) string {
	program := filepath.Join(t.TempDir(), name)
	if out, err := exec.Command("gcc", "-g", "-O0", "-pthread", "-o", program, "../../../../testdata/programs/"+name+".c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return program
}

func endRelay(t *testing.T, r *relay) {
	r.close()
	if !r.cmd.ProcessState.Success() {
		t.Errorf("the relay ended with %v", r.cmd.ProcessState)
	}
}

// TestScripted checks that this program can act as a server, and that its stops tell the time.
func TestScripted(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	j := startJob(self, 3, 1)
	j.launch("simulated")
	j.ask(session.Call{Command: "continue", Ranks: "0-1"})
	j.call(session.Call{Command: "step", Ranks: "2"})
	if took := j.stopTime(); took <= 0 || took > patience {
		t.Errorf("the stop took %v", took)
	}
	j.close()
}
