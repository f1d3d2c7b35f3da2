// Signals that whoever started us has had ignored.

package startup

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Notify is signal.Notify for those of some signals that are not ignored from the start, as nohup(1) has SIGHUP ignored and
// shells without job control SIGINT of what they start in the background. The others must not be caught: they
// stay ignored in us, and in what we start (KeepIgnored).
func Notify(c chan<- os.Signal, signals ...syscall.Signal) {
	if caught := notIgnored(signals); len(caught) > 0 { // of none signal.Notify makes all
		signal.Notify(c, caught...)
	}
}

// Context ends with the first of some signals, as those of Notify, or with stop.
func Context(signals ...syscall.Signal) (ctx context.Context, stop func()) {
	if caught := notIgnored(signals); len(caught) > 0 {
		return signal.NotifyContext(context.Background(), caught...)
	}
	return context.WithCancel(context.Background())
}

func notIgnored(signals []syscall.Signal) []os.Signal {
	var caught []os.Signal
	for _, s := range signals {
		if !signal.Ignored(s) {
			caught = append(caught, s)
		}
	}
	return caught
}
