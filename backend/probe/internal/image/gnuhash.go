// The hash table of exported symbols.

package image

import "encoding/binary"

// typeGNUHash is SHT_GNU_HASH.
const typeGNUHash = 0x6ffffff6

// gnuHash is a section .gnu.hash. It lists the exported symbols, which are the last ones of the symbol table
// and are in the order of their buckets (binutils, elflink.c; the format has no specification).
type gnuHash struct {
	first   uint32 // number of the first symbol
	buckets []byte // 4 bytes each: the number of the first symbol; 0: none
	chain   []byte // 4 bytes for each symbol: its hash; the lowest bit ends a bucket
}

// parseGNUHash returns the table of a section; nil: the section is damaged.
func parseGNUHash(b []byte) *gnuHash {
	le := binary.LittleEndian
	if len(b) < 16 {
		return nil
	}
	n, words := uint64(le.Uint32(b)), uint64(le.Uint32(b[8:]))
	from := 16 + 8*words // the end of the Bloom filter
	if n == 0 || from+4*n > uint64(len(b)) {
		return nil
	}
	return &gnuHash{le.Uint32(b[4:]), b[from : from+4*n], b[from+4*n:]}
}

// each calls f with the numbers of the symbols whose hashes equal the hash of a name, except for
// bit 0.
func (g *gnuHash) each(name string, f func(n int)) {
	le := binary.LittleEndian
	h := uint32(5381)
	for i := range len(name) {
		h = h*33 + uint32(name[i])
	}
	n := le.Uint32(g.buckets[4*(h%uint32(len(g.buckets)/4)):])
	if n < g.first || n == 0 {
		return
	}
	for at := 4 * uint64(n-g.first); at+4 <= uint64(len(g.chain)); at, n = at+4, n+1 {
		v := le.Uint32(g.chain[at:])
		if v|1 == h|1 {
			f(int(n))
		}
		if v&1 == 1 {
			return
		}
	}
}
