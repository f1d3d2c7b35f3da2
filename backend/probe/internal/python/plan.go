// The plan of what is to be copied while the process is held.

package python

import "slices"

// Plan is the memory that Copy will probably need: the states of the threads, and the chunks with their frames.
// Copy reads it at once, and what is not in the plan piece by piece.
type Plan struct{ pieces []Piece }

// slack is added to the used part of the innermost chunk, in bytes, since calls may be made after the plan.
const slack = 4096

// Plan makes a plan while the process runs. It allocates the memory for the copies. A plan need not be correct:
// it only makes Copy faster.
func (in *Interpreter) Plan(mem Memory) *Plan {
	p := &Plan{}
	w := walk{in: in, mem: layers{memory: mem}}
	w.threads(func(_ int, addr uint64, state []byte) {
		p.pieces = append(p.pieces, Piece{Addr: addr, Bytes: make([]byte, len(state))})
		if in.layout.thread.chunk == 0 {
			return
		}
		top := le.Uint64(state[in.layout.thread.chunk+8:])
		for at, n := le.Uint64(state[in.layout.thread.chunk:]), 0; at != 0 && n < maxChunks; n++ {
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

// chunk reads the header of a chunk. ok is false if the chunk is invalid, or all chunks together would have
// more than maxChunkBytes.
func (w *walk) chunk(at uint64) (previous, size uint64, ok bool) {
	var head [chunkHeader]byte
	if !w.mem.Read(at, head[:]) {
		return 0, 0, false
	}
	previous, size = le.Uint64(head[chunkPrevious:]), le.Uint64(head[chunkSize:])
	if size < chunkHeader || size > maxChunk || size > uint64(maxChunkBytes-w.chunkBytes) {
		return 0, 0, false
	}
	w.chunkBytes += int(size)
	return previous, size, true
}
