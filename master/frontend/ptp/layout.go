// Size, members and memory of values that cannot be read from the text of gdb.

package ptp

import (
	"context"

	"sdm/protocol"
	"sdm/protocol/rank"
)

// maxLaidOut bounds the expressions that are remembered.
const maxLaidOut = 4096

// layout is what was asked for about an expression whose value is read from memory. Types are not
// remembered: two files of a program may have different ones of the same name.
type layout struct {
	expr    string
	size    calls
	members calls
	bytes   []calls // nil: not asked for
	length  int     // of bytes
}

// askLayout asks for size and members.
func (v *valuer) askLayout(ctx context.Context, expr string, ranks rank.Set) *layout {
	return &layout{
		expr:    expr,
		size:    v.post(ctx, "print", ranks, protocol.Args{Expr: "sizeof(" + expr + ")", Limit: everyValue}),
		members: v.post(ctx, "ptype", ranks, protocol.Args{Expr: expr, Format: "or"}),
	}
}

// layoutOf returns what was asked for early, or asks now.
func (v *valuer) layoutOf(ctx context.Context, expr string, ranks rank.Set) *layout {
	if v.early != nil && v.early.expr == expr {
		return v.early
	}
	v.wasLaidOut(expr, 0)
	return v.askLayout(ctx, expr, ranks)
}

// again asks for the layout of an expression that had one before, without waiting for the name of its
// type, and for as much memory as it had then. nil: it had none.
func (v *valuer) again(ctx context.Context, expr string, ranks rank.Set) *layout {
	v.mu.Lock()
	size, known := v.laidOut[expr]
	v.mu.Unlock()
	if !known {
		return nil
	}
	l := v.askLayout(ctx, expr, ranks)
	if v.whole && size > 0 {
		l.bytes, l.length = v.postBytes(ctx, expr, ranks, size), size
	}
	return l
}

// bytesOf returns the calls for the memory of an expression; nil: they were not made.
func (l *layout) bytesOf(expr string, size int) []calls {
	if l == nil || l.expr != expr || l.length != size {
		return nil
	}
	return l.bytes
}

// postBytes asks for the memory of an expression, in pieces.
func (v *valuer) postBytes(ctx context.Context, expr string, ranks rank.Set, size int) (pieces []calls) {
	for at := 0; at < size; at += maxMemory {
		asked := protocol.Args{Expr: bytesAt("&("+expr+")", at), Count: min(maxMemory, size-at), Limit: everyValue}
		pieces = append(pieces, v.post(ctx, "memory read", ranks, asked))
	}
	return pieces
}

// wasLaidOut remembers that an expression has a layout; size is the size of its memory, 0 if it was not
// read.
func (f *front) wasLaidOut(expr string, size int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.laidOut == nil || len(f.laidOut) >= maxLaidOut {
		f.laidOut = map[string]int{}
	}
	if _, known := f.laidOut[expr]; size > 0 || !known {
		f.laidOut[expr] = size
	}
}
