package ptptest_test

import (
	"strings"
	"testing"

	"sdm/protocol/ptp/ptptest"
)

// What Eclipse's Java code was seen to show for these values.
func TestShow(t *testing.T) {
	for _, c := range []struct{ format, data, want string }{
		{"is4", "FFFFFFFF", "-1"},
		{"iu4", "B2D05E00", "-1294967296"},
		{"is8", "00000000B2D05E00", "3000000000"},
		{"s", "00143138343436373434303733373039353531363135", "18446744073709551615"},
		{"is2", "0005", "5"},
		{"is1", "05", "\x05"},
		{"c", "0A", "10"},
		{"c", "41", "'A'"},
		{"c", "C8", "200"},
		{"b1", "01", "true"},
		{"f8", "4004000000000000", "2.5"},
		{"{complex double|re=f8,im=f8;;;}", "3FF00000000000004000000000000000", "{re=1 im=2}"},
		{"<color|RED=0,GREEN=1>is4", "00000001", "GREEN"},
		{"<color|RED=0,GREEN=1>is4", "00000007", ""},
		{"<color|RED=0,7=7>is4", "00000007", "7"},
		{"<fl|A=1,C=4,A | C=5>is4", "00000005", "A | C"},
		{"<big|HIGH=-2147483648>is4", "80000000", "HIGH"},
		{"<t|A=0,B=1>is1", "01", "A"},
		{"{p|name=[r0,8is4]c,age=is4,pay=f8;;;}", "416461000000000000000024408F400000000000", "{name=[0 - 8] age=1097097472 pay=1.8e-322}"},
		{"{p|name=[r0,8is4]c,age=is4,pay=f8;;;}", "00000024408F400000000000", "{name=[0 - 8] age=36 pay=1000}"},
		{"[r0,2is4]{p|n=[r0,4is4]c,age=is4;;;}", "0000000100000002", "[{n=[0 - 4] age=1} {n=[0 - 4] age=2}]"},
		{"{f|n=is4,d=[r0,0is4]c;;;}", "00000005", "{n=5 d=[0 - 0]}"},
		{"[r0,2is4][r0,2is4]is4", "00000001000000020000000300000004", "[[1 2] [3 4]]"},
		{"[r0,20000is4]is4", "", "[0 - 20000]"},
		{"(u|i=is4,d=f8)", "000000004004000000000000", "{i=0 d=2.5}"},
		{"{s|k=is4,u=(u|i=is4,d=f8);;;}", "00000001000000004004000000000000", "{k=1 u={i=0 d=2.5}}"},
		{"(u|b=[r0,8is4]c,d=f8)", "4004000000000000", "{b=[0 - 8] d=2.5}"},
		{"{s|=(|i=is4,f=f4),=(|a=is4,b=f4);;;}", "00000001000000010000000200000002", "{={a=2 b=3e-45} ={a=2 b=3e-45}}"},
		{"{s|i=is4,f=f4,a=is4,b=f4;;;}", "0000000100000001000000023FC00000", "{i=1 f=1e-45 a=2 b=1.5}"},
		{"^a8is4", "0100005555555592A00000002A", "0x00005555555592a0 42"},
		{"^a8v0", "0100005555555592A0", "0x00005555555592a0"},
		{"^a8v0", "00", "0x0000000000000000"},
		{"^a8{node|v=is4,next=^a8v0;;;}", "0100005555555592A00000000701000055555555930000", "0x00005555555592a0 {v=7 next=0x0000555555559300}"},
		{"pa8", "0000555555556011000368C3A9", "hé"},
		{"pa8", "00000000000000000000", ""},
		{"pa8", "000000000040113600046D61696E", "main"},
		{"{s|x=s,y=is4;;;}", "00023F3F0000002A", "{x=?? y=42}"},
		{"{p|;;;}", "00", "{}"},
		{"<a|A=0>is4", "", ""},
		{"{s|f=&is4,is4/is4,y=is4;;;}", "0102000000002A", "{f= y=42}"},
	} {
		if got, err := ptptest.Show(c.format, c.data); err != nil || got != c.want {
			t.Errorf("%s %s: %q, %v; want %q", c.format, c.data, got, err, c.want)
		}
	}
}

// What ends a thread of Eclipse.
func TestShowThrows(t *testing.T) {
	for _, c := range []struct{ format, data, want string }{
		{"<big|HIGH=2147483648>is4", "80000000", "NumberFormatException"},
		{"(u|i=is4,d=f8)", "4004000000000000", "BufferUnderflowException"},
		{"pa8", "0000000000000000", "BufferUnderflowException"},
		{"is4", "", "ClassCastException"},
		{"{s|x=?0?,y=is4;;;}", "0000002A", "the format is at its end"},
		{"is4", "0000", "BufferUnderflowException"},
		{"^a8{s|x=is4;;;}", "", "ClassCastException"},
		{"^a8{s|x=is4;;;}", "00", "ClassCastException"},
		{"^a8is4", "", "ClassCastException"},
	} {
		got, err := ptptest.Show(c.format, c.data)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %s: %q, %v; want %s", c.format, c.data, got, err, c.want)
		}
	}
}

// What Eclipse's Java code makes of expanded values.
func TestExpand(t *testing.T) {
	for _, c := range []struct {
		format, data string
		want         int
		throws       string
	}{
		{"[r0,0is4]is4", "00", 0, ""},
		{"[r0,0is4]is4", "", 0, "ClassCastException"},
		{"[r0,2is4]is4", "", 0, "ClassCastException"},
		{"[r0,2is4]is4", "0000000100000002", 2, ""},
		{"{f|n=is4,d=[r0,0is4]c;;;}", "00000005", 2, ""},
		{"{f|n=is4;;;}", "", 1, ""},
		{"^a8is4", "0100005555555592A00000002A", 1, ""},
		{"^a8v0", "00", 1, ""},
		{"^a8{s|x=is4;;;}", "00", 0, "ClassCastException"},
		{"^a8{s|x=is4,y=c;;;}", "0100005555555592A00000002A41", 2, ""},
		{"^a8{s|x=is4,y=c;;;}", "0100005555555592A0", 0, "ClassCastException"},
		{"s", "000141", 1, ""},
	} {
		n, err := ptptest.Expand(c.format, c.data)
		if n != c.want || (err == nil) != (c.throws == "") || err != nil && !strings.Contains(err.Error(), c.throws) {
			t.Errorf("%s %s: %d, %v; want %d, %s", c.format, c.data, n, err, c.want, c.throws)
		}
	}
}

// FuzzShow: what is wrong is an error, never more.
func FuzzShow(f *testing.F) {
	f.Add("{p|name=[r0,8is4]c,age=is4;;;}", "00000024")
	f.Add("^a8<t|A=0>is4", "01000000000000000100000000")
	f.Fuzz(func(_ *testing.T, format, data string) {
		if len(format) < 1<<10 && !strings.Contains(format, "00000") {
			_, _ = ptptest.Show(format, data)
			_, _ = ptptest.Expand(format, data)
		}
	})
}
