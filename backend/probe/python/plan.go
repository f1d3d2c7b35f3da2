// What is to be copied while the process is held, found before.

package python

import "slices"

// Plan is memory that a process is expected to need: the states of its threads, and the parts of
// memory in which their frames lie. What turns out to be missing is read one by one.
type Plan struct{ pieces []Piece }

// slack is what frames may have grown by since the plan was made, in bytes of a chunk.
const slack = 4096

// Plan reads the lists of threads while the process runs, and allocates. Errors do not matter: it
// may be wrong in every detail.
func (in *Interpreter) Plan(mem Memory) *Plan {
	p := &Plan{}
	w := walk{in: in, mem: layers{behind: mem}}
	w.threads(func(_ int, addr uint64, state []byte) {
		p.pieces = append(p.pieces, Piece{Addr: addr, Bytes: make([]byte, len(state))})
		if in.layout.thread.chunk == 0 {
			return
		}
		top := le.Uint64(state[in.layout.thread.chunk+8:])
		for at, n := le.Uint64(state[in.layout.thread.chunk:]), 0; at != 0 && n < mostChunks; n++ {
			previous, size, ok := w.chunk(at)
			if !ok {
				return
			}
			if n == 0 && top > at && top-at < size {
				size = min(size, top-at+slack)
			}
			p.pieces = append(p.pieces, Piece{Addr: at, Bytes: make([]byte, size)})
			at = previous
		}
	})
	slices.SortFunc(p.pieces, byAddress)
	return p
}

// chunk reads the header of a chunk. It counts the bytes of chunks, of which there may only be so
// many.
func (w *walk) chunk(at uint64) (previous, size uint64, ok bool) {
	var head [chunkHeader]byte
	if !w.mem.Read(at, head[:]) {
		return 0, 0, false
	}
	previous, size = le.Uint64(head[chunkPrevious:]), le.Uint64(head[chunkSize:])
	if size < chunkHeader || size > mostChunk || size > uint64(mostChunkBytes-w.chunkBytes) {
		return 0, 0, false
	}
	w.chunkBytes += int(size)
	return previous, size, true
}
