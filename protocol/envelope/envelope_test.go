// Tests of messages with headers.

package envelope

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestRead(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     string // the body
		err      string // or a part of the error
	}{
		{"one", "Content-Length: 2\r\n\r\n{}", "{}", ""},
		{"other headers", "Content-Type: x\r\ncontent-length:  2 \r\n\r\n{}rest", "{}", ""},
		{"bare newlines", "Content-Length: 2\n\n{}", "{}", ""},
		{"empty", "Content-Length: 0\r\n\r\n", "", ""},
		{"nothing", "", "", "EOF"},
		{"cut off in a header", "Content-Len", "", "unexpected EOF"},
		{"cut off after a header", "Content-Length: 2\r\n", "", "unexpected EOF"},
		{"cut off in the body", "Content-Length: 3\r\n\r\n{}", "", "unexpected EOF"},
		{"no length", "A: b\r\n\r\n", "", "without Content-Length"},
		{"negative", "Content-Length: -1\r\n\r\n", "", `"-1" is not a length`},
		{"beyond 31 bits", "Content-Length: 4294967296\r\n\r\n", "", "is not a length"},
		{"too long", "Content-Length: 101\r\n\r\n", "", "a message of 101 bytes is too long, at most 100 are taken"},
		{"a header without end", strings.Repeat("a", 5000), "", "a header line of more than 4096 bytes"},
		{"headers without end", strings.Repeat("a: b\r\n", 20), "", "more than 16 header lines"},
		{"not our protocol", "GET / HTTP/1.1\r\n\r\n", "", "without Content-Length"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := Read(bufio.NewReaderSize(strings.NewReader(tt.in), MaxHeader), 100)
			if tt.err == "" && (err != nil || string(body) != tt.want) {
				t.Errorf("body %q, error %v", body, err)
			}
			if tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %s", err, tt.err)
			}
			if (tt.name == "nothing") != errors.Is(err, io.EOF) {
				t.Errorf("error %v", err)
			}
		})
	}
}

// A header that announces a huge body must not allocate memory.
func TestReadTakesNoMemoryForAClaim(t *testing.T) {
	const in = "Content-Length: 1000000000\r\n\r\n{}"
	r := bufio.NewReaderSize(nil, MaxHeader)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(strings.NewReader(in))
			if _, err := Read(r, 1<<30); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 64<<10 {
		t.Errorf("%d bytes for nothing", allocated)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Type: x\r\ncontent-length:  2 \n\n{}Content-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReaderSize(strings.NewReader(string(in)), MaxHeader)
		for {
			body, err := Read(r, 1000)
			if err != nil {
				return
			}
			again, err := Read(bufio.NewReader(strings.NewReader(string(Append(nil, body)))), 1000)
			if err != nil || string(again) != string(body) {
				t.Fatalf("%q became %q, %v", body, again, err)
			}
		}
	})
}
