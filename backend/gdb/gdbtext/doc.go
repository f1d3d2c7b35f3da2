// Package gdbtext reads what gdb prints: values, arrays, listings, instructions and memory, and writes
// the expressions and command lines that gdb is asked with. All of it is pure: text in, values out.
package gdbtext
