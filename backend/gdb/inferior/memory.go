// Reading the memory of processes without gdb.

package inferior

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"sdm/protocol/digest"
)

// Block is a block of memory: its address, and its size in bytes.
type Block struct{ Addr, Size uint64 }

// Hashers read the memory of stopped processes, and hash or copy it. Each read has a goroutine; as many
// run at a time as there are processors. One goroutine may call Start, Read and Close.
type Hashers struct {
	wg      sync.WaitGroup
	running chan struct{} // capacity: how many reads may run
	stop    chan struct{} // closed by Close
}

// NewHashers returns Hashers without reads.
func NewHashers() *Hashers {
	return &Hashers{running: make(chan struct{}, runtime.NumCPU()), stop: make(chan struct{})}
}

// Start reads blocks of a stopped process and computes a hash (protocol/digest) of each, in their
// order. done is called once, by another goroutine, unless Close is called before. The error says
// that the memory cannot be read: the process has ended, belongs to another user, or does not have
// these addresses.
func (h *Hashers) Start(pid int, blocks []Block, done func(sums []uint64, err error)) {
	h.wg.Go(func() {
		select {
		case h.running <- struct{}{}:
		case <-h.stop:
			return
		}
		sums, err := h.read(pid, blocks)
		<-h.running
		done(sums, err)
	})
}

// Read copies a block of a stopped process to into. done is called as by Start.
func (h *Hashers) Read(pid int, b Block, into io.Writer, done func(err error)) {
	h.wg.Go(func() {
		select {
		case h.running <- struct{}{}:
		case <-h.stop:
			return
		}
		err := h.copy(pid, b, into)
		<-h.running
		done(err)
	})
}

func (h *Hashers) copy(pid int, b Block, into io.Writer) error {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return err
	}
	defer f.Close()
	return h.copyBlock(f, b, into, make([]byte, chunk))
}

func (h *Hashers) copyBlock(f *os.File, b Block, into io.Writer, buffer []byte) error {
	select {
	case <-h.stop:
		return os.ErrClosed
	default:
	}
	memory := io.NewSectionReader(f, int64(b.Addr), int64(b.Size))
	n, err := io.CopyBuffer(into, struct{ io.Reader }{memory}, buffer)
	if err == nil && n != int64(b.Size) {
		err = io.ErrUnexpectedEOF
	}
	return err
}

// chunk is how much is read at a time, in bytes: it fits into the processor's cache until it is
// hashed.
const chunk = 256 << 10

func (h *Hashers) read(pid int, blocks []Block) ([]uint64, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	sums := make([]uint64, len(blocks))
	buffer := make([]byte, chunk)
	for i, b := range blocks {
		sum := digest.New()
		if err := h.copyBlock(f, b, writer{sum}, buffer); err != nil {
			return nil, err
		}
		sums[i] = sum.Sum()
	}
	return sums, nil
}

// writer hashes what is written to it.
type writer struct{ digest.Running }

func (w writer) Write(b []byte) (int, error) {
	w.Add(b)
	return len(b), nil
}

// Close cancels all reads, and waits until their goroutines have ended.
func (h *Hashers) Close() {
	close(h.stop)
	h.wg.Wait()
}
