// Reads requests, makes the calls, and writes replies and events until the requests end.

//go:build pmix

package main

import (
	"fmt"
	"os"
	"sync"
	"syscall"
	"time"

	"sdm/launch/pmix"
)

// finalizeWait is how long the end waits for libpmix. PRRTE 5 takes 2 s after the loss of a
// starter.
const finalizeWait = 5 * time.Second

func main() {
	if err := serve(); err != nil {
		fmt.Fprintln(os.Stderr, "sdm-pmix:", err)
		os.Exit(1)
	}
}

// serve answers requests until they end. Each has a goroutine, because calls of libpmix block; the
// end of the process ends those that still wait.
func serve() error {
	if err := checkNames(); err != nil {
		return err
	}
	requests, messages, err := descriptors()
	if err != nil {
		return err
	}
	out := &writer{file: messages}
	p := &process{out: out}
	current.Store(p)
	out.write(pmix.Message{Hello: pmix.Revision, Library: version()})
	lines := pmix.NewLines(requests)
	var calls sync.WaitGroup
	for {
		line, err := lines.Next()
		if err != nil {
			break // sdm has closed it, or has ended
		}
		r, err := pmix.ParseRequest(line)
		if err != nil {
			return err
		}
		calls.Go(func() { out.write(p.answer(r)) })
	}
	within(finalizeWait, func() {
		p.abandon()
		p.finalize()
	})
	return nil
}

// descriptors returns the files of requests and messages. Programs that libpmix starts do not
// inherit them.
func descriptors() (requests, messages *os.File, err error) {
	for _, fd := range []int{pmix.RequestFD, pmix.MessageFD} {
		var stat syscall.Stat_t
		if err := syscall.Fstat(fd, &stat); err != nil {
			return nil, nil, fmt.Errorf("descriptor %d: %w (sdm starts this program; it is not a command)", fd, err)
		}
		syscall.CloseOnExec(fd)
	}
	return os.NewFile(pmix.RequestFD, "requests"), os.NewFile(pmix.MessageFD, "messages"), nil
}

// within runs f in a goroutine, and returns when it has ended or the limit is over.
func within(limit time.Duration, f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	alarm := time.NewTimer(limit)
	defer alarm.Stop()
	select {
	case <-done:
	case <-alarm.C:
	}
}

// writer writes messages, one at a time, from any goroutine.
type writer struct {
	mu   sync.Mutex
	file *os.File
}

// write writes a message. Errors of the pipe are ignored: if sdm does not read any more, it has also
// closed the requests, which ends serve.
func (w *writer) write(m pmix.Message) {
	line, err := pmix.AppendLine(nil, m)
	if err != nil {
		line, _ = pmix.AppendLine(nil, pmix.Message{ID: m.ID, Event: m.Event, Status: pmix.ErrBadParam, Text: err.Error()})
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.file.Write(line)
}
