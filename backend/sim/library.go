// What many ranks say with the same bytes.

package sim

import (
	"sync"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/stack"
)

// Library holds the bodies and stacks that simulated ranks have in common, so
// that each is made and kept once. Any number of back ends may share one, with
// any goroutines: what is in it depends on its key alone.
type Library struct {
	mu     sync.RWMutex
	bodies map[bodyKey][]byte
	stacks map[stackKey]*sharedStack
	sums   map[sumKey][]uint64
	frames map[stack.Frame]*stack.Frame // of stacks
	made   int                          // stacks

	programs map[int]*program // by the number of variants
}

// sumKey is what the hashes of an array's blocks depend on.
type sumKey struct {
	expr string
	span protocol.Span
	size int
}

// NewLibrary gives an empty one.
func NewLibrary() *Library {
	return &Library{
		bodies: map[bodyKey][]byte{}, stacks: map[stackKey]*sharedStack{}, sums: map[sumKey][]uint64{},
		frames: map[stack.Frame]*stack.Frame{},
	}
}

// program gives the one program with so many variants.
func (l *Library) program(variants int) *program {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := l.programs[variants]
	if p == nil {
		p = newProgram(variants)
		if l.programs == nil {
			l.programs = map[int]*program{}
		}
		l.programs[variants] = p
	}
	return p
}

// bodyKey is what a body depends on, other than its kind of answer by name.
type bodyKey struct {
	what, text          string
	pos, level, variant int
	n                   int
	flag                bool
}

// stackKey is what a stack depends on.
type stackKey struct {
	by           string
	pos, variant int
	crashed      bool
}

// Bounds of a library: users choose some parts of keys. What is full begins anew.
const (
	mostBodies = 64 << 10
	mostStacks = 64 << 10
	mostSums   = 4 << 10
)

func (l *Library) body(k bodyKey, make func() any) []byte {
	l.mu.RLock()
	b, ok := l.bodies[k]
	l.mu.RUnlock()
	if ok {
		return b
	}
	b = canonical.JSON(make())
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.bodies) >= mostBodies {
		clear(l.bodies)
	}
	l.bodies[k] = b
	return b
}

// stack gives the stack of a key; the pointer is the same until the library is
// full.
func (l *Library) stack(k stackKey, make func() *sharedStack) *sharedStack {
	l.mu.RLock()
	s := l.stacks[k]
	l.mu.RUnlock()
	if s != nil {
		return s
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if s := l.stacks[k]; s != nil {
		return s
	}
	if len(l.stacks) >= mostStacks {
		clear(l.stacks)
		clear(l.frames)
	}
	s = make()
	s.number = l.made
	l.made++
	l.stacks[k] = s
	return s
}

func (l *Library) sum(k sumKey) ([]uint64, bool) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	sums, ok := l.sums[k]
	return sums, ok
}

func (l *Library) keepSum(k sumKey, sums []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sums) >= mostSums {
		clear(l.sums)
	}
	l.sums[k] = sums
}

// frame gives the one copy of a frame. Whoever makes a stack calls it.
func (l *Library) frame(f stack.Frame) *stack.Frame {
	known := l.frames[f]
	if known == nil {
		known = &f
		l.frames[f] = known
	}
	return known
}
