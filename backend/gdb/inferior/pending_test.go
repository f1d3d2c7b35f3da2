package inferior

import (
	"syscall"
	"testing"
)

func TestPendingIn(t *testing.T) {
	const status = "Name:\tx\nState:\tt (tracing stop)\nSigPnd:\t0000000000040000\nShdPnd:\t0000000000000001\n"
	for _, c := range []struct {
		status string
		sig    syscall.Signal
		want   bool
	}{{status, syscall.SIGSTOP, true}, {status, syscall.SIGHUP, false}, {"", syscall.SIGSTOP, false}, {"SigPnd:\tx\n", syscall.SIGSTOP, false}} {
		if got := pendingIn(c.status, c.sig); got != c.want {
			t.Errorf("%q, %v: %v", c.status, c.sig, got)
		}
	}
}
