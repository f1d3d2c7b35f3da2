// Offsets of the fields of structures, by version.

package python

// layout has the offsets of fields in their structures, in bytes. Those of fields that a version does not have
// are 0.
type layout struct {
	minor int
	// Fields of _PyRuntime: the list of interpreters, and the thread that holds the lock, up to 3.11.
	interpreters, current uint64
	interp                struct{ next, threads, lock uint64 }
	lock                  struct{ locked, holder uint64 } // from 3.12
	thread                threadLayout
	evaluator             struct{ previous, frame uint64 } // structure of an evaluator (CFrame), 3.10 to 3.12
	frame                 frameLayout
	code                  codeLayout
	text                  struct{ length, state, ascii, compact uint64 } // the last two: sizes of the two headers
	// What Values reads, from 3.11 on: the first item of a tuple, and fields of dictionaries and integers.
	items   uint64
	dict    struct{ keys, values uint64 }
	integer struct{ tag, digits uint64 }
	bytes   struct{ size, data uint64 }
}

// threadLayout has the offsets of the state of a thread (PyThreadState).
type threadLayout struct {
	next, interp, pointer, native uint64
	frame                         uint64 // the innermost; not in 3.11 and 3.12
	evaluator                     uint64 // the innermost; 3.10 to 3.12
	chunk                         uint64 // the innermost chunk of frames, from 3.11; the next word is the end of its used part
	size                          uint64 // bytes to read for all fields
}

// frameLayout has the offsets of a frame.
type frameLayout struct {
	previous, code, instruction uint64
	line, trace                 uint64 // up to 3.10: the line is valid if there is a trace function
	owner                       uint64 // from 3.11: what made it
	entry                       uint64 // 3.11: it is the outermost of a call of the evaluator
	tag                         uint64 // bits of addresses of objects that count references
	globals, locals             uint64 // from 3.11: variables of the module; the first local variable
	size                        uint64
}

// codeLayout has the offsets of a code object.
type codeLayout struct {
	file, name, qualified, lines, first uint64
	instructions                        uint64 // from 3.11; before, they are an object of their own
	locals                              uint64 // from 3.11: the names of local variables
	firstTraced                         uint64 // from 3.12: the number of the first instruction that may be traced
	size                                uint64 // bytes to read for all fields
}

// Offsets of a chunk of frames, in all versions (_PyStackChunk).
const (
	chunkPrevious = 0
	chunkSize     = 8
	chunkHeader   = 24
)

// typeField is the offset of the type of any object, and sizeField the offset of the size of an object of
// variable size.
const (
	typeField = 8
	sizeField = 16
)

// evaluatorOwned is the owner field, from 3.12 on, of the frame that an evaluator has in its own C frame. Higher
// values (3.14) mark other frames without Python code.
const evaluatorOwned = 3

// layouts of the versions that do not describe themselves, on 64-bit machines, of ordinary builds.
// Source: offsetof over the headers of the releases.
var layouts = map[int]layout{8: layout8(), 9: layout9(), 10: layout10(), 11: layout11(), 12: layout12()}

func layout8() layout {
	l := layout9()
	l.minor, l.current = 8, 1368
	return l
}

func layout9() layout {
	l := layout{minor: 9, interpreters: 32, current: 568}
	l.interp.next, l.interp.threads = 0, 8
	l.thread = threadLayout{next: 8, interp: 16, pointer: 176, frame: 24, size: 184}
	l.frame = frameLayout{previous: 24, code: 32, instruction: 104, line: 108, trace: 80, size: 112}
	l.code = codeLayout{file: 104, name: 112, lines: 120, first: 40, size: 128}
	l.text.length, l.text.state, l.text.ascii, l.text.compact = 16, 32, 48, 72
	l.bytes.size, l.bytes.data = 16, 32
	return l
}

func layout10() layout {
	l := layout9()
	l.minor = 10
	l.thread.evaluator = 48
	l.evaluator.previous = 8
	l.frame = frameLayout{previous: 24, code: 32, instruction: 96, line: 100, trace: 72, size: 104}
	return l
}

func layout11() layout {
	l := layout9()
	l.minor, l.interpreters, l.current = 11, 40, 576
	l.interp.threads = 16
	l.thread = threadLayout{next: 8, interp: 16, pointer: 152, native: 160, evaluator: 56, chunk: 296, size: 312}
	l.evaluator.previous, l.evaluator.frame = 16, 8
	l.frame = frameLayout{previous: 48, code: 32, instruction: 56, owner: 69, entry: 68, globals: 8, locals: 72, size: 72}
	l.code = codeLayout{file: 112, name: 120, qualified: 128, lines: 136, first: 72, instructions: 184, locals: 96, size: 144}
	l.items, l.dict.keys, l.dict.values = 24, 32, 40
	l.integer.tag, l.integer.digits = 16, 24
	return l
}

func layout12() layout {
	l := layout11()
	l.minor, l.current = 12, 0
	l.interp.threads, l.interp.lock = 72, 384
	l.lock.holder, l.lock.locked = 8, 16
	l.thread = threadLayout{next: 8, interp: 16, pointer: 136, native: 144, evaluator: 56, chunk: 232, size: 248}
	l.evaluator.previous, l.evaluator.frame = 8, 0
	l.frame = frameLayout{previous: 8, code: 0, instruction: 56, owner: 70, globals: 24, locals: 72, size: 72}
	l.code = codeLayout{file: 112, name: 120, qualified: 128, lines: 136, first: 68, instructions: 192, locals: 96, firstTraced: 176, size: 180}
	l.text.ascii, l.text.compact = 40, 56
	return l
}
