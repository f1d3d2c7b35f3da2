// Package relay passes on, line by line, what other processes write to pipes of this process.
package relay

import (
	"bufio"
	"io"
	"os"
	"sync"
	"time"

	"sdm/master/session"
	"sdm/protocol"
)

// Relay is a set of pipes whose lines are passed on. The zero value has none.
//
// Goroutines: one for each pipe, until all writers have closed it or Close.
type Relay struct {
	theirs []*os.File // the writers' ends, until they are inherited
	ours   []*os.File
	pumps  sync.WaitGroup
}

// longestLine is the limit of what is passed on at once, in bytes.
const longestLine = 64 << 10

// Pipe makes a pipe whose lines go to w; nil if it cannot be made.
func (r *Relay) Pipe(w io.Writer) *os.File {
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

// Events makes pipes for standard output and standard error whose lines become events of a writer
// with that name.
func (r *Relay) Events(out io.Writer, from string) (stdout, stderr *os.File) {
	return r.Pipe(Writer{out, from, protocol.KindStdout}), r.Pipe(Writer{out, from, protocol.KindStderr})
}

// Inherited closes our copies of the writers' ends.
func (r *Relay) Inherited() {
	for _, f := range r.theirs {
		f.Close()
	}
	r.theirs = nil
}

// relayWait is how long Close waits for the rest of the output. Only a process that has left its
// job keeps a pipe open for longer.
const relayWait = 2 * time.Second

// Close passes on what has been written, and waits for the goroutines.
func (r *Relay) Close() {
	r.Inherited()
	for _, f := range r.ours {
		f.SetReadDeadline(time.Now().Add(relayWait))
	}
	r.pumps.Wait()
	for _, f := range r.ours {
		f.Close()
	}
	r.ours = nil
}

// Writer writes "output" events with the name of the writer and the stream.
type Writer struct {
	Out  io.Writer
	From string
	Kind protocol.Kind
}

// Write writes one event.
func (w Writer) Write(b []byte) (int, error) {
	e := session.NewEvent(protocol.Group{Kind: w.Kind, Body: b})
	e.From = w.From
	if _, err := w.Out.Write(append(e.AppendJSON(nil), '\n')); err != nil {
		return 0, err
	}
	return len(b), nil
}
