package hold

import (
	"os"
	"testing"
	"unsafe"
)

func TestReadMany(t *testing.T) {
	const n = 2500
	from := make([]byte, n)
	to := make([][1]byte, n)
	read := make([]bool, n)
	for i := range from {
		from[i] = byte(i)
	}
	bad := func(i int) bool { return i%900 == 7 }
	Memory(os.Getpid()).ReadMany(n, func(i int) (uint64, []byte) {
		if bad(i) {
			return 16, to[i][:]
		}
		return uint64(uintptr(unsafe.Pointer(&from[i]))), to[i][:]
	}, func(i int) { read[i] = true })
	for i := range to {
		if read[i] == bad(i) || read[i] && to[i][0] != byte(i) {
			t.Errorf("piece %d: read %v, %d", i, read[i], to[i][0])
		}
	}
}
