package ptp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
)

// names resolves the names in testdata/types.txt.
func names(name string, size int) (*ptp.Type, error) {
	text, ok := map[string]string{
		"anon_t":    "type = struct {\n/*      0      |       4 */    int q;\n/*      4      |       8 */    struct in {\n/*      4      |       2 */        short s;\n/*      8      |       4 */        int t;\n} z;\n}",
		"struct in": "type = struct in {\n/*      0      |       2 */    short s;\n/*      4      |       4 */    int t;\n}",
		"size_t":    "type = unsigned long", "ulong_t": "type = unsigned long",
		"enum color": "type = enum color {RED, GREEN = 5}", "ns::EC": "type = enum class ns::EC : unsigned char {ns::EC::P, ns::EC::Q = 200}",
		"ns::In": "type = struct ns::In {\n/*      0      |       4 */    int a;\n/*      4      |       2 */    short b;\n}",
	}[name]
	if !ok {
		return nil, errors.New("the name is not known")
	}
	return parseType(text, size, names)
}

// testdata/types.txt contains types as gdb 13.1 prints them, each followed by a line "= SIZE
// FORMAT".
func TestTypes(t *testing.T) {
	text, err := os.ReadFile("testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	n := 0
	for line := range strings.Lines(string(text)) {
		want, ok := strings.CutPrefix(line, "= ")
		if !ok {
			said.WriteString(line)
			continue
		}
		head, format, _ := strings.Cut(strings.TrimSpace(want), " ")
		size := 0
		for _, c := range head {
			size = 10*size + int(c-'0')
		}
		got := ""
		if of, err := parseType(said.String(), size, names); err != nil {
			got = err.Error()
		} else {
			v, err := of.Encode(make([]byte, size), nil)
			got = v.Format
			if err != nil || of.Size != size {
				t.Errorf("%s: of %d bytes, %x, %v", format, of.Size, v.Data, err)
			}
			if shown, err := ptptest.Show(v.Format, v.Argument()); err != nil {
				t.Errorf("%s: Java throws %v, %s", format, err, shown)
			}
		}
		if got != format {
			t.Errorf("%s\nis\n%s\nwant\n%s", said.String(), got, format)
		}
		said.Reset()
		n++
	}
	if n < 10 {
		t.Errorf("only %d types", n)
	}
}

// Members have the offsets that gdb prints, also in structures within unions and in arrays of
// structures.
func TestPlaces(t *testing.T) {
	const text = `/* offset      |    size */  type = struct out {
/*      0      |       1 */    char c;
/* XXX  3-byte hole      */
/*      4      |       8 */    union {
/*                     8 */        struct in {
/*      4      |       2 */            short s;
/* XXX  2-byte hole      */
/*      8      |       4 */            int t;

                                       /* total size (bytes):    8 */
                                   } a;
/*                     4 */        float f;

                                   /* total size (bytes):    8 */
                               } u;
/*     12      |      16 */    struct in many[2];
/*     28: 3   |       1 */    unsigned char bits : 4;
}`
	of, err := parseType(text, 32, names)
	if err != nil {
		t.Fatal(err)
	}
	mem, err := hex.DecodeString("41000000" + "0100000002000000" + "0300000004000000" + "0500000006000000" + "50000000")
	if err != nil {
		t.Fatal(err)
	}
	v, err := of.Encode(mem, nil)
	if err != nil {
		t.Fatal(err)
	}
	const want = "{c='A' u={a={s=1 t=2} f=1e-45} many=[0 - 2] bits=10}"
	if got, err := ptptest.Show(v.Format, v.Argument()); err != nil || got != want {
		t.Errorf("%s: %q, %v; want %q", v.Format, got, err, want)
	}
}

// In an array of structures without a name the offsets count from the offset of the last structure
// before it.
func TestPlacesInArrays(t *testing.T) {
	text, err := os.ReadFile("testdata/types.txt")
	if err != nil {
		t.Fatal(err)
	}
	found := false
	for said := range strings.SplitSeq(string(text), "\n= ") {
		if !strings.Contains(said, "} bf[2];") {
			continue
		}
		found = true
		_, said, _ = strings.Cut(said, "\n")
		of, err := parseType(said, 112, names)
		if err != nil {
			t.Fatal(err)
		}
		u, bf := of.Fields[3].Type.Elem, of.Fields[4].Type.Elem
		if s := u.Fields[0].Type; s.Fields[0].Offset != 0 || s.Fields[1].Offset != 4 {
			t.Errorf("in a union: %v", s.Fields)
		}
		if bf.Fields[0].Offset != 2 || bf.Fields[1].Offset != 4 { // 16 bits without a name are before a
			t.Errorf("in a structure: %v", bf.Fields)
		}
	}
	if !found {
		t.Error("there is no such type")
	}
}

// A value for which gdb has a printer is sent as its text.
func TestPrinters(t *testing.T) {
	of := &ptp.Type{Kind: ptp.Struct, Size: 4, Fields: []ptp.Field{{Name: "x", Type: &ptp.Type{Kind: ptp.Int, Size: 4}}}}
	nameless := &ptp.Type{Kind: ptp.Struct, Size: 4, Fields: []ptp.Field{{Type: of}}}
	for _, c := range []struct {
		text string
		of   *ptp.Type
		want bool
	}{
		{"{x = 1, y = 2}", of, true}, {"{{x = 1}, y = 2}", nameless, true}, {"{static s = 1, x = 1}", of, true}, {"{_vptr.A = 0x1, x = 1}", of, true},
		{"a list of 3", of, false}, {"{[0] = 1}", of, false}, {"", of, false},
		{"{{x = 1}, {x = 2}}", &ptp.Type{Kind: ptp.Array, Size: 8, Count: 2, Elem: of}, true}, {"{one, two}", &ptp.Type{Kind: ptp.Array, Size: 8, Count: 2, Elem: of}, false},
		{"0x1000", &ptp.Type{Kind: ptp.Array, Elem: of}, true}, {"0x1000", &ptp.Type{Kind: ptp.Array, Count: 3, Elem: &ptp.Type{Kind: ptp.Array, Elem: of}}, true}, {"{1, 2}", &ptp.Type{Kind: ptp.Array, Size: 8, Count: 2, Elem: of.Fields[0].Type}, true},
		{"1 + 2i", &ptp.Type{Kind: ptp.Struct, Size: 4, Name: complexName, Fields: of.Fields}, true}, {"{<No data fields>}", &ptp.Type{Kind: ptp.Struct}, true},
	} {
		if got := beginsWithMembers(c.text, c.of); got != c.want {
			t.Errorf("%s: %v", c.text, got)
		}
	}
}

func FuzzType(f *testing.F) {
	text, err := os.ReadFile("testdata/types.txt")
	if err != nil {
		f.Fatal(err)
	}
	for _, part := range strings.Split(string(text), "\n= ") {
		f.Add(part, 24)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		of, err := parseType(text, size, func(name string, size int) (*ptp.Type, error) { return names(name, size) })
		if err != nil {
			return
		}
		if size < 1<<16 {
			_, _ = of.Encode(make([]byte, max(size, 0)), nil)
			of.Bare()
		}
	})
}

func TestWords(t *testing.T) {
	w := func(format string, size int) words {
		return words{format: format, size: size, order: binary.LittleEndian}
	}
	for _, tt := range []struct {
		of        words
		mem, want string
	}{
		{w("x", 4), "2a000000", "0x0000002a"}, {w("x", 1), "ff", "0xff"}, {w("d", 2), "fdff", "-3"}, {w("u", 2), "fdff", "65533"},
		{w("o", 1), "09", "011"}, {w("t", 1), "05", "00000101"}, {w("a", 8), "1060555555550000", "0x555555556010"},
		{w("c", 1), "41", "65 'A'"}, {w("c", 1), "00", `0 '\000'`}, {w("c", 1), "27", `39 '\''`}, {w("f", 4), "0000c03f", "1.5"},
		{w("f", 8), "0000000000000a40", "3.25"}, {w("f", 2), "0100", "0x0001"},
	} {
		mem, err := hex.DecodeString(tt.mem)
		if err != nil {
			t.Fatal(err)
		}
		got := tt.of.text(mem)
		if got != tt.want {
			t.Errorf("%s as %s: %s, want %s", tt.mem, tt.of.format, got, tt.want)
		}
		word, _, _ := strings.Cut(got, " ")
		if tt.of.format == "t" {
			word = "0b" + word
		}
		if back, err := tt.of.bytes(word); err != nil || hex.EncodeToString(back) != tt.mem {
			t.Errorf("%s is %x in memory, %v; want %s", word, back, err, tt.mem)
		}
	}
	big := words{format: "d", size: 2, order: binary.BigEndian}
	if got := big.text([]byte{0xff, 0xfd}); got != "-3" {
		t.Errorf("highest byte first: %s", got)
	}
	if b, err := big.bytes("-3"); err != nil || b[1] != 0xfd || len(b) != 2 {
		t.Errorf("highest byte first: %x, %v", b, err)
	}
	for _, bad := range []string{"", "70000", "x", "1.5"} {
		if b, err := w("d", 2).bytes(bad); err == nil {
			t.Errorf("%q is %x", bad, b)
		}
	}
}

// FuzzChars: text that gdb has escaped is read back as the bytes that it stands for.
func FuzzChars(f *testing.F) {
	f.Add([]byte("one\ttwo\"\\\x00\xff7"), "")
	f.Add([]byte{}, `0x1 <s+3> "\012\\" <repeats 7 times>`)
	f.Fuzz(func(t *testing.T, text []byte, raw string) {
		if len(text) > 200 || len(raw) > 1000 {
			return
		}
		_, _ = charsOf(8, raw) // of any text: no panic
		quoted := `0x1234 "`
		for _, c := range text {
			switch {
			case c == '"' || c == '\\':
				quoted += `\` + string(rune(c))
			case c == '\n':
				quoted += `\n`
			case c < ' ' || c > '~':
				quoted += fmt.Sprintf(`\%03o`, c)
			default:
				quoted += string(rune(c))
			}
		}
		got, err := charsOf(8, quoted+`"`)
		if want := ptp.CharsAt(8, 0x1234, string(text)); err != nil || got.Format != want.Format || !bytes.Equal(got.Data, want.Data) {
			t.Errorf("%s: %v, %v, want %v", quoted, got, err, want)
		}
	})
}

// Types that are known by their names.
func TestPlainTypes(t *testing.T) {
	for text, want := range map[string]string{
		"int": "is4", "unsigned int": "is8", "const volatile long": "is8", "unsigned long long": "is8", "short": "is2", "unsigned short": "is4", "char": "c",
		"signed char": "is2", "double": "f8", "long double": "f8", "float": "f4", "_Bool": "b1", "bool": "b1", "__int128": "s", "unsigned char": "c",
		"int *": "^a8v0", "struct point *": "^a8v0", "char *": "pa8", "const char *": "pa8", "char **": "^a8v0", "void *": "^a8v0", "size_t *": "^a8v0",
		"const int * const": "^a8v0", "char * restrict": "pa8", "const char * const volatile": "pa8", "char * __restrict__": "pa8", "void * const": "^a8v0", "int Plain::*": "",
		"struct s * const": "^a8v0", "float * const": "^a8v0", "const float": "f4", "int (*)(int)": "", "int [3]": "", "size_t": "", "struct point": "", "enum color": "", "double complex": "", "complex double": "", "void": "", "int &": "",
		"std::vector<int>": "", "std::vector<int> *": "", "union u": "", "int8_t": "", "": "", "int (int)": "",
	} {
		got := ""
		if of := plainType("type = " + text); of != nil {
			v, err := of.Encode(make([]byte, of.Size), nil)
			if got = v.Format; err != nil {
				t.Errorf("%s: %v", text, err)
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
