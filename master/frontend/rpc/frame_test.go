package rpc

import (
	"bufio"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestReadFrame(t *testing.T) {
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
			body, err := readFrame(bufio.NewReaderSize(strings.NewReader(tt.in), maxHeader), 100)
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
func TestReadFrameTakesNoMemoryForAClaim(t *testing.T) {
	const in = "Content-Length: 1000000000\r\n\r\n{}"
	r := bufio.NewReaderSize(nil, maxHeader)
	allocated := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			r.Reset(strings.NewReader(in))
			if _, err := readFrame(r, maxAnswer); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if allocated > 64<<10 {
		t.Errorf("%d bytes for nothing", allocated)
	}
}

func FuzzReadFrame(f *testing.F) {
	f.Add([]byte("Content-Length: 2\r\n\r\n{}"))
	f.Add([]byte("Content-Type: x\r\ncontent-length:  2 \n\n{}Content-Length: 0\r\n\r\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		r := bufio.NewReaderSize(strings.NewReader(string(in)), maxHeader)
		for {
			body, err := readFrame(r, 1000)
			if err != nil {
				return
			}
			again, err := readFrame(bufio.NewReader(strings.NewReader(string(appendFrame(nil, body)))), 1000)
			if err != nil || string(again) != string(body) {
				t.Fatalf("%q became %q, %v", body, again, err)
			}
		}
	})
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"print","params":{"expr":"n","ranks":"0-3","wait":"2s"}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","method":"continue"}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"a","error":{"code":-32602,"message":"x","data":{"kind":"usage","message":"y"}}}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		m, bad := decode(in)
		if bad != nil {
			return
		}
		var p callParams
		if readParams(m.Params, &p) == nil {
			p.call(m.Method)
		}
		var s Setup
		if readParams(m.Params, &s) == nil {
			_ = s.Validate()
		}
		if _, bad := decode(encode(m)); bad != nil {
			t.Fatalf("%s cannot be read back: %v", encode(m), bad)
		}
	})
}
