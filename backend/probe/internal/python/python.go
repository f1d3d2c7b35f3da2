// Package python provides the stacks of CPython 3.8 to 3.15 from the memory of their process. It is
// pure: the memory is read through an interface, and no code runs in the process.
//
// Stacks are read in three steps. Plan tells, while the process runs, what is to be copied. Copy is called
// while the process is held; it reads the states of all threads, their frames, and the beginnings of names.
// Name decodes names and line tables when the process runs again.
//
// An evaluator is a C function that evaluates Python code; one call of it may carry out many Python frames.
package python

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"sdm/backend/probe/internal/cfi"
)

var le = binary.LittleEndian

// Memory is the memory of a process.
type Memory interface {
	cfi.Memory
	// ReadMany fills pieces, in fewer calls than Read needs, and sets their Read.
	ReadMany(pieces []Piece)
}

// Piece is a part of memory that is to be read, or has been.
type Piece struct {
	Addr  uint64
	Bytes []byte
	Read  bool // Bytes have been filled
}

// Interpreter reads the interpreters of one process. One goroutine uses it at a time.
type Interpreter struct {
	Version string // "3.11.2"; "3.9" before 3.11

	layout   layout
	runtime  uint64 // address of _PyRuntime
	codeType uint64 // address of PyCode_Type; 0: not known
	types    types
	lookups  map[Object]*lookup
	codes    map[uint64]*code
}

// Frame is a Python function that runs or waits.
type Frame struct {
	// Function is the qualified name, before 3.11 the name; "": the code object is gone.
	Function string
	File     string // as the compiler was given it
	Line     int    // 0: the instruction is of no line

	address uint64 // address of the frame
	code    uint64 // address of the code object
	at      int64  // offset of the instruction from the first one, in bytes; negative: none has been executed
	line    int    // that is stored in a traced frame, up to 3.10; 0: none
}

// Call is a call of an evaluator with the Python frames that it carries out, innermost first. It may have none.
type Call struct {
	// Address is within the C frame of the evaluator; 0: not known, as before 3.10.
	Address uint64
	Frames  []Frame
}

// Thread is a thread that an interpreter knows. A thread of the system may be known to several
// interpreters.
type Thread struct {
	Pointer     uint64 // pthread_t of the thread that made this state: its thread pointer on x86-64
	Native      int    // thread ID of the kernel, in the namespace of the process; 0: not known, as before 3.11
	lock        uint64 // address of the lock of its interpreter; 0: not known, as up to 3.11
	Interpreter int    // index in the list of interpreters, which begins with the last one that was made
	HasLock     bool   // it holds the lock of its interpreter (GIL)
	Calls       []Call // innermost first
	Cut         string // why outer frames are missing; "": none are
}

// Bounds of what is read from a process, however its memory looks.
const (
	maxInterpreters = 64
	maxThreads      = 4096
	maxFrames       = 10_000  // of a thread; the innermost are kept
	maxChain        = 20_000  // frames that are followed
	maxAll          = 200_000 // frames of all threads
	maxSteps        = 1 << 20 // links that are followed
	maxCodes        = 1 << 16 // code objects that are remembered
	maxChunks       = 256     // of a thread
	maxChunk        = 1 << 20 // bytes; an ordinary one has 16 KiB
	maxChunkBytes   = 32 << 20
	maxText         = 4096    // characters of a name
	maxLines        = 1 << 20 // bytes of a line table
)

// errRuntime is the error for a runtime whose memory cannot be read.
var errRuntime = errors.New("the state of Python cannot be read")

// New returns a reader of the interpreters of a process; nil if none of the images contains one. The first of
// the images must be the program, since it may have copies of variables of its library. minor is the version by
// the names of files (see MinorOf), which is needed before 3.11. The error is a text for users that says which
// Python it is, and that it is not known.
func New(mem Memory, images Images, minor int) (*Interpreter, error) {
	runtime, ok := images.runtime()
	switch {
	case ok:
	case images.Holder() < 0:
		return nil, nil
	case minor != 0:
		return nil, version{minor: minor}.unknown()
	default:
		return nil, errors.New("a Python before 3.7 is not known")
	}
	in := &Interpreter{runtime: runtime, codes: map[uint64]*code{}, lookups: map[Object]*lookup{}}
	in.codeType, _ = images.address("PyCode_Type")
	in.types = typesOf(images)
	v, err := in.version(mem, images, minor)
	if err != nil {
		return nil, err
	}
	in.Version = v.String()
	// Debug builds of Python, which have other layouts, define this function.
	if _, debug := images.address("_Py_NegativeRefcount"); debug {
		return nil, fmt.Errorf("a debug build of Python %s is not known", in.Version)
	}
	if v.level != 0 && v.level < candidate {
		return nil, fmt.Errorf("version %s of Python before its release is not known", v.branch())
	}
	if v.minor >= firstDescribed {
		in.layout, err = described(mem, in.runtime, v)
	} else if in.layout, ok = layouts[v.minor]; !ok {
		err = v.unknown()
	}
	if err != nil {
		return nil, err
	}
	return in, nil
}

// IsIn reports whether the images contain the interpreter. They do not if the process has executed
// another program.
func (in *Interpreter) IsIn(images Images) bool {
	at, ok := images.runtime()
	return ok && at == in.runtime
}

// candidate is the level of a release candidate in a version number; alpha and beta have lower levels.
const candidate = 0xc

// version is a version of Python 3.
type version struct {
	minor, micro, level int // micro is -1 and level is 0 if they are not known
}

func (v version) branch() string { return fmt.Sprintf("3.%d", v.minor) }

func (v version) String() string {
	if v.micro < 0 {
		return v.branch()
	}
	return fmt.Sprintf("3.%d.%d", v.minor, v.micro)
}

func (v version) unknown() error { return fmt.Errorf("version %s of Python is not known", v.branch()) }

// versionOf decodes a number as PY_VERSION_HEX (C API, API and ABI Versioning).
func versionOf(hex uint64) (version, error) {
	if hex>>24 != 3 {
		return version{}, fmt.Errorf("a Python of version %#x is not known", hex)
	}
	return version{int(hex >> 16 & 0xff), int(hex >> 8 & 0xff), int(hex >> 4 & 0xf)}, nil
}

// version finds the version: in the description of the runtime (3.13), in a variable (3.11), or by
// the names of files.
func (in *Interpreter) version(mem Memory, images Images, minor int) (version, error) {
	var head [16]byte
	if !mem.Read(in.runtime, head[:]) {
		return version{}, errRuntime
	}
	if string(head[:8]) == cookie {
		return versionOf(le.Uint64(head[8:]))
	}
	if at, ok := images.address("Py_Version"); ok {
		var b [4]byte
		if !mem.Read(at, b[:]) {
			return version{}, errRuntime
		}
		return versionOf(uint64(le.Uint32(b[:])))
	}
	if minor == 0 {
		return version{}, errors.New("a Python whose version cannot be found is not known")
	}
	return version{minor, -1, 0}, nil
}

// layers are copies of parts of memory, ascending by address, and the memory itself for the other parts.
type layers struct {
	pieces []Piece
	memory Memory
}

// Read implements cfi.Memory.
func (l *layers) Read(addr uint64, b []byte) bool {
	if p := l.find(addr); p != nil {
		if from := addr - p.Addr; uint64(len(b)) <= uint64(len(p.Bytes))-from {
			copy(b, p.Bytes[from:])
			return true
		}
	}
	return l.memory.Read(addr, b)
}

// find returns the piece that has an address; nil: none has.
func (l *layers) find(addr uint64) *Piece {
	i, found := slices.BinarySearchFunc(l.pieces, addr, func(p Piece, a uint64) int {
		switch {
		case p.Addr < a:
			return -1
		case p.Addr > a:
			return 1
		}
		return 0
	})
	if !found {
		i--
	}
	if i < 0 || !l.pieces[i].Read || addr-l.pieces[i].Addr >= uint64(len(l.pieces[i].Bytes)) {
		return nil
	}
	return &l.pieces[i]
}

// add inserts a piece.
func (l *layers) add(p Piece) {
	i, _ := slices.BinarySearchFunc(l.pieces, p, byAddress)
	l.pieces = slices.Insert(l.pieces, i, p)
}

func byAddress(a, b Piece) int {
	switch {
	case a.Addr < b.Addr:
		return -1
	case a.Addr > b.Addr:
		return 1
	}
	return 0
}

func (l *layers) word(addr uint64) (uint64, bool) {
	var b [8]byte
	ok := l.Read(addr, b[:])
	return le.Uint64(b[:]), ok
}
