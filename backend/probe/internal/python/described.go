// Versions that describe themselves: from 3.13 on, _PyRuntime begins with offsets for debuggers
// (Include/internal/pycore_debug_offsets.h). The order of the fields depends on the version.

package python

import "fmt"

// cookie begins the description; the version follows.
const cookie = "xdebugpy"

// firstDescribed is the first minor version with a description.
const firstDescribed = 13

// description is where a version has the fields that are needed, in words of 8 bytes from the cookie.
// The comment of a field names the words that follow it in all versions.
type description struct {
	words                        int // size of the whole description
	freeThreaded                 int
	interpreters                 int
	next                         int // followed by threads
	lockPointer                  int
	lock, locked, holder         int
	thread                       int // its size; followed by an unused word, next, interpreter, frame
	threadPointer                int // followed by native, chunk
	frame                        int // its size; followed by previous, code, instruction
	owner                        int // preceded by local variables
	code                         int // file; followed by name, qualified name, line table, first line, number of arguments, names of local variables
	instructions                 int
	objectType, bytesSize, state int // bytesSize is followed by data; state by length, ascii
	// The items of a tuple; dictKeys is followed by values, integer by digits. 0: not known.
	items, dictKeys, integer int
}

// descriptions are the descriptions by minor version.
var descriptions = map[int]description{
	13: {words: 80, freeThreaded: 2, interpreters: 5, next: 8, lockPointer: 14, lock: 15, locked: 17, holder: 18, thread: 19, threadPointer: 24, frame: 28, owner: 33, code: 35, instructions: 43, objectType: 45, bytesSize: 65, state: 68, items: 51, dictKeys: 57, integer: 62},
	14: {words: 95, freeThreaded: 2, interpreters: 5, next: 8, lockPointer: 15, lock: 16, locked: 18, holder: 19, thread: 22, threadPointer: 27, frame: 31, owner: 36, code: 40, instructions: 48, objectType: 51, bytesSize: 75, state: 78, items: 57, dictKeys: 67, integer: 72},
	15: {words: 111, freeThreaded: 2, interpreters: 5, next: 8, lockPointer: 15, lock: 16, locked: 18, holder: 19, thread: 22, threadPointer: 30, frame: 39, owner: 44, code: 48, instructions: 56, objectType: 59, bytesSize: 87, state: 90},
}

// Bounds of offsets: of _PyRuntime and the state of an interpreter, and of all other structures.
const (
	maxStateOffset = 1 << 24
	maxOffset      = 1 << 12
)

// described returns the layout that a runtime describes.
func described(mem Memory, runtime uint64, v version) (l layout, err error) {
	d, ok := descriptions[v.minor]
	if !ok {
		return l, v.unknown()
	}
	b := make([]byte, 8*d.words)
	if !mem.Read(runtime, b) {
		return l, errRuntime
	}
	word := func(i int) uint64 { return le.Uint64(b[8*i:]) }
	if word(d.freeThreaded) != 0 {
		return l, fmt.Errorf("version %s of Python without a global interpreter lock is not known", v.branch())
	}
	l = d.layout(word)
	l.minor = v.minor
	if v.minor >= 14 {
		l.frame.tag = 3
	}
	if !l.plausible() {
		return l, fmt.Errorf("version %s of Python describes itself in a way that is not known", v)
	}
	return l, nil
}

// layout returns the layout; word returns a word of the description of a process.
func (d *description) layout(word func(int) uint64) (l layout) {
	l.interpreters = word(d.interpreters)
	l.interp.next, l.interp.threads, l.interp.lock = word(d.next), word(d.next+1), word(d.lockPointer)
	l.lock.locked, l.lock.holder = word(d.locked)-word(d.lock), word(d.holder)-word(d.lock)
	t, p := d.thread, d.threadPointer
	l.thread = threadLayout{next: word(t + 2), interp: word(t + 3), frame: word(t + 4), pointer: word(p), native: word(p + 1), chunk: word(p + 2)}
	l.thread.size = max(l.thread.next, l.thread.interp, l.thread.frame, l.thread.pointer, l.thread.native, l.thread.chunk+8) + 8
	f := d.frame
	l.frame = frameLayout{previous: word(f + 1), code: word(f + 2), instruction: word(f + 3), owner: word(d.owner), size: word(f)}
	c := d.code
	l.code = codeLayout{file: word(c), name: word(c + 1), qualified: word(c + 2), lines: word(c + 3), first: word(c + 4), instructions: word(d.instructions)}
	l.code.firstTraced = l.code.instructions - 16 // it is followed by padding and a pointer (co_extra)
	l.code.size = max(l.code.file, l.code.name, l.code.qualified, l.code.lines, l.code.first, l.code.firstTraced) + 8
	l.bytes.size, l.bytes.data = word(d.bytesSize), word(d.bytesSize+1)
	l.text.state, l.text.length, l.text.ascii = word(d.state), word(d.state+1), word(d.state+2)
	l.text.compact = l.text.ascii + 16
	if d.items != 0 {
		l.frame.globals, l.frame.locals, l.code.locals = l.frame.previous+16, word(d.owner-1), word(c+6)
		l.items, l.dict.keys, l.dict.values = word(d.items), word(d.dictKeys), word(d.dictKeys+1)
		l.integer.tag, l.integer.digits = word(d.integer), word(d.integer+1)
	}
	if word(d.objectType) != typeField {
		l.text.ascii = 0 // which is not plausible
	}
	return l
}

// plausible reports whether all offsets are within bounds, and those that are the same in all versions have
// the known values. Otherwise the words have another order than the known one.
func (l *layout) plausible() bool {
	for _, x := range []uint64{l.interpreters, l.interp.next, l.interp.threads, l.interp.lock} {
		if x > maxStateOffset {
			return false
		}
	}
	t, f, c := &l.thread, &l.frame, &l.code
	for _, x := range []uint64{t.next, t.interp, t.frame, t.pointer, t.native, t.chunk, f.size, c.file, c.name, c.qualified, c.lines, c.first, c.instructions, f.locals, c.locals, l.items, l.dict.keys, l.dict.values} {
		if x > maxOffset {
			return false
		}
	}
	return max(f.previous, f.code, f.instruction) < maxOffset && max(f.previous, f.code, f.instruction)+8 <= f.size && f.owner < f.size &&
		(f.locals == 0 || l.integer.tag == sizeField && l.integer.digits == 24) && c.instructions >= 32 && l.lock.locked <= 16 && l.lock.holder <= 16 &&
		l.bytes.size == sizeField && l.bytes.data == 32 && l.text.length == 16 && l.text.state == 32 && l.text.ascii == 40
}
