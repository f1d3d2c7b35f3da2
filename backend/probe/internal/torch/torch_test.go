package torch

import (
	"fmt"
	"slices"
	"testing"

	"sdm/backend/probe/internal/python"
)

// script is the objects of a made-up process. It implements Objects.
type script struct {
	locals  map[string]python.Object
	globals python.Object
	dicts   map[python.Object][]python.Item
	ints    map[python.Object]int
	texts   map[python.Object]string
	words   map[python.Object]uint64 // by address
	last    python.Object
}

const (
	none  python.Object = 1
	no    python.Object = 2
	yes   python.Object = 3
	first python.Object = 0x1000
)

func (s *script) Locals(*python.Frame) (map[string]python.Object, python.Object, bool) {
	return s.locals, s.globals, s.locals != nil
}
func (s *script) Items(o python.Object) ([]python.Item, bool) { d, ok := s.dicts[o]; return d, ok }
func (s *script) Find(o python.Object, texts ...string) ([]python.Object, bool) {
	d, ok := s.dicts[o]
	found := make([]python.Object, len(texts))
	for _, x := range d {
		if k := slices.Index(texts, s.texts[x.Key]); k >= 0 {
			found[k] = x.Value
		}
	}
	return found, ok
}
func (s *script) Int(o python.Object) (int, bool) { n, ok := s.ints[o]; return n, ok }
func (s *script) Ints(all []python.Object) (out []int, ok bool) {
	for _, o := range all {
		n, ok := s.ints[o]
		if !ok {
			return nil, false
		}
		out = append(out, n)
	}
	return out, true
}
func (s *script) Text(o python.Object) (string, bool) { t, ok := s.texts[o]; return t, ok }
func (s *script) Word(o python.Object, offset uint64) (uint64, bool) {
	w, ok := s.words[o+python.Object(offset)]
	return w, ok
}
func (s *script) IsNone(o python.Object) bool  { return o == none }
func (s *script) IsFalse(o python.Object) bool { return o == no }

func (s *script) object() python.Object { s.last += 0x1000; return s.last }

func (s *script) int(n int) python.Object { o := s.object(); s.ints[o] = n; return o }

func (s *script) text(t string) python.Object { o := s.object(); s.texts[o] = t; return o }

func (s *script) dict(items ...python.Object) python.Object {
	o := s.object()
	s.dicts[o] = []python.Item{}
	for i := 0; i < len(items); i += 2 {
		s.dicts[o] = append(s.dicts[o], python.Item{Key: items[i], Value: items[i+1]})
	}
	return o
}

// group makes a process group in which this process has a rank.
func (s *script) group(in int, members ...int) (group, ranks python.Object) {
	var items []python.Object
	for i, r := range members {
		items = append(items, s.int(r), s.int(i))
	}
	group, at := s.object(), s.object()
	s.words[group+16], s.words[group+24] = uint64(at), uint64(at)
	for offset := python.Object(0); offset <= lastRankAt; offset += 8 {
		s.words[at+offset] = 0x7f0000000000 + uint64(offset)
	}
	s.words[at+32] = uint64(in) | uint64(len(members))<<32
	return group, s.dict(items...)
}

// newScript returns a process of rank 3 of four, with a second group of 1 and 3, and the groups.
func newScript() (s *script, world, pair python.Object) {
	s = &script{locals: map[string]python.Object{}, dicts: map[python.Object][]python.Item{}, ints: map[python.Object]int{}, texts: map[python.Object]string{}, words: map[python.Object]uint64{}, last: first}
	world, all := s.group(3, 0, 1, 2, 3)
	pair, two := s.group(1, 1, 3)
	sum, class := s.object(), s.object()
	s.words[class+264] = uint64(s.dict(s.text("PRODUCT"), s.object(), s.text("SUM"), sum))
	s.locals["op"] = sum
	s.globals = s.dict(s.text("_pg_map"), none, s.text("_pg_names"), s.dict(world, s.text("0"), pair, s.text("1")), s.text("ReduceOp"), class,
		s.text("_pg_group_ranks"), s.dict(world, all, pair, two))
	return s, world, pair
}

func text(c *Call) string {
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s of %v, default %t, rank %d, kind %d, root %d, op %q, peer %d, tag %d", c.Function, c.ProcessGroup.Members, c.ProcessGroup.Default, c.ProcessGroup.Rank, c.Kind, c.Root, c.Op, c.Peer, c.Tag)
}

func TestFind(t *testing.T) {
	const rest = ", op \"SUM\", peer -1, tag -1"
	for name, c := range map[string]struct {
		function string
		set      func(s *script, world, pair python.Object)
		want     string
	}{
		"group in place of None": {"all_reduce", func(s *script, world, _ python.Object) { s.locals["group"], s.locals["async_op"] = world, no },
			"all_reduce of [0 1 2 3], default true, rank 3, kind 0, root -1" + rest},
		"variable of the default group": {"barrier", func(s *script, world, _ python.Object) { s.locals["group"], s.locals["default_pg"] = none, world },
			"barrier of [0 1 2 3], default true, rank 3, kind 0, root -1" + rest},
		"another group, root by rank": {"broadcast", func(s *script, _, pair python.Object) { s.locals["group"], s.locals["src"] = pair, s.int(1) },
			"broadcast of [1 3], default false, rank 3, kind 0, root 1" + rest},
		"root by rank in the group": {"broadcast", func(s *script, _, pair python.Object) {
			s.locals["group"], s.locals["src"], s.locals["group_src"] = pair, none, s.int(0)
		}, "broadcast of [1 3], default false, rank 3, kind 0, root 1" + rest},
		"root that is no member": {"broadcast", func(s *script, _, pair python.Object) { s.locals["group"], s.locals["src"] = pair, s.int(2) },
			"broadcast of [1 3], default false, rank 3, kind 0, root -1" + rest},
		"message": {"recv", func(s *script, _, _ python.Object) {
			s.locals["group"], s.locals["src"], s.locals["tag"], s.locals["op"] = none, s.int(2), s.int(7), 0
		}, `recv of [0 1 2 3], default true, rank 3, kind 2, root -1, op "", peer 2, tag 7`},
		"message from any rank": {"recv", func(s *script, _, pair python.Object) {
			s.locals["pg"], s.locals["src"], s.locals["tag"] = pair, none, s.int(0)
		},
			`recv of [1 3], default false, rank 3, kind 2, root -1, op "SUM", peer -2, tag 0`},
		"message to a rank of the group": {"send", func(s *script, _, pair python.Object) {
			s.locals["group"], s.locals["dst"], s.locals["group_dst"], s.locals["tag"] = pair, none, s.int(0), s.int(4)
		}, `send of [1 3], default false, rank 3, kind 1, root -1, op "SUM", peer 1, tag 4`},
		"it does not wait":        {"all_reduce", func(s *script, world, _ python.Object) { s.locals["group"], s.locals["async_op"] = world, yes }, "none"},
		"group that is not known": {"all_reduce", func(s *script, _, _ python.Object) { s.locals["group"] = s.object() }, "none"},
		"members that do not fit": {"all_reduce", func(s *script, world, _ python.Object) {
			s.locals["group"] = world
			for o, n := range s.ints {
				if n == 2 {
					s.ints[o] = 1
				}
			}
		}, "none"},
		"no variables": {"all_reduce", func(s *script, _, _ python.Object) { s.locals = nil }, "none"},
		"no groups":    {"all_reduce", func(s *script, _, _ python.Object) { s.globals = s.dict() }, "none"},
		"rank in two places": {"barrier", func(s *script, world, _ python.Object) {
			s.locals["group"] = world
			s.words[python.Object(s.words[world+16])+40] = 1 | 4<<32
		}, "barrier of [0 1 2 3], default true, rank -1, kind 0, root -1" + rest},
		"object of another library": {"barrier", func(s *script, world, _ python.Object) { s.locals["group"], s.words[world+24] = world, 0 },
			"barrier of [0 1 2 3], default true, rank -1, kind 0, root -1" + rest},
	} {
		t.Run(name, func(t *testing.T) {
			s, world, pair := newScript()
			c.set(s, world, pair)
			f := &python.Frame{Function: c.function, File: "/usr/lib/python3/" + File}
			if !Waits(f) {
				t.Fatal("it does not wait")
			}
			if got := text(Find(s, f)); got != c.want {
				t.Errorf("\n got %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestWaits(t *testing.T) {
	for _, f := range []python.Frame{{Function: "all_reduce", File: "train.py"}, {Function: "irecv", File: File}, {Function: "init_process_group", File: File}} {
		if Waits(&f) {
			t.Errorf("%v waits", f)
		}
	}
}
