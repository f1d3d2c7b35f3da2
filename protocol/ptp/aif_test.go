package ptp_test

import (
	"encoding/hex"
	"math"
	"strings"
	"testing"

	"sdm/protocol/ptp"
)

var (
	intType    = &ptp.Type{Kind: ptp.Int, Size: 4}
	doubleType = &ptp.Type{Kind: ptp.Float, Size: 8}
	charType   = &ptp.Type{Kind: ptp.Char, Size: 1}
	nodePtr    = &ptp.Type{Kind: ptp.Pointer, Size: 8}
	tagType    = &ptp.Type{Kind: ptp.Array, Size: 4, Count: 4, Elem: charType}
	pointType  = &ptp.Type{Kind: ptp.Struct, Size: 24, Name: "point", Fields: []ptp.Field{
		{Name: "x", Type: intType}, {Name: "y", Type: doubleType, Offset: 8}, {Name: "tag", Type: tagType, Offset: 16},
	}}
)

func TestMemory(t *testing.T) {
	for _, tt := range []struct {
		name, mem, format, data string
		of                      *ptp.Type
	}{
		{"int", "2a000000", "is4", "0000002A", intType},
		{"unsigned", "005ed0b2", "iu4", "B2D05E00", &ptp.Type{Kind: ptp.Unsigned, Size: 4}},
		{"float", "0000c03f", "f4", "3FC00000", &ptp.Type{Kind: ptp.Float, Size: 4}},
		{"double", "0000000000000a40", "f8", "400A000000000000", doubleType},
		{"long double", "00000000000000a0ff3f000000000000", "f8", "3FF4000000000000", &ptp.Type{Kind: ptp.Float, Size: 16}},
		{"char", "41", "c", "41", charType},
		{"bool", "01", "b1", "01", &ptp.Type{Kind: ptp.Bool, Size: 1}},
		{"enum", "05000000", "<color|RED=0,GREEN=5>is4", "00000005",
			&ptp.Type{Kind: ptp.Enum, Size: 4, Name: "color", Values: []ptp.Constant{{"RED", 0}, {"GREEN", 5}}}},
		{"struct", "2a000000 00000000 0000000000000440 78790000 00000000", "{point|x=is4,y=f8,tag=[r0,4is4]c;;;}",
			"0000002A400400000000000078790000", pointType},
		{"array", "010000000200000003000000", "[r0,3is4]is4", "000000010000000200000003", &ptp.Type{Kind: ptp.Array, Size: 12, Count: 3, Elem: intType}},
		{"pointer", "1060555555550000", "^a8v0", "010000555555556010", nodePtr},
		{"null", "0000000000000000", "^a8v0", "00", nodePtr},
		{"union", "07000000", "(uu|i=is4,f=f4)", "00000007", &ptp.Type{Kind: ptp.Union, Size: 4, Name: "uu", Fields: []ptp.Field{
			{Name: "i", Type: intType}, {Name: "f", Type: &ptp.Type{Kind: ptp.Float, Size: 4}}}}},
		{"bits", "fb000000", "{b|a=iu4,b=is4;;;}", "00000003FFFFFFFF", &ptp.Type{Kind: ptp.Struct, Size: 4, Name: "b", Fields: []ptp.Field{
			{Name: "a", Type: &ptp.Type{Kind: ptp.Unsigned, Size: 4}, Width: 3}, {Name: "b", Type: intType, Bit: 3, Width: 5}}}},
		{"nothing", "", "{e|;;;}", "00", &ptp.Type{Kind: ptp.Struct, Name: "e"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			mem, err := hex.DecodeString(strings.ReplaceAll(tt.mem, " ", ""))
			if err != nil {
				t.Fatal(err)
			}
			data, err := tt.of.Memory(mem)
			if got := ptp.DataText(data); err != nil || tt.of.Format() != tt.format || got != tt.data {
				t.Errorf("%s %s, %v; want %s %s", tt.of.Format(), got, err, tt.format, tt.data)
			}
			if tt.of.Size > 0 {
				if data, err := tt.of.Memory(mem[:len(mem)-1]); err == nil && tt.name != "struct" {
					t.Errorf("of a byte less: %x", data)
				}
			}
		})
	}
}

func TestValues(t *testing.T) {
	chars := &ptp.Type{Kind: ptp.CharPointer, Size: 8}
	to := &ptp.Type{Kind: ptp.Pointer, Size: 8, Elem: intType}
	for _, tt := range []struct {
		name, want string
		data       []byte
	}{
		{"negative", "FFFFFFFD", intType.Integer(-3)},
		{"long", "000000000000000000000000000000FF", (&ptp.Type{Kind: ptp.Unsigned, Size: 16}).Integer(255)},
		{"float", "3FC00000", (&ptp.Type{Kind: ptp.Float, Size: 4}).Number(1.5)},
		{"infinite", "7FF0000000000000", doubleType.Number(math.Inf(1))},
		{"chars", "0000555555556011000568656C6C6F", chars.CharsAt(0x555555556011, "hello")},
		{"pointer", "0100005555555560110000002A", to.PointerTo(0x555555556011, intType.Integer(42))},
		{"null", "00", to.PointerTo(0, intType.Integer(42))},
		{"text", "000361E962", ptp.TextData(ptp.Latin1("aéb"))},
	} {
		if got := ptp.DataText(tt.data); got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, got, tt.want)
		}
	}
	if f := chars.Format() + " " + to.Format() + " " + (&ptp.Type{Kind: ptp.TextKind}).Format(); f != "pa8 ^a8is4 s" {
		t.Error(f)
	}
	if n := len(ptp.TextData(strings.Repeat("x", ptp.MaxText+5))); n != ptp.MaxText+2 {
		t.Errorf("a long text has %d bytes", n)
	}
}
