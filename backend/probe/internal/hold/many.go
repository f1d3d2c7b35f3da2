// Reading of many pieces of memory with few system calls.

package hold

import (
	"golang.org/x/sys/unix"
)

// maxPieces is how many pieces the kernel reads in one system call (IOV_MAX).
const maxPieces = 1024

// ReadMany reads n pieces of memory. piece returns where piece i is and the bytes to fill; done is
// called for those that were read as a whole.
func (pid Memory) ReadMany(n int, piece func(i int) (addr uint64, b []byte), done func(i int)) {
	pid.readParts(n, piece, func(i, got, all int) {
		if got == all {
			done(i)
		}
	})
}

// readParts reads n pieces, whose ends may be unmapped. read is called for each piece with the number of
// bytes that were read and the length of the piece.
func (pid Memory) readParts(n int, piece func(i int) (addr uint64, b []byte), read func(i, got, all int)) {
	local := make([]unix.Iovec, min(n, maxPieces))
	remote := make([]unix.RemoteIovec, len(local))
	for first := 0; first < n; {
		count := min(n-first, maxPieces)
		for i := range count {
			addr, b := piece(first + i)
			local[i], remote[i] = unix.Iovec{}, unix.RemoteIovec{Base: uintptr(addr), Len: len(b)}
			if len(b) > 0 {
				local[i].Base = &b[0]
				local[i].SetLen(len(b))
			}
		}
		got, err := unix.ProcessVMReadv(int(pid), local[:count], remote[:count], 0)
		if err != nil {
			got = 0
		}
		// The system call ends in the first piece that cannot be read; the next call begins after it.
		i := 0
		for ; i < count && got >= remote[i].Len; i++ {
			got -= remote[i].Len
			read(first+i, remote[i].Len, remote[i].Len)
		}
		if i < count {
			read(first+i, got, remote[i].Len)
			i++
		}
		first += i
	}
}
