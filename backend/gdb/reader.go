// The memory of ranks, read beside gdb.

package gdb

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"sdm/protocol/digest"
)

// memoryRead is an order to read memory of a stopped process. then is called by
// the loop.
type memoryRead struct {
	pid    int
	blocks []block
	then   func(sums []uint64, err error)
}

// readers read memory and hash it, each order in a goroutine of its own, as many
// at a time as there are processors. The loop starts them; each posts one
// result and ends; close makes them give up and waits.
type readers struct {
	wg   sync.WaitGroup
	turn chan struct{}
	stop chan struct{}
}

func newReaders() *readers {
	return &readers{turn: make(chan struct{}, runtime.NumCPU()), stop: make(chan struct{})}
}

// start carries out an order. done is called once, by another goroutine, unless
// all is ending.
func (r *readers) start(o *memoryRead, done func(sums []uint64, err error)) {
	r.wg.Go(func() {
		select {
		case r.turn <- struct{}{}:
		case <-r.stop:
			return
		}
		sums, err := r.read(o)
		<-r.turn
		done(sums, err)
	})
}

// chunk is how much is read at a time, in bytes: it stays in the cache until it
// is hashed.
const chunk = 256 << 10

func (r *readers) read(o *memoryRead) ([]uint64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", o.pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := make([]uint64, len(o.blocks))
	buffer := make([]byte, chunk)
	for i, b := range o.blocks {
		select {
		case <-r.stop:
			return nil, os.ErrClosed
		default:
		}
		sum := digest.New()
		memory := io.NewSectionReader(f, int64(b.addr), int64(b.size))
		n, err := io.CopyBuffer(hashWriter{sum}, struct{ io.Reader }{memory}, buffer)
		if err != nil {
			return nil, err
		}
		if n != int64(b.size) {
			return nil, io.ErrUnexpectedEOF
		}
		sums[i] = sum.Sum()
	}
	return sums, nil
}

type hashWriter struct{ digest.Running }

func (w hashWriter) Write(b []byte) (int, error) {
	w.Add(b)
	return len(b), nil
}

// close ends all that is under way.
func (r *readers) close() {
	close(r.stop)
	r.wg.Wait()
}
