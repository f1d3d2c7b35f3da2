// Output of a starter, or of the shell, to our pipes.

package main

import (
	"bufio"
	"io"
	"os"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
)

// relay passes on, line by line, what other processes write to pipes.
//
// Goroutines: one for each pipe, until all writers have closed it or close.
type relay struct {
	theirs []*os.File // the writers' ends, until they are inherited
	ours   []*os.File
	pumps  sync.WaitGroup
}

// longestLine is the limit of what is passed on at once, in bytes.
const longestLine = 64 << 10

// pipe makes a pipe whose lines go to w; nil if it cannot be made.
func (r *relay) pipe(w io.Writer) *os.File {
	ours, theirs, err := os.Pipe()
	if err != nil {
		return nil
	}
	r.theirs, r.ours = append(r.theirs, theirs), append(r.ours, ours)
	r.pumps.Go(func() {
		in := bufio.NewReaderSize(ours, longestLine)
		for {
			line, err := in.ReadSlice('\n')
			if len(line) > 0 {
				w.Write(line)
			}
			if err != nil && err != bufio.ErrBufferFull {
				return
			}
		}
	})
	return theirs
}

// given closes our copies of the writers' ends.
func (r *relay) given() {
	for _, f := range r.theirs {
		f.Close()
	}
	r.theirs = nil
}

// relayWait is how long close waits for the rest of the output. Only a process that has left its
// job keeps a pipe open for longer.
const relayWait = 2 * time.Second

// close passes on what has been written, and waits for the goroutines.
func (r *relay) close() {
	r.given()
	for _, f := range r.ours {
		f.SetReadDeadline(time.Now().Add(relayWait))
	}
	r.pumps.Wait()
	for _, f := range r.ours {
		f.Close()
	}
	r.ours = nil
}

// fromStarter is the name of the writer in events.
const fromStarter = "starter"

// events makes pipes for standard output and standard error whose lines become events.
func (r *relay) events(out io.Writer, from string) (stdout, stderr *os.File) {
	return r.pipe(named{out, from, protocol.KindStdout}), r.pipe(named{out, from, protocol.KindStderr})
}

// named writes "output" events with the name of the writer and the stream.
type named struct {
	out  io.Writer
	from string
	kind protocol.Kind
}

// Write writes one event.
func (n named) Write(b []byte) (int, error) {
	e := session.NewEvent(protocol.Group{Kind: n.kind, Body: b})
	e.From = n.from
	if _, err := n.out.Write(append(e.AppendJSON(nil), '\n')); err != nil {
		return 0, err
	}
	return len(b), nil
}
