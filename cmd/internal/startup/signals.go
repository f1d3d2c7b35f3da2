// Signals that whoever started us has had ignored.

package startup

import (
	"context"
	"os"
	"os/signal"
	"sync"
	"syscall"
)

// Notify is signal.Notify for those of some signals that are not ignored from the start, as nohup(1) has SIGHUP ignored and
// shells without job control SIGINT of what they start in the background. The others must not be caught: they
// stay ignored in us, and in what we start (KeepIgnored).
func Notify(c chan<- os.Signal, signals ...syscall.Signal) {
	for _, s := range signals {
		if !signal.Ignored(s) {
			signal.Notify(c, s)
		}
	}
}

// Context ends with the first of some signals, as those of Notify, or with stop.
func Context(signals ...syscall.Signal) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	c := make(chan os.Signal, 1)
	Notify(c, signals...)
	var group sync.WaitGroup
	group.Go(func() {
		select {
		case <-c:
			cancel()
		case <-ctx.Done():
		}
	})
	return ctx, func() {
		signal.Stop(c)
		cancel()
		group.Wait()
	}
}
