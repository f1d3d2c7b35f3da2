// Objects of Python: variables of functions, and the few types of which values are read.

package python

import "slices"

// Object is the address of an object; 0: there is none.
type Object uint64

// Bounds of what is read of objects.
const (
	maxLocals = 256
	maxItems  = 1 << 17 // of a dictionary, deleted ones included
	maxDigits = 2       // of an integer, of 30 bits each
)

// Values reads objects of the interpreters of a process. They are read while the process runs; what does not look
// like an object of the expected type is not read. One goroutine uses it at a time.
type Values struct {
	in  *Interpreter
	mem layers
}

// Values returns a reader of the objects that the frames of a snapshot use. Frames are as they were when the
// snapshot was made. nil: the objects of this version are not known. Versions 3.11 to 3.14 are known.
func (in *Interpreter) Values(mem Memory, s *Snapshot) *Values {
	if in.layout.frame.locals == 0 || in.types.dict == 0 || in.types.integer == 0 || in.types.text == 0 || in.types.tuple == 0 {
		return nil
	}
	return &Values{in, layers{s.pieces, mem}}
}

// types are the addresses of types and values; 0: not known.
type types struct{ dict, integer, text, tuple, none, no Object }

func typesOf(images Images) (t types) {
	for symbol, to := range map[string]*Object{"PyDict_Type": &t.dict, "PyLong_Type": &t.integer, "PyUnicode_Type": &t.text,
		"PyTuple_Type": &t.tuple, "_Py_NoneStruct": &t.none, "_Py_FalseStruct": &t.no} {
		at, _ := images.address(symbol)
		*to = Object(at)
	}
	return t
}

// IsNone reports whether an object is None.
func (v *Values) IsNone(o Object) bool { return o != 0 && o == v.in.types.none }

// IsFalse reports whether an object is False.
func (v *Values) IsFalse(o Object) bool { return o != 0 && o == v.in.types.no }

// Word returns the word at an offset of an object.
func (v *Values) Word(o Object, offset uint64) (uint64, bool) {
	return v.mem.word(uint64(o) + offset)
}

// head reads the first bytes of an object; ok is false if it is of another type.
func (v *Values) head(o Object, of Object, b []byte) bool {
	return o != 0 && v.mem.Read(uint64(o), b) && Object(le.Uint64(b[typeField:])) == of
}

// variables returns the address of the tuple with the names of the local variables of a function, and for each of
// them the word that has its value.
func (v *Values) variables(f *Frame) (names uint64, values []byte, ok bool) {
	l := &v.in.layout
	names, ok = v.mem.word(f.code + l.code.locals)
	var head [24]byte
	if !ok || f.address == 0 || !v.head(Object(names), v.in.types.tuple, head[:]) {
		return 0, nil, false
	}
	values = make([]byte, 8*min(le.Uint64(head[sizeField:]), maxLocals))
	return names, values, v.mem.Read(f.address+l.frame.locals, values)
}

// Locals returns the local variables of a function that have a value, and the dictionary of the variables of its
// module.
func (v *Values) Locals(f *Frame) (locals map[string]Object, globals Object, ok bool) {
	l := &v.in.layout
	names, values, ok := v.variables(f)
	items := make([]byte, len(values))
	at, known := v.mem.word(f.address + l.frame.globals)
	if !ok || !known || !v.mem.Read(names+l.items, items) {
		return nil, 0, false
	}
	locals = map[string]Object{}
	for i := 0; i < len(items); i += 8 {
		name, ok := v.Text(Object(le.Uint64(items[i:])))
		if !ok {
			return nil, 0, false
		}
		if o := le.Uint64(values[i:]) &^ l.frame.tag; o != 0 {
			locals[name] = Object(o)
		}
	}
	return locals, Object(at), true
}

// Text returns a string.
func (v *Values) Text(o Object) (string, bool) {
	var b [usual]byte
	if !v.head(o, v.in.types.text, b[:v.in.layout.text.compact]) {
		return "", false
	}
	text, _, ok := v.in.layout.textOf(v.mem.memory, &Piece{Addr: uint64(o), Bytes: b[:]})
	return text, ok
}

// Int returns an integer; ok is false if it is none, or has more than 60 bits.
func (v *Values) Int(o Object) (n int, ok bool) {
	var b [32]byte
	if !v.head(o, v.in.types.integer, b[:]) {
		return 0, false
	}
	return v.in.layout.intOf(b[:])
}

// intOf decodes an integer: up to 3.11 its size, negative for negative ones, and digits; from 3.12 on the lowest
// two bits of the word before the digits are 1 for zero and 2 for negative ones, and the size begins at bit 3.
func (l *layout) intOf(b []byte) (n int, ok bool) {
	tag := le.Uint64(b[l.integer.tag:])
	size, negative := tag>>3, tag&3 == 2
	if l.minor <= 11 {
		size, negative = tag, int64(tag) < 0
		if negative {
			size = -tag
		}
	}
	if size > maxDigits {
		return 0, false
	}
	for i := range int(size) {
		n |= int(le.Uint32(b[int(l.integer.digits)+4*i:])) << (30 * i)
	}
	if negative {
		n = -n
	}
	return n, true
}

// Item is an entry of a dictionary.
type Item struct{ Key, Value Object }

// Sizes of what a dictionary's table of keys has before its indices and in each entry
// (Include/internal/pycore_dict.h, 3.11 to 3.14).
const (
	keysHeader  = 32
	logOfIndex  = 9  // offset of the logarithm of the bytes of the indices
	kindOfKeys  = 10 // offset of the kind
	generalKeys = 0  // entries have a hash, too
	textKeys    = 1
	entriesAt   = 24 // offset of the number of entries
)

// table is the table of keys of a dictionary.
type table struct {
	entries uint64 // address of the first entry
	n, size uint64 // number of entries, deleted ones included, and their size in bytes
}

// table returns the table of a dictionary; ok is false if it shares the table with others, as
// objects do.
func (v *Values) table(o Object) (t table, ok bool) {
	head := make([]byte, max(v.in.layout.dict.keys, v.in.layout.dict.values)+8)
	if !v.head(o, v.in.types.dict, head) {
		return t, false
	}
	keys := le.Uint64(head[v.in.layout.dict.keys:])
	var k [keysHeader]byte
	if le.Uint64(head[v.in.layout.dict.values:]) != 0 || !v.mem.Read(keys, k[:]) || k[logOfIndex] > 20 {
		return t, false
	}
	t = table{keys + keysHeader + 1<<k[logOfIndex], le.Uint64(k[entriesAt:]), 16}
	if k[kindOfKeys] == generalKeys {
		t.size = 24
	}
	return t, k[kindOfKeys] <= textKeys && t.n <= maxItems
}

// Items returns the entries of a dictionary, in the order of their insertion. Those of a dictionary that shares its
// keys with others are not known.
func (v *Values) Items(o Object) (items []Item, ok bool) {
	items, _, _, ok = v.items(o)
	return items, ok
}

// items returns the entries of a dictionary, the addresses of their keys, and its table.
func (v *Values) items(o Object) (items []Item, at []uint64, t table, ok bool) {
	if t, ok = v.table(o); !ok {
		return nil, nil, t, false
	}
	b := make([]byte, t.n*t.size)
	if !v.mem.Read(t.entries, b) {
		return nil, nil, t, false
	}
	for i := range t.n {
		e := b[(i+1)*t.size-16:]
		if x := (Item{Object(le.Uint64(e)), Object(le.Uint64(e[8:]))}); x.Key != 0 && x.Value != 0 {
			items, at = append(items, x), append(at, t.entries+(i+1)*t.size-16)
		}
	}
	return items, at, t, true
}

// lookup is where Find has found texts in a dictionary.
type lookup struct {
	table table
	texts []string
	at    []uint64 // addresses of the keys; 0: the dictionary does not have the text
	keys  []Object
}

// maxLookups bounds the dictionaries whose lookups are kept.
const maxLookups = 16

// Find returns the values of some texts in a dictionary; 0 for those that it does not have. Keys that are no texts
// are skipped.
func (v *Values) Find(dict Object, texts ...string) (found []Object, ok bool) {
	if old := v.in.lookups[dict]; old != nil && slices.Equal(old.texts, texts) {
		if found, ok = v.again(dict, old); ok {
			return found, true
		}
	}
	items, at, t, ok := v.items(dict)
	if !ok {
		return nil, false
	}
	longest := 0
	for _, t := range texts {
		longest = max(longest, len(t))
	}
	l := &v.in.layout
	pieces := make([]Piece, len(items))
	for i, x := range items {
		pieces[i] = Piece{Addr: uint64(x.Key), Bytes: make([]byte, int(l.text.compact)+longest)}
	}
	v.mem.memory.ReadMany(pieces)
	found = make([]Object, len(texts))
	now := &lookup{t, texts, make([]uint64, len(texts)), make([]Object, len(texts))}
	for i, p := range pieces {
		if !p.Read || Object(le.Uint64(p.Bytes[typeField:])) != v.in.types.text || le.Uint64(p.Bytes[l.text.length:]) > uint64(longest) {
			continue
		}
		text, _, ok := l.textOf(v.mem.memory, &pieces[i])
		if k := slices.Index(texts, text); ok && k >= 0 {
			found[k], now.at[k], now.keys[k] = items[i].Value, at[i], items[i].Key
		}
	}
	if len(v.in.lookups) == maxLookups {
		clear(v.in.lookups)
	}
	v.in.lookups[dict] = now
	return found, true
}

// again returns the values of an earlier lookup; ok is false if the dictionary has got or lost keys since.
func (v *Values) again(dict Object, old *lookup) (found []Object, ok bool) {
	if t, ok := v.table(dict); !ok || t != old.table {
		return nil, false
	}
	found = make([]Object, len(old.texts))
	for k, at := range old.at {
		var b [16]byte
		switch {
		case at == 0:
		case !v.mem.Read(at, b[:]) || Object(le.Uint64(b[:])) != old.keys[k]:
			return nil, false
		default:
			found[k] = Object(le.Uint64(b[8:]))
		}
	}
	return found, true
}

// Ints returns the integers at which some objects are; ok is false if one of them is no integer.
func (v *Values) Ints(all []Object) (out []int, ok bool) {
	pieces := make([]Piece, len(all))
	for i, o := range all {
		pieces[i] = Piece{Addr: uint64(o), Bytes: make([]byte, 32)}
	}
	v.mem.memory.ReadMany(pieces)
	for _, p := range pieces {
		if !p.Read || Object(le.Uint64(p.Bytes[typeField:])) != v.in.types.integer {
			return nil, false
		}
		n, ok := v.in.layout.intOf(p.Bytes)
		if !ok {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}

// Progress appends bytes that change when a function goes on: its instruction, and which objects its local
// variables are.
func (v *Values) Progress(b []byte, f *Frame) []byte {
	b = le.AppendUint64(le.AppendUint64(b, f.code), uint64(f.at))
	if _, values, ok := v.variables(f); ok {
		b = append(b, values...)
	}
	return b
}
