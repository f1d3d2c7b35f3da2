package ptp_test

import (
	"encoding/hex"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"sdm/protocol/ptp"
	"sdm/protocol/ptp/ptptest"
)

var (
	intType    = &ptp.Type{Kind: ptp.Int, Size: 4}
	unsigned   = &ptp.Type{Kind: ptp.Unsigned, Size: 4}
	floatType  = &ptp.Type{Kind: ptp.Float, Size: 4}
	doubleType = &ptp.Type{Kind: ptp.Float, Size: 8}
	charType   = &ptp.Type{Kind: ptp.Char, Size: 1}
	nodePtr    = &ptp.Type{Kind: ptp.Pointer, Size: 8}
	chars      = &ptp.Type{Kind: ptp.CharPointer, Size: 8}
	tagType    = &ptp.Type{Kind: ptp.Array, Size: 4, Count: 4, Elem: charType}
	pointType  = &ptp.Type{Kind: ptp.Struct, Size: 24, Name: "point", Fields: []ptp.Field{
		{Name: "x", Type: intType}, {Name: "y", Type: doubleType, Offset: 8}, {Name: "tag", Type: tagType, Offset: 16},
	}}
	colors = &ptp.Type{Kind: ptp.Enum, Size: 4, Name: "color", Values: []ptp.Constant{{"RED", 0}, {"GREEN", 5}}}
)

func number(kind ptp.Kind, size int) *ptp.Type { return &ptp.Type{Kind: kind, Size: size} }

func array(of *ptp.Type, n int) *ptp.Type {
	return &ptp.Type{Kind: ptp.Array, Size: n * of.Size, Count: n, Elem: of}
}

func fields(kind ptp.Kind, name string, size int, fields ...ptp.Field) *ptp.Type {
	return &ptp.Type{Kind: kind, Name: name, Size: size, Fields: fields}
}

func flags(size int, values ...ptp.Constant) *ptp.Type {
	return &ptp.Type{Kind: ptp.Enum, Size: size, Name: "fl", Values: values}
}

// Values from memory, as Eclipse's Java code shows them: the model shares no code with the encoder.
func TestEncode(t *testing.T) {
	for _, c := range []struct {
		name, mem string
		of        *ptp.Type
		format    string
		shown     string
	}{
		{"int", "2a000000", intType, "is4", "42"},
		{"negative", "feffffff", intType, "is4", "-2"},
		{"int8", "fb", number(ptp.Int, 1), "is2", "-5"},
		{"unsigned", "005ed0b2", unsigned, "is8", "3000000000"},
		{"unsigned short", "ffff", number(ptp.Unsigned, 2), "is4", "65535"},
		{"unsigned long", "0500000000000000", number(ptp.Unsigned, 8), "is8", "5"},
		{"large unsigned long", "ffffffffffffffff", number(ptp.Unsigned, 8), "s", "18446744073709551615"},
		{"array with a large one", "0500000000000000ffffffffffffffff", array(number(ptp.Unsigned, 8), 2), "[r0,2is4]s", "[5 18446744073709551615]"},
		{"int128", "d6ffffffffffffffffffffffffffffff", number(ptp.Int, 16), "s", "-42"},
		{"unsigned int128", "ffffffffffffffffffffffffffffffff", number(ptp.Unsigned, 16), "s", "340282366920938463463374607431768211455"},
		{"float", "0000c03f", floatType, "f4", "1.5"},
		{"double", "0000000000000a40", doubleType, "f8", "3.25"},
		{"long double beyond a double", "0000000000000080fe7f000000000000", number(ptp.Float, 16), "s", "5.94865747678615882543e+4931"},
		{"small long double", "0000000000000080" + "01800000" + "00000000", number(ptp.Float, 16), "s", "-3.36210314311209350626e-4932"},
		{"infinite long double", "0000000000000080ff7f000000000000", number(ptp.Float, 16), "f8", "+Inf"},
		{"long doubles", "00000000000000a0ff3f000000000000" + "0000000000000080fe7f000000000000", array(number(ptp.Float, 16), 2),
			"[r0,2is4]s", "[1.25 5.94865747678615882543e+4931]"},
		{"long double", "00000000000000a0ff3f000000000000", number(ptp.Float, 16), "f8", "1.25"},
		{"char", "41", charType, "c", "'A'"},
		{"bool", "01", number(ptp.Bool, 1), "b1", "true"},
		{"logical(4)", "01000000", number(ptp.Bool, 4), "b1", "true"},
		{"enum", "05000000", colors, "<color|RED=0,GREEN=5>is4", "GREEN"},
		{"no constant", "07000000", colors, "<color|RED=0,GREEN=5,7=7>is4", "7"},
		{"array of enums", "050000000700000009000000", array(colors, 3), "[r0,3is4]<color|RED=0,GREEN=5,7=7,9=9>is4", "[GREEN 7 9]"},
		{"flags", "05000000", flags(4, ptp.Constant{Name: "A", Value: 1}, ptp.Constant{Name: "B", Value: 2}, ptp.Constant{Name: "C", Value: 4}), "<fl|A=1,B=2,C=4,A | C=5>is4", "A | C"},
		{"constant from 2^31 on", "00000080", flags(4, ptp.Constant{Name: "HIGH", Value: 1 << 31}), "<fl|HIGH=-2147483648>is4", "HIGH"},
		{"enum of a byte", "01", flags(1, ptp.Constant{Name: "A", Value: 0}, ptp.Constant{Name: "B", Value: 1}), "<fl|A=0,B=1>is4", "B"},
		{"enum of 8 bytes", "0100000000000000", flags(8, ptp.Constant{Name: "A", Value: 0}, ptp.Constant{Name: "B", Value: 1}), "<fl|A=0,B=1>is4", "B"},
		{"large enum of a byte", "c8", flags(1, ptp.Constant{Name: "A", Value: 0}, ptp.Constant{Name: "B", Value: 200}), "<fl|A=0,B=200>is4", "B"},
		{"negative enum of a byte", "ff", flags(1, ptp.Constant{Name: "A", Value: -1}, ptp.Constant{Name: "B", Value: 2}), "<fl|A=-1,B=2>is4", "A"},
		{"enum beyond 32 bits", "0000000001000000", flags(8, ptp.Constant{Name: "A", Value: 0}, ptp.Constant{Name: "B", Value: 1 << 32}), "<fl|A=0,B=1>is4", "B"},
		{"no constant beyond 32 bits", "0100000001000000", flags(8, ptp.Constant{Name: "A", Value: 0}, ptp.Constant{Name: "B", Value: 1}), "<fl|A=0,B=1,4294967297=2>is4", "4294967297"},
		{"enums in bit fields", "7e000000", fields(ptp.Struct, "b", 4,
			ptp.Field{Name: "a", Type: flags(4, ptp.Constant{Name: "SIX", Value: 6}), Width: 3},
			ptp.Field{Name: "b", Type: flags(4, ptp.Constant{Name: "MINUS", Value: -1}), Bit: 3, Width: 4}),
			"{b|a=<fl|SIX=6>is4,b=<fl|MINUS=-1>is4;;;}", "{a=SIX b=MINUS}"},
		{"struct with an array", "2a000000 00000000 0000000000000440 78790000 00000000", pointType,
			"{point|x=is4,y=f8,tag=[r0,4is4]c;;;}", "{x=42 y=2.5 tag=[0 - 4]}"},
		{"behind an array", "41646100 24000000", fields(ptp.Struct, "p", 8, ptp.Field{Name: "n", Type: tagType}, ptp.Field{Name: "age", Type: intType, Offset: 4}),
			"{p|n=[r0,4is4]c,age=is4;;;}", "{n=[0 - 4] age=36}"},
		{"array of structs", "41646100 24000000 41646100 25000000", array(fields(ptp.Struct, "p", 8, ptp.Field{Name: "n", Type: tagType}, ptp.Field{Name: "age", Type: intType, Offset: 4}), 2),
			"[r0,2is4]{p|n=[r0,4is4]c,age=is4;;;}", "[{n=[0 - 4] age=36} {n=[0 - 4] age=37}]"},
		{"flexible", "05000000", fields(ptp.Struct, "f", 4, ptp.Field{Name: "n", Type: intType}, ptp.Field{Name: "d", Type: array(charType, 0), Offset: 4}),
			"{f|n=is4,d=[r0,0is4]c;;;}", "{n=5 d=[0 - 0]}"},
		{"no elements", "", array(intType, 0), "[r0,0is4]is4", "[]"},
		{"no elements of no elements", "", array(array(intType, 0), 3), "[r0,3is4][r0,0is4]is4", "[[] [] []]"},
		{"only an array", "41646100", fields(ptp.Struct, "o", 4, ptp.Field{Name: "n", Type: tagType}), "{o|n=[r0,4is4]c;;;}", "{n=[0 - 4]}"},
		{"ends with only an array", "0100000041646100", fields(ptp.Struct, "e", 8, ptp.Field{Name: "k", Type: intType},
			ptp.Field{Name: "o", Type: fields(ptp.Struct, "o", 4, ptp.Field{Name: "n", Type: tagType}), Offset: 4}), "{e|k=is4,o={o|n=[r0,4is4]c;;;};;;}", "{k=1 o={n=[0 - 4]}}"},
		{"array", "010000000200000003000000", array(intType, 3), "[r0,3is4]is4", "[1 2 3]"},
		{"matrix", "01000000020000000300000004000000", array(array(intType, 2), 2), "[r0,2is4][r0,2is4]is4", "[[1 2] [3 4]]"},
		{"pointer", "1060555555550000", nodePtr, "^a8v0", "0x0000555555556010"},
		{"null", "0000000000000000", nodePtr, "^a8v0", "0x0000000000000000"},
		{"union", "0000000000000440", fields(ptp.Union, "u", 8, ptp.Field{Name: "i", Type: intType}, ptp.Field{Name: "d", Type: doubleType}),
			"(u|i=is4,d=f8)", "{i=0 d=2.5}"},
		{"anonymous members", "01000000020000000000c03f", fields(ptp.Struct, "s", 12,
			ptp.Field{Type: fields(ptp.Union, "", 4, ptp.Field{Name: "i", Type: intType}, ptp.Field{Name: "f", Type: floatType})},
			ptp.Field{Type: fields(ptp.Struct, "", 8, ptp.Field{Name: "a", Type: intType}, ptp.Field{Name: "b", Type: floatType, Offset: 4}), Offset: 4}),
			"{s|i=is4,f=f4,a=is4,b=f4;;;}", "{i=1 f=1e-45 a=2 b=1.5}"},
		{"bits", "fb000000", fields(ptp.Struct, "b", 4, ptp.Field{Name: "a", Type: unsigned, Width: 3}, ptp.Field{Name: "b", Type: intType, Bit: 3, Width: 5}),
			"{b|a=is8,b=is4;;;}", "{a=3 b=-1}"},
		{"text", "1160555555550000", chars, "pa8", "hé"},
		{"text in a struct", "11605555555500000700000000000000", fields(ptp.Struct, "s", 16, ptp.Field{Name: "t", Type: chars}, ptp.Field{Name: "n", Type: intType, Offset: 8}),
			"{s|t=pa8,n=is4;;;}", "{t=hé n=7}"},
		{"null text", "0000000000000000", chars, "pa8", ""},
		{"nothing", "", fields(ptp.Struct, "e", 0), "{e|;;;}", "{}"},
	} {
		t.Run(c.name, func(t *testing.T) {
			mem, err := hex.DecodeString(strings.ReplaceAll(c.mem, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			v, err := c.of.Encode(mem, func(addr uint64) (string, bool) { return "hé", addr == 0x555555556011 })
			if err != nil {
				t.Fatal(err)
			}
			if shown, err := ptptest.Show(v.Format, v.Argument()); v.Format != c.format || err != nil || shown != c.shown {
				t.Errorf("%s %s: %q, %v; want %s %q", v.Format, v.Argument(), shown, err, c.format, c.shown)
			}
			if _, err := ptptest.Expand(v.Format, v.Argument()); err != nil {
				t.Errorf("%s %s: %v, when it is expanded", v.Format, v.Argument(), err)
			}
			if c.of.Size > 0 {
				if v, err := c.of.Encode(mem[:c.of.Size-1], nil); err == nil {
					t.Errorf("of a byte less: %v", v)
				}
			}
		})
	}
}

// Elements of no bytes are not counted one by one.
func TestEmptyElementsAreNotCounted(t *testing.T) {
	v, err := array(array(intType, 0), 1<<31-1).Encode(nil, nil)
	if err != nil || v.Format != "[r0,2147483647is4][r0,0is4]is4" || v.Argument() != "00" {
		t.Errorf("%v, %v", v, err)
	}
}

func TestPointers(t *testing.T) {
	of := array(fields(ptp.Struct, "s", 16, ptp.Field{Name: "t", Type: chars}, ptp.Field{Name: "p", Type: nodePtr, Offset: 8}), 2)
	mem, _ := hex.DecodeString("01000000000000000200000000000000" + "00000000000000000200000000000000")
	if got := of.Pointers(mem); !slices.Equal(got, []uint64{1}) {
		t.Error(got)
	}
}

func TestValues(t *testing.T) {
	fromNumber := func(of *ptp.Type, text string) ptp.Value {
		n, _ := new(big.Int).SetString(text, 10)
		v, err := of.FromNumber(n)
		if err != nil {
			t.Errorf("%s: %v", text, err)
		}
		return v
	}
	to := fromNumber(intType, "42")
	for _, c := range []struct {
		v    ptp.Value
		want string
	}{
		{fromNumber(intType, "-3"), "-3"},
		{fromNumber(number(ptp.Unsigned, 16), "255"), "255"},
		{fromNumber(colors, "5"), "GREEN"},
		{floatType.Number(1.5), "1.5"},
		{doubleType.Number(math.Inf(1)), "+Inf"},
		{ptp.CharsAt(8, 0x555555556011, "hello"), "hello"},
		{ptp.PointerTo(8, 0x555555556011, &to), "0x0000555555556011 42"},
		{ptp.PointerTo(8, 0x555555556011, nil), "0x0000555555556011"},
		{ptp.PointerTo(8, 0, &to), "0x0000000000000000"},
		{ptp.TextValue("aéb"), "aéb"},
		{pointType.Bare(), "{}"},
		{fields(ptp.Union, "u", 8).Bare(), "{}"},
		{array(intType, 20000).Bare(), "[0 - 20000]"},
	} {
		if got, err := ptptest.Show(c.v.Format, c.v.Argument()); err != nil || got != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.v.Format, c.v.Argument(), got, err, c.want)
		}
	}
	if _, err := intType.FromNumber(big.NewInt(1 << 40)); err == nil {
		t.Error("a number that has no place is encoded")
	}
	if n := len(ptp.TextValue(strings.Repeat("x", ptp.MaxText+5)).Data); n != ptp.MaxText+2 {
		t.Errorf("a long text has %d bytes", n)
	}
}

// typeFrom makes a type of some bytes: kind, size or number of members, members. It returns the rest.
func typeFrom(b []byte, depth int) (*ptp.Type, []byte) {
	if len(b) < 2 || depth == 0 {
		return number(ptp.Int, 4), nil
	}
	kind, n := b[0]%11, int(b[1]%8)
	b = b[2:]
	switch kind {
	case 0, 1, 2:
		of := &ptp.Type{Kind: []ptp.Kind{ptp.Struct, ptp.Union, ptp.Struct}[kind], Name: "s"}
		for i := range n {
			var m *ptp.Type
			m, b = typeFrom(b, depth-1)
			at := of.Size
			if of.Kind == ptp.Union {
				at = 0
			}
			of.Fields = append(of.Fields, ptp.Field{Name: string(rune('a' + i)), Type: m, Offset: at})
			of.Size = max(of.Size, at+m.Size)
		}
		return of, b
	case 3, 4:
		m, rest := typeFrom(b, depth-1)
		return array(m, n), rest
	case 5:
		return flags([]int{1, 2, 4, 8}[n%4], ptp.Constant{Name: "A", Value: 1}, ptp.Constant{Name: "B", Value: int64(n)}), b
	case 6:
		return &ptp.Type{Kind: ptp.Float, Size: []int{4, 8, 10, 16}[n%4]}, b
	case 7, 8:
		return chars, b
	}
	if kind == 9 {
		return number(ptp.Char, 1), b
	}
	return number([]ptp.Kind{ptp.Int, ptp.Unsigned, ptp.Bool}[n%3], []int{1, 2, 4, 8, 16}[n%5]), b
}

// FuzzEncode: whatever the type and the memory, what is sent is what the model of Java's decoder reads
// to its end, and memory that is too short is an error.
func FuzzEncode(f *testing.F) {
	f.Add([]byte{0, 3, 9, 2, 3, 5, 5, 1, 8, 0}, []byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Add([]byte{1, 2, 0, 2, 9, 1, 8, 1, 6, 3}, []byte("0123456789abcdefghijklmnopqrstuvwxyz"))
	f.Fuzz(func(t *testing.T, shape, mem []byte) {
		of, _ := typeFrom(shape, 4)
		if of.Size > 1<<12 {
			return
		}
		v, err := of.Encode(mem, func(addr uint64) (string, bool) { return "text", addr%2 == 0 })
		if len(mem) < of.Size {
			if err == nil {
				t.Errorf("%d of %d bytes: %v", len(mem), of.Size, v)
			}
			return
		}
		if err != nil {
			return
		}
		if shown, err := ptptest.Show(v.Format, v.Argument()); err != nil {
			t.Errorf("%s %s: %q, %v", v.Format, v.Argument(), shown, err)
		}
		if _, err := ptptest.Expand(v.Format, v.Argument()); err != nil {
			t.Errorf("%s %s: %v, when it is expanded", v.Format, v.Argument(), err)
		}
	})
}
