package python

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// typed makes an object of a type, with n bytes after its header.
func (p *process) typed(symbol string, n int) uint64 {
	at := p.alloc(64 + n)
	p.put(at+typeField, p.symbols[symbol])
	return at
}

func (p *process) string(s string) uint64 {
	at := p.text(&p.l, s)
	p.put(at+typeField, p.symbols["PyUnicode_Type"])
	return at
}

// integer makes an integer of up to 60 bits.
func (p *process) integer(n int64) uint64 {
	at := p.typed("PyLong_Type", 0)
	size, digits := uint64(0), uint64(max(n, -n))
	for d := digits; d != 0; d >>= 30 {
		p.put32(at+p.l.integer.digits+4*size, int32(d&(1<<30-1)))
		size++
	}
	tag := size
	switch {
	case p.l.minor >= 12:
		tag = size << 3
		if n < 0 {
			tag |= 2
		} else if n == 0 {
			tag |= 1
		}
	case n < 0:
		tag = -size
	}
	p.put(at+p.l.integer.tag, tag)
	return at
}

// dict makes a dictionary of pairs of keys and values, with a deleted entry at its beginning.
func (p *process) dict(kind byte, pairs ...uint64) uint64 {
	at, keys := p.typed("PyDict_Type", 0), p.alloc(keysHeader+16+24*(len(pairs)/2+1))
	p.put(at+p.l.dict.keys, keys)
	p.b[keys+logOfIndex-heapBase], p.b[keys+kindOfKeys-heapBase] = 4, kind
	p.put(keys+entriesAt, uint64(len(pairs)/2+1))
	size, entry := uint64(24), keys+keysHeader+16
	if kind == textKeys {
		size = 16
	}
	for i := 0; i < len(pairs); i += 2 {
		entry += size
		p.put(entry+size-16, pairs[i])
		p.put(entry+size-8, pairs[i+1])
	}
	return at
}

func newObjects(minor int) *process {
	p := newProcess(minor)
	for _, symbol := range []string{"PyDict_Type", "PyLong_Type", "PyUnicode_Type", "PyTuple_Type", "_Py_NoneStruct", "_Py_FalseStruct"} {
		p.symbols[symbol] = p.alloc(16)
	}
	return p
}

// variables gives the innermost function the local variables a and c, and b without a value.
func (p *process) variables() (a, c, globals uint64) {
	names := p.typed("PyTuple_Type", 32)
	p.put(names+sizeField, 3)
	for i, name := range []string{"a", "b", "c"} {
		p.put(names+p.l.items+8*uint64(i), p.string(name))
	}
	code := le.Uint64(p.b[p.frames[0]+p.l.frame.code-heapBase:]) &^ p.l.frame.tag
	p.put(code+p.l.code.locals, names)
	a, c, globals = p.integer(-5), p.string("text"), p.dict(textKeys, p.string("x"), p.integer(1<<40+7), p.string("y"), p.symbols["_Py_NoneStruct"])
	p.put(p.frames[0]+p.l.frame.globals, globals)
	p.put(p.frames[0]+p.l.frame.locals, a|p.l.frame.tag&1)
	p.put(p.frames[0]+p.l.frame.locals+16, c)
	return a, c, globals
}

func TestValues(t *testing.T) {
	for _, minor := range []int{11, 12, 13, 14} {
		t.Run(fmt.Sprint("3.", minor), func(t *testing.T) {
			p := newObjects(minor)
			a, c, globals := p.variables()
			ranks := p.dict(generalKeys, p.integer(0), p.integer(3), p.integer(1), p.integer(0))
			in, err := New(p, Images{p}, minor)
			if err != nil {
				t.Fatal(err)
			}
			s := in.Copy(p, in.Plan(p))
			in.Name(p, s)
			f := &s.Threads[0].Calls[0].Frames[0]
			v := in.Values(p, s)
			locals, at, ok := v.Locals(f)
			if want := map[string]Object{"a": Object(a), "c": Object(c)}; !ok || at != Object(globals) || !maps.Equal(locals, want) {
				t.Fatalf("%v %v %v", locals, at, ok)
			}
			if n, ok := v.Int(locals["a"]); !ok || n != -5 {
				t.Error(n, ok)
			}
			if x, ok := v.Text(locals["c"]); !ok || x != "text" {
				t.Error(x, ok)
			}
			found, ok := v.Find(at, "y", "none", "x")
			if !ok || !v.IsNone(found[0]) || found[1] != 0 {
				t.Fatal(found, ok)
			}
			if n, ok := v.Int(found[2]); !ok || n != 1<<40+7 {
				t.Error(n, ok)
			}
			v.rebinding(t, p, at)
			items, ok := v.Items(Object(ranks))
			if !ok || len(items) != 2 {
				t.Fatal(items, ok)
			}
			if all, ok := v.Ints([]Object{items[0].Key, items[0].Value, items[1].Key, items[1].Value}); !ok || !slices.Equal(all, []int{0, 3, 1, 0}) {
				t.Error(all, ok)
			}
			before := v.Progress(nil, f)
			p.put(p.frames[0]+p.l.frame.locals, c)
			if again := v.Progress(nil, f); !slices.Equal(before, again) {
				t.Error("the frame of the snapshot has changed with the process")
			}
			s = in.Copy(p, in.Plan(p))
			if after := in.Values(p, s).Progress(nil, f); slices.Equal(before, after) {
				t.Error("another object in a variable is no progress")
			}
		})
	}
}

// rebinding has a variable that was found before get another value, and then another name.
func (v *Values) rebinding(t *testing.T, p *process, dict Object) {
	table, _ := v.table(dict)
	entry := table.entries + table.size // after the deleted one
	p.put(entry+8, p.symbols["_Py_NoneStruct"])
	if found, ok := v.Find(dict, "y", "none", "x"); !ok || !v.IsNone(found[2]) {
		t.Error("another value: ", found, ok)
	}
	p.put(entry, p.string("z"))
	if found, ok := v.Find(dict, "y", "none", "x"); !ok || found[2] != 0 || !v.IsNone(found[0]) {
		t.Error("another name: ", found, ok)
	}
}

// TestValuesOfOtherTypes reads what is not of the expected type.
func TestValuesOfOtherTypes(t *testing.T) {
	p := newObjects(13)
	n, text := p.integer(5), p.string("x")
	long := p.typed("PyLong_Type", 0)
	p.put(long+p.l.integer.tag, 3<<3)
	split := p.dict(2)
	shared := p.dict(textKeys)
	p.put(shared+p.l.dict.values, 1)
	many := p.dict(textKeys)
	p.put(le.Uint64(p.b[many+p.l.dict.keys-heapBase:])+entriesAt, 1<<40)
	in, _ := New(p, Images{p}, 13)
	v := in.Values(p, in.Copy(p, in.Plan(p)))
	for _, o := range []uint64{0, 1, 1 << 60, text, long} {
		if x, ok := v.Int(Object(o)); ok {
			t.Errorf("%#x is the integer %d", o, x)
		}
		if x, ok := v.Ints([]Object{Object(n), Object(o)}); ok {
			t.Errorf("%#x is an integer of %d", o, x)
		}
	}
	for _, o := range []uint64{0, 1 << 60, n, split, shared, many} {
		if x, ok := v.Items(Object(o)); ok {
			t.Errorf("%#x is the dictionary %v", o, x)
		}
		if x, ok := v.Text(Object(o)); ok {
			t.Errorf("%#x is the text %q", o, x)
		}
	}
	if _, _, ok := v.Locals(&Frame{}); ok {
		t.Error("variables of no frame")
	}
}

func TestNoValues(t *testing.T) {
	for _, minor := range []int{10, 15} {
		p := newObjects(minor)
		in, err := New(p, Images{p}, minor)
		if err != nil {
			t.Fatal(err)
		}
		if in.Values(p, in.Copy(p, in.Plan(p))) != nil {
			t.Errorf("objects of 3.%d are known", minor)
		}
	}
}
