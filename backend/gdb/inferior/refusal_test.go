package inferior

import (
	"os"
	"strings"
	"testing"
)

func TestWhyRefused(t *testing.T) {
	status := func(state, tracer, uid string) string {
		return "Name:\tapp\nState:\t" + state + "\nTracerPid:\t" + tracer + "\nUid:\t" + uid + "\t" + uid + "\n"
	}
	for _, c := range []struct {
		name, status string
		leaderEnded  bool
		user         int
		scope, want  string
	}{
		{"zombie leader", status("Z (zombie)", "0", "7"), true, 7, "1", "first thread has ended"},
		{"zombie", status("Z (zombie)", "0", "7"), false, 7, "1", "not waited for it"},
		{"traced", status("t (tracing stop)", "42", "7"), false, 7, "1", "process 42 debugs it"},
		{"another user", status("S (sleeping)", "0", "8"), false, 7, "1", "another user's (8)"},
		{"Yama 1", status("S (sleeping)", "0", "7"), false, 7, "1", "ptrace_scope is 1"},
		{"Yama 1 and root", status("S (sleeping)", "0", "7"), false, 0, "1", "protects itself"},
		{"Yama 2 and root", status("S (sleeping)", "0", "7"), false, 0, "2", "ptrace_scope is 2"},
		{"no Yama", status("S (sleeping)", "0", "7"), false, 7, "", "protects itself"},
	} {
		if got := whyRefused(c.status, c.leaderEnded, c.user, c.scope); !strings.Contains(got, c.want) {
			t.Errorf("%s: %s", c.name, got)
		}
	}
	if got := WhyRefused(1 << 30); got != "it has ended" {
		t.Errorf("no process: %s", got)
	}
	if LeaderEnded(os.Getpid()) {
		t.Error("the first thread of this process has ended")
	}
}
