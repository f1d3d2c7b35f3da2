// What a starter, or the shell, writes to pipes of ours.

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
// Goroutines: one for each pipe, which ends with all who can write to it, or in
// close.
type relay struct {
	theirs []*os.File // ends for the others, until they have them
	ours   []*os.File
	pumps  sync.WaitGroup
}

// longestLine bounds what is passed on at once, in bytes.
const longestLine = 64 << 10

// pipe makes a pipe whose lines go to w; nil if there can be none.
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

// given closes our copies of what the others have now.
func (r *relay) given() {
	for _, f := range r.theirs {
		f.Close()
	}
	r.theirs = nil
}

// relayWait is how long what was written before the end may take to come. Only a
// process that has left its job holds a pipe open longer.
const relayWait = 2 * time.Second

// close passes on what has been written, and waits for the pumps.
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

// fromStarter names who has written, in events.
const fromStarter = "starter"

// events makes pipes for a standard output and error whose lines become events.
func (r *relay) events(out io.Writer, from string) (stdout, stderr *os.File) {
	return r.pipe(named{out, from, protocol.KindStdout}), r.pipe(named{out, from, protocol.KindStderr})
}

// named makes "output" events of what is written: from whom, as which stream.
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
