package wire

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"sdm/protocol"
	"sdm/protocol/column"
	"sdm/protocol/rank"
	"sdm/protocol/stack"
	"sdm/protocol/wait"
)

// asBytes compares types without exported fields by their encoding.
var asBytes = cmp.Options{
	cmp.Comparer(func(a, b rank.Set) bool { return a.Equal(b) }),
	cmp.Comparer(func(a, b column.Column) bool { return bytes.Equal(a.AppendWire(nil), b.AppendWire(nil)) }),
	cmp.Comparer(func(a, b *stack.Tree) bool {
		return (a == nil) == (b == nil) && bytes.Equal(a.AppendWire(nil), b.AppendWire(nil))
	}),
	cmp.Comparer(func(a, b *wait.Graph) bool {
		return (a == nil) == (b == nil) && bytes.Equal(a.AppendWire(nil), b.AppendWire(nil))
	}),
}

// everything returns a message that uses every field.
func everything() *Message {
	n := column.New("n", 0, "1", 0).Merge(column.New("n", 1, "2", 0))
	pid := column.New("pid", 0, "100", 1).Merge(column.New("pid", 1, "101", 1))
	return &Message{
		Kind: Reply, ID: 300, Flags: Late | Final, Ranks: rank.Range(0, 1), Wait: 10 * time.Second,
		Body: []byte(`{"a":1}`), Epoch: 7, Settled: 9, Running: rank.Of(1, 5), Bytes: 1 << 20,
		Marks: []Mark{{rank.Range(0, 3), 12}, {rank.Of(9), 1 << 40}},
		Groups: []protocol.Group{
			{Kind: protocol.KindResult, Ranks: rank.Range(0, 1), Body: []byte(`{"expr":"n"}`), Columns: []column.Column{n, pid}},
			{Kind: protocol.KindResult, Ranks: rank.Of(7), Body: []byte(`{}`),
				Stack: stack.New(7, []stack.Frame{{Func: "main", File: "w.c", Line: 5}}),
				Waits: wait.Of(rank.Of(7), wait.Rank{Calls: []wait.Call{{Function: "MPI_Barrier"}}})},
			{Kind: protocol.KindStderr, Ranks: rank.Of(7, 9), Body: []byte("oh\xff\n")},
		},
	}
}

// messages returns messages of all kinds, by name.
func messages() map[string]*Message {
	var scattered []rank.ID
	for i := range rank.ID(200) {
		scattered = append(scattered, i*i)
	}
	return map[string]*Message{
		"ping":         {Kind: Ping},
		"hello":        {Kind: Hello, Body: []byte(`{"node":1}`)},
		"command":      {Kind: Command, ID: 3, Ranks: rank.Range(0, 1023), Wait: time.Second, Body: []byte(`{"command":"continue","args":{}}`)},
		"long set":     {Kind: Command, ID: math.MaxUint64, Ranks: rank.Of(scattered...)},
		"highest":      {Kind: math.MaxUint8, ID: math.MaxUint64, Flags: math.MaxUint16, Wait: math.MaxInt64, Ranks: rank.Of(rank.MaxID)},
		"everything":   everything(),
		"heal":         {Kind: Heal, Epoch: math.MaxUint64, Ranks: rank.Of(3)},
		"room":         {Kind: RoomOutput, Bytes: math.MaxUint64},
		"empty mark":   {Kind: Ack, Marks: []Mark{{}}},
		"no groups":    {Kind: Reply, ID: 1, Flags: Final},
		"empty group":  {Kind: Events, Groups: []protocol.Group{{Kind: protocol.KindRunning}}},
		"empty stack":  {Kind: Events, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(1), Stack: &stack.Tree{}}}},
		"empty waits":  {Kind: Events, Groups: []protocol.Group{{Kind: protocol.KindResult, Ranks: rank.Of(1), Waits: &wait.Graph{}}}},
		"zero columns": {Kind: Events, Groups: []protocol.Group{{Kind: protocol.KindResult, Columns: []column.Column{{Name: "a"}, {Name: "b"}}}}},
	}
}

func TestDecodeUndoesAppend(t *testing.T) {
	for name, m := range messages() {
		t.Run(name, func(t *testing.T) {
			b := Append([]byte("before"), m)
			b = b[len("before"):]
			if n := binary.BigEndian.Uint32(b); int(n) != len(b)-4 {
				t.Fatalf("length %d in front of %d bytes", n, len(b)-4)
			}
			got, err := Decode(b[4:])
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(*m, got, asBytes); diff != "" {
				t.Errorf("-sent +got:\n%s", diff)
			}
		})
	}
}

func TestBodiesArePartsOfThePacket(t *testing.T) {
	b := Append(nil, everything())[4:]
	m, err := Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	ranks := m.Groups[0].Ranks.String() + m.Groups[0].Columns[0].String()
	clear(b)
	if string(m.Groups[0].Body) != strings.Repeat("\x00", len(`{"expr":"n"}`)) || m.Body[0] != 0 {
		t.Error("a body was copied")
	}
	if cap(m.Body) != len(m.Body) {
		t.Error("appending to a body writes to the packet")
	}
	if got := m.Groups[0].Ranks.String() + m.Groups[0].Columns[0].String(); got != ranks {
		t.Errorf("%s became %s with the packet", ranks, got)
	}
}

func TestWaitThatIsOverIsSentAsTheShortest(t *testing.T) {
	m, err := Decode(Append(nil, &Message{Kind: Command, Wait: -time.Second})[4:])
	if err != nil || m.Wait != 1 {
		t.Errorf("wait %v, %v", m.Wait, err)
	}
}

func TestDecodeSkipsUnknownFields(t *testing.T) {
	b := Append(nil, &Message{Kind: Ping, ID: 5})[4:]
	b = append(binary.AppendUvarint(b, 100<<2|uint64(formNumber)), 0x80, 0x01)
	b = append(binary.AppendUvarint(b, 101<<2|uint64(formBytes)), 3, 'a', 'b', 'c')
	b = append(binary.AppendUvarint(b, 102<<2|uint64(formNested)), 0, 0, 0, 2, 0xff, 0xff)
	m, err := Decode(b)
	if diff := cmp.Diff(Message{Kind: Ping, ID: 5}, m, asBytes); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

func TestDecodeErrors(t *testing.T) {
	const version = protocol.PacketVersion
	kind := []byte{version, byte(fieldKind), byte(Reply)}
	group := func(b ...byte) []byte {
		return append(append(bytes.Clone(kind), byte(fieldGroup), 0, 0, 0, byte(len(b))), b...)
	}
	for name, c := range map[string]struct {
		b    []byte
		want string
	}{
		"nothing":              {nil, "packet ends too early"},
		"no kind":              {[]byte{version}, "packet has no kind"},
		"half a tag":           {append(kind, 0x80), "ends too early"},
		"no value":             {[]byte{version, byte(fieldKind)}, "ends too early"},
		"kind too high":        {[]byte{version, byte(fieldKind), 0x80, 0x02}, "kind is 256, more than 255"},
		"flags too high":       {append(kind, byte(fieldFlags), 0x80, 0x80, 0x04), "flags is 65536"},
		"wait too long":        {append(kind, byte(fieldWait), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), "wait is 18446744073709551615"},
		"no length":            {append(kind, byte(fieldBody)), "ends too early"},
		"body cut off":         {append(kind, byte(fieldBody), 5, 'a'), "ends too early"},
		"body of 2^63":         {append(kind, byte(fieldBody), 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 1), "ends too early"},
		"group without length": {append(kind, byte(fieldGroup), 0, 0, 0), "ends too early"},
		"group cut off":        {append(kind, byte(fieldGroup), 0xff, 0xff, 0xff, 0xff), "ends too early"},
		"unknown form":         {append(kind, 30<<2|3), "field 30 has an unknown form"},
		"bad set":              {append(kind, byte(fieldRanks), 1, 0x80), "rank set"},
		"bytes after a set":    {append(kind, byte(fieldRanks), 4, 2, 0, 0, 9), "1 bytes after a rank set"},
		"group without kind":   {group(), "group has no kind"},
		"mark cut off":         {append(kind, byte(fieldMark), 0, 0, 0, 2, byte(markLast), 0x80), "ends too early"},
		"bad set in a mark":    {append(kind, byte(fieldMark), 0, 0, 0, 3, byte(markServers), 1, 0x80), "rank set"},
		"bad set in a group":   {group(byte(groupKind), 1, byte(groupRanks), 1, 0x80), "rank set"},
		"kind of group":        {group(byte(groupKind), 0x80, 0x02), "kind of group is 256"},
		"bad column":           {group(byte(groupKind), 1, byte(groupColumn), 0, 0, 0, 1, 5), "column: bytes end too early"},
		"bytes after a column": {group(byte(groupKind), 1, byte(groupColumn), 0, 0, 0, 5, 0, 1, 0, 0, 7), "1 bytes after a column"},
		"columns out of order": {group(byte(groupKind), 1, byte(groupColumn), 0, 0, 0, 4, 0, 1, 0, 0, byte(groupColumn), 0, 0, 0, 4, 0, 1, 0, 0), "out of order"},
		"bad stack":            {group(byte(groupKind), 1, byte(groupStack), 0, 0, 0, 1, 5), "stack: bytes end too early"},
		"bytes after a stack":  {group(byte(groupKind), 1, byte(groupStack), 0, 0, 0, 3, 0, 0, 7), "1 bytes after a stack"},
		"bad waits":            {group(byte(groupKind), 1, byte(groupWaits), 0, 0, 0, 1, 5), "wait graph: bytes end too early"},
		"bytes after waits":    {group(byte(groupKind), 1, byte(groupWaits), 0, 0, 0, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7), "1 bytes after a wait graph"},
	} {
		t.Run(name, func(t *testing.T) {
			m, err := Decode(bytes.Clone(c.b))
			if err == nil || !strings.Contains(err.Error(), c.want) || errors.Is(err, ErrVersion) {
				t.Errorf("%v, error %v, want %q in it", m, err, c.want)
			}
		})
	}
}

func TestDecodeRefusesAnotherVersion(t *testing.T) {
	_, err := Decode([]byte{protocol.PacketVersion + 1, 1, 2, 3})
	if !errors.Is(err, ErrVersion) || !strings.Contains(err.Error(), "theirs 5, ours 4") {
		t.Errorf("error %v", err)
	}
}

func TestString(t *testing.T) {
	for _, c := range []struct {
		m    *Message
		want string
	}{
		{&Message{Kind: Ping}, "ping"},
		{&Message{Kind: Events, Flags: Again | FromRoot | MasterLost}, "events again from-root master-lost"},
		{&Message{Kind: 77, Flags: 1<<9 | Late}, "kind(77) late flags(0x200)"},
		{&Message{Kind: Command, ID: 3, Ranks: rank.Range(0, 3), Wait: 10 * time.Second, Body: []byte(`{"command":"print"}`)},
			`command #3 [0-3] wait 10s {"command":"print"}`},
		{everything(), `reply #300 late final [0-1] epoch 7 settled 9 mark 0-3:12 mark 9:1099511627776 running [1,5] 1048576 bytes wait 10s {"a":1}; reply [0-1] {"expr":"n"} n=1[0]|2[1] ` +
			`pid=<2 values of 2 ranks, 100[0]..101[1] mean 100.5>; reply [7] {} {main w.c:5 [7]} {MPI_Barrier("", 0, 0, "") [7]; unknown in "" [7]}; output stderr [7,9] "oh\xff\n"`},
		{&Message{Kind: Events, Body: bytes.Repeat([]byte("x"), 300)}, `events "` + strings.Repeat("x", 256) + `"...(300 bytes)`},
	} {
		if got := c.m.String(); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

func TestReadPacket(t *testing.T) {
	var stream []byte
	var sent []*Message
	for _, m := range messages() {
		stream = Append(stream, m)
		sent = append(sent, m)
	}
	big := &Message{Kind: Reply, Body: bytes.Repeat([]byte("0123456789"), 100_000)}
	stream, sent = Append(stream, big), append(sent, big)
	for name, r := range map[string]io.Reader{
		"at once":       bytes.NewReader(stream),
		"byte by byte":  iotest.OneByteReader(bytes.NewReader(stream)),
		"data with end": iotest.DataErrReader(bytes.NewReader(stream)),
		"half and half": iotest.HalfReader(bytes.NewReader(stream)),
	} {
		t.Run(name, func(t *testing.T) {
			buffered := bufio.NewReader(r)
			for _, m := range sent {
				b, err := ReadPacket(buffered, MaxPacket)
				if err != nil {
					t.Fatal(err)
				}
				if got, err := Decode(b); err != nil || got.String() != m.String() || len(got.Body) != len(m.Body) {
					t.Fatalf("got %v, %v; want %v", got, err, m)
				}
			}
			if _, err := ReadPacket(buffered, MaxPacket); err != io.EOF {
				t.Errorf("at the end: %v", err)
			}
		})
	}
}

func TestReadPacketErrors(t *testing.T) {
	whole := Append(nil, &Message{Kind: Reply, Body: bytes.Repeat([]byte("x"), 300_000)})
	for _, cut := range []int{1, 3, 4, 5, 70_000, len(whole) - 1} {
		if _, err := ReadPacket(bufio.NewReader(bytes.NewReader(whole[:cut])), MaxPacket); err != io.ErrUnexpectedEOF {
			t.Errorf("cut at %d: %v", cut, err)
		}
	}
	if _, err := ReadPacket(bufio.NewReader(bytes.NewReader(whole)), 1000); err == nil || !strings.Contains(err.Error(), "at most 1000 are accepted") {
		t.Errorf("too long: %v", err)
	}
	broken := errors.New("broken")
	r := io.MultiReader(bytes.NewReader(whole[:9]), iotest.ErrReader(broken))
	if _, err := ReadPacket(bufio.NewReader(r), MaxPacket); err != broken {
		t.Errorf("broken link: %v", err)
	}
}

func TestReadPacketTakesNoMemoryForALength(t *testing.T) {
	claim := binary.BigEndian.AppendUint32(nil, MaxPacket)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	const times = 10
	for range times {
		if _, err := ReadPacket(bufio.NewReader(bytes.NewReader(claim)), MaxPacket); err != io.ErrUnexpectedEOF {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if took := (after.TotalAlloc - before.TotalAlloc) / times; took > 200<<10 {
		t.Errorf("a length alone took %d bytes", took)
	}
}

func FuzzMessage(f *testing.F) {
	for _, m := range messages() {
		f.Add(Append(nil, m)[4:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Append(nil, &m)[4:])
		if err != nil {
			t.Fatalf("%v: %v", m, err)
		}
		if diff := cmp.Diff(m, again, asBytes, cmp.Comparer(bytes.Equal)); diff != "" || m.String() != again.String() {
			t.Fatalf("-first +second:\n%s", diff)
		}
	})
}

func BenchmarkMessage(b *testing.B) {
	for _, name := range []string{"ping", "command", "everything"} {
		m := messages()[name]
		buf := Append(nil, m)
		b.Run("append "+name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				buf = Append(buf[:0], m)
			}
		})
		b.Run(fmt.Sprintf("decode %s, %d bytes", name, len(buf)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Decode(buf[4:]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// TestFieldsHaveAVersion fails when a field was added and protocol.PacketVersion was not: a session
// of two builds would lose the field silently.
func TestFieldsHaveAVersion(t *testing.T) {
	const version, want = 4, "fieldKind fieldID fieldFlags fieldRanks fieldWait fieldBody fieldGroup fieldEpoch fieldMark fieldRuns fieldDone fieldBytes " +
		"markServers markLast groupKind groupRanks groupBody groupColumn groupStack groupWaits"
	file, err := parser.ParseFile(token.NewFileSet(), "append.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range file.Decls {
		constants, is := d.(*ast.GenDecl)
		if !is || constants.Tok != token.CONST {
			continue
		}
		for _, s := range constants.Specs {
			name := s.(*ast.ValueSpec).Names[0].Name
			if strings.HasPrefix(name, "field") || strings.HasPrefix(name, "mark") || strings.HasPrefix(name, "group") {
				names = append(names, name)
			}
		}
	}
	if got := strings.Join(names, " "); got != want || version != protocol.PacketVersion {
		t.Errorf("version %d has the fields %s, want %s: raise protocol.PacketVersion, then change this test", protocol.PacketVersion, got, want)
	}
}
