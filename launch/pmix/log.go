// What a session writes to the log of the system by PMIx_Log: its start, its end, and faults.

package pmix

import (
	"context"
	"fmt"
)

// maxFaults bounds the faults that wait to be written; further ones are dropped, because the reader
// of events does not wait.
const maxFaults = 64

// checkLog returns a *Refusal if the server is to write to the log of the system and cannot.
// Otherwise it starts the goroutine that writes faults, if a log is wanted.
func (l *connection) checkLog() error {
	if !l.Log {
		return nil
	}
	if !AbilitiesOf(l.server.Version).Log {
		return &Refusal{"--pmix-log (PMIx_Log)", l.server.Version, "it fails, and the server complains in the output of the job"}
	}
	faults := make(chan string, maxFaults)
	l.mu.Lock()
	l.faults = faults
	l.mu.Unlock()
	l.writing.Go(func() {
		for {
			select {
			case text := <-faults:
				l.write(context.Background(), text) // the call has a limit
			case <-l.helper.Done():
				return
			}
		}
	})
	return nil
}

// fault queues a notice for the log of the system, if that is written. It does not wait.
func (l *connection) fault(n Notice) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.faults == nil {
		return
	}
	select {
	case l.faults <- "sdm: " + n.String():
	default:
	}
}

// write writes a line to the log of the system, if that was asked for.
func (l *connection) write(ctx context.Context, text string) error {
	if !l.Log {
		return nil
	}
	_, err := l.helper.Call(ctx, Request{Call: CallLog, Info: []Info{String(LogSyslog, text)}})
	return err
}

// endOf is the line about the end of a job.
func endOf(nspace string, code int) string {
	return fmt.Sprintf("sdm: job %s, under a debugger, has ended with status %d", nspace, code)
}
