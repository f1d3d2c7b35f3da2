// Signals that were ignored when the program was started.

package startup

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Notify is signal.Notify without the signals that were ignored at the start. nohup(1) ignores
// SIGHUP, and shells without job control ignore SIGINT for background processes. Such signals must
// not be caught, so that they stay ignored in this process and its children (KeepIgnored).
func Notify(c chan<- os.Signal, signals ...syscall.Signal) {
	if caught := notIgnored(signals); len(caught) > 0 { // without signals, signal.Notify catches all
		signal.Notify(c, caught...)
	}
}

// Context returns a context that ends with the first of some signals, chosen as by Notify, or with
// stop.
func Context(signals ...syscall.Signal) (ctx context.Context, stop func()) {
	if caught := notIgnored(signals); len(caught) > 0 {
		return signal.NotifyContext(context.Background(), caught...)
	}
	return context.WithCancel(context.Background())
}

// notIgnored returns the signals that were not ignored at the start.
func notIgnored(signals []syscall.Signal) []os.Signal {
	var caught []os.Signal
	for _, s := range signals {
		if !signal.Ignored(s) {
			caught = append(caught, s)
		}
	}
	return caught
}
