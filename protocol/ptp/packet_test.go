package ptp_test

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"math/rand"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
)

// split removes the length prefix.
func split(t testing.TB, packet []byte) []byte {
	t.Helper()
	n, err := ptp.BodyLength([ptp.LengthSize]byte(packet))
	if err != nil || n != len(packet)-ptp.LengthSize {
		t.Fatalf("length %d of %d bytes: %v", n, len(packet), err)
	}
	return packet[ptp.LengthSize:]
}

// TestGolden uses the packets of testdata/ptp: a text and the encoded bytes.
// Packets that begin with "<" are decoded only, those with ">" also encoded.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("../../testdata/ptp/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) { golden(t, file) })
	}
}

func golden(t *testing.T, file string) {
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var d ptp.Decoder
	var want string
	n := 0
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		switch {
		case line == "" || line[0] == '#':
		case line[0] == '<' || line[0] == '>':
			want = line
		default:
			packet, err := hex.DecodeString(strings.ReplaceAll(line, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			got, err := d.Decode(split(t, packet))
			shown := want[:1] + " " + got.String()
			if err != nil {
				shown = want[:1] + " " + err.Error()
			}
			if shown != want {
				t.Errorf("read\n%s\nwant\n%s", shown, want)
			}
			if again := got.Append(nil); want[0] == '>' && !bytes.Equal(again, packet) {
				t.Errorf("written %x, want %x", again, packet)
			}
			n++
		}
	}
	if n == 0 {
		t.Error("no packet")
	}
}

func randomPacket(rng *rand.Rand) ptp.Packet {
	p := ptp.Packet{ID: ptp.Code(rng.Intn(200)), Transaction: rng.Uint32() >> rng.Intn(32), Args: []string{}}
	for range rng.Intn(12) {
		text := make([]byte, rng.Intn(1<<rng.Intn(10)))
		for i := range text {
			text[i] = "abcdefgh =:\x00\xe9\xff"[rng.Intn(14)]
		}
		p.Args = append(p.Args, string(text))
	}
	return p
}

// Decoding reverses encoding. Java's encoding decodes to the same, except for the
// "=" before an empty value.
func TestRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewSource(7))
	var java ptptest.Sender
	var plain, d ptp.Decoder
	compressed := 0
	for range 3000 {
		p := randomPacket(rng)
		got, err := plain.Decode(split(t, p.Append(nil)))
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Fatalf("%v became %v, %v", p, got, err)
		}
		packet := java.Packet(p)
		if packet[ptp.LengthSize] != 0 {
			compressed++
		}
		for i, a := range p.Args {
			if key, value, ok := strings.Cut(a, "="); ok && value == "" {
				p.Args[i] = key
			} else if ok && key == "" {
				p.Args[i] = value
			}
		}
		if got, err = d.Decode(split(t, packet)); err != nil || !reflect.DeepEqual(got, p) {
			t.Fatalf("%v became %v, %v", p, got, err)
		}
	}
	if compressed < 100 {
		t.Errorf("only %d packets were compressed", compressed)
	}
}

// A receiver without a table treats all symbols as equally frequent, so that each
// has eight bits: nothing is saved, but the packet can be decoded.
func TestNoTable(t *testing.T) {
	java := ptptest.NoTable()
	p := ptp.Packet{ID: ptp.Evaluate, Args: []string{"4:0f", strings.Repeat("x", 300)}}
	body := java.Compressed(p)
	if got, err := new(ptp.Decoder).Decode(body); err != nil || !reflect.DeepEqual(got, p) || body[0] != 0x40 {
		t.Errorf("%v, %v", got, err)
	}
	if got, err := new(ptp.Decoder).Decode(body[:len(body)-8]); err == nil {
		t.Errorf("without the end: %v", got)
	}
}

func TestBadBodies(t *testing.T) {
	for _, tt := range []struct {
		name, body, want string
	}{
		{"empty", "", "too early"},
		{"flags alone", "00", "too early"},
		{"unknown flags", "80 00 00 00", "unknown flags 0x80"},
		{"a table that is not compressed", "10 00 00 00", "unknown flags 0x10"},
		{"too many arguments", "00 00 00 05 00 00 00", "5 arguments in 3 bytes"},
		{"an argument of another type", "00 00 00 01 06 00 00", "of type 6"},
		{"a long text", "00 00 00 01 00 00 05 61", "too early"},
		{"a long number", "00 ff ff ff ff 1f 00 00", "more than 32 bits"},
		{"a number without an end", "00 ff ff ff ff ff ff ff ff ff ff ff", "more than 32 bits"},
		{"half a table", "50 00 00 00 01 00 00", "too early"},
		{"compressed without length", "40 00 00", "too early"},
		{"more than can be", "40 00 00 10 00 00 00", "4096 bytes are said to be in 2 compressed ones"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body, err := hex.DecodeString(strings.ReplaceAll(tt.body, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			if p, err := new(ptp.Decoder).Decode(body); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v, %v; want %q", p, err, tt.want)
			}
		})
	}
}

func TestBodyLength(t *testing.T) {
	for n, ok := range map[uint32]bool{0: false, 1: true, ptp.MaxBody: true, ptp.MaxBody + 1: false, 0x47455420: false} {
		var b [ptp.LengthSize]byte
		binary.BigEndian.PutUint32(b[:], n)
		if got, err := ptp.BodyLength(b); (err == nil) != ok || ok && got != int(n) {
			t.Errorf("%d: %d, %v", n, got, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	rng := rand.New(rand.NewSource(1))
	for range 20 {
		var java ptptest.Sender
		f.Add(java.Packet(randomPacket(rng))[ptp.LengthSize:], java.Packet(randomPacket(rng))[ptp.LengthSize:])
	}
	f.Fuzz(func(t *testing.T, first, second []byte) {
		var d ptp.Decoder
		for _, body := range [][]byte{first, second} {
			p, err := d.Decode(body)
			if err != nil {
				continue
			}
			again, err := new(ptp.Decoder).Decode(split(t, p.Append(nil)))
			if err != nil || !reflect.DeepEqual(again, p) {
				t.Fatalf("%v became %v, %v", p, again, err)
			}
		}
	})
}
