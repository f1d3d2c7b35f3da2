// The length of a string that a pointer points to.

package values

import (
	"encoding/hex"
	"strconv"

	"sdm/backend/gdb/gdbtext"
	"sdm/backend/gdb/request"
	"sdm/protocol"
)

const (
	// firstRead is the size of the first read of a string, in bytes; each further one
	// is eight times larger, up to pieceOfGDB.
	firstRead = 4 << 10
	// maxText bounds how far a string is read, in bytes.
	maxText = 16 << 20
)

// lengthOfText finds the terminating zero of a string, and continues as placeArray.
func (ar *arrays) lengthOfText(q *request.Request, a gdbtext.Array, then func(gdbtext.Array, *protocol.Fault)) {
	var addr uint64
	ar.Ask(q, func(got request.Answer) { addr = gdbtext.AddressIn(got.Results.Str("value")) }, "-data-evaluate-expression",
		append(ar.At(q), " &("+a.Item(0)+")")...)
	ar.Ask(q, func(got request.Answer) {
		size, _ := strconv.Atoi(got.Results.Str("value"))
		if addr == 0 || size < 1 || size > 4 {
			then(gdbtext.Array{}, &protocol.Fault{Kind: protocol.FaultGDB, Message: "gdb does not say where the text is"})
			return
		}
		ar.findZero(q, addr, size, 0, firstRead, func(n int) {
			a.Shape.Dims[0].Count = n
			ar.placeArray(q, a, then)
		})
	}, "-data-evaluate-expression", append(ar.At(q), " sizeof ("+a.Item(0)+")")...)
}

// findZero finds the number of characters of size bytes before a zero or before
// unreadable memory; done bytes hold no zero.
func (ar *arrays) findZero(q *request.Request, addr uint64, size, done, count int, then func(n int)) {
	ar.Ask(q, func(got request.Answer) {
		var have []byte
		if pieces := got.Results.Path("memory").Fields; len(pieces) > 0 && pieces[0].Value.Fields.Str("offset") == "0x0000000000000000" {
			// empty if gdb returns none
			have, _ = hex.DecodeString(pieces[0].Value.Fields.Str("contents"))
		}
		i := gdbtext.IndexZero(have, size)
		switch done += i; {
		case i < len(have) || len(have) < count || done >= maxText:
			then(done / size)
		default:
			ar.findZero(q, addr, size, done, min(count*8, pieceOfGDB), then)
		}
	}, "-data-read-memory-bytes", append(ar.At(q), "0x"+strconv.FormatUint(addr+uint64(done), 16), strconv.Itoa(count))...)
}
