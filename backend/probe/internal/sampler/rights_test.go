package sampler

import (
	"strings"
	"syscall"
	"testing"

	"sdm/backend/probe/internal/snapshot"
)

func TestWhyForbidden(t *testing.T) {
	for _, c := range []struct {
		owner, user int
		scope, want string
	}{
		{0, 1000, "", "another user's"},
		{1001, 1000, "1", "another user's"},
		{1000, 1000, "1", "ptrace_scope is 1: ask"},
		{1000, 1000, "2", "ptrace_scope is 2: ask"},
		{1000, 0, "2", "ptrace_scope is 2: ask"},
		{1000, 0, "3", "tracing is disabled"},
		{1000, 1000, "0", "protects itself"},
		{1000, 0, "1", "CAP_SYS_PTRACE"},
		{1000, 1000, "", "protects itself"},
	} {
		if got := whyForbidden(c.owner, c.user, c.scope); !strings.Contains(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

func TestRefused(t *testing.T) {
	thread := func(why string) snapshot.Thread { return snapshot.Thread{Why: why} }
	no := thread(syscall.EPERM.Error())
	for _, c := range []struct {
		threads []snapshot.Thread
		want    bool
	}{
		{nil, false},
		{[]snapshot.Thread{no, no}, true},
		{[]snapshot.Thread{no, thread("")}, false},
		{[]snapshot.Thread{thread("traced by another process")}, false},
	} {
		if got := refused(&snapshot.Process{Threads: c.threads}); got != c.want {
			t.Errorf("%+v: %v", c.threads, got)
		}
	}
}
