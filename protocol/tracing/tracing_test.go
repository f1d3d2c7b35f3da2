// Tests of the reasons, of made-up and of real processes.

package tracing

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

func TestWhy(t *testing.T) {
	status := func(state, tracer, uid, caps, ids string) string {
		return "Name:\tapp\nState:\t" + state + "\nTracerPid:\t" + tracer + "\nUid:\t" + uid + "\t" + uid + "\nNSpid:\t" + ids + "\nCapPrm:\t" + caps + "\nCapEff:\t" + caps + "\n"
	}
	const none, all = "0000000000000000", "000001ffffffffff"
	sleeps := status("S (sleeping)", "0", "7", none, "40")
	user, root := status("R (running)", "0", "7", none, "50"), status("R (running)", "0", "0", all, "50")
	for _, c := range []struct {
		name string
		facts
		want string
	}{
		{"zombie leader", facts{status: status("Z (zombie)", "0", "7", none, "40"), own: user, leaderEnded: true, files: 7, user: 7, scope: "1"}, "first thread has ended"},
		{"zombie", facts{status: status("Z (zombie)", "0", "7", none, "40"), own: user, files: 7, user: 7, scope: "1"}, "not waited for it"},
		{"traced", facts{status: status("t (tracing stop)", "42", "7", none, "40"), own: user, files: 7, user: 7, scope: "1"}, "process 42 debugs it"},
		{"another user", facts{status: status("S (sleeping)", "0", "8", none, "40"), own: user, files: 8, user: 7, scope: "1"}, "another user's (8)"},
		{"another user, in a container", facts{status: status("S (sleeping)", "0", "8", none, "40\t12"), own: user, files: 8, user: 7}, "root; it is process 12 of a container"},
		{"Yama 1", facts{status: sleeps, own: user, files: 7, user: 7, scope: "1"}, "ptrace_scope is 1: ask"},
		{"Yama 2", facts{status: sleeps, own: user, files: 7, user: 7, scope: "2"}, "ptrace_scope is 2: ask"},
		{"Yama 3 and root", facts{status: sleeps, own: root, files: 7, scope: "3"}, "tracing is disabled"},
		{"Yama 2 and root", facts{status: sleeps, own: root, files: 7, scope: "2"}, "security module"},
		{"root without the capability", facts{status: sleeps, own: status("R", "0", "0", none, "3"), files: 7, scope: "1"}, "lacks CAP_SYS_PTRACE"},
		{"root of a user namespace", facts{status: status("S (sleeping)", "0", "65534", none, "40"), own: root, files: 7}, "outside of this container"},
		{"not dumpable", facts{status: sleeps, own: user, files: 0, user: 7, scope: "0"}, "not dumpable"},
		{"capabilities", facts{status: status("S (sleeping)", "0", "7", "0000000000002000", "40\t1"), own: user, files: 7, user: 7}, "capabilities that this process lacks: that needs root; it is process 1 of"},
		{"no reason", facts{status: sleeps, own: user, files: 7, user: 7}, "security module"},
	} {
		if got := c.why(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

func TestWhyNot(t *testing.T) {
	if got := WhyNot(1 << 30); got != "it has ended" {
		t.Errorf("no process: %s", got)
	}
	if LeaderEnded(os.Getpid()) {
		t.Error("the first thread of this process has ended")
	}
	ended := exec.Command("true")
	if err := ended.Start(); err != nil {
		t.Fatal(err)
	}
	for state("/proc/"+strconv.Itoa(ended.Process.Pid)+"/stat") != 'Z' { // until Wait
	}
	if got := WhyNot(ended.Process.Pid); !strings.Contains(got, "not waited for it") {
		t.Errorf("a zombie: %s", got)
	}
	_ = ended.Wait()
}
