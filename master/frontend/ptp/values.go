// Values of expressions, by their types.

package ptp

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sdm/protocol"
	"sdm/protocol/ptp"
	"sdm/protocol/rank"
)

// values returns the values of an expression; follow adds the targets of pointers. The name of the type
// is asked for together with the value, as print shows it. For most types this is all; of others, size
// and members are asked for, and the memory: all together if the expression had them before.
func (v *valuer) values(ctx context.Context, expr string, ranks rank.Set, follow bool) []value {
	whatis := v.post(ctx, "whatis", ranks, protocol.Args{Expr: expr})
	if v.expr == "" {
		v.expr = expr
		first := v.show(ctx, expr, ranks)
		v.early = v.again(ctx, expr, ranks)
		v.first = first.answers(ctx)
	}
	var out []value
	for _, g := range whatis.answers(ctx) {
		var body textBody
		switch bad := failed(g); {
		case g.Kind == protocol.KindResult && v.decodeBody(g, &body):
			for _, x := range v.named(ctx, expr, body.Text, g.Ranks, follow) {
				x.name = typeText(body.Text)
				out = append(out, x)
			}
		case g.Kind == protocol.KindResult: // has been reported
		case notFortran.Match(bad.is.Data):
			out = append(out, v.inFortran(ctx, expr, follow, bad)...)
		case unreadable.Match(bad.is.Data):
			out = append(out, v.memberOfTarget(ctx, expr, follow, bad)...)
		default:
			out = append(out, bad)
		}
	}
	return out
}

// named returns the values of an expression with a type that whatis has named.
func (v *valuer) named(ctx context.Context, expr, whatis string, ranks rank.Set, follow bool) []value {
	if target := strings.TrimRight(typeText(whatis), "&"); target != typeText(whatis) { // a reference
		return v.named(ctx, "*&("+expr+")", target, ranks, follow)
	}
	if isFortran(whatis) {
		if t := parseFortran(whatis); t.kind != ptp.Struct && t.kind != ptp.Pointer || t.name == complexName {
			return v.ofFortran(ctx, expr, t, ranks, follow)
		}
		return v.fortran(ctx, expr, ranks, v.ask(ctx, "ptype", ranks, protocol.Args{Expr: expr}), follow)
	}
	if t := plainType(whatis); t != nil {
		return v.of(ctx, expr, typed{ranks, t}, follow)
	}
	l := v.layoutOf(ctx, expr, ranks)
	var out []value
	for _, t := range v.types(ctx, ranks, sizesOf(l.size.answers(ctx)), l.members.answers(ctx)) {
		out = append(out, v.of(ctx, expr, t, follow)...)
	}
	return out
}

// typed is the type of an expression on some ranks; nil: unsupported.
type typed struct {
	ranks rank.Set
	of    *ptp.Type
}

// types returns the types of some ranks, from their sizes and from the answers to ptype.
func (v *valuer) types(ctx context.Context, ranks rank.Set, sizes map[int]rank.Set, layouts []protocol.Group) []typed {
	var out []typed
	for size, same := range sizes {
		for _, g := range layouts {
			var body textBody
			found := typed{ranks: g.Ranks.Intersect(same).Intersect(ranks)}
			if found.ranks.IsEmpty() {
				continue
			}
			if g.Kind == protocol.KindResult && v.decodeBody(g, &body) {
				found.of = v.read(ctx, body.Text, size, found.ranks)
			}
			out = append(out, found)
		}
	}
	return out
}

// read parses a type. A pointer to an unsupported type is a pointer without element type.
func (v *valuer) read(ctx context.Context, text string, size int, ranks rank.Set) *ptp.Type {
	t, err := parseType(text, size, v.resolver(ctx, ranks))
	if err == nil {
		return t
	}
	if isPointer(text) && (size == 4 || size == 8) {
		return &ptp.Type{Kind: ptp.Pointer, Size: size}
	}
	return nil
}

// sizesOf returns sizes in bytes with their ranks; 0 if gdb does not know it.
func sizesOf(answers []protocol.Group) map[int]rank.Set {
	found := map[int]rank.Set{}
	for _, g := range answers {
		for _, c := range cellsOf(g, "value", "0") {
			n, err := strconv.Atoi(c.value)
			if err != nil {
				n = 0
			}
			found[n] = found[n].Union(c.ranks)
		}
	}
	return found
}

// resolver looks up the names of types within another type.
func (v *valuer) resolver(ctx context.Context, ranks rank.Set) resolver {
	var resolve resolver
	resolve = func(name string, size int) (*ptp.Type, error) {
		if v.asked++; v.asked > maxResolved {
			return nil, errType
		}
		groups := v.ask(ctx, "ptype", ranks, protocol.Args{Expr: name, Format: "or"})
		var body textBody
		if len(groups) != 1 || groups[0].Kind != protocol.KindResult || !v.decodeBody(groups[0], &body) ||
			strings.HasSuffix(body.Text, " "+name) {
			return nil, errType
		}
		return parseType(body.Text, size, resolve)
	}
	return resolve
}

// of returns the values of an expression of one type.
func (v *valuer) of(ctx context.Context, expr string, t typed, follow bool) []value {
	if t.of == nil {
		return v.printed(ctx, expr, t.ranks, "", textOf)
	}
	switch t.of.Kind {
	case ptp.Pointer:
		return v.pointer(ctx, expr, t, follow)
	case ptp.Struct, ptp.Union, ptp.Array:
		if v.isForPeople(t) {
			return v.text(ctx, expr, t.ranks)
		}
		if !v.whole {
			return []value{{ranks: t.ranks, is: t.of.Bare()}}
		}
		return v.memory(ctx, expr, t)
	case ptp.CharPointer:
		return v.printed(ctx, wholeText+expr, t.ranks, "",
			func(text string) (ptp.Value, error) { return charsOf(t.of.Size, text) })
	case ptp.Float:
		return v.printed(ctx, expr, t.ranks, "", func(text string) (ptp.Value, error) { return floatOf(t.of, text) })
	}
	return v.printed(ctx, expr, t.ranks, "d", func(text string) (ptp.Value, error) { return integerOf(t.of, text) })
}

// isForPeople reports whether gdb has a printer for a value, whose text says more than its members.
func (v *valuer) isForPeople(t typed) bool {
	for _, g := range v.first {
		for _, c := range cellsOf(g, "value", "").in(t.ranks) {
			if g.Kind == protocol.KindResult {
				return !beginsWithMembers(referenceHead.ReplaceAllString(c.value, ""), t.of)
			}
		}
	}
	return false
}

// referenceHead matches what gdb shows before the target of a reference.
var referenceHead = regexp.MustCompile(`^\(.*?&\) @0x[0-9a-f]+: `)

// beginsWithMembers reports whether a text is a structure or an array that gdb prints without a printer:
// {x = 1}.
func beginsWithMembers(text string, t *ptp.Type) bool {
	rest, open := strings.CutPrefix(text, "{")
	switch {
	case t.Size == 0: // gdb shows an address
		return true
	case t.Kind == ptp.Array:
		kind := t.Elem.Kind
		return kind != ptp.Struct && kind != ptp.Union && kind != ptp.Array || open && beginsWithMembers(rest, t.Elem)
	case t.Kind != ptp.Struct && t.Kind != ptp.Union || t.Name == complexName:
		return true
	case len(t.Fields) == 0 || !open:
		return open
	case strings.HasPrefix(rest, "static ") || strings.HasPrefix(rest, "_vptr"):
		return true
	case t.Fields[0].Name == "":
		return beginsWithMembers(rest, t.Fields[0].Type)
	}
	return strings.HasPrefix(rest, t.Fields[0].Name+" = ")
}

// pointer returns the address and, if requested and readable, the target.
func (v *valuer) pointer(ctx context.Context, expr string, t typed, follow bool) []value {
	var out []value
	for _, a := range v.printed(ctx, expr, t.ranks, "d", func(text string) (ptp.Value, error) {
		addr, err := strconv.ParseUint(text, 10, 64)
		return ptp.PointerTo(t.of.Size, addr, nil), err
	}) {
		if !follow || !v.whole || !strings.HasPrefix(a.is.Format, "^") || len(a.is.Data) == 1 {
			out = append(out, a)
			continue
		}
		at := binary.BigEndian.Uint64(append(make([]byte, 8), a.is.Data[1:]...)[len(a.is.Data)-1:])
		for _, x := range v.targets(ctx, expr, a.ranks) {
			out = append(out, value{ranks: x.ranks, is: ptp.PointerTo(t.of.Size, at, &x.is)})
			a.ranks = a.ranks.Minus(x.ranks)
		}
		if !a.ranks.IsEmpty() {
			out = append(out, a)
		}
	}
	return out
}

// targets returns the readable targets of a pointer. Others are not an error of the expression.
func (v *valuer) targets(ctx context.Context, expr string, ranks rank.Set) []value {
	quiet := &valuer{action: &action{front: v.front, ranks: ranks, what: v.what, asked: v.action.asked}, whole: true,
		asked: v.asked}
	found := quiet.values(ctx, "*("+expr+")", ranks, false)
	v.asked = quiet.asked
	return slices.DeleteFunc(found, func(x value) bool { return x.none })
}

// memory reads structures and arrays from the memory of the ranks.
func (v *valuer) memory(ctx context.Context, expr string, t typed) []value {
	cut := *t.of
	if cut.Kind == ptp.Array {
		cut.Count = min(cut.Count, max(maxData/max(cut.Elem.Size, 1), pageOfArray))
		cut.Size = cut.Count * cut.Elem.Size
	}
	if cut.Size > maxWhole || !v.littleEndian(ctx, t.ranks) {
		return v.text(ctx, expr, t.ranks)
	}
	if cut.Size == 0 { // no elements, and no members
		is, err := cut.Encode(nil, nil)
		if err != nil {
			return v.text(ctx, expr, t.ranks)
		}
		return []value{{ranks: t.ranks, is: is}}
	}
	var out []value
	rest := t.ranks
	for _, c := range v.bytes(ctx, expr, t.ranks, cut.Size) {
		mem, err := hex.DecodeString(strings.ReplaceAll(c.value, " ", ""))
		if err != nil || len(mem) == 0 {
			continue
		}
		for _, t := range v.textsAt(ctx, c.ranks, cut.Pointers(mem)) {
			if is, err := cut.Encode(mem, t.text); err == nil {
				out = append(out, value{ranks: t.ranks, is: is})
				rest = rest.Minus(t.ranks)
			}
		}
	}
	if !rest.IsEmpty() {
		out = append(out, v.text(ctx, expr, rest)...)
	}
	return out
}

// bytes reads the memory of an expression, in hexadecimal, in pieces that are asked for together. Ranks
// whose value is in registers, or computed, are not in the result.
func (v *valuer) bytes(ctx context.Context, expr string, ranks rank.Set, size int) cells {
	v.wasLaidOut(expr, size)
	pieces := v.early.bytesOf(expr, size)
	if pieces == nil {
		pieces = v.postBytes(ctx, expr, ranks, size)
	}
	var all cells
	for i, piece := range pieces {
		var these cells
		for _, g := range piece.answers(ctx) {
			if g.Kind == protocol.KindResult {
				these = append(these, cellsOf(g, "data", "").in(ranks)...)
			}
		}
		if i == 0 {
			all = these
		} else {
			all = all.by(these)
		}
	}
	return all
}

// inFortran returns the values of an expression that Eclipse has written as C does, and otherwise what
// gdb says of it.
func (v *valuer) inFortran(ctx context.Context, expr string, follow bool, otherwise value) []value {
	var out []value
	for _, p := range v.designators(ctx, expr, otherwise.ranks) {
		if text := p.text(); text != expr {
			out = append(out, v.values(ctx, text, p.ranks, follow)...)
			otherwise.ranks = otherwise.ranks.Minus(p.ranks)
		}
	}
	if !otherwise.ranks.IsEmpty() {
		out = append(out, otherwise)
	}
	return out
}
