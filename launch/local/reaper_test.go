package local

import (
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// TestReaperTakesNoStopFromATracer checks that a rank which a thread of this process traces is not taken for one that
// has ended when it stops, and that its stop is left for the tracer.
func TestReaperTakesNoStopFromATracer(t *testing.T) {
	bothWays(t, func(t *testing.T, f *Forker) {
		p := hold(t, f, Spec{Program: "sleep", Args: []string{"1000"}})
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := unix.PtraceSeize(p.PID); err != nil {
			t.Fatal(err)
		}
		if err := unix.PtraceInterrupt(p.PID); err != nil {
			t.Fatal(err)
		}
		for !strings.HasPrefix(status(p.PID, "State"), "t") {
			runtime.Gosched()
		}
		for range 3 {
			f.reaper.scan()
		}
		select {
		case <-p.done:
			t.Error("the stop was taken for the end")
		default:
		}
		var ws syscall.WaitStatus
		got, err := syscall.Wait4(p.PID, &ws, unix.WALL|syscall.WNOHANG, nil)
		if got != p.PID || err != nil || !ws.Stopped() {
			t.Errorf("the tracer gets %d, %v, status %#x", got, err, ws)
		}
		if err := unix.PtraceDetach(p.PID); err != nil {
			t.Error(err)
		}
		p.Kill()
		if exit := p.Wait(); exit.Signal != "SIGKILL" {
			t.Errorf("it has ended with %+v", exit)
		}
	})
}
