package sampler

import (
	"syscall"
	"testing"

	"sdm/backend/probe/internal/snapshot"
)

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
