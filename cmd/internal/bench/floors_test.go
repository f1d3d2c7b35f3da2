package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sdm/master/session"
)

// TestForwarders: a packet goes through a tree of processes and comes back.
func TestForwarders(t *testing.T) {
	f := startForwarders(5)
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

// TestRelay: answers come from real gdbs.
func TestRelay(t *testing.T) {
	program := filepath.Join(t.TempDir(), "work")
	if out, err := exec.Command("gcc", "-g", "-O0", "-o", program, "../../../testdata/programs/work.c").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	r := startRelay(program, 2)
	if got := string(r.say("ask", 2, 0, "1+1")); got != "^done,value=\"2\"\n^done,value=\"2\"\n" {
		t.Errorf("got %q", got)
	}
	if got := string(r.say("ask", 1, 0, "table[3]")); got != "^done,value=\"9\"\n" {
		t.Errorf("got %q", got)
	}
	if took := r.loop(2, 3, "rank"); took <= 0 {
		t.Errorf("a round took %v", took)
	}
	if all := family(r.cmd.Process.Pid); len(all) != 1+2+2 {
		t.Errorf("a relay of 2 ranks has processes %v", all)
	}
	r.close()
	if !r.cmd.ProcessState.Success() {
		t.Errorf("the relay ended with %v", r.cmd.ProcessState)
	}
}

// TestScripted: the servers of this program are servers, and say when a rank has
// stopped.
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
