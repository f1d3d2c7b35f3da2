package inferior

import (
	"bytes"
	"os"
	"testing"
)

// TestNames checks that an answer is kept, and that few are.
func TestNames(t *testing.T) {
	var programs Programs
	if programs.HasFunction(os.Getpid(), "MPI_Abort") || programs.HasFunction(-1, "MPI_Abort") {
		t.Error("MPI_Abort is neither in this program nor in none")
	}
	if len(programs.answers) != 1 {
		t.Fatalf("%v is kept", programs.answers)
	}
	for is := range programs.answers {
		programs.answers[is] = true // as if the file had it
	}
	if !programs.HasFunction(os.Getpid(), "MPI_Abort") {
		t.Error("the program was read again")
	}
	for n := range 2 * maxPrograms {
		programs.keep(functionQuery{inode: uint64(n)}, false)
	}
	if n := len(programs.answers); n > maxPrograms {
		t.Errorf("%d answers are kept", n)
	}
}

// TestHolds looks for bytes across two blocks, and at the end.
func TestHolds(t *testing.T) {
	const block = 256 << 10
	what := []byte("\x00MPI_Abort\x00")
	for _, at := range []int{0, 1, block - 12, block - 11, block - 5, block - 1, block, 2*block - 6, 3*block - len(what)} {
		b := make([]byte, 3*block)
		copy(b[at:], what)
		if !holds(bytes.NewReader(b), what) {
			t.Errorf("at %d of %d: not found", at, len(b))
		}
		if b[at+5]++; holds(bytes.NewReader(b), what) {
			t.Errorf("at %d: found, and is not there", at)
		}
	}
	if holds(bytes.NewReader(nil), what) {
		t.Error("found in nothing")
	}
}
