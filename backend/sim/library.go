// Bodies and stacks that many ranks share.

package sim

import (
	"sync"

	"sdm/protocol"
	"sdm/protocol/canonical"
	"sdm/protocol/stack"
)

// Library holds the bodies and stacks that simulated ranks have in common, so that each is made
// and stored once. Any number of back ends and goroutines may share one: each entry depends on its
// key only.
type Library struct {
	mu     sync.RWMutex
	bodies map[bodyKey][]byte
	stacks map[stackKey]*sharedStack
	sums   map[sumKey][]uint64
	frames map[stack.Frame]*stack.Frame // frames of stacks
	made   int                          // number of stacks made so far

	programs map[int]*program // by number of variants
}

// sumKey is all that the hashes of an array's blocks depend on.
type sumKey struct {
	expr string
	span protocol.Span
	size int
}

// NewLibrary returns an empty library.
func NewLibrary() *Library {
	return &Library{
		bodies: map[bodyKey][]byte{}, stacks: map[stackKey]*sharedStack{}, sums: map[sumKey][]uint64{},
		frames: map[stack.Frame]*stack.Frame{},
	}
}

// program returns the only copy of the program with the given number of variants.
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

// bodyKey is all that a body depends on; what is the kind of the answer.
type bodyKey struct {
	what, text          string
	pos, level, variant int
	n                   int
	flag                bool
}

// stackKey is all that a stack depends on.
type stackKey struct {
	by           string
	pos, variant int
	crashed      bool
}

// Bounds of a library, because parts of keys come from users. A full table is cleared.
const (
	maxBodies = 64 << 10
	maxStacks = 64 << 10
	maxSums   = 4 << 10
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
	if len(l.bodies) >= maxBodies {
		clear(l.bodies)
	}
	l.bodies[k] = b
	return b
}

// stack returns the stack of a key; the pointer is the same until the table is full.
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
	if len(l.stacks) >= maxStacks {
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
	if len(l.sums) >= maxSums {
		clear(l.sums)
	}
	l.sums[k] = sums
}

// frame returns the only copy of a frame. l.mu must be locked for writing, as it is while a stack
// is made.
func (l *Library) frame(f stack.Frame) *stack.Frame {
	known := l.frames[f]
	if known == nil {
		known = &f
		l.frames[f] = known
	}
	return known
}
