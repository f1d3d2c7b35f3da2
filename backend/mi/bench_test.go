// Speed of reading lines, with the oracle for comparison.

package mi

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// framesLine is an answer to -stack-list-frames with 100 frames.
func framesLine() []byte {
	var b strings.Builder
	b.WriteString("12^done,stack=[")
	for i := range 100 {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `frame={level="%d",addr="0x%016x",func="compute_level_%d",file="src/solver/work.c",fullname="/home/user/project/src/solver/work.c",line="%d",arch="i386:x86-64"}`, i, 0x555555555000+i*64, i, 100+i)
	}
	b.WriteString("]\n")
	return []byte(b.String())
}

const asyncLine = `=breakpoint-modified,bkpt={number="1",type="breakpoint",disp="keep",enabled="y",addr="0x0000555555555190",func="meet",file="threads.c",fullname="/src/threads.c",line="17",thread-groups=["i1"],times="3",original-location="meet"}` + "\n"

func feedBench(b *testing.B, p *Parser, line []byte, records int) {
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		p.Feed(line, func(Record) { n++ })
	}
	if n != b.N*records {
		b.Fatalf("%d records from %d lines", n, b.N)
	}
}

func BenchmarkFeed(b *testing.B) {
	memory := `1^done,memory=[{begin="0x1",offset="0x0",end="0x2",contents="` + strings.Repeat("00ff", 32<<10) + "\"}]\n"
	escaped := `1^done,value="` + strings.Repeat(`\303\244 \"quoted\" text\n`, 1000) + "\"\n"
	b.Run("frames", func(b *testing.B) { feedBench(b, new(Parser), framesLine(), 1) })
	b.Run("memory", func(b *testing.B) { feedBench(b, new(Parser), []byte(memory), 1) })
	b.Run("escapes", func(b *testing.B) { feedBench(b, new(Parser), []byte(escaped), 1) })
	b.Run("async", func(b *testing.B) { feedBench(b, new(Parser), []byte(asyncLine), 1) })
	b.Run("async unwanted", func(b *testing.B) {
		feedBench(b, &Parser{Want: func(Class, string) bool { return false }}, []byte(asyncLine), 0)
	})
}

// BenchmarkOracle reads the frames of BenchmarkFeed with the oracle. It includes a process that
// writes them; a round is so long that this does not matter.
func BenchmarkOracle(b *testing.B) {
	const rounds = 50
	text := bytes.Repeat(bytes.Replace(framesLine(), []byte("^"), []byte("*"), 1), rounds)
	file := filepath.Join(b.TempDir(), "frames.mi")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		runOracle(b, file, func(map[string]any) { n++ })
	}
	if n != b.N*rounds {
		b.Fatalf("%d records of %d", n, b.N*rounds)
	}
}

func BenchmarkAppendCommand(b *testing.B) {
	b.ReportAllocs()
	var buf []byte
	for b.Loop() {
		buf = AppendCommand(buf[:0], 12, "-data-evaluate-expression", "--thread", "1", "--frame", "0", "a + b")
	}
}
