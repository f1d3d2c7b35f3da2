// Package torch tells in which call of torch.distributed a thread of Python waits, and for which ranks: by the local
// variables of the function, and the process groups that its module knows. It is pure.
//
// Source: torch/distributed/distributed_c10d.py, releases 1.13 to 2.14.
package torch

import (
	"slices"
	"strings"

	"sdm/backend/probe/internal/python"
)

// File is the end of the path of the module with the functions.
const File = "torch/distributed/distributed_c10d.py"

// Wrappers is the end of the path of the module with functions between the caller and the functions
// of File.
const Wrappers = "torch/distributed/c10d_logger.py"

// Objects reads the objects of a process; python.Values does.
type Objects interface {
	// Locals returns the local variables of a function, and the dictionary of the variables of its module.
	Locals(f *python.Frame) (locals map[string]python.Object, globals python.Object, ok bool)
	// Items returns the entries of a dictionary, in the order of their insertion.
	Items(dict python.Object) ([]python.Item, bool)
	// Find returns the values of some texts in a dictionary; 0 for those that it does not have.
	Find(dict python.Object, texts ...string) ([]python.Object, bool)
	Int(o python.Object) (int, bool)
	Ints(all []python.Object) ([]int, bool)
	Text(o python.Object) (string, bool)
	// Word returns the word at an offset of an object, in bytes.
	Word(o python.Object, offset uint64) (uint64, bool)
	IsNone(o python.Object) bool
	IsFalse(o python.Object) bool
}

var _ Objects = (*python.Values)(nil)

// Call is a call that waits for other ranks. Ranks are numbered as in the default process group.
type Call struct {
	Function     string // "all_reduce"
	ProcessGroup ProcessGroup
	Kind         Kind
	// Root is the source or destination of a collective; Unknown: there is none, or it is not known.
	Root int
	// Op is the operation ("SUM"); "": there is none, or it is not known.
	Op string
	// Peer is the other rank of Send and Receive, Any or Unknown; Tag is a tag or Unknown.
	Peer, Tag int
}

// Values of Root, Peer and Tag beside real ones.
const (
	Unknown = -1
	Any     = -2
)

// Kind tells what a call waits for.
type Kind uint8

const (
	Together Kind = iota // the other members of the group
	Send
	Receive
)

// ProcessGroup is a process group.
type ProcessGroup struct {
	Name    string
	Default bool  // it is the default process group
	Members []int // ranks, by their rank in the group
	// Rank is the rank of the process; Unknown: it is not known.
	Rank int
}

// maxMembers bounds the ranks of a group.
const maxMembers = 1 << 16

// functions are the functions that wait, with the variable that has their root. Functions that call others of
// them are left out.
var functions = map[string]string{
	"all_reduce": "", "all_reduce_coalesced": "", "all_gather": "", "all_gather_into_tensor": "", "all_gather_coalesced": "",
	"reduce_scatter": "", "reduce_scatter_tensor": "", "all_to_all": "", "all_to_all_single": "", "barrier": "", "monitored_barrier": "",
	"broadcast": "src", "scatter": "src", "reduce": "dst", "gather": "dst", "recv": "src", "send": "dst",
}

// Waits reports whether a function, the innermost one of Python of a thread, is one in which it may wait.
func Waits(f *python.Frame) bool {
	_, known := functions[f.Function]
	return known && strings.HasSuffix(f.File, File)
}

// Find returns the call of a function for which Waits holds; nil: it does not wait (async_op), or its process group
// is not known.
func Find(v Objects, f *python.Frame) *Call {
	locals, globals, ok := v.Locals(f)
	if async := locals["async_op"]; !ok || async != 0 && !v.IsFalse(async) {
		return nil
	}
	found, ok := v.Find(globals, "_pg_names", "_pg_group_ranks", "ReduceOp")
	if !ok {
		return nil
	}
	c := &Call{Function: f.Function, Root: Unknown, Peer: Unknown, Tag: Unknown, Op: opOf(v, locals["op"], found[2])}
	if c.ProcessGroup, ok = processGroupOf(v, locals, found[0], found[1]); !ok {
		return nil
	}
	c.setRoot(v, locals)
	return c
}

// processGroupOf returns the process group of a call. Functions keep the default group in a variable of their own, or
// put it in place of None.
func processGroupOf(v Objects, locals map[string]python.Object, names, ranks python.Object) (g ProcessGroup, ok bool) {
	all, ok := v.Items(names)
	if !ok || len(all) == 0 {
		return g, false
	}
	at, other := -1, false // index of the group; a variable has another object
	for _, name := range []string{"default_pg", "group_to_use", "pg", "group"} {
		o, is := locals[name]
		switch i := slices.IndexFunc(all, func(x python.Item) bool { return x.Key == o }); {
		case i >= 0 && at < 0:
			at = i
		case i < 0 && is && !v.IsNone(o):
			other = true
		}
	}
	if at < 0 && other {
		return g, false
	}
	at = max(at, 0) // init_process_group makes the default group before there are others
	if g.Name, ok = v.Text(all[at].Value); !ok {
		return g, false
	}
	object := all[at].Key
	g.Default = at == 0
	if g.Members, ok = membersOf(v, object, ranks); ok {
		g.Rank = rankIn(v, object, g.Members)
	}
	return g, ok
}

// membersOf returns the members of a process group by their rank in it. ranks is a dictionary of all groups,
// which has for each a dictionary of the ranks in the group by rank.
func membersOf(v Objects, group, ranks python.Object) ([]int, bool) {
	groups, ok := v.Items(ranks)
	i := slices.IndexFunc(groups, func(x python.Item) bool { return x.Key == group })
	if !ok || i < 0 {
		return nil, false
	}
	items, ok := v.Items(groups[i].Value)
	n := len(items)
	if !ok || n == 0 || n > maxMembers {
		return nil, false
	}
	var objects []python.Object
	for _, x := range items {
		objects = append(objects, x.Key, x.Value)
	}
	numbers, ok := v.Ints(objects)
	members := make([]int, n)
	set := make([]bool, n)
	for ; len(numbers) > 0; numbers = numbers[2:] {
		rank, in := numbers[0], numbers[1]
		if in < 0 || in >= n || set[in] || rank < 0 {
			return nil, false
		}
		members[in], set[in] = rank, true
	}
	return members, ok
}

// Where rankIn looks for the rank, in bytes of the object of C++: after its reference counts.
const (
	firstRankAt = 16
	lastRankAt  = 64
)

// rankIn returns the rank of the process in a group; Unknown: it is not known. The object of Python has two
// pointers to one of C++ (pybind11: the value, and the intrusive pointer that owns it), and that has two 32-bit
// numbers: the rank in the group and the size of the group (c10d::ProcessGroup). They must be found once.
func rankIn(v Objects, group python.Object, members []int) int {
	const value, owner = 16, 24
	at, ok := v.Word(group, value)
	same, read := v.Word(group, owner)
	if !ok || !read || at != same || at == 0 {
		return Unknown
	}
	found := Unknown
	for offset := uint64(firstRankAt); offset <= lastRankAt; offset += 8 {
		w, ok := v.Word(python.Object(at), offset)
		in, size := uint32(w), w>>32
		if !ok || size != uint64(len(members)) || uint64(in) >= size {
			continue
		}
		if found != Unknown {
			return Unknown
		}
		found = members[in]
	}
	return found
}

// setRoot sets the root, or the peer and the tag. The variable group_src or group_dst of later releases has the
// rank in the group.
func (c *Call) setRoot(v Objects, locals map[string]python.Object) {
	name := functions[c.Function]
	if name == "" {
		return
	}
	rank, ok := v.Int(locals[name])
	if in, known := v.Int(locals["group_"+name]); !ok && known && in >= 0 && in < len(c.ProcessGroup.Members) {
		rank, ok = c.ProcessGroup.Members[in], true
	}
	if !ok || !slices.Contains(c.ProcessGroup.Members, rank) {
		rank = Unknown
	}
	switch c.Function {
	case "send":
		c.Kind = Send
	case "recv":
		c.Kind = Receive
		if group := locals["group_"+name]; rank == Unknown && v.IsNone(locals[name]) && (group == 0 || v.IsNone(group)) {
			rank = Any
		}
	default:
		c.Root = rank
		return
	}
	c.Peer = rank
	if tag, ok := v.Int(locals["tag"]); ok && tag >= 0 {
		c.Tag = tag
	}
}

// opOf returns the name of an operation: that by which the class ReduceOp has the same object.
func opOf(v Objects, op, class python.Object) string {
	const dictOfType = 264 // tp_dict, in all versions (Include/cpython/object.h)
	dict, ok := v.Word(class, dictOfType)
	if op == 0 || class == 0 || !ok {
		return ""
	}
	items, _ := v.Items(python.Object(dict))
	for _, x := range items {
		if name, ok := v.Text(x.Key); x.Value == op && ok {
			return name
		}
	}
	return ""
}
