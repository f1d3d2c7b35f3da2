// Calls of MPI on stacks, and their arguments.

package mpi

import (
	"strings"

	"sdm/backend/probe/internal/amd64"
	"sdm/backend/probe/internal/argument"
	"sdm/backend/probe/internal/snapshot"
)

// Argument is an argument of a call.
type Argument struct {
	Parameter
	Value int64 // of handles: their bits
	Known bool
	Grade argument.Grade
	Why   string // why it is not known
	// Found are the places where the value was found: "function", "caller", "request".
	Found []string
}

// Call is the call of a function of MPI that a thread is in.
type Call struct {
	Function string // without MPI_, as "Recv"
	Frame    int    // index of its frame on the stack, from the innermost
	Args     []Argument
	Comm     *Communicator // nil: it has none, or it is not known
	Requests []Request     // that it waits for; nil: not known, or none

	send, receive half // of Sendrecv

	finder *argument.Finder
}

// IsLibrary reports whether a file is a library of MPI, by its name without directories: also those for Fortran and
// C++, which are between the program and the others. Open MPI 6 has the functions of MPI in one library, and the code
// to which they jump in another.
func IsLibrary(name string) bool {
	return strings.HasPrefix(name, "libmpi") || strings.HasPrefix(name, "libpmpi") || strings.HasPrefix(name, "libopen_mpi")
}

// IsIn reports whether a thread may be in a call of MPI. It takes less time than Open and Find.
func IsIn(p *snapshot.Process, t *snapshot.Thread) bool {
	for _, f := range t.Stack.Frames {
		x := p.At(f.Lookup())
		if x == nil || f.Signal {
			continue
		}
		if IsLibrary(x.Module().Name()) {
			return true
		}
		if symbol, _, _ := x.Function(f.Lookup()); symbol != "" {
			if name, _ := function(symbol); name != "" {
				return true
			}
		}
	}
	return false
}

// Cache keeps what processes with the same images share. The zero value is empty. One goroutine uses it
// at a time.
type Cache struct {
	parsed map[string][]Parameter // result of signatures; nil: not made yet
	sites  argument.Cache
	code   map[string]map[uint64]*amd64.Inst // see emulator.Code, by image
	peers  peerFields                        // of the last library
	// versions are results of Library.Version, by the image of MPI.
	versions map[string]string
	jumps    map[string]map[uint64]string // see Library.jumper, by image
	tags     map[string][]int             // how far the tag is from the endpoint in a send of UCX, by the image of MPI
}

// instructions returns the decoded instructions of an image, by its key.
func (c *Cache) instructions(image string) map[uint64]*amd64.Inst {
	if c.code == nil {
		c.code = map[string]map[uint64]*amd64.Inst{}
	}
	if c.code[image] == nil {
		c.code[image] = map[uint64]*amd64.Inst{}
	}
	return c.code[image]
}

// isOwn reports whether a function of an image is one of the library. Tools that trace or check a program define
// functions of MPI, too, which call the library's by the names with P; a program that is linked statically contains
// both.
func isOwn(x snapshot.Image, symbol string, first uint64) bool {
	addr, ok := x.Address("P" + strings.TrimPrefix(symbol, "P"))
	return ok && addr == first || strings.HasPrefix(x.Module().Name(), "libmpi.") // the others may be in libpmpi
}

// Find returns the outermost call of MPI on the stack of a thread that has come to the library: the one that the
// program has made, or a tool in its place; nil: the thread is in none.
func Find(l *Library, t *snapshot.Thread) *Call {
	f := l.cache.sites.New(l.process, t)
	frame, name := -1, ""
	own, large := false, false
	for i := range f.Frames() {
		x := f.Image(i)
		if x == nil {
			continue
		}
		symbol, first := f.Function(i)
		n, isLarge := function(symbol)
		isName := n != ""
		switch {
		case isName && !isOwn(x, symbol, first):
			continue
		case !isName && i+1 < f.Frames() && IsLibrary(x.Module().Name()) && x != f.Image(i+1):
			if n, isLarge = function(f.CalledName(i + 1)); n == "" { // the function of MPI may have jumped to this one
				n = l.jumper(x, first)
			}
		}
		if _, ok := l.cache.signatures()[n]; ok {
			frame, name, own, large = i, n, isName, isLarge
		}
	}
	if frame < 0 {
		return nil
	}
	c := &Call{Function: name, Frame: frame, finder: f}
	called, _ := function(f.CalledName(frame + 1))
	found := f.Call(frame, own, called == name)
	if err := l.proof(); err != nil {
		for _, p := range l.cache.signatures()[name] {
			c.Args = append(c.Args, Argument{Parameter: p, Why: "the library is not understood: " + err.Error()})
		}
		return c
	}
	for n, p := range l.cache.signatures()[name] {
		v := found.Argument(n, l.Family.bits(p.Kind, large))
		a := Argument{Parameter: p, Value: signed(v.Bits, l.Family.bits(p.Kind, large)), Known: v.Known, Grade: v.Grade}
		if v.Inwards {
			a.Found = append(a.Found, "function")
		}
		if v.Outwards {
			a.Found = append(a.Found, "caller")
		}
		switch {
		case v.Inwards && v.Outwards && !v.Known:
			a.Why = "two answers differ"
		case !v.Known:
			a.Why = "not found"
		}
		c.Args = append(c.Args, a)
	}
	l.byRequest(c)
	l.complete(c)
	c.send, c.receive = l.halvesOf(c)
	return c
}

// signed extends the sign of a number of 32 or 64 bits.
func signed(v uint64, bits int) int64 {
	if bits == 32 {
		return int64(int32(v))
	}
	return int64(v)
}

// arg returns the first argument of a kind; nil: there is none.
func (c *Call) arg(k Kind) *Argument {
	for i := range c.Args {
		if c.Args[i].Kind == k {
			return &c.Args[i]
		}
	}
	return nil
}

// Arg returns an argument by its name; nil: the function has none.
func (c *Call) Arg(name string) *Argument {
	for i := range c.Args {
		if c.Args[i].Name == name {
			return &c.Args[i]
		}
	}
	return nil
}

// complete asks the library for the objects of the handles of a call, and reads its requests. A handle that the
// library refuses becomes unknown.
func (l *Library) complete(c *Call) {
	for i := range c.Args {
		a := &c.Args[i]
		if !a.Known {
			continue
		}
		if err := l.meaning(c, a); err != nil {
			a.Known, a.Why = false, err.Error()
		}
	}
	l.check(c)
	if q := c.arg(Requests); q != nil && q.Known {
		n := int64(1)
		if count := c.arg(Count); count != nil {
			if !count.Known {
				return
			}
			n = count.Value
		}
		c.Requests = l.requests(uint64(q.Value), int(n))
	}
}

// meaning checks a handle by asking the library for its object, and converts peers and tags to the numbers of
// this package. It sets c.Comm.
func (l *Library) meaning(c *Call, a *Argument) error {
	of := func(comm *Communicator) error {
		if comm.Err == nil && c.Comm == nil {
			c.Comm = comm
		}
		return comm.Err
	}
	switch a.Kind {
	case Comm:
		return of(l.communicator(l.Family.handle(a.Value)))
	case Window:
		return of(l.window(l.Family.handle(a.Value)))
	case File:
		return of(l.file(uint64(a.Value)))
	case CommAt, WindowAt, FileAt:
		return of(l.at(a.Kind, uint64(a.Value)))
	case Datatype:
		return l.Type(l.Family.handle(a.Value)).Err
	case Peer:
		a.Value = int64(l.Family.peer(int(a.Value)))
	case Tag:
		a.Value = int64(l.Family.tag(int(a.Value)))
	}
	return nil
}

// check makes peers and roots unknown that the communicator does not have.
func (l *Library) check(c *Call) {
	if c.Comm == nil {
		return
	}
	for i := range c.Args {
		a := &c.Args[i]
		n := int64(len(c.Comm.peers()))
		switch {
		case !a.Known:
		case a.Kind == Peer && a.Value != AnySource && a.Value != NoPeer && (a.Value < 0 || a.Value >= n),
			a.Kind == Root && c.Comm.Remote == nil && (a.Value < 0 || a.Value >= n):
			a.Known, a.Why = false, "not in the communicator"
		}
	}
}
