// Package mi reads and writes GDB/MI, the protocol between gdb and a program (GDB manual, GDB/MI
// Output Syntax). It does no I/O.
//
// Terms: a record is one line of gdb. A result record (^done) answers the command with the same
// token; an async record (*stopped, =thread-created) comes unasked; a stream record (~"text") is
// text for users. Deviations of released gdbs from the grammar are accepted, see parse.go.
package mi

import (
	"iter"
	"strconv"
)

// Class is the kind of an output record.
type Class uint8

const (
	Result  Class = iota // ^done, ^running, ^connected, ^error, ^exit
	Exec                 // *stopped, *running
	Status               // +download
	Notify               // =thread-created, =breakpoint-modified
	Console              // ~"text"
	Target               // @"text"
	Log                  // &"text"
	Prompt               // (gdb)
	Other                // a line that is not MI: output of the program or of a child of gdb
)

// marks are the characters at the start of records, in order of Class.
const marks = "^*+=~@&"

// String returns the character at the start of such a record, or a word if there is none.
func (c Class) String() string {
	switch {
	case int(c) < len(marks):
		return marks[c : c+1]
	case c == Prompt:
		return "prompt"
	}
	return "other"
}

// Record is one line of gdb. It owns its memory: it stays valid, may be kept, and may be read by
// several goroutines. Its strings share one copy of the line, so a kept string keeps the whole
// line in memory; use strings.Clone to keep a part of a long one.
type Record struct {
	Class   Class
	Token   int64  // -1: none
	Name    string // "done", "stopped", "thread-created"
	Text    string // Console, Target, Log: decoded; Other: the line
	Results Tuple
}

// Tuple is a sequence of name=value in the order of the line. Names may repeat, or be empty
// (elements of a list).
type Tuple []Field

// Field is one name=value of a tuple, or one element of a list.
type Field struct {
	Name  string
	Value Value
}

// Value is a string, a tuple or a list.
type Value struct {
	Kind   ValueKind
	Str    string // decoded: any bytes, perhaps not UTF-8
	Fields Tuple  // of a tuple or a list
}

// ValueKind is the kind of a Value.
type ValueKind uint8

// The zero Value is an empty string.
const (
	String ValueKind = iota
	TupleValue
	ListValue
)

// Get returns the first value of a name.
func (t Tuple) Get(name string) (Value, bool) {
	for i := range t {
		if t[i].Name == name {
			return t[i].Value, true
		}
	}
	return Value{}, false
}

// Str returns the first value of a name as a string, "" if there is none.
func (t Tuple) Str(name string) string {
	v, _ := t.Get(name)
	return v.Str
}

// Int reads the first value of a name as a decimal number. It does not suit values that gdb prints
// in another base (exit-code is octal).
func (t Tuple) Int(name string) (int, bool) {
	n, err := strconv.Atoi(t.Str(name))
	return n, err == nil
}

// Path descends through tuples and lists by the first value of each name. It returns the zero
// Value if a step is missing.
func (t Tuple) Path(names ...string) Value {
	v := Value{Fields: t}
	for _, name := range names {
		v, _ = v.Fields.Get(name)
	}
	return v
}

// All yields every value of a name in order: the frames of stack=[frame=…,frame=…].
func (t Tuple) All(name string) iter.Seq[Value] {
	return func(yield func(Value) bool) {
		for i := range t {
			if t[i].Name == name && !yield(t[i].Value) {
				return
			}
		}
	}
}
