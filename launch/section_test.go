package launch

import (
	"bytes"
	"debug/elf"
	"os"
	"strings"
	"testing"
)

// TestIndexIn looks for a text at the edges of the pieces in which a section is read.
func TestIndexIn(t *testing.T) {
	const before = 100 // bytes of the file before the section
	const text = "\x00MPIR_"
	for _, at := range []int{0, 1, pieceSize - len(text), pieceSize - 1, pieceSize, pieceSize + 1, 2*pieceSize - 3, 100_000 - len(text)} {
		content := strings.Repeat("\x00MPI_", 20_000)
		content = content[:at] + text + content[at+len(text):]
		file := bytes.NewReader([]byte(strings.Repeat(".", before) + content + text))
		s := &elf.Section{SectionHeader: elf.SectionHeader{Offset: before, FileSize: uint64(len(content))}}
		if got := IndexIn(file, s, text); got != int64(at) {
			t.Errorf("it is at %d, not %d", at, got)
		}
		s.FileSize = uint64(at + len(text) - 1)
		if got := IndexIn(file, s, text); got != -1 {
			t.Errorf("a section that ends in the text has it at %d", got)
		}
		s.FileSize = uint64(len(content) + len(text) + 1)
		if got := IndexIn(file, s, "MPIR-"); got != -1 {
			t.Errorf("a section that exceeds the file has it at %d", got)
		}
	}
	if got := IndexIn(nil, nil, text); got != -1 {
		t.Errorf("no section has it at %d", got)
	}
}

func TestParseParent(t *testing.T) {
	for text, want := range map[string]int{
		"7 (a) b) S 3 7 7 0 -1 4194304 200 0\n":       3,
		"9 (kworker/0:1) I 2 0 0 0 -1 69238880 0 0\n": 0, // a thread of the kernel
		"7 (x) S 3 7 7 0 -1 4194304":                  0, // cut
		"7 (x) S":                                     0,
		"":                                            0,
	} {
		if _, is := parseParent(text); is != (want != 0) {
			t.Errorf("%q: %t", text, is)
		} else if got, _ := parseParent(text); is && got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
	if parent, known := Parents()[os.Getpid()]; !known || parent != os.Getppid() {
		t.Errorf("our parent is %d", parent)
	}
}
